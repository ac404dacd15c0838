"""A chat model behind an endpoint: what is tried again, what is kept, what is paid."""

from __future__ import annotations

import base64
import gzip
import threading
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.judges.scripted import ScriptedServer, completion
from wholetext.errors import InputError, ModelError
from wholetext.judges import chat as endpoint
from wholetext.judges.chat import Answer, Ask, Calls, Chat, Sampling

SCHEMA = '{"type": "object"}'


def asks(many: int) -> list[Ask]:
    return [Ask((("user", f"text {i}"),)) for i in range(many)]


def chat(server: ScriptedServer, **settings: Any) -> Chat:
    return Chat("m", Sampling(), Calls(endpoint=server.url, **settings))


def echo(body: Mapping[str, Any], number: int) -> str:
    return str(body["messages"][-1]["content"])


def test_answers_come_in_the_order_of_the_calls_whatever_order_they_arrive_in() -> None:
    def reply(body: Mapping[str, Any], number: int) -> str:
        time.sleep(0.02 * (hash(echo(body, number)) % 3))
        return echo(body, number)

    with ScriptedServer(reply) as server:
        found = chat(server, parallel=4).run(asks(12))
        with pytest.raises(InputError, match="no price of the model m"):
            chat(server, budget=1.0).run(asks(1))
    assert [answer.text for answer in found] == [f"text {i}" for i in range(12)]
    assert found[0] == Answer("text 0", "scripted-1", "fp_1", "stop", "", 10, 2)


def test_what_is_sent_is_what_the_body_says() -> None:
    how = Sampling(temperature=0.7, top_p=None, seed=5, max_tokens=9)
    with ScriptedServer(echo) as server:
        model = Chat("m", how, Calls(endpoint=server.url))
        ask = Ask((("system", "s"), ("user", "u")), SCHEMA, sample=2)
        model.run([ask])
        assert server.asked == [model.body(ask)]
    assert server.asked[0]["seed"] == 7 and "top_p" not in server.asked[0] and server.asked[0]["max_tokens"] == 9
    assert server.asked[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_retry_after_is_honoured_by_all_calls() -> None:
    times: list[float] = []

    def reply(body: Mapping[str, Any], number: int) -> Any:
        times.append(time.monotonic())
        return (429, {}, {"Retry-After": "0.4"}) if len(times) == 1 else "ok"

    with ScriptedServer(reply) as server:
        chat(server, parallel=1).run(asks(2))
    assert times[1] - times[0] >= 0.4
    with ScriptedServer(lambda body, number: (429, {}, {"Retry-After": "100000"})) as server:
        (answer,) = chat(server).run(asks(1))
    assert answer.problem == "too many requests (HTTP 429)" and len(server.asked) == 1


def test_backoff_grows_and_is_jittered(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0)
            return False

    monkeypatch.setattr(endpoint, "_FIRST_WAIT", 0.5)
    with ScriptedServer(lambda body, number: (500, {})) as server:
        model = chat(server, retries=4)
        model.calls._stop = Stop()
        model.run(asks(1))
    slept = [wait for wait in waits if wait > 0]
    assert len(slept) == 4
    assert all(0.25 * 2**i <= wait <= 0.75 * 2**i for i, wait in enumerate(slept))


@pytest.mark.parametrize("status", [400, 200])  # routers report errors with status 200
def test_a_refused_request_is_not_tried_again_and_not_kept(status: int) -> None:
    with ScriptedServer(lambda body, number: (status, {"error": {"code": 400, "message": "odd"}})) as server:
        kept: list[Ask] = []
        (answer,) = chat(server).arrive(asks(1), lambda ask, answer: kept.append(ask))
    assert answer.problem == "HTTP 400: odd" and len(server.asked) == 1 and not kept


def test_an_endpoint_without_schemas_is_asked_without_them() -> None:
    def reply(body: Mapping[str, Any], number: int) -> Any:
        return (400, {"error": {"message": "response_format?"}}) if "response_format" in body else "85"

    with ScriptedServer(reply) as server:
        model = chat(server, parallel=1)
        found = model.run([ask._replace(schema=SCHEMA) for ask in asks(3)])
    assert [(answer.text, answer.structured) for answer in found] == [("85", False)] * 3
    assert len(server.asked) == 4 and model.calls.unstructured == {"m"}


def test_calls_that_were_sent_at_a_time_all_learn_the_new_name_and_keep_their_schema() -> None:
    """The first refusal must not make the others, sent with the old name as well, look like refusals of the schema."""
    together = threading.Barrier(4)

    def reply(body: Mapping[str, Any], number: int) -> Any:
        if "max_tokens" not in body:
            return "85"
        together.wait(60)
        return 400, {"error": {"message": "use max_completion_tokens"}}

    with ScriptedServer(reply) as server:
        model = chat(server, parallel=4)
        found = model.run([ask._replace(schema=SCHEMA) for ask in asks(4)])
    assert [(answer.text, answer.structured) for answer in found] == [("85", True)] * 4 and not model.calls.unstructured


def test_a_text_that_is_too_long_does_not_take_the_schema_from_the_others() -> None:
    def reply(body: Mapping[str, Any], number: int) -> Any:
        return (400, {"error": {"message": "exceeds the context"}}) if echo(body, 0) == "text 0" else "85"

    with ScriptedServer(reply) as server:
        model = chat(server, parallel=1)
        found = model.run([ask._replace(schema=SCHEMA) for ask in asks(3)])
    assert found[0].problem.startswith("HTTP 400: too long for this model (use a smaller view")
    assert [answer.structured for answer in found[1:]] == [True, True] and not model.calls.unstructured


@pytest.mark.parametrize(("status", "words"), [(401, "OPENAI_API_KEY"), (403, "refused access"), (404, "no model 'm'")])
def test_what_no_call_can_mend_stops_the_run(status: int, words: str) -> None:
    with ScriptedServer(lambda body, number: (status, {"error": {"message": "no"}})) as server:
        with pytest.raises(ModelError, match=words):
            chat(server, parallel=2).run(asks(20))
        assert len(server.asked) <= 4


@pytest.mark.parametrize(("url", "words"), [
    ("", r"no endpoint for chat models\n.*OPENAI_API_KEY for OpenAI, or --endpoint"), ("localhost:8080", "not an http"),
])  # fmt: skip
def test_without_an_endpoint_the_run_stops_before_any_call(
    url: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    calls = Calls(endpoint=url)
    with pytest.raises(ModelError, match=words):
        Chat("m", Sampling(), calls).run(asks(3))
    assert not calls.counts and Chat("m", Sampling(), calls).run([]) == []


def test_a_server_that_goes_away_stops_the_run_after_the_retries_and_costs_nothing(tmp_path: Path) -> None:
    with ScriptedServer(echo) as server:
        url = server.url
    calls = Calls(url, retries=2, budget=9, prices=prices(tmp_path))
    with pytest.raises(ModelError, match="the endpoint does not respond"):  # at once: it never answered
        Chat("m", Sampling(), calls).run(asks(3))
    assert not calls.counts["judge_retries"]
    calls.counts.clear()
    calls.note(answers=1)  # it answered before
    with pytest.raises(ModelError, match=r"does not respond\n.*all answers so far are stored"):
        Chat("m", Sampling(max_tokens=4), calls).run(asks(300))
    assert not calls.spent and 3 <= calls.counts["judge_unreachable"] <= 8 * 3 and not calls.counts["judge_broken"]


@pytest.mark.parametrize(("code", "kind"), [(429, "rate_limited"), (502, "server_errors"), ("x", "server_errors")])
def test_an_error_that_comes_with_status_200_is_no_answer(code: Any, kind: str) -> None:
    """As routers report those of the servers behind them: it is tried again, and never stored."""
    def reply(body: Mapping[str, Any], number: int) -> Any:
        return (200, {"error": {"code": code, "message": "overloaded"}}) if number < 3 else "ok"

    kept: list[str] = []
    with ScriptedServer(reply) as server:
        model = chat(server)
        model.arrive(asks(1), lambda ask, answer: kept.append(answer.text))
    assert kept == ["ok"] and model.calls.counts[f"judge_{kind}"] == model.calls.counts["judge_retries"] == 2


@pytest.mark.parametrize(("status", "limit"), [(200, "LARGEST"), (400, "LARGEST_ERROR"), (500, "LARGEST_ERROR")])
def test_no_more_of_an_answer_or_error_is_read_than_the_limit(
    status: int, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, limit, 10_000)
    message = {"error": {"message": "x" * 20_000}} if status > 200 else {}
    with ScriptedServer(lambda body, number: (status, completion("x" * 20_000, **message))) as server:
        (answer,) = chat(server, retries=0).run(asks(1))
    assert answer.text == "" and (answer.finish == "length") == (status == 200)
    assert answer.problem == ("" if status == 200 else f"HTTP {status}: no message")


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_compressed_body_is_never_decompressed(status: int) -> None:
    """194 KB that expand to 4.9 GB cost little memory, whether they are an answer or an error."""
    bomb = gzip.compress(gzip.compress(b"0" * 200_000_000, 1))
    headers = {"Content-Encoding": "gzip, gzip"}
    with ScriptedServer(lambda body, number: (status, bomb, headers)) as server:
        tracemalloc.start()
        (answer,) = chat(server, retries=0).run(asks(1))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert answer.text == "" and answer.problem == ("" if status == 200 else f"HTTP {status}: no message")
    assert peak < 20_000_000 and server.headers[0]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
@pytest.mark.parametrize(("status", "words"), [*((status, "redirects") for status in (301, 302, 303, 307, 308)),
                                               (401, "refused access")])  # fmt: skip
def test_no_redirect_is_followed_and_compression_hides_no_status(
    status: int, words: str, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts and the key go to the host that the user named, and to no other."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with ScriptedServer(echo) as other:
        moved = (status, b"x" * 100, {**headers, "Location": f"{other.url}/chat/completions"})
        with (
            ScriptedServer(lambda body, number: moved) as server,
            pytest.raises(ModelError, match=rf"the endpoint {words}.*\n.*(--endpoint|OPENAI_API_KEY)"),
        ):
            chat(server).run(asks(1))
    assert not other.asked and len(server.asked) == 1


# ---------------------------------------------------------------- kept and paid


def prices(folder: Path) -> Path:
    (folder / "prices.toml").write_text('currency = "USD"\n[models.m]\ninput = 1000\noutput = 10000\n', "utf-8")
    return folder / "prices.toml"


def test_the_budget_is_never_exceeded_and_what_was_paid_is_kept(tmp_path: Path) -> None:
    kept: list[Ask] = []
    with ScriptedServer(echo) as server:  # an answer costs 10 · 0.001 + 2 · 0.01 = 0.03
        model = Chat("m", Sampling(max_tokens=4), Calls(server.url, parallel=4, budget=0.5, prices=prices(tmp_path)))
        with pytest.raises(ModelError, match=r"0\.4\d+ of 0\.5 USD spent; the next .* 0\.04"):
            model.arrive(asks(100), lambda ask, answer: kept.append(ask))
    assert len(kept) == len(server.asked) and model.calls.spent == pytest.approx(0.03 * len(kept))
    assert 0.5 - 2 * 0.05 < model.calls.spent <= 0.5


def test_calls_that_time_out_are_not_asked_again_beyond_the_budget(tmp_path: Path) -> None:
    """They may have been billed: each counts in full, and retries stop where the budget does."""
    waiting = threading.Event()

    def reply(body: Mapping[str, Any], number: int) -> str:
        waiting.wait(60)
        return "late"

    with ScriptedServer(reply) as server:  # at most 3 bytes · 0.001 + 4 · 0.01 = 0.043 each
        calls = Calls(server.url, parallel=2, budget=0.2, prices=prices(tmp_path), timeout=0.05, retries=50)
        with pytest.raises(ModelError, match=r"budget is reached: 0\.[12]\d+ of 0\.2 USD spent"):
            Chat("m", Sampling(max_tokens=4), calls).run(asks(2))
        waiting.set()
    assert len(server.asked) <= 6 and calls.spent <= 0.2 + 2 * 0.043


def test_every_answer_is_stored_the_moment_it_arrives_and_calls_under_way_are_finished() -> None:
    kept: list[str] = []

    def keep(ask: Ask, answer: Answer) -> None:
        kept.append(answer.text)
        if len(kept) == 5:
            raise KeyboardInterrupt

    def reply(body: Mapping[str, Any], number: int) -> str:
        time.sleep(0.01)
        return echo(body, number)

    with ScriptedServer(reply) as server:
        with pytest.raises(KeyboardInterrupt):
            chat(server, parallel=4).arrive(asks(50), keep)
        assert len(kept) == len(server.asked) < 15


PRICES = 'currency = "EUR"\n[models."gpt"]\ninput = 0.5\noutput = 2\n'


def test_costs_are_those_of_the_price_table(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    calls = Calls(prices=tmp_path / "prices.toml")
    assert calls.cost("gpt", 1_000_000, 10_000) == pytest.approx(0.52)
    assert calls.currency == "EUR" and calls.cost("another", 1, 1) is None
    assert Calls().cost("gpt", 1, 1) is None


@pytest.mark.parametrize("text", ["models = 3", '[models.a]\ninput = "1"', "[models.a]\ninput = -1\noutput = 1", "[[",
                                  "[models.a]\ninput = nan\noutput = 1"])
def test_a_price_table_of_another_shape_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match="price table reads"):
        _ = Calls(prices=tmp_path / "prices.toml").table


def test_an_endpoint_is_named_without_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    calls = Calls(endpoint="http://user:secret@example.org:8000/token/v1")
    assert calls.client.base_url.host == "example.org" and "secret" not in f"{calls!r} {calls.client.base_url}"


def test_a_password_in_the_url_is_sent_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    with ScriptedServer(lambda body, number: "85") as server:
        calls = Calls(endpoint=server.url.replace("http://", "http://user:sec%20ret@"))
        Chat("m", Sampling(), calls).run([Ask((("user", "x"),))])
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["authorization"] == "Basic " + base64.b64encode(b"user:sec ret").decode()
    assert "sec%20ret" not in caplog.text and "HTTP Request" in caplog.text


@pytest.mark.parametrize("wrong", [{"parallel": 0}, {"retries": -1}, {"timeout": 0}, {"budget": -1}])
def test_settings_that_cannot_work_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Calls(**wrong)  # type: ignore[arg-type]
