"""The servers that judges are tested against do what the tests rely on."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.judges import faulty, small_model
from tests.judges.counting import CountingProxy, Turnstile
from tests.judges.faulty import FaultyServer


def body(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def ask(url: str, content: dict[str, Any]) -> tuple[int, bytes]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=600)
    try:
        connection.request("POST", f"{where.path}/chat/completions", json.dumps(content))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def outcome(url: str, content: dict[str, Any]) -> str:
    """What a client without any patience sees."""
    try:
        status, data = ask(url, content)
    except (http.client.HTTPException, ConnectionError):
        return "connection"
    if status != 200:
        return str(status)
    try:
        choice = json.loads(data)["choices"][0]
        text = choice["message"]["content"]
    except ValueError:
        return "not JSON"
    except (LookupError, TypeError):
        return "schema"
    if not isinstance(text, str):
        return "refusal" if choice["message"].get("refusal") else "schema"
    return "huge" if len(text) > 100_000 else choice["finish_reason"]


EXPECTED = {
    "429": "429", "429-date": "429", "429-bare": "429", "500": "500", "502": "502", "503": "503", "hang": "connection",
    "reset": "connection", "cut-body": "connection", "cut-stream": "connection", "bad-json": "not JSON",
    "html": "not JSON", "no-choices": "schema", "empty-choices": "schema", "null-content": "schema",
    "number-content": "schema", "list-body": "schema", "no-message": "schema", "refusal-field": "refusal",
    "refusal-text": "stop", "filtered": "content_filter", "empty": "stop", "nonsense": "stop", "huge": "huge",
    "two-numbers": "stop", "cut-short": "length", "ok": "stop",
}  # fmt: skip


@pytest.mark.parametrize("kind", [*faulty.FAULTS, "ok"])
def test_every_fault_is_what_a_client_sees(kind: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        with FaultyServer(script=lambda body, attempt: kind) as server:
            seen = pool.submit(outcome, server.url, body("a b c"))
            while not server.kinds or not (kind == "hang" or seen.done()):
                time.sleep(0.002)
            assert seen.done() == (kind != "hang")  # no answer while the server runs
        assert seen.result() == EXPECTED[kind]
        answered = kind not in faulty.AGAIN
        assert server.kinds == {kind: 1} and (server.tokens[0] == 3) == answered


def test_faults_depend_on_seed_content_and_attempt_alone() -> None:
    quick = [kind for kind in faulty.FAULTS if kind not in ("hang", "huge")]
    seen = []
    for order in (1, -1, 1):
        with FaultyServer(seed=7, rate=0.5, faults=quick) as server:
            for text in [str(n % 20) for n in range(40)][::order]:
                outcome(server.url, body(text))
            seen.append((server.kinds, sorted((one.body["messages"][0]["content"], one.attempt, one.kind)
                                              for one in server.served)))  # fmt: skip
    assert seen[0] == seen[1] == seen[2]
    kinds = seen[0][0]
    assert 10 < kinds["ok"] < 30 and len(kinds) > 5


def test_the_proxy_counts_and_can_drop_a_request() -> None:
    with FaultyServer() as server, CountingProxy(server.url.removesuffix("/v1"), gate=lambda n: n != 2) as proxy:
        assert outcome(proxy.url, body("a b")) == "stop"
        assert outcome(proxy.url, body("a b")) == "connection"
        assert outcome(proxy.url, body("a b")) == "stop"
        assert proxy.arrived == 3 and [*proxy.asked.values()] == [2]
        assert proxy.tokens == (4, 2) and server.kinds == Counter(ok=2)


def test_a_turnstile_holds_what_it_does_not_let_pass() -> None:
    gate = Turnstile()
    with FaultyServer() as server, CountingProxy(server.url.removesuffix("/v1"), gate) as proxy:
        with ThreadPoolExecutor(3) as pool:
            for passing in (1, 0):
                gate.open(passing)
                seen = [pool.submit(outcome, proxy.url, body(f"a {n}")) for n in range(3)]
                gate.wait(3 - passing)
                gate.drop()
                assert sorted(one.result() for one in seen) == ["connection"] * (3 - passing) + ["stop"] * passing
        assert proxy.arrived == 6 and len(proxy.exchanges) == len(server.served) == 1


@pytest.mark.slow
def test_the_small_model_answers_alike_each_time(real: CountingProxy) -> None:
    content = body("Answer with one number from 0 to 100.", temperature=0, max_tokens=8, cache_prompt=False)
    answers = [json.loads(ask(real.url, content)[1]) for _ in range(2)]
    assert answers[0]["choices"] == answers[1]["choices"] and answers[0]["model"] == small_model.NAME
    assert real.tokens[0] == 2 * answers[0]["usage"]["prompt_tokens"] > 20
    status, data = ask(real.url, body("much " * 5000, max_tokens=8))
    assert status == 400 and b"context" in data
