"""Who may ask: names, origins, tokens; the headers of every answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.serving.serving_material import client_of
from wholetext.serving import app
from wholetext.serving.access import COOKIE, POLICY

TOKEN = "a-long-enough-token"
HERE = "http://127.0.0.1:8765"
ADDRESS = "http://192.168.1.5:8765"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A server that others can reach."""
    with client_of(tmp_path / "data", address=ADDRESS, host="0.0.0.0", token=TOKEN) as client:
        yield client


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server on loopback without a token, whose list of metrics fails."""
    monkeypatch.setattr(app, "offered_metrics", lambda: 1 / 0)
    with client_of(tmp_path / "local") as client:
        yield client


def test_nothing_without_the_token(client: TestClient) -> None:
    paths = ("/v1/jobs", "/v1/metrics", "/v1/jobs/x", "/v1/jobs/x/report", "/v1/jobs/x/run.zip")
    changes = [("POST", "/v1/jobs"), ("POST", "/v1/score"), ("POST", "/v1/preview"), ("DELETE", "/v1/jobs/x")]
    for method, path in [*(("GET", path) for path in paths), *changes]:
        for headers in ({}, {"authorization": "Bearer wrong-token-entirely"}, {"authorization": f"Basic {TOKEN}"},
                        {"authorization": TOKEN}, {"cookie": f"{COOKIE}={TOKEN}"}, {"cookie": "\x01=;;"}):  # fmt: skip
            answer = client.request(method, path, headers=headers)
            assert answer.status_code == 401 and "token" in answer.json()["error"], (method, path, headers)
            assert TOKEN not in answer.text
    page = client.get("/", follow_redirects=False)
    assert page.status_code == 303 and page.headers["location"] == "/login"
    assert client.get("/v1/jobs", headers={"authorization": f"Bearer {TOKEN}"}).json() == {"jobs": []}


def test_browsers_exchange_it_for_a_cookie(client: TestClient) -> None:
    assert "Token" in client.get("/login").text
    for wrong in ("Bearer a-long-enough-tokem", "Bearer", "", TOKEN):
        refused = client.post("/login", headers={"authorization": wrong})
        assert refused.status_code == 401 and "set-cookie" not in refused.headers
    right = client.post("/login", headers={"authorization": f"Bearer {TOKEN}"})
    cookie = right.headers["set-cookie"]
    assert right.status_code == 200 and "HttpOnly" in cookie and "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert client.get("/v1/jobs").status_code == 200  # the client kept the cookie


@pytest.mark.parametrize("headers", [
    {"origin": "http://evil.org"}, {"origin": "null"}, {"origin": "http://["},
    {"origin": "http://127.0.0.1:9999"}, {"origin": "http://127.0.0.1"},
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    {"origin": HERE, "sec-fetch-site": "cross-site"},
])  # fmt: skip
def test_pages_of_other_sites_change_nothing(local: TestClient, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/v1/jobs"), ("POST", "/v1/preview"), ("DELETE", "/v1/jobs")):
        refused = local.request(method, path, headers=headers)
        assert refused.status_code == 403 and refused.headers["connection"] == "close"
    assert local.get("/v1/jobs", headers=headers).json() == {"jobs": []}
    for own in ({}, {"origin": HERE}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        assert "no form" in local.post("/v1/jobs", headers=own).json()["error"]


def test_every_answer_has_a_policy(local: TestClient, client: TestClient) -> None:
    answers = [local.get("/"), local.get("/v1/metrics"), local.get("/", headers={"host": "evil.org"}),
               local.post("/", headers={"origin": "null"}), client.get("/login"), client.get("/none"),
               client.get("/assets/app.js")]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 500, 421, 403, 200, 401, 200]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
