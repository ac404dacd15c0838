"""Calls to chat models: requests and answers, concurrency, rate, prices, counts.

The key is read from ``OPENAI_API_KEY`` and sent to the endpoint only: it never enters settings,
answers, errors or files.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from wholetext.errors import InputError, MissingExtra, ModelError
from wholetext.files.parsing import file_bytes, read_toml, reading

OPENAI = "https://api.openai.com/v1"
PRICES = (
    'a price table reads: currency = "USD", then [models."NAME"] with input = 0.40 and '
    "output = 1.60 per million"
)


class Ask(NamedTuple):
    """A call: messages as (role, text), JSON schema of the answer ("" = text), and sample index."""

    messages: tuple[tuple[str, str], ...]
    schema: str = ""
    sample: int = 0


class Answer(NamedTuple):
    """A raw answer; ``problem`` is the reason if there is none."""

    text: str = ""
    model: str = ""  # as the endpoint names it
    fingerprint: str = ""
    finish: str = ""
    refusal: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    structured: bool = False  # whether the endpoint was held to the schema
    problem: str = ""


class Sampling(NamedTuple):
    """Sampling parameters; None leaves the choice to the endpoint."""

    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int = 256


@dataclass(eq=False)
class Calls:
    """How chat models are called in an evaluation, and the totals; none of it changes an answer."""

    endpoint: str = field(default="", repr=False)  # base URL; $OPENAI_BASE_URL, else OpenAI's own
    parallel: int = 8
    rate: float | None = None  # calls per minute
    timeout: float = 600.0  # seconds per call
    retries: int = 5
    budget: float | None = None  # in the currency of the price table
    prices: Path | str = ""  # TOML; $WHOLETEXT_PRICES
    counts: Counter[str] = field(default_factory=Counter)  # for ``Results.counts``
    spent: float = 0.0  # calls without an answer count in full, since they may be billed
    unstructured: set[str] = field(default_factory=set)  # models that accept no JSON schema

    def __post_init__(self) -> None:
        least = {"parallel": 1, "retries": 0, "timeout": 0.001, "rate": 0.001, "budget": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and not value >= low:
                raise InputError(f"{name} is {value}", next=f"give a number from {low:g} up")
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._free = 0.0  # time.monotonic() when the next call may start

    @cached_property
    def client(self) -> Any:
        """An `httpx` client for the endpoint: it follows no redirects and accepts no compression."""
        try:
            import httpx
        except ImportError:
            raise MissingExtra("httpx", "judges") from None
        key = os.environ.get("OPENAI_API_KEY", "")
        address = self.endpoint or os.environ.get("OPENAI_BASE_URL") or (key and OPENAI)
        if not re.match("https?://", address):
            raise ModelError(
                "the endpoint of chat models is not an http(s) URL"
                if address
                else "there is no endpoint for chat models",
                next="set OPENAI_API_KEY for OpenAI, or --endpoint http://localhost:8080/v1 "
                "(OPENAI_BASE_URL) for others",
            )
        url = httpx.URL(address)  # HTTP libraries log URLs: without user name and password
        authorization = f"Bearer {key or 'none'}".encode()
        return httpx.Client(
            base_url=url.copy_with(userinfo=b""),
            auth=(url.username, url.password) if url.userinfo else None,
            headers={b"Authorization": authorization, b"Accept-Encoding": b"identity"},
            timeout=httpx.Timeout(self.timeout, connect=min(10.0, self.timeout)),
            limits=httpx.Limits(max_connections=None),
        )

    @property
    def host(self) -> str:
        """The host of the endpoint, for errors: credentials and paths may be secret."""
        return str(self.client.base_url.host)

    @cached_property
    def table(self) -> Mapping[str, Any]:
        """The user's price table; empty if there is none."""
        path = str(self.prices or os.environ.get("WHOLETEXT_PRICES", ""))
        if not path:
            return {}
        table = read_toml(file_bytes(Path(path), next=PRICES), where=path, next=PRICES)
        with reading(path, PRICES, what="the prices of a model are not two numbers"):
            for price in table["models"].values():
                for value in (price["input"], price["output"]):
                    assert 0 <= value < 1e12, f"{value} is not a price"
        return table

    @property
    def currency(self) -> str:
        return str(self.table.get("currency", ""))

    def cost(self, model: str, tokens_in: float, tokens_out: float) -> float | None:
        """The cost of tokens; None if the model has no price."""
        price = self.table.get("models", {}).get(model)
        if price is None:
            return None
        return float(tokens_in * price["input"] + tokens_out * price["output"]) / 1e6

    def summary(self) -> str:
        """The totals in one line."""
        names = ("calls", "answers", "tokens_in", "tokens_out")
        calls, answers, tokens_in, tokens_out = (self.counts[f"judge_{name}"] for name in names)
        cost = f", {self.spent:.4f} {self.currency}".rstrip() if self.table else ""
        return (
            f"judges: {calls:,} calls, {answers:,} answers, {tokens_in:,} input and "
            f"{tokens_out:,} output tokens{cost}"
        )

    def clean(self, text: str) -> str:
        """Remove the key from text of the server, which may echo it."""
        key = os.environ.get("OPENAI_API_KEY", "")
        return text.replace(key, "[key]") if len(key) >= 8 else text

    def note(self, spent: float | None = None, **counts: int) -> None:
        with self._lock:
            self.counts.update({f"judge_{name}": number for name, number in counts.items()})
            self.spent += spent or 0.0

    def turn(self) -> None:
        """Wait until the rate allows another call."""
        with self._lock:
            start = max(time.monotonic(), self._free)
            self._free = start + (60.0 / self.rate if self.rate else 0.0)
        self._stop.wait(start - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Delay all calls, as a server with a rate limit requests."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)


def estimated(ask: Ask) -> int:
    """Estimate the tokens of a prompt from its bytes."""
    return 8 + sum(4 + -(-len(text.encode()) // 4) for _, text in ask.messages)
