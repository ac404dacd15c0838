"""The interface over HTTP, without a socket: forms, JSON, files, errors, limits."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.in_process import call
from tests.serving.serving_material import BAD, DOCUMENTS, GOOD, REF, client_of, until
from wholetext.serving.scheduler import Scheduler

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[TestClient]:
    with client_of(tmp_path / "data", upload=100_000, waiting=3) as client:
        yield client


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the server that works."""
    return tmp_path_factory.mktemp("served") / "data"


@pytest.fixture(scope="module")
def working(served: Path) -> Iterator[TestClient]:
    with client_of(served, Scheduler) as client:
        yield client


def upload(client: TestClient, **fields: Any) -> Any:
    files = [("ref", ("A.txt", REF)), ("hyp", ("good.txt", GOOD)), ("hyp", ("bad.txt", BAD))]
    return client.post("/v1/jobs", data={"metric": "chrf", **fields}, files=files)


def test_from_the_upload_to_the_zip_file(working: TestClient) -> None:
    answer = upload(working, title="a first try", langs="de-en")
    assert answer.status_code == 202 and answer.json()["state"] == "waiting"
    place = f"/v1/jobs/{answer.json()['id']}"
    until(lambda: working.get(place).json()["state"] == "done", "the job")
    job = working.get(place).json()
    assert job["title"] == "a first try" and job["error"] == "" and job["metrics"] == ["chrf"]
    assert [job["id"] for job in working.get("/v1/jobs").json()["jobs"]] == [job["id"]]
    scores = working.get(f"{place}/results").json()["metrics"][0]["systems"]
    assert {entry["system"]: entry["score"] for entry in scores}["good"] == 100.0
    with zipfile.ZipFile(io.BytesIO(working.get(f"{place}/run.zip").content)) as packed:
        assert "run/run.json" in packed.namelist() and packed.testzip() is None
    report = working.get(f"{place}/report")
    policy = report.headers["content-security-policy"]
    assert policy.endswith("sandbox allow-scripts allow-downloads") and "wholetext report" in report.text
    (own,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]+)">', report.text)
    assert "default-src 'none'" in own and "connect-src" not in own
    assert working.delete(place).status_code == 204
    assert working.get(place).status_code == working.get(f"{place}/report").status_code == 404


def test_files_of_the_server_can_be_chosen(working: TestClient, served: Path) -> None:
    (served / "files" / "set").mkdir()
    (served / "files" / "set" / "human.txt").write_text(REF)
    assert working.get("/v1/metrics").json()["files"] == ["set/human.txt"]
    answer = working.post("/v1/jobs", data={"ref-file": "set/human.txt"},
                          files=[("hyp", ("good.txt", GOOD))])
    place = f"/v1/jobs/{answer.json()['id']}"
    until(lambda: working.get(place).json()["state"] == "done", "the job")
    scores = working.get(f"{place}/results").json()["metrics"]
    assert [entry["name"] for entry in scores] == ["chrf", "bleu"]  # as `wholetext score` chooses where none is named
    (system,) = working.get(f"{place}/results").json()["metrics"][0]["systems"]
    assert system["system"] == "good" and system["score"] == 100.0 and "refs:human" in system["signature"]
    assert working.delete(place).status_code == 204


def test_scores_as_the_command_line_prints_them(
    working: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example, *_ = re.findall(r"```json\n(.+?)```", (ROOT / "docs" / "serve.md").read_text("utf-8"), re.S)
    answer = working.post("/v1/score", json=json.loads(example))
    assert answer.status_code == 200 and [entry["name"] for entry in answer.json()["metrics"]] == ["chrf", "whole:chrf"]
    answer = working.post("/v1/score", json={"documents": DOCUMENTS, "metrics": ["chrf", "ter"], "langs": "de-en"})
    assert answer.status_code == 200, answer.text
    (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)) + "\n")
    code, printed, _ = call(capsys, "score", tmp_path / "documents.jsonl", "-m", "chrf", "ter", "-l", "de-en", "--json")
    assert code == 0 and answer.json() == json.loads(printed)
    assert not [job for job in working.get("/v1/jobs").json()["jobs"] if job["title"] == "/v1/score"]  # nothing is left


def test_errors_of_jobs_reach_programs(working: TestClient) -> None:
    answer = working.post("/v1/score", json={"documents": [{"doc": "d", "outputs": {"s": ["a"]}}], "metrics": ["chrf"]})
    assert answer.status_code == 422 and "needs a reference" in answer.json()["error"]
    answer = working.post("/v1/score", json={"documents": DOCUMENTS, "metrics": ["chrff"]})
    assert answer.status_code == 400 and "chrf" in answer.json()["next"]
    assert working.post("/v1/score", content=b"{").status_code == 400


def test_errors_of_forms(quiet: TestClient, tmp_path: Path) -> None:
    wrong = [({"metric": "comet@/etc/passwd"}, "may not name files"), ({"src-file": "../jobs.sqlite"}, "no file"),
             ({"metric": "judge-da"}, "not served")]  # fmt: skip
    for fields, said in wrong:
        answer = upload(quiet, **fields)
        assert answer.status_code == 400 and said in answer.json()["error"], fields
    assert quiet.post("/v1/jobs", content=b"x").status_code == 400
    assert quiet.get("/v1/jobs").json() == {"jobs": []}
    assert list((tmp_path / "data" / "jobs").iterdir()) == []  # refused uploads leave nothing


def test_limits(quiet: TestClient, tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:  # no length is announced
        yield b'--edge\r\nContent-Disposition: form-data; name="hyp"; filename="a"\r\n\r\n'
        for _ in range(1000):
            yield b"x" * 1000

    kind = {"content-type": "multipart/form-data; boundary=edge"}
    for answer in (quiet.post("/v1/jobs", files={"hyp": ("a.txt", "x" * 200_000)}),
                   quiet.post("/v1/jobs", content=pieces(), headers=kind), quiet.post("/v1/score", content=pieces())):
        assert answer.status_code == 413 and "100,000 bytes" in answer.json()["error"]
        assert answer.headers["connection"] == "close"
    assert list((tmp_path / "data" / "jobs").iterdir()) == []
    assert [upload(quiet).status_code for _ in range(4)] == [202, 202, 202, 429]
    full = quiet.post("/v1/score", json={"documents": DOCUMENTS})
    assert full.status_code == 429 and "lets 3 jobs wait" in full.json()["error"]
    place = f"/v1/jobs/{quiet.get('/v1/jobs').json()['jobs'][0]['id']}"
    for name in ("results", "run.zip", "report"):
        answer = quiet.get(f"{place}/{name}")
        assert answer.status_code == 409 and "waiting" in answer.json()["error"]
    assert quiet.delete(place).json()["state"] == "cancelled" and upload(quiet).status_code == 202
    assert quiet.delete(place).status_code == 204 and quiet.get(place).status_code == 404  # now it is removed


@pytest.mark.parametrize("path", [
    "/v1/jobs/..%2f..%2fjobs.sqlite", "/v1/jobs/../../jobs.sqlite", "/assets/..%2f..%2fapp.py",
    "/v1/jobs/%2e%2e/results", "/v1/jobs/x/run.zip", "/v1/jobs/" + "a" * 32 + "/report", "/jobs.sqlite", "/etc/passwd",
    "/assets/%2fetc%2fpasswd", "/v1/jobs/" + "a" * 32 + "/..%2f..%2fjobs.sqlite", "/files/x", "//etc/passwd",
])  # fmt: skip
def test_paths_lead_nowhere_else(quiet: TestClient, path: str) -> None:
    answer = quiet.get(path, follow_redirects=False)
    assert answer.status_code == 404 and b"SQLite" not in answer.content and b"root:" not in answer.content
    assert quiet.delete(path, follow_redirects=False).status_code in (404, 405)


def test_pages_and_assets(quiet: TestClient) -> None:
    known = quiet.get("/v1/metrics").json()
    assert known["upload"] == 100_000 and "whole" in known["views"] and "learned" not in known["metrics"]
    page = quiet.get("/")
    assert page.headers["content-type"].startswith("text/html") and "style=" not in page.text
    for name in ("app.js", "app.css", "theme.css", "login.js"):
        asset = quiet.get(f"/assets/{name}")
        assert asset.status_code == 200 and "innerHTML" not in asset.text and "http://" not in asset.text
