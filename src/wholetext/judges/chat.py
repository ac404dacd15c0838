"""Calls to a chat model behind an OpenAI-compatible endpoint: in parallel, with retries and a budget.

The key is read from ``OPENAI_API_KEY`` and sent to the endpoint only: it never enters settings,
answers, errors or files.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from wholetext.errors import InputError, MissingExtra, ModelError
from wholetext.files.parsing import file_bytes, read_json, read_toml, reading
from wholetext.types import Fit

OPENAI = "https://api.openai.com/v1"
PRICES = (
    'a price table reads: currency = "USD", then [models."NAME"] with input = 0.40 and '
    "output = 1.60 per million"
)
LARGEST = 1_000_000  # bytes of an answer that are read at most
LARGEST_ERROR = 50_000  # bytes of an error
LONGEST_WAIT = 600.0  # limit of seconds in a Retry-After
_FIRST_WAIT, _MOST_WAIT = 0.5, 60.0  # seconds: exponential backoff between these
_BILLED = ("timeouts", "broken")  # failed calls that may have been billed
_UNREAD = {"choices": [{"finish_reason": "length"}]}  # in place of a body that is not read
_TOO_LONG = "too long for this model (use a smaller view, or a larger context on the server): "
_RESUME = "all answers so far are stored: run the same command again to go on"
# HTTP status, or code of an error, that no other call would be spared: what, next
_FATAL = {
    "3": ("redirects, which is not followed", "give the final address with --endpoint"),
    "401": ("refused access", "set OPENAI_API_KEY to a key that may use this model"),
    "403": ("refused access", "set OPENAI_API_KEY to a key that may use this model"),
    "404": (
        "has no model {model!r}, or is not a chat server",
        "check the name after @, and --endpoint (often ends in /v1)",
    ),
    "insufficient_quota": ("has no quota left for this account", _RESUME),
}


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


class CallFailed(Exception):
    """A call without an answer: its kind for counting, and the delay the server requests, if any.

    A call that was ``refused`` with this HTTP status would be refused again.
    """

    def __init__(self, kind: str, what: str, after: float | None = None, status: int = 0) -> None:
        super().__init__(what)
        self.kind, self.after, self.status = kind, after, status


@dataclass(eq=False)
class Calls:
    """How chat models are called in an evaluation, and the totals; none of it changes an answer."""

    endpoint: str = field(default="", repr=False)  # base URL; $OPENAI_BASE_URL, else OpenAI's own
    parallel: int = 8
    timeout: float = 600.0  # seconds per call
    retries: int = 5
    budget: float | None = None  # in the currency of the price table
    prices: Path | str = ""  # TOML; $WHOLETEXT_PRICES
    counts: Counter[str] = field(default_factory=Counter)  # for ``Results.counts``
    spent: float = 0.0  # calls without an answer count in full, since they may be billed
    unstructured: set[str] = field(default_factory=set)  # models that accept no JSON schema

    def __post_init__(self) -> None:
        least = {"parallel": 1, "retries": 0, "timeout": 0.001, "budget": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and not value >= low:
                raise InputError(f"{name} is {value}", next=f"give a number from {low:g} up")
        self._room, self._stop = threading.Condition(), threading.Event()
        self._in_flight: list[float] = []  # the most that each of these calls may cost

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
        """Compute the cost of tokens; None if the model has no price."""
        price = self.table.get("models", {}).get(model)
        if price is None:
            return None
        return float(tokens_in * price["input"] + tokens_out * price["output"]) / 1e6

    def summary(self) -> str:
        """Render the totals in one line."""
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
        with self._room:
            self.counts.update({f"judge_{name}": number for name, number in counts.items()})
            self.spent += spent or 0.0

    @contextmanager
    def within_budget(self, most: float) -> Iterator[None]:
        """Make a call that may cost this much, once it fits beside the calls in flight."""

        def fits() -> bool:
            return self.budget is None or self.spent + sum(self._in_flight) + most <= self.budget

        with self._room:
            self._room.wait_for(lambda: fits() or not self._in_flight or self._stop.is_set())
            if not fits():
                self._stop.set()
                money = f"{self.spent:.4f} of {self.budget:g} {self.currency}".rstrip()
                raise ModelError(
                    f"the budget is reached: {money} spent; the next call may cost up to "
                    f"{most:.4f}",
                    next="all answers are stored: run the same command with another --budget to "
                    "go on",
                )
            self._in_flight.append(most)
        try:
            yield
        except CallFailed as fault:
            self.note(spent=most if fault.kind in _BILLED else 0.0)
            raise
        finally:
            with self._room:
                self._in_flight.remove(most)
                self._room.notify_all()


class Chat:
    """A chat model with fixed sampling parameters; ``id`` does not depend on the endpoint."""

    def __init__(self, model: str, sampling: Sampling, calls: Calls) -> None:
        self.model, self.sampling, self.calls = model, sampling, calls
        self.id = f"chat:{model}:{json.dumps(sampling._asdict(), sort_keys=True)}"
        self._limit = "max_tokens"  # max_completion_tokens for newer models of OpenAI

    def fit(self, x: Ask) -> Fit:
        """Estimate the tokens of a prompt from its bytes."""
        return Fit(8 + sum(4 + -(-len(text.encode()) // 4) for _, text in x.messages))

    def run(self, batch: Sequence[Ask]) -> list[Answer]:
        return self.arrive(batch, lambda ask, answer: None)

    def pack(self, output: Answer) -> bytes:
        return json.dumps(output).encode()

    def unpack(self, data: bytes) -> Answer:
        return Answer(*json.loads(data))

    def body(self, ask: Ask, schema: bool = True) -> dict[str, Any]:
        """Build the body of a request, with the schema of the answer unless none is accepted."""
        sampling = self.sampling
        parameters = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": None if sampling.seed is None else sampling.seed + ask.sample,
            self._limit: sampling.max_tokens,
        }
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in ask.messages],
        }
        body |= {name: value for name, value in parameters.items() if value is not None}
        if ask.schema and schema and self.model not in self.calls.unstructured:
            form = {"name": "answer", "strict": True, "schema": json.loads(ask.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    # -------------------------------------------------------- many calls

    def arrive(self, inputs: Sequence[Ask], keep: Callable[[Ask, Answer], None]) -> list[Answer]:
        """Answer all calls; each answer is passed to ``keep`` when it arrives, one at a time.

        If a call fails permanently, the budget is reached or the user interrupts, calls in flight
        are completed and their answers stored.
        """
        calls, lock = self.calls, threading.Lock()
        if calls.budget is not None and calls.cost(self.model, 0, 0) is None:
            raise InputError(
                f"there is a budget, and no price of the model {self.model}",
                next=f"give --prices FILE (WHOLETEXT_PRICES); {PRICES}",
            )
        if inputs:
            _ = calls.client  # a missing key, URL or package fails the run, not each call
        calls._stop.clear()

        def answered(ask: Ask) -> Answer:
            """Store the answer before this thread calls again: if the process is killed, none is lost."""
            answer = self._ask(ask)
            if not answer.problem:
                with lock:
                    keep(ask, answer)
            return answer

        pool = ThreadPoolExecutor(calls.parallel)
        try:
            answers = {ask: pool.submit(answered, ask) for ask in dict.fromkeys(inputs)}
            for future in as_completed(answers.values()):
                future.result()  # raise what stops the run
        finally:
            calls._stop.set()  # no retries; calls in flight are paid for
            pool.shutdown(cancel_futures=True)
        return [answers[ask].result() for ask in inputs]

    # -------------------------------------------------------- a single call

    def _ask(self, ask: Ask) -> Answer:
        """Call until there is an answer, within the number of retries."""
        calls, fault = self.calls, CallFailed("", "not asked: the run was stopped")
        for attempt in range(calls.retries + 1):
            if calls._stop.is_set():
                return Answer(problem=str(fault))
            try:
                return self._once(ask)
            except CallFailed as error:
                fault = error
            never_there = fault.kind == "unreachable" and not calls.counts["judge_answers"]
            last = attempt == calls.retries or (fault.after or 0) > LONGEST_WAIT or never_there
            calls.note(**{fault.kind: 1, "retries": int(not last)})
            if last:
                break
            backoff = min(_MOST_WAIT, _FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.5)
            calls._stop.wait(backoff if fault.after is None else fault.after)
        calls.note(failed=1)
        if fault.kind == "unreachable":  # all other calls would wait in vain, too
            step = f"start the server, or correct --endpoint (OPENAI_BASE_URL); {_RESUME}"
            raise self._fatal("does not respond", step)
        return Answer(problem=str(fault))

    def _once(self, ask: Ask, schema: bool = True) -> Answer:
        """Call once, or again without what the endpoint does not accept."""
        body, calls = self.body(ask, schema), self.calls
        bytes_in = sum(len(text.encode()) for _, text in ask.messages) + len(ask.schema)
        most = calls.cost(self.model, bytes_in / 2, self.sampling.max_tokens)  # 2 bytes a token
        try:
            with calls.within_budget(most or 0.0):
                calls.note(calls=1)
                answer = self._answer(*self._send(body), structured="response_format" in body)
                tokens_in = answer.tokens_in or self.fit(ask).tokens
                tokens_out = answer.tokens_out or len(answer.text.encode()) // 4
                spent = calls.cost(self.model, tokens_in, tokens_out)
                calls.note(spent, answers=1, tokens_in=tokens_in, tokens_out=tokens_out)
                return answer
        except CallFailed as fault:
            if fault.kind != "refused":
                raise
            message, invalid = str(fault), fault.status in (400, 415, 422, 501)
            if invalid and "max_completion_tokens" in message and "max_tokens" in body:
                self._limit = "max_completion_tokens"
                return self._once(ask, schema)
            if invalid and "response_format" in body:
                answer = self._once(ask, schema=False)
                if not answer.problem:  # the schema was the problem, not a long text
                    calls.unstructured.add(self.model)
                return answer
            calls.note(failed=1)
            long = _TOO_LONG if re.search("context|too long", message, re.I) else ""
            return Answer(problem=f"HTTP {fault.status}: {long}{message}")

    def _send(self, body: dict[str, Any]) -> tuple[int, dict[str, Any], float | None]:
        """Send a request; return status, body and Retry-After of the response.

        A body that is too large is not read, nor one that is compressed: a few kilobytes could
        become gigabytes.
        """
        import httpx

        end, data, after = time.monotonic() + self.calls.timeout, bytearray(), None
        late = CallFailed("timeouts", f"no answer within {self.calls.timeout:g} s")
        try:
            with self.calls.client.stream("POST", "chat/completions", json=body) as response:
                status, headers = response.status_code, response.headers
                with suppress(ValueError):
                    after = max(0.0, float(headers.get("retry-after", "")))
                if headers.get("content-encoding", "identity").lower() != "identity":
                    return status, _UNREAD, after
                for chunk in response.iter_raw():
                    data += chunk
                    if len(data) > (LARGEST if status < 300 else LARGEST_ERROR):
                        return status, _UNREAD, after
                    if time.monotonic() > end:
                        raise late
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise CallFailed("unreachable", "the connection failed") from None
        except httpx.TimeoutException:
            raise late from None
        except httpx.HTTPError as fault:  # its message may quote the key
            raise CallFailed("broken", f"the connection failed ({type(fault).__name__})") from None
        try:
            return status, _mapping(read_json(data.decode("utf-8", "replace"))), after
        except InputError:
            if status < 300:
                raise CallFailed("broken", "the body of the answer is not JSON") from None
            return status, {}, after

    def _answer(
        self, status: int, body: dict[str, Any], after: float | None, *, structured: bool
    ) -> Answer:
        """Read the body of a response; one of another shape is an answer without text."""
        choices, error = body.get("choices"), _mapping(body.get("error"))
        if status >= 300 or (error and not choices):  # routers forward errors with HTTP 200
            raise self._failure(status, error, after)
        choice = _mapping(choices[0] if isinstance(choices, list) and choices else None)
        message, usage = _mapping(choice.get("message")), _mapping(body.get("usage"))
        text, *names = (
            self.calls.clean(part) if isinstance(part, str) else ""
            for part in (
                message.get("content"),
                body.get("model"),
                body.get("system_fingerprint"),
                choice.get("finish_reason"),
                message.get("refusal"),
            )
        )
        model, fingerprint, finish, refusal = (name[:200] for name in names)
        used = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        tokens = [size if isinstance(size, int) and 0 <= size < 10**9 else 0 for size in used]
        return Answer(text, model, fingerprint, finish, refusal, tokens[0], tokens[1], structured)

    def _failure(self, status: int, error: Mapping[str, Any], after: float | None) -> Exception:
        """Map an error to an exception: stop, retry, or go on without this answer."""
        code, message = error.get("code"), error.get("message")
        message = self.calls.clean(message)[:200] if isinstance(message, str) else "no message"
        if status < 300:
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
        keys = (str(code), str(status), str(status // 100))
        if fatal := next((_FATAL[key] for key in keys if key in _FATAL), None):
            what, step = fatal
            return self._fatal(f"{what.format(model=self.model)} (HTTP {status})", step)
        if status == 429:
            return CallFailed("rate_limited", "too many requests (HTTP 429)", after)
        if status in (408, 409) or status >= 500:
            return CallFailed("server_errors", f"HTTP {status}: {message}", after)
        return CallFailed("refused", message, status=status)

    def _fatal(self, what: str, step: str) -> ModelError:
        """Stop all calls: each would fail in the same way."""
        self.calls._stop.set()
        # the host alone: credentials and paths may be secret
        host = str(self.calls.client.base_url.host)
        return ModelError(f"the endpoint {what}", where=host, next=step)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
