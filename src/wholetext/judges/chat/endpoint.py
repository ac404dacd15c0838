"""A chat model behind an OpenAI-compatible endpoint: parallel calls, retries, a budget."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, NamedTuple

from wholetext.errors import InputError, ModelError, count
from wholetext.files.parsing import read_json
from wholetext.judges.chat.calls import PRICES, Answer, Ask, Calls, Sampling, estimated
from wholetext.types import Fit

LARGEST = 1_000_000  # bytes of an answer that are read at most
LARGEST_ERROR = 50_000  # bytes of an error
LONGEST_WAIT = 600.0  # limit of seconds in a Retry-After
_FIRST_WAIT, _MOST_WAIT = 0.5, 60.0  # seconds: exponential backoff between these
_BILLED = ("timeouts", "broken")  # failed calls that may have been billed
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


class Planned(NamedTuple):
    """The calls that a metric would make."""

    chat: Chat
    first: list[Ask]
    later: list[Ask]  # second calls; until the first answers are known, as if they listed no error


class Unanswered(Exception):
    """A call that may be retried, after the delay the server requested, if any."""

    def __init__(self, kind: str, what: str, after: float | None = None) -> None:
        super().__init__(what)
        self.kind, self.after = kind, after


class Refused(Exception):
    """An HTTP error that the same call would meet again."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Chat:
    """A chat model with fixed sampling parameters; ``id`` does not depend on the endpoint."""

    def __init__(self, model: str, sampling: Sampling, calls: Calls) -> None:
        self.model, self.sampling, self.calls = model, sampling, calls
        self.id = f"chat:{model}:{json.dumps(sampling._asdict(), sort_keys=True)}"
        self._limit = "max_tokens"  # max_completion_tokens for newer models of OpenAI

    def fit(self, x: Ask) -> Fit:
        return Fit(estimated(x))

    def run(self, batch: Sequence[Ask]) -> list[Answer]:
        return self.arrive(batch, lambda ask, answer: None)

    def pack(self, output: Answer) -> bytes:
        return json.dumps(output).encode()

    def unpack(self, data: bytes) -> Answer:
        return Answer(*json.loads(data))

    def body(self, ask: Ask, schema: bool = True) -> dict[str, Any]:
        """The body of a request, with the schema of the answer unless the endpoint accepts none."""
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
        """Answer all calls; each answer is passed to ``keep`` when it arrives.

        If a call fails permanently, the budget is reached or the user interrupts, calls in flight
        are completed and their answers stored.
        """
        calls, answers = self.calls, dict[Ask, Answer]()
        in_flight: dict[Future[Answer], Ask] = {}
        if calls.budget is not None and calls.cost(self.model, 0, 0) is None:
            raise InputError(
                f"there is a budget, and no price of the model {self.model}",
                next=f"give --prices FILE (WHOLETEXT_PRICES); {PRICES}",
            )

        def collect(done: set[Future[Answer]]) -> None:
            for future in done:
                ask = in_flight.pop(future)
                answer = answers[ask] = future.result()
                if not answer.problem:
                    keep(ask, answer)

        calls._stop.clear()
        left = list(dict.fromkeys(inputs))[::-1]
        if left:
            _ = calls.client  # a missing key, URL or package fails the run, not each call
        with ThreadPoolExecutor(calls.parallel) as pool:
            try:
                while left or in_flight:
                    while left and len(in_flight) < calls.parallel:
                        if self._exceeds_budget([*in_flight.values(), left[-1]]):
                            if not in_flight:
                                raise self._over_budget(left)
                            break
                        ask = left.pop()
                        in_flight[pool.submit(self._ask, ask)] = ask
                    collect(wait(in_flight, return_when=FIRST_COMPLETED)[0])
            finally:
                calls._stop.set()  # no retries; calls in flight are paid for
                for future in list(in_flight):
                    with suppress(ModelError):
                        future.exception()
                        collect({future})
        return [answers[ask] for ask in inputs]

    def _worst(self, ask: Ask) -> float:
        """Upper bound of the cost of a call, assuming at least two bytes per input token."""
        bytes_in = sum(len(text.encode()) for _, text in ask.messages) + len(ask.schema)
        return self.calls.cost(self.model, bytes_in / 2, self.sampling.max_tokens) or 0.0

    def _exceeds_budget(self, asks: Sequence[Ask]) -> bool:
        """Whether these calls, in addition to what was spent, could exceed the budget."""
        budget = self.calls.budget
        return budget is not None and self.calls.spent + sum(map(self._worst, asks)) > budget

    def _over_budget(self, left: Sequence[Ask]) -> ModelError:
        money = f"{self.calls.spent:.4f} of {self.calls.budget:g} {self.calls.currency}".rstrip()
        return ModelError(
            f"the budget is reached: {money} spent, and {count(len(left), 'call', 'are')} left; the next "
            f"may cost up to {self._worst(left[-1]):.4f}",
            where=self.model,
            next="all answers are stored: run the same command with another --budget to go on",
        )

    # -------------------------------------------------------- a single call

    def _ask(self, ask: Ask) -> Answer:
        """Call until there is an answer, within the number of retries."""
        calls, fault = self.calls, Unanswered("", "not asked: the run was stopped")
        for attempt in range(calls.retries + 1):
            calls.turn()
            if calls._stop.is_set():
                return Answer(problem=str(fault))
            try:
                return self._once(ask)
            except Unanswered as error:
                fault = error
            again = attempt < calls.retries and (fault.after or 0) <= LONGEST_WAIT
            calls.note(**{fault.kind: 1, "retries": int(again)})
            if not again:
                break
            if self._exceeds_budget([ask]):  # the failed call may have been billed
                raise self._over_budget([ask])
            if fault.after is None:
                backoff = min(_MOST_WAIT, _FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.5)
                calls._stop.wait(backoff)
            else:
                calls.pause(fault.after)
        calls.note(failed=1)
        if fault.kind == "unreachable":  # all other calls would wait in vain, too
            raise ModelError("the endpoint no longer responds", where=calls.host, next=_RESUME)
        return Answer(problem=str(fault))

    def _once(self, ask: Ask, schema: bool = True) -> Answer:
        body = self.body(ask, schema)
        self.calls.note(calls=1)
        try:
            answer = self._answer(*self._send(body), structured="response_format" in body)
        except Unanswered as fault:
            self.calls.note(spent=self._worst(ask) if fault.kind in _BILLED else 0.0)
            raise
        except Refused as fault:
            message, invalid = str(fault), fault.status in (400, 415, 422, 501)
            if invalid and "max_completion_tokens" in message and "max_tokens" in body:
                self._limit = "max_completion_tokens"
                return self._once(ask, schema)
            if invalid and "response_format" in body:
                return self._without_schema(ask)
            self.calls.note(failed=1)
            long = _TOO_LONG if re.search("context|too long", message, re.I) else ""
            return Answer(problem=f"HTTP {fault.status}: {long}{message}")
        tokens = (
            answer.tokens_in or estimated(ask),
            answer.tokens_out or len(answer.text.encode()) // 4,
        )
        spent = self.calls.cost(self.model, *tokens)
        self.calls.note(spent, answers=1, tokens_in=tokens[0], tokens_out=tokens[1])
        return answer

    def _without_schema(self, ask: Ask) -> Answer:
        """Call without a schema; if that succeeds, the schema was the problem, not a long text."""
        answer = self._once(ask, schema=False)
        if not answer.problem and self.model not in self.calls.unstructured:
            self.calls.unstructured.add(self.model)
            self.calls.note(unstructured=1)
        return answer

    def _send(self, body: dict[str, Any]) -> tuple[int, bytes | None, float | None]:
        """Send a request; return status, body (None: too large) and Retry-After of the response.

        The body is never decompressed: a few kilobytes could become gigabytes.
        """
        import httpx

        end, data, after = time.monotonic() + self.calls.timeout, bytearray(), None
        late = Unanswered("timeouts", f"no answer within {self.calls.timeout:g} s")
        try:
            with self.calls.client.stream("POST", "chat/completions", json=body) as response:
                status, headers = response.status_code, response.headers
                limit = LARGEST if status < 300 else LARGEST_ERROR
                with suppress(ValueError):
                    after = max(0.0, float(headers.get("retry-after", "")))
                if headers.get("content-encoding", "identity").lower() != "identity":
                    if status < 300:
                        raise Refused(status, "the answer is compressed, which was not asked for")
                    return status, None, after
                for chunk in response.iter_raw():
                    data += chunk
                    if len(data) > limit:
                        return status, None, after
                    if time.monotonic() > end:
                        raise late
        except (httpx.ConnectError, httpx.ConnectTimeout):
            if self.calls.counts["judge_answers"]:
                raise Unanswered("unreachable", "the connection failed") from None
            raise ModelError(
                "the endpoint does not respond",
                where=self.calls.host,
                next="start the server, or correct --endpoint (OPENAI_BASE_URL)",
            ) from None
        except httpx.TimeoutException:
            raise late from None
        except httpx.HTTPError as fault:  # its message may quote the key
            raise Unanswered("broken", f"the connection failed ({type(fault).__name__})") from None
        return status, bytes(data), after

    def _answer(
        self, status: int, data: bytes | None, after: float | None, *, structured: bool
    ) -> Answer:
        """Parse the body of a response; a body of another shape is an answer without text."""
        body: dict[str, Any] = {}
        try:
            body = {} if data is None else _mapping(read_json(data.decode("utf-8", "replace")))
        except InputError:
            if status < 300:
                raise Unanswered("broken", "the body of the answer is not JSON") from None
        choices, error = body.get("choices"), _mapping(body.get("error"))
        if status >= 300 or (error and not choices):  # routers forward errors with HTTP 200
            raise self._failure(status, error, after)
        if data is None:
            return Answer(finish="length", structured=structured)
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
            return ModelError(
                f"the endpoint {what.format(model=self.model)} (HTTP {status})",
                where=self.calls.host,
                next=step,
            )
        if status == 429:
            return Unanswered("rate_limited", "too many requests (HTTP 429)", after)
        if status in (408, 409) or status >= 500:
            return Unanswered("server_errors", f"HTTP {status}: {message}", after)
        return Refused(status, message)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
