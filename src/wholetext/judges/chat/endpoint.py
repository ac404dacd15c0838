"""A chat model behind any OpenAI-compatible endpoint: calls in parallel, tried again, each answer kept at once."""

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

LARGEST = 4_000_000  # bytes of an answer that are read
LONGEST_WAIT = 600.0  # seconds that a Retry-After may ask for
_FIRST_WAIT, _MOST_WAIT = 0.5, 60.0  # seconds: exponential backoff between these
_BILLED = ("timeouts", "broken")  # calls without an answer that may have been answered, and billed
_TOO_LONG = "too long for this model (use a smaller view, or a larger context on the server): "
_COUNTED = 200  # prompts that an endpoint's tokenizer counts for a plan; the rest by their length


class Planned(NamedTuple):
    """The calls that a metric would make."""

    chat: Chat
    first: list[Ask]
    later: list[
        Ask
    ]  # their text depends on answers; where these are not known, as if no error was listed
    again: Mapping[
        Ask, Ask
    ]  # each call → the one that follows if its answer cannot be read, which it will quote


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
    """A chat model under fixed sampling parameters; ``id`` leaves out the endpoint, which is not what answers."""

    def __init__(self, model: str, sampling: Sampling, calls: Calls) -> None:
        self.model, self.sampling, self.calls = model, sampling, calls
        self.id = f"chat:{model}:{json.dumps(sampling._asdict(), sort_keys=True)}"
        self._limit = "max_tokens"  # newer models of OpenAI's call it max_completion_tokens

    def fit(self, x: Ask) -> Fit:
        return Fit(estimated(x))

    def run(self, batch: Sequence[Ask]) -> list[Answer]:
        return self.arrive(batch, lambda ask, answer: None)

    def pack(self, output: Answer) -> bytes:
        return json.dumps(output).encode()

    def unpack(self, data: bytes) -> Answer:
        return Answer(*json.loads(data))

    def body(self, ask: Ask, schema: bool = True) -> dict[str, Any]:
        """The request as it is sent; with the schema of its answer, unless the endpoint takes none."""
        how = self.sampling
        seed = None if how.seed is None else how.seed + ask.sample
        given = {
            "temperature": how.temperature,
            "top_p": how.top_p,
            "seed": seed,
            self._limit: how.max_tokens,
        }
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in ask.messages],
        }
        body |= {name: value for name, value in given.items() if value is not None}
        if ask.schema and schema and self.model not in self.calls.unstructured:
            form = {"name": "answer", "strict": True, "schema": json.loads(ask.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    # -------------------------------------------------------- many calls

    def arrive(self, inputs: Sequence[Ask], keep: Callable[[Ask, Answer], None]) -> list[Answer]:
        """All answers; each is passed to ``keep`` when it arrives. If a call fails permanently, the budget is
        reached or the user interrupts, calls in flight are completed and their answers stored."""
        found: dict[Ask, Answer] = {}
        in_flight: dict[Future[Answer], tuple[Ask, float]] = {}
        self._check_price()

        def collect(done: set[Future[Answer]]) -> None:
            for future in done:
                ask, _ = in_flight.pop(future)
                answer = found[ask] = future.result()
                if not answer.problem:
                    keep(ask, answer)

        self.calls._stop.clear()
        left = list(dict.fromkeys(inputs))[::-1]
        if left:
            _ = (
                self.calls.client
            )  # no key, no such URL, no package: an error of the run, and not of each call
        with ThreadPoolExecutor(self.calls.parallel) as pool:
            try:
                while left or in_flight:
                    while left and len(in_flight) < self.calls.parallel:
                        cost = self._worst(left[-1])
                        reserved = sum(one for _, one in in_flight.values())
                        self._check_budget(cost, reserved, in_flight, collect, len(left))
                        ask = left.pop()
                        in_flight[pool.submit(self._ask, ask)] = (ask, cost)
                    collect(wait(in_flight, return_when=FIRST_COMPLETED)[0])
            finally:
                self.calls._stop.set()  # nothing is tried again; what is under way is paid for
                for future in list(in_flight):
                    with suppress(ModelError):
                        future.exception()
                        collect({future})
        return [found[ask] for ask in inputs]

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
        reserved: float,
        futures: Mapping[Future[Answer], Any],
        collect: Callable[[set[Future[Answer]]], None],
        left: int,
    ) -> None:
        """Raise before a call that could exceed the budget, after waiting for the cost of calls in flight."""
        budget = self.calls.budget
        while budget is not None and self.calls.spent + reserved + cost > budget:
            if not futures:
                raise self._over_budget(left, cost)
            collect(wait(futures, return_when=FIRST_COMPLETED)[0])
            reserved = sum(one for _, one in futures.values())

    def _over_budget(self, left: int, cost: float) -> ModelError:
        money = f"{self.calls.spent:.4f} of {self.calls.budget:g} {self.calls.currency}".rstrip()
        many = f"{left} calls are left" if left > 1 else "a call is left"
        most = f"the next may cost up to {cost:.4f}"
        return ModelError(
            f"the budget is reached: {money} spent, and {many}; {most}",
            where=self.model,
            next="all answers are stored: run the same command with another --budget to go on",
        )

    # -------------------------------------------------------- one call

    def _ask(self, ask: Ask) -> Answer:
        """One answer, after as many retries as it takes and is allowed."""
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
        if kind == "unreachable":  # the others would wait as long, each in its turn
            raise ModelError(
                "the endpoint no longer responds",
                where=self.calls.host,
                next="all answers so far are stored: run the same command again to go on",
            )
        return Answer(problem=last)

    def _check_retry(self, ask: Ask, kind: str) -> None:
        """Raise instead of retrying if a failed call, which may have been billed, could have used up the budget."""
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
                self._limit = (
                    "max_completion_tokens"  # others under way may have been sent with the old name
                )
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
        """Ask without a schema. Only where that is answered was the schema the reason: a text may be too long."""
        answer = self._once(ask, schema=False)
        if not answer.problem and self.model not in self.calls.unstructured:
            self.calls.unstructured.add(self.model)
            self.calls.note(unstructured=1)
        return answer

    def _send(self, body: dict[str, Any]) -> tuple[bytes, str]:
        """The bytes of an answer, of which only so many are read, for so long."""
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
        except Exception as fault:  # also the HTTP library's own, while the body is read
            problem = self._broken(fault)
        raise problem  # not inside: the client's error may quote the key, and would be kept as the context of ours

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
        """What to do about an error of the server's: try again, give up, or do without this answer."""
        status, body = int(fault.status_code), fault.body if isinstance(fault.body, dict) else {}
        said = self.calls.clean(str(body.get("message", "")))[:200]
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
                "server_errors", f"HTTP {status}: {said}", _seconds(fault.response.headers)
            )
        return Refused(status, said)

    def _answer(self, data: bytes, problem: str, *, structured: bool) -> Answer:
        """The answer in the body of a response; one of another shape is an answer without text."""
        if problem:
            return Answer(finish="length", structured=structured)
        try:
            value = read_json(data.decode("utf-8", "replace"), unique=False)
        except InputError:
            raise Unanswered("broken", "the body of the answer is not JSON") from None
        body = value if isinstance(value, dict) else {}
        choices, usage = body.get("choices"), body.get("usage")
        if isinstance(body.get("error"), dict) and not choices:
            raise self._error_of_body(body["error"])
        choice = (
            choices[0]
            if isinstance(choices, list) and choices and isinstance(choices[0], dict)
            else {}
        )
        message = choice["message"] if isinstance(choice.get("message"), dict) else {}
        used = [
            usage.get(name) if isinstance(usage, dict) else 0
            for name in ("prompt_tokens", "completion_tokens")
        ]
        text, model, fingerprint, finish, refusal = (
            self.calls.clean(one) if isinstance(one, str) else ""
            for one in (
                message.get("content"),
                body.get("model"),
                body.get("system_fingerprint"),
                choice.get("finish_reason"),
                message.get("refusal"),
            )
        )
        tokens = [one if isinstance(one, int) and 0 <= one < 10**9 else 0 for one in used]
        return Answer(text, model, fingerprint, finish, refusal, tokens[0], tokens[1], structured)

    def _error_of_body(self, error: Mapping[str, Any]) -> Exception:
        """Handle an error in a response with HTTP 200: routers forward errors of their servers this way."""
        code, said = error.get("code"), self.calls.clean(str(error.get("message", "")))[:200]
        if code == 429:
            return Unanswered("rate_limited", f"too many requests: {said}")
        if isinstance(code, int) and 400 <= code < 500 and code not in (408, 409):
            return Refused(code, said)
        return Unanswered("server_errors", f"an error instead of an answer: {said}")

    # -------------------------------------------------------- tokens before any call

    def count(self, asks: Sequence[Ask]) -> tuple[int, bool]:
        """Input tokens of calls, and whether the endpoint's own tokenizer counted them; else four bytes are a token."""
        if not asks:
            return 0, True
        step = -(-len(asks) // _COUNTED)
        some = asks[::step]
        try:
            exact = sum(map(self._tokens, some))
        except Exception:  # whatever is at the endpoint, or nothing: a plan needs no server
            return sum(map(estimated, asks)), False
        return round(exact * sum(map(estimated, asks)) / sum(map(estimated, some))), True

    def _tokens(self, ask: Ask) -> int:
        """Tokens of a prompt by a server that offers to count: vLLM in one request, llama.cpp in two."""
        messages = [{"role": role, "content": text} for role, text in ask.messages]
        root = str(self.calls.client.base_url).rstrip("/").removesuffix("/v1")

        def post(path: str, body: object) -> dict[str, Any]:
            found: dict[str, Any] = self.calls.client.post(
                f"{root}/{path}", cast_to=object, body=body, options={"timeout": 10.0}
            )
            return found

        with suppress(KeyError):
            return int(
                post("tokenize", {"model": self.model, "messages": messages, "content": ""})[
                    "count"
                ]
            )
        prompt = post("apply-template", {"messages": messages})["prompt"]
        return len(
            post("tokenize", {"content": prompt, "add_special": True, "parse_special": True})[
                "tokens"
            ]
        )


def _seconds(headers: Mapping[str, str]) -> float | None:
    """What Retry-After says: seconds, or a date."""
    said = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(said))
    with suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    return None


def _refused_connection(fault: BaseException | None) -> bool:
    """Whether a connection could not even be opened."""
    while fault is not None and not (
        isinstance(fault, (ConnectionRefusedError, socket.gaierror))
        or type(fault).__name__ == "ConnectTimeout"
    ):  # of the client's HTTP library
        fault = fault.__cause__ or fault.__context__
    return fault is not None
