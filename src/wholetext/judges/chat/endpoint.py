"""A chat model behind an OpenAI-compatible endpoint: parallel calls, retries, a budget."""

from __future__ import annotations

import email.utils
import json
import random
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, NamedTuple

from wholetext.errors import InputError, ModelError
from wholetext.files.parsing import read_json
from wholetext.judges.chat.calls import PRICES, Answer, Ask, Calls, Sampling, estimated
from wholetext.types import Fit

LARGEST = 4_000_000  # limit of bytes in an answer
LONGEST_WAIT = 600.0  # limit of seconds in a Retry-After
_FIRST_WAIT, _MOST_WAIT = 0.5, 60.0  # seconds: exponential backoff between these
_BILLED = ("timeouts", "broken")  # failed calls that may have been billed
_TOO_LONG = "too long for this model (use a smaller view, or a larger context on the server): "
_COUNTED = 200  # prompts counted by the endpoint's tokenizer for a plan; the rest by length


class Planned(NamedTuple):
    """The calls that a metric would make."""

    chat: Chat
    first: list[Ask]
    later: list[Ask]  # second calls; until the first answers are known, as if they listed no error
    again: Mapping[Ask, Ask]  # call → the one that follows an unparsable answer, and quotes it


class Unanswered(Exception):
    """A call that may be retried, after the delay the server requested, if any."""

    def __init__(self, kind: str, what: str, after: float | None = None) -> None:
        super().__init__(what)
        self.kind, self.after = kind, after


class Refused(Exception):
    """An HTTP error that the same call would meet again."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
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
        answers: dict[Ask, Answer] = {}
        in_flight: dict[Future[Answer], tuple[Ask, float]] = {}
        self._check_price()

        def collect(done: set[Future[Answer]]) -> None:
            for future in done:
                ask, _ = in_flight.pop(future)
                answer = answers[ask] = future.result()
                if not answer.problem:
                    keep(ask, answer)

        self.calls._stop.clear()
        left = list(dict.fromkeys(inputs))[::-1]
        if left:
            _ = self.calls.client  # a missing key, URL or package fails the run, not each call
        with ThreadPoolExecutor(self.calls.parallel) as pool:
            try:
                while left or in_flight:
                    while left and len(in_flight) < self.calls.parallel:
                        cost = self._worst(left[-1])
                        self._check_budget(cost, in_flight, collect, len(left))
                        ask = left.pop()
                        in_flight[pool.submit(self._ask, ask)] = (ask, cost)
                    collect(wait(in_flight, return_when=FIRST_COMPLETED)[0])
            finally:
                self.calls._stop.set()  # no retries; calls in flight are paid for
                for future in list(in_flight):
                    with suppress(ModelError):
                        future.exception()
                        collect({future})
        return [answers[ask] for ask in inputs]

    def _check_price(self) -> None:
        if self.calls.budget is not None and self.calls.cost(self.model, 0, 0) is None:
            raise InputError(
                f"there is a budget, and no price of the model {self.model}",
                next=f"give --prices FILE (WHOLETEXT_PRICES); {PRICES}",
            )

    def _worst(self, ask: Ask) -> float:
        """Upper bound of the cost of a call, assuming at least two bytes per input token."""
        bytes_in = sum(len(text.encode()) for _, text in ask.messages) + len(ask.schema)
        return self.calls.cost(self.model, bytes_in / 2, self.sampling.max_tokens) or 0.0

    def _check_budget(
        self,
        cost: float,
        in_flight: Mapping[Future[Answer], tuple[Ask, float]],
        collect: Callable[[set[Future[Answer]]], None],
        left: int,
    ) -> None:
        """Raise before a call that could exceed the budget, once calls in flight have ended."""
        budget = self.calls.budget
        while budget is not None and (
            self.calls.spent + sum(reserved for _, reserved in in_flight.values()) + cost > budget
        ):
            if not in_flight:
                raise self._over_budget(left, cost)
            collect(wait(in_flight, return_when=FIRST_COMPLETED)[0])

    def _over_budget(self, left: int, cost: float) -> ModelError:
        money = f"{self.calls.spent:.4f} of {self.calls.budget:g} {self.calls.currency}".rstrip()
        calls = f"{left} calls are left" if left > 1 else "a call is left"
        return ModelError(
            f"the budget is reached: {money} spent, and {calls}; the next may cost up to {cost:.4f}",
            where=self.model,
            next="all answers are stored: run the same command with another --budget to go on",
        )

    # -------------------------------------------------------- a single call

    def _ask(self, ask: Ask) -> Answer:
        """Call until there is an answer, within the number of retries."""
        last, kind = "", ""
        for attempt in range(self.calls.retries + 1):
            self.calls.turn()
            if self.calls._stop.is_set():
                return Answer(problem=last or "not asked: the run was stopped")
            try:
                return self._once(ask)
            except Unanswered as fault:
                last, kind = str(fault), fault.kind
                backoff = min(_MOST_WAIT, _FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.5)
                again = attempt < self.calls.retries and (fault.after or 0) <= LONGEST_WAIT
                self.calls.note(**{kind: 1, "retries": int(again)})
                if not again:
                    break
                self._check_retry(ask, kind)
                if fault.after is not None and kind == "rate_limited":
                    self.calls.pause(fault.after)
                self.calls._stop.wait(backoff if fault.after is None else fault.after)
        self.calls.note(failed=1)
        if kind == "unreachable":  # all other calls would wait in vain, too
            raise ModelError(
                "the endpoint no longer responds",
                where=self.calls.host,
                next="all answers so far are stored: run the same command again to go on",
            )
        return Answer(problem=last)

    def _check_retry(self, ask: Ask, kind: str) -> None:
        """Raise instead of retrying if the failed call may have used up the budget."""
        budget = self.calls.budget
        if budget is not None and kind in _BILLED and self.calls.spent + self._worst(ask) > budget:
            raise self._over_budget(1, self._worst(ask))

    def _once(self, ask: Ask, schema: bool = True) -> Answer:
        body = self.body(ask, schema)
        self.calls.note(calls=1)
        try:
            answer = self._answer(*self._send(body), structured="response_format" in body)
        except Unanswered as fault:
            if fault.kind in _BILLED:
                self.calls.note(spent=self._worst(ask))
            raise
        except Refused as fault:
            if (
                fault.status in (400, 422)
                and "max_completion_tokens" in str(fault)
                and "max_tokens" in body
            ):
                self._limit = "max_completion_tokens"
                return self._once(ask, schema)
            if "response_format" in body and fault.status in (400, 415, 422, 501):
                return self._without_schema(ask)
            self.calls.note(failed=1)
            long = _TOO_LONG if re.search("context|too long", str(fault), re.I) else ""
            return Answer(problem=f"HTTP {fault.status}: {long}{fault}")
        tokens = (
            answer.tokens_in or estimated(ask),
            answer.tokens_out or len(answer.text.encode()) // 4,
        )
        self.calls.note(
            spent=self.calls.cost(self.model, *tokens),
            answers=1,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
        )
        return answer

    def _without_schema(self, ask: Ask) -> Answer:
        """Call without a schema; if that succeeds, the schema was the problem, not a long text."""
        answer = self._once(ask, schema=False)
        if not answer.problem and self.model not in self.calls.unstructured:
            self.calls.unstructured.add(self.model)
            self.calls.note(unstructured=1)
        return answer

    def _send(self, body: dict[str, Any]) -> tuple[bytes, str]:
        """Send a request; return the bytes of the answer, or a problem if there are too many."""
        import openai

        end, data = time.monotonic() + self.calls.timeout, bytearray()
        try:
            with self.calls.client.chat.completions.with_streaming_response.create(
                **body
            ) as response:
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > LARGEST:
                        return b"", f"the answer has more than {LARGEST:,} bytes"
                    if time.monotonic() > end:
                        raise Unanswered("timeouts", f"no answer within {self.calls.timeout:g} s")
            return bytes(data), ""
        except Unanswered as fault:
            problem: Exception = fault
        except openai.APITimeoutError as fault:
            late = Unanswered("timeouts", f"no answer within {self.calls.timeout:g} s")
            problem = self._broken(fault) if _refused_connection(fault) else late
        except openai.APIStatusError as fault:
            problem = self._status(fault)
        except Exception as fault:  # the HTTP library raises its own while the body is read
            problem = self._broken(fault)
        raise problem  # outside of except: the client's error, as our context, may quote the key

    def _broken(self, fault: Exception) -> Exception:
        refused = _refused_connection(fault)
        if refused and not self.calls.counts["judge_answers"]:
            return ModelError(
                "the endpoint does not respond",
                where=self.calls.host,
                next="start the server, or correct --endpoint (OPENAI_BASE_URL)",
            )
        return Unanswered(
            "unreachable" if refused else "broken",
            f"the connection failed ({type(fault).__name__})",
        )

    def _status(self, fault: Any) -> Exception:
        """Map an HTTP error to an exception: retry, give up, or go on without this answer."""
        status, body = int(fault.status_code), fault.body if isinstance(fault.body, dict) else {}
        message = self.calls.clean(str(body.get("message", "")))[:200]
        if status in (401, 403):
            return ModelError(
                f"the endpoint refused access (HTTP {status})",
                where=self.calls.host,
                next="set OPENAI_API_KEY to a key that may use this model",
            )
        if status == 404:
            return ModelError(
                f"the endpoint has no model {self.model!r}, or is not a chat server (HTTP 404)",
                where=self.calls.host,
                next="check the name after @, and --endpoint (often ends in /v1)",
            )
        if status == 429 and getattr(fault, "code", "") == "insufficient_quota":
            return ModelError(
                "the account has no quota left (HTTP 429)",
                where=self.calls.host,
                next="all answers so far are stored: run the same command again to go on",
            )
        if status == 429:
            return Unanswered(
                "rate_limited", "too many requests (HTTP 429)", _seconds(fault.response.headers)
            )
        if status in (408, 409) or status >= 500:
            return Unanswered(
                "server_errors", f"HTTP {status}: {message}", _seconds(fault.response.headers)
            )
        return Refused(status, message)

    def _answer(self, data: bytes, problem: str, *, structured: bool) -> Answer:
        """Parse the body of a response; a body of another shape is an answer without text."""
        if problem:
            return Answer(finish="length", structured=structured)
        try:
            value = read_json(data.decode("utf-8", "replace"), unique=False)
        except InputError:
            raise Unanswered("broken", "the body of the answer is not JSON") from None
        body = _mapping(value)
        choices, usage = body.get("choices"), body.get("usage")
        if isinstance(body.get("error"), dict) and not choices:
            raise self._error_of_body(body["error"])
        choice = _mapping(choices[0] if isinstance(choices, list) and choices else None)
        message = _mapping(choice.get("message"))
        used = [_mapping(usage).get(name) for name in ("prompt_tokens", "completion_tokens")]
        text, model, fingerprint, finish, refusal = (
            self.calls.clean(part) if isinstance(part, str) else ""
            for part in (
                message.get("content"),
                body.get("model"),
                body.get("system_fingerprint"),
                choice.get("finish_reason"),
                message.get("refusal"),
            )
        )
        tokens = [size if isinstance(size, int) and 0 <= size < 10**9 else 0 for size in used]
        return Answer(text, model, fingerprint, finish, refusal, tokens[0], tokens[1], structured)

    def _error_of_body(self, error: Mapping[str, Any]) -> Exception:
        """Map an error in a response with HTTP 200, as routers forward errors of their servers."""
        code, message = error.get("code"), self.calls.clean(str(error.get("message", "")))[:200]
        if code == 429:
            return Unanswered("rate_limited", f"too many requests: {message}")
        if isinstance(code, int) and 400 <= code < 500 and code not in (408, 409):
            return Refused(code, message)
        return Unanswered("server_errors", f"an error instead of an answer: {message}")

    # -------------------------------------------------------- tokens before any call

    def count(self, asks: Sequence[Ask]) -> tuple[int, bool]:
        """Input tokens of calls, and whether the endpoint's tokenizer counted them (else estimated)."""
        if not asks:
            return 0, True
        sample, total = asks[:: -(-len(asks) // _COUNTED)], sum(map(estimated, asks))
        try:
            exact = sum(map(self._tokens, sample))
        except Exception:  # a plan needs no server
            return total, False
        return round(exact * total / sum(map(estimated, sample))), True

    def _tokens(self, ask: Ask) -> int:
        """Count the tokens of a prompt with the API of vLLM (one request) or llama.cpp (two)."""
        messages = [{"role": role, "content": text} for role, text in ask.messages]
        root = str(self.calls.client.base_url).rstrip("/").removesuffix("/v1")

        def post(path: str, body: object) -> dict[str, Any]:
            response: dict[str, Any] = self.calls.client.post(
                f"{root}/{path}", cast_to=object, body=body, options={"timeout": 10.0}
            )
            return response

        counted = post("tokenize", {"model": self.model, "messages": messages, "content": ""})
        if "count" in counted:
            return int(counted["count"])
        prompt = post("apply-template", {"messages": messages})["prompt"]
        body = {"content": prompt, "add_special": True, "parse_special": True}
        return len(post("tokenize", body)["tokens"])


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _seconds(headers: Mapping[str, str]) -> float | None:
    """The delay in a Retry-After header: seconds, or a date."""
    delay = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(delay))
    with suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(delay).timestamp() - time.time())
    return None


def _refused_connection(fault: BaseException | None) -> bool:
    """Whether the connection could not be opened."""
    while fault is not None and not (
        isinstance(fault, (ConnectionRefusedError, socket.gaierror))
        or type(fault).__name__ == "ConnectTimeout"
    ):  # of the client's HTTP library
        fault = fault.__cause__ or fault.__context__
    return fault is not None
