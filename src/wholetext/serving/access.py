"""Access control: host, origin, token and size of requests, and security headers of responses."""

from __future__ import annotations

from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from wholetext.serving.settings import ServeOptions, known_host, same
from wholetext.serving.uploads import too_large

COOKIE = "wholetext"
# served without a token
HEALTH = "/healthz"  # served to everyone, whatever name the address has
OPEN = {"/login", *(f"/assets/{name}" for name in ("app.css", "app.js", "login.js", "icon.svg"))}
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
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = [item for item in scope["headers"] if item[0] != b"range"]  # files are sent whole
        scope = {**scope, "headers": headers}
        refused = None if scope["path"] == HEALTH else self.refusal(scope)
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
        if self.options.token and scope["path"] not in OPEN and not self._signed_in(headers):
            if scope["method"] == "GET" and scope["path"] == "/":
                return RedirectResponse("/login", 303)
            return problem(
                401,
                "the token of this server is missing or wrong",
                "send it as `Authorization: Bearer TOKEN`",
                {"www-authenticate": "Bearer"},
            )
        if self.options.token and "connection" in scope.get("state", {}):
            scope["state"]["connection"].known |= scope["path"] not in OPEN
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > self.options.upload:
            limit = too_large(self.options.upload)
            return problem(413, limit.what, limit.next)
        return None

    def _signed_in(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same(token.strip(), self.options.token):
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in cookies and same(cookies[COOKIE].value, self.options.cookie)


def _own_origin(headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from a program."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.lower() == headers["host"].lower()
    except ValueError:  # not a URL
        return False


def signed_in(request: Request, options: ServeOptions) -> Response:
    """The response to the right token: a cookie that scripts and other sites cannot use."""
    answer = JSONResponse({})
    answer.set_cookie(
        COOKIE,
        options.cookie,
        httponly=True,
        samesite="strict",
        path="/",
        secure=request.url.scheme == "https",
    )
    return answer
