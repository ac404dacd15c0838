"""Small requests: scored together, equal to the command line, with the limits and errors of the server."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.in_process import call
from tests.serving.serving_material import Running, client_of, gone, install_hold, until
from wholetext import plugins
from wholetext.scoring.single import Treatment, read_texts
from wholetext.serving import batches
from wholetext.serving.access import Refused
from wholetext.serving.batches import Batches
from wholetext.serving.settings import ServeOptions
from wholetext.serving.worker import run_batch

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [{"hyp": "He came late.", "src": "Er kam spät.", "refs": ["He was late."]},
         {"hyp": "<think>Hm.</think>The cat sat.", "src": "Die Katze saß.", "refs": ["The cat sat down."]}]  # fmt: skip


def body(texts: list[Any] = TEXTS, **more: Any) -> dict[str, Any]:
    return {"texts": texts, "metrics": ["chrf"], "langs": "de-en", **more}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(tmp_path_factory.mktemp("served") / "data", upload=1_500_000) as client:
        yield client


def scores(answer: Any, metric: int = 0) -> list[float | None]:
    assert answer.status_code == 200, answer.text
    values: list[float | None] = answer.json()["metrics"][metric]["scores"]
    return values


def test_scores_are_those_of_the_command_line(
    client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segments = [("He came late.", "He was late."), ("The cat sat.", "The cat sat down.")]
    (tmp_path / "hyp").write_text("".join(f"{hyp}\n" for hyp, _ in segments), "utf-8")
    (tmp_path / "ref").write_text("".join(f"{ref}\n" for _, ref in segments), "utf-8")
    code, *_ = call(capsys, "score", "-t", tmp_path / "hyp", "-r", tmp_path / "ref", "-l", "de-en",
                    "-m", "chrf", "-m", "bleu", "--out", tmp_path / "run")  # fmt: skip
    assert code == 0
    rows = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text("utf-8").splitlines()]
    answer = client.post("/v1/score", json=body(metrics=["chrf", "bleu"], strip=True))
    for at, metric in enumerate(("chrf", "bleu")):
        printed = [row["score"] for row in rows if row["metric"] == metric and row["level"] == "row"]
        assert len(printed) == 2 and scores(answer, at) == pytest.approx(printed, abs=1e-6)
    assert answer.json()["notes"] == ["text 2: removed: reasoning"]
    assert answer.json()["metrics"][0]["signature"].startswith("metric:chrf|view:sentence|")


def test_the_page_shows_a_request_and_its_answer(client: TestClient) -> None:
    _, sent, shown = re.findall(r"```json\n(.+?)```", (ROOT / "docs" / "serve.md").read_text("utf-8"), re.S)
    answer, expected = client.post("/v1/score", content=sent.encode()).json(), json.loads(shown)
    for part in (answer["metrics"][0], expected["metrics"][0]):
        assert part.pop("signature").startswith("metric:chrf|view:sentence|")
    assert answer == expected


def test_requests_at_once_get_their_own_scores(client: TestClient) -> None:
    expected = {word: scores(client.post("/v1/score", json=body([{"hyp": word, "refs": ["late"]}])))[0]
                for word in ("late", "later", "early", "a lot later")}  # fmt: skip
    words = [*expected] * 10
    with ThreadPoolExecutor(20) as threads:
        bodies = [body([{"hyp": word, "refs": ["late"]}]) for word in words]
        answers = threads.map(lambda sent: client.post("/v1/score", json=sent), bodies)
        assert [scores(answer)[0] for answer in answers] == [expected[word] for word in words]


@pytest.mark.parametrize(("sent", "status", "said"), [
    (body(metrics=["chrff"]), 400, "chrf"),
    (body(metrics=["sbert@/etc/passwd"]), 400, "may not name files"),
    (body(metrics=["judge-da"]), 400, "judges are not served"),
    (body(metrics=["cider"]), 400, "depend on the other texts"),
    (body(metrics=[]), 400, "no metrics"),
    (body([]), 400, "no texts"),
    (body([{"hyp": 3}]), 400, "text 1"),
    (body([{"hyp": ["a", "b"], "src": ["a"]}]), 400, "numbers of segments"),
    (body(language="wrong"), 400, "no language 'wrong'"),
    (body(langs="", language="worst"), 400, "unknown"),
    (body(langs="../x"), 400, "invalid language pair"),
    (body(strip="yes"), 400, "'strip'"),
    (body(documents=[]), 400, "'documents'"),
    (body([{"hyp": "a", "src": "b"}]), 422, "needs a reference"),
])  # fmt: skip
def test_bad_requests_say_what_and_next(client: TestClient, sent: Any, status: int, said: str) -> None:
    answer = client.post("/v1/score", json=sent)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["error"] + answer.json()["next"] and answer.json()["next"]


def test_texts_have_the_limits_of_the_server(client: TestClient, tmp_path: Path) -> None:
    large = client.post("/v1/score", json=body([{"hyp": "a " * 600_000, "refs": ["a"]}]))
    assert large.status_code == 400 and "up to 1,000,000 bytes" in large.json()["error"]
    assert client.post("/v1/score", content=b" " * 2_000_000).status_code == 413
    chunked = client.post("/v1/score", content=iter([json.dumps(body()).encode()]))
    assert chunked.status_code == 200 and len(scores(chunked)) == len(TEXTS)
    assert "error" in client.post("/v1/score", content=b'{"texts": [').json()


async def all_answers(requests: Sequence[Mapping[str, Any]], size: int, **options: Any) -> list[Any]:
    """Answers to requests that come together."""
    queue = Batches(ServeOptions(**options))
    queue.start()
    try:
        sent = (queue.answer(request, size) for request in requests)
        return await asyncio.gather(*sent, return_exceptions=True)
    finally:
        queue.close()


def test_requests_that_wait_together_are_scored_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives while a batch is scored is the next one, and each request gets its own answer."""
    sizes: list[int] = []

    def answers(_: Batches, worker: object, requests: Sequence[Mapping[str, Any]]) -> list[Any]:
        sizes.append(len(requests))
        time.sleep(0.2)
        return [Refused(422, "seven", "") if request["n"] == 7 else request["n"] for request in requests]

    monkeypatch.setattr(Batches, "_answers", answers)
    values = asyncio.run(all_answers([{"n": n} for n in range(600)], 10))
    assert [n for n in values if not isinstance(n, Refused)] == [n for n in range(600) if n != 7]
    assert isinstance(values[7], Refused) and sum(sizes) == 600 and max(sizes) == 256 and len(sizes) <= 4


def test_more_than_the_server_lets_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batches, "_answers", lambda _, worker, requests: [0 for _ in requests])
    first, second, refused = asyncio.run(all_answers([{}] * 3, 400, upload=1000))
    assert (first, second) == (0, 0) and isinstance(refused, Refused) and refused.status == 429


def test_a_bad_request_does_not_spoil_those_beside_it() -> None:
    good, bad = (read_texts([entry]) for entry in ({"hyp": "a", "refs": ["a"]}, {"hyp": "a"}))
    requests = [{"texts": texts, "metrics": ["chrf"], "how": Treatment()} for texts in (good, bad, good)]
    first, failed, last = run_batch(requests)
    assert first == last and json.loads(first)["metrics"][0]["scores"] == pytest.approx([100.0])
    assert "needs a reference" in failed.what


@pytest.mark.long
def test_a_worker_that_dies_costs_the_culprit_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    (signs / "go").touch()
    monkeypatch.setattr(batches, "PAUSE", 0.2)  # so that all arrive in one batch
    try:
        with client_of(tmp_path / "data") as client, ThreadPoolExecutor(8) as threads:
            metrics = [["hold"], ["hold(crash=true)"], ["chrf"]] * 2
            answers = list(threads.map(lambda chosen: client.post(
                "/v1/score", json=body([{"hyp": "a", "refs": ["a"]}], metrics=chosen)), metrics))  # fmt: skip
            assert [answer.status_code for answer in answers] == [200, 422, 200] * 2
            assert "exit code -9" in answers[1].json()["error"] and answers[1].json()["next"]
            assert scores(answers[0]) == [0.5]
    finally:
        plugins.installed.cache_clear()


@pytest.mark.long
def test_batches_end_with_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is being scored is answered with an error, or its connection is closed; no process is left."""
    signs = install_hold(tmp_path, monkeypatch)
    try:
        with Running(tmp_path / "data") as server:
            answers: list[Any] = []

            def ask() -> None:
                try:
                    answers.append(server.ask("/v1/score", body([{"hyp": "a"}], metrics=["hold"])))
                except OSError as fault:
                    answers.append(fault)

            asking = threading.Thread(target=ask)
            asking.start()
            began = until(lambda: [*signs.glob("began-*")], "the metric")
            server.end()
            asking.join(60)
            assert answers and until(lambda: gone(int(began[0].name.rpartition("-")[2])), "the worker")
            assert not [*(tmp_path / "data" / "jobs").iterdir()]
    finally:
        plugins.installed.cache_clear()
