"""Settings of the server, and what they allow: addresses, names, tokens, metrics."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, SpecError
from wholetext.models.hub.locate import EMBEDDED
from wholetext.registry import ALIASES, scorer
from wholetext.spec import parse

SHORTEST = 16  # characters of a token
LOADS = (
    "model",
    "revision",
    "tokenizer",
    "vectors",
    "base",
)  # parameters of metrics that name what is loaded
FILES = (
    "annotations",
    "names",
    "baseline",
)  # those that name a file; a table is a language or a file


@dataclass(frozen=True)
class ServeOptions:
    """Where to listen, where jobs are kept, and limits. Any address but a loopback one needs a ``token``."""

    data: Path | str = "wholetext-data"  # everything that is uploaded or computed
    host: str = "127.0.0.1"
    port: int = 8765  # 0: any free one
    token: str = ""
    names: tuple[str, ...] = ()  # further host names under which the server may be reached
    models: tuple[str, ...] = ()  # models that metrics may name beside their own defaults
    upload: int = 200_000_000  # bytes of one request
    waiting: int = 20  # jobs that may wait
    kept: int = 200  # jobs in all, finished ones too
    timeout: float = 3600.0  # seconds per job
    workers: int = 1  # jobs at a time; each worker keeps its models loaded

    def __post_init__(self) -> None:
        if not self.is_loopback and not self.token:
            raise InputError(
                "a server that others can reach needs a token",
                where=self.host,
                next="choose one with --token or WHOLETEXT_TOKEN, or listen on 127.0.0.1",
            )
        if self.token and len(self.token) < SHORTEST:
            raise InputError(
                f"the token has fewer than {SHORTEST} characters",
                next=("python -c 'import secrets; print(secrets.token_urlsafe())' makes one"),
            )
        if not self.token.isascii() or not self.token.isprintable():
            raise InputError(
                "the token has characters that are not allowed in a header",
                next="use letters and digits",
            )
        if not 0 <= self.port <= 65535:
            raise InputError(f"there is no port {self.port}", next="choose one from 1024 to 65535")
        for name in ("upload", "waiting", "kept", "timeout", "workers"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")

    @property
    def is_loopback(self) -> bool:
        return _loopback(self.host)

    @property
    def folder(self) -> Path:
        return Path(os.path.realpath(self.data))

    @property
    def cookie(self) -> str:
        """What a browser keeps instead of the token."""
        return hmac.new(self.token.encode(), b"wholetext cookie", hashlib.sha256).hexdigest()


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def hostname(header: str) -> str:
    """The name in a Host header, without its port; brackets of IPv6 addresses are dropped."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]*))(?::[0-9]{1,5})?", header.strip())
    return (found[1] or found[2] or "").lower().rstrip(".") if found else ""


def known_host(header: str, options: ServeOptions) -> bool:
    """Whether a request is addressed to this server.

    A page of another site whose name was made to point here (DNS rebinding) sends that name. So names are those that
    were given; addresses cannot be rebound, but a server on loopback is reached by a loopback address only.
    """
    name = hostname(header)
    if _loopback(name) or name in {one.lower() for one in (options.host, *options.names)}:
        return True
    if options.is_loopback:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def same(given: str, wanted: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    digests = [
        hashlib.sha256(one.encode("utf-8", "surrogateescape")).digest() for one in (given, wanted)
    ]
    return hmac.compare_digest(*digests)


def allowed_metric(text: str, options: ServeOptions) -> str:
    """The canonical spec string of a metric that people may ask for; everything else is an error.

    Paths and models of one's own would let a request read files of this machine or download what it likes, and judges
    call a server that may cost money.
    """
    refusal = SpecError(
        "requests may not name files, or models that this server does not allow",
        where=text,
        next="leave them out, or start the server with --allow-model MODEL",
    )
    given = parse(text).metric.args
    if any(given.get(name) for name in FILES) or not re.fullmatch(
        r"[A-Za-z-]*", str(given.get("table", ""))
    ):
        raise refusal  # before a table is read
    found = scorer(text)
    metric: Any = found.metric
    if type(metric).__module__.startswith("wholetext.judges"):
        raise SpecError(
            "judges are not served: they call a server that may cost money",
            where=text,
            next="`wholetext score` on the command line runs them",
        )
    usual = type(metric)()
    listed = (parse(spec).model for spec in ALIASES.values())
    known = {*options.models, *EMBEDDED, *listed, getattr(usual, "model", None)}
    loaded = [
        getattr(metric, name)
        for name in LOADS
        if getattr(metric, name, None) != getattr(usual, name, None)
    ]
    written = text
    for model in (one for one in known if one):
        written = written.replace(f"@{model}", "")
    if any(value not in known for value in loaded) or re.search(r"[/\\~]|\.\.", written):
        raise refusal
    return found.spec
