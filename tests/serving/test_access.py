"""Who may ask: names, origins, tokens; the headers of every answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.serving.serving_material import client_of
from wholetext.serving.access import COOKIE, POLICY, Guard
from wholetext.serving.settings import ServeOptions

TOKEN = "a-long-enough-token"
ADDRESS = "http://192.168.1.5:8765"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A server that others can reach."""
    with client_of(tmp_path / "data", address=ADDRESS, host="0.0.0.0", token=TOKEN) as client:
        yield client


@pytest.fixture
def local() -> TestClient:
    """Any application behind the guard, on loopback without a token; it fails when asked to."""

    async def echo(request: Request) -> PlainTextResponse:
        if request.url.path == "/fault":
            raise ValueError("a fault")
        return PlainTextResponse(request.method)

    routes = [Route("/{path:path}", echo, methods=["GET", "POST", "DELETE"])]
    return TestClient(Guard(Starlette(routes=routes), ServeOptions()), base_url="http://localhost:8765",
                      raise_server_exceptions=False)


def test_nothing_without_the_token(client: TestClient) -> None:
    paths = ("/v1/jobs", "/v1/metrics", "/v1/jobs/x", "/v1/jobs/x/report", "/v1/jobs/x/run.zip")
    asked = [("GET", path) for path in paths]
    for method, path in [*asked, ("POST", "/v1/jobs"), ("POST", "/v1/score"), ("DELETE", "/v1/jobs/x")]:
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
    for wrong in ('{"token": "a-long-enough-tokem"}', '{"token": ""}', "{}", "[]", '"x"'):
        refused = client.post("/login", content=wrong)
        assert refused.status_code == 401 and "set-cookie" not in refused.headers
    assert client.post("/login", content="{").status_code == 400
    assert client.post("/login", content="x" * 20_000).status_code == 413
    right = client.post("/login", json={"token": TOKEN})
    cookie = right.headers["set-cookie"]
    assert right.status_code == 200 and "HttpOnly" in cookie and "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert client.get("/v1/jobs").status_code == 200  # the client kept the cookie


@pytest.mark.parametrize("host", ["evil.org", "evil.org:8765", "192.168.1.5", "localhost.evil.org", ""])
def test_other_names_are_refused(local: TestClient, host: str) -> None:
    answer = local.get("/", headers={"host": host})
    assert answer.status_code == 421 and "--allow-host" in answer.json()["next"]


@pytest.mark.parametrize("headers", [
    {"origin": "http://evil.org"}, {"origin": "null"}, {"origin": "http://["},
    {"origin": "http://localhost:9999"}, {"origin": "http://localhost"},
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    {"origin": "http://localhost:8765", "sec-fetch-site": "cross-site"},
])  # fmt: skip
def test_pages_of_other_sites_change_nothing(local: TestClient, headers: dict[str, str]) -> None:
    for method in ("POST", "DELETE"):
        refused = local.request(method, "/x", headers=headers)
        assert refused.status_code == 403 and refused.headers["connection"] == "close"
    assert local.get("/x", headers=headers).text == "GET"


@pytest.mark.parametrize("headers", [
    {}, {"origin": "http://localhost:8765"}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"},
])  # fmt: skip
def test_own_pages_and_programs_do(local: TestClient, headers: dict[str, str]) -> None:
    assert local.post("/x", headers=headers).text == "POST"


def test_every_answer_has_a_policy(local: TestClient, client: TestClient) -> None:
    answers = [local.get("/"), local.get("/fault"), local.get("/", headers={"host": "evil.org"}),
               local.post("/", headers={"origin": "null"}), client.get("/login"), client.get("/none"),
               client.get("/assets/app.js")]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 500, 421, 403, 200, 401, 200]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
