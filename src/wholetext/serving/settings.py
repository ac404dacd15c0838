"""Options of the server, and the hosts, tokens and metrics that they allow."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, SpecError
from wholetext.models.hub.locate import EMBEDDED
from wholetext.registry import ALIASES, scorer
from wholetext.spec import parse

SHORTEST = 16  # characters of a token
# parameters of metrics that name models, and those that name files (a table is a language or a file)
LOADS = ("model", "revision", "tokenizer", "vectors", "base")
FILES = ("annotations", "names", "baseline")


@dataclass(frozen=True)
class ServeOptions:
    """Address, data folder and limits; addresses other than loopback require a ``token``."""

    data: Path | str = "wholetext-data"  # everything that is uploaded or computed
    host: str = "127.0.0.1"
    port: int = 8765  # 0: any free one
    token: str = field(default="", repr=False)
    names: tuple[str, ...] = ()  # further host names under which the server may be reached
    models: tuple[str, ...] = ()  # models that metrics may name beside their own defaults
    upload: int = 200_000_000  # bytes of one request
    waiting: int = 20  # jobs that may wait
    kept: int = 200  # jobs in all, finished ones too
    timeout: float = 3600.0  # seconds per job
    workers: int = 1  # jobs, and batches of texts, at a time; each worker keeps its models loaded

    def __post_init__(self) -> None:
        if not _is_loopback(self.host) and not self.token:
            raise InputError(
                "a server that others can reach needs a token",
                where=self.host,
                next="choose one with --token or WHOLETEXT_TOKEN, or listen on 127.0.0.1",
            )
        if self.token and not re.fullmatch(rf"[!-~]{{{SHORTEST},}}", self.token):
            raise InputError(
                f"the token needs at least {SHORTEST} letters, digits or ASCII signs",
                next="python -c 'import secrets; print(secrets.token_urlsafe())' makes one",
            )
        limits = (self.upload, self.waiting, self.kept, self.timeout, self.workers)
        if not (0 <= self.port <= 65535 and min(limits) > 0):
            raise InputError(
                "the port, a limit or the number of workers is impossible",
                where=f"port {self.port}, limits {limits}",
                next="give a port from 0 to 65535, and limits and workers above 0",
            )

    @property
    def folder(self) -> Path:
        return Path(os.path.realpath(self.data))

    @property
    def cookie(self) -> str:
        """The value a browser stores instead of the token."""
        return hmac.new(self.token.encode(), b"wholetext cookie", hashlib.sha256).hexdigest()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address else host.lower() == "localhost"


@lru_cache(maxsize=100)
def known_host(header: str, options: ServeOptions) -> bool:
    """Whether the Host header of a request names this server (against DNS rebinding).

    Names must be listed in the options. Addresses cannot be rebound, but a server on loopback is
    reached by loopback addresses only.
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]*))(?::[0-9]{1,5})?", header.strip())
    name = (match[1] or match[2]).lower().rstrip(".") if match else ""
    if _is_loopback(name) or name in [host.lower() for host in (options.host, *options.names)]:
        return True
    return _address(name) is not None and not _is_loopback(options.host)


def same(secret: str, expected: str) -> bool:
    """Compare secrets in constant time."""
    return hmac.compare_digest(
        *(text.encode("utf-8", "surrogateescape") for text in (secret, expected))
    )


def allowed_metric(text: str, options: ServeOptions) -> str:
    """The canonical spec of a metric that requests may use; any other is an error.

    Paths and arbitrary models would let a request read files of this machine or download anything,
    and judges call a server that may cost money.
    """
    refusal = SpecError(
        "requests may not name files, or models that this server does not allow",
        where=text,
        next="leave them out, or start the server with --allow-model MODEL",
    )
    args = {name: str(value or "") for name, value in parse(text).metric.args.items()}
    if any(map(args.get, FILES)) or not re.fullmatch(r"[A-Za-z-]*", args.get("table", "")):
        raise refusal  # before a table is read
    checked = scorer(text)
    metric: Any = checked.metric
    if type(metric).__module__.startswith("wholetext.judges"):
        raise SpecError(
            "judges are not served: they call a server that may cost money",
            where=text,
            next="`wholetext score` on the command line runs them",
        )
    default = type(metric)()
    listed = (parse(spec).model for spec in ALIASES.values())
    known = {*options.models, *EMBEDDED, *listed, "", None}
    for name in LOADS:
        value = getattr(metric, name, None)
        if value not in known and value != getattr(default, name, None):
            raise refusal
    if any(re.search(r"[/\\~]|\.\.", value) for value in args.values() if value not in known):
        raise refusal
    return checked.spec
