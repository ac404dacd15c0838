"""Access control: host, origin and token of requests, and security headers of responses."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from wholetext.errors import WholetextError
from wholetext.serving.settings import ServeOptions, known_host, same

COOKIE = "wholetext"
HEALTH = "/healthz"  # served to everyone, whatever name the address has
OPEN = ("/login", "/assets/")  # served without a token
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Refused(WholetextError):
    """A request that is answered with an HTTP status other than 400."""

    def __init__(self, status: int, what: str, next: str) -> None:
        super().__init__(what, next=next)
        self.status = status


def problem(
    status: int, error: str, next: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error as JSON."""
    return JSONResponse({"error": error, "next": next}, status, headers)


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self.app, self.options = app, options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        free = scope["type"] == "lifespan" or scope["path"] == HEALTH
        refused = None if free else self.refusal(scope)
        if refused is not None and scope["method"] not in ("GET", "HEAD"):
            refused.headers["connection"] = "close"  # the rest of the request is not read
        await (self.app if refused is None else refused)(scope, receive, sending)

    def refusal(self, scope: Scope) -> Response | None:
        """The response to a request that is refused, or None."""
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or not known_host(headers["host"], self.options):
            return problem(
                421,
                "this server is not known by the name in the address",
                "use its own address, or start it with --allow-host NAME",
            )
        if scope["method"] not in ("GET", "HEAD") and not _own_origin(headers):
            return problem(
                403, "the request comes from a page of another site", "use a page of this server"
            )
        secret = self.options.token and not scope["path"].startswith(OPEN)
        if secret and not signed_in(scope, self.options):
            if scope["method"] == "GET" and scope["path"] == "/":
                return RedirectResponse("/login", 303)
            return problem(
                401,
                "the token of this server is missing or wrong",
                "send it as `Authorization: Bearer TOKEN`",
                {"www-authenticate": "Bearer"},
            )
        if secret and "connection" in scope.get("state", {}):
            scope["state"]["connection"].known = True
        return None


def signed_in(scope: Scope, options: ServeOptions) -> bool:
    """Whether a request has the token, or the cookie that a browser was given for it."""
    client = HTTPConnection(scope)
    scheme, _, token = client.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and same(token.strip(), options.token):
        return True
    return same(client.cookies.get(COOKIE, ""), options.cookie)


def _own_origin(headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from a program."""
    own = (None, f"http://{headers['host']}", f"https://{headers['host']}")
    site = headers.get("sec-fetch-site", "none")
    return site in ("same-origin", "none") and headers.get("origin") in own
