"""Calls to chat models: settings, prices, keys."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.judges.scripted import ScriptedServer
from wholetext.errors import InputError
from wholetext.judges.chat import Ask, Calls, Chat, Sampling

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
