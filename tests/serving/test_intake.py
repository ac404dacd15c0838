"""Requests: bodies are read as they arrive and within limits; forms and JSON become jobs or clear errors."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import FormData, Headers, UploadFile

from tests.serving.serving_material import DOCUMENTS
from wholetext.errors import InputError, SpecError
from wholetext.serving import intake
from wholetext.serving.access import Refused
from wholetext.serving.intake import (
    form_request,
    json_request,
    listed_files,
    read_form,
    safe_name,
    score_fields,
)
from wholetext.serving.settings import ServeOptions

OPTIONS = ServeOptions()
TYPE = "multipart/form-data; boundary=edge"
END = b"--edge--\r\n"


class Arriving:
    """A request whose body arrives in pieces, each after a pause."""

    def __init__(self, body: bytes, piece: int = 7, kind: str = TYPE, pause: float = 0.0) -> None:
        self.headers = Headers({"content-type": kind})
        self.body, self.piece, self.pause, self.sent = body, piece, pause, 0

    async def stream(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self.body), self.piece):
            await asyncio.sleep(self.pause)
            self.sent += self.piece
            yield self.body[at : at + self.piece]


def part(name: str, value: bytes, file: str | None = None) -> bytes:
    named = f'; filename="{file}"' if file is not None else ""
    return b'--edge\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
        name.encode(), named.encode(), value)  # fmt: skip


def read(request: Any, folder: Path, limit: int = 10**6) -> FormData:
    return asyncio.run(read_form(request, folder, limit))


@pytest.mark.parametrize("piece", [1, 7, 10**6])
def test_fields_and_files(tmp_path: Path, piece: int) -> None:
    text = b"a\r\n--edg\r\nb"
    body = b"".join([part("metric", b"chrf"), part("metric", "größe".encode()), part("hyp", text, "A.txt"),
                     part("hyp", b"", "B.txt"), END])  # fmt: skip
    form = read(Arriving(body, piece), tmp_path)
    assert form.getlist("metric") == ["chrf", "größe"]
    files = [(upload.filename, Path(upload.file.name).read_bytes()) for upload in form.getlist("hyp")]  # type: ignore[union-attr]
    assert files == [("A.txt", text), ("B.txt", b"")]


@pytest.mark.parametrize(("given", "made"), [
    ("../../etc/passwd", "passwd"), ("..\\..\\x.txt", "x.txt"), (".bashrc", "bashrc"), ("a b;c.txt", "a_b_c.txt"),
    ("...", "file"), ("/", "file"), ("x" * 200, "x" * 80), ("größe.txt", "größe.txt"), ("a\0b", "a_b"),
])  # fmt: skip
def test_names_of_files_are_no_paths(tmp_path: Path, given: str, made: str) -> None:
    assert safe_name(given) == made
    upload: Any = read(Arriving(part("hyp", b"text", given) + END), tmp_path)["hyp"]
    assert Path(upload.file.name).parent.parent == tmp_path and Path(upload.file.name).read_bytes() == b"text"


def test_too_much_and_too_slow_are_refused_while_they_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = part("hyp", b"x" * 10**6, "a")
    request = Arriving(body, piece=1000)
    with pytest.raises(Refused, match="more than 50,000 bytes"):
        read(request, tmp_path / "large", 50_000)
    assert request.sent <= 51_000
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 50_000
    announced = Arriving(body)
    announced.headers = Headers({"content-type": TYPE, "content-length": "50001"})
    with pytest.raises(Refused, match="more than 50,000 bytes"):
        read(announced, tmp_path / "announced", 50_000)
    assert announced.sent == 0
    monkeypatch.setattr(intake, "GRACE", 0.1)
    with pytest.raises(Refused, match="less than 10,000 bytes per second"):
        read(Arriving(body, piece=1, pause=0.03), tmp_path / "slow")


@pytest.mark.parametrize(("body", "kind", "problem"), [
    (b"", "application/json", "no form with files"),
    (b"x", "multipart/form-data", "Missing boundary"),
    (b"x", f"multipart/form-data; boundary={'x' * 300}", "cannot be read"),
    (b"nonsense", TYPE, "Invalid multipart"),
    (b"--edge\r\nno colon\r\n\r\n", TYPE, "Invalid multipart"),
    (part("a", b"b"), TYPE, "incomplete"),
    (b"", TYPE, "incomplete"),
    (part("title", b"x" * 100_001) + END, TYPE, "exceeded maximum size"),
    (b"--edge\r\nX: " + b"x" * 20_000, TYPE, "Invalid multipart"),
    (part("a", b"") * 301 + END, TYPE, "Too many fields"),
    (part("a", b"", "f") * 301 + END, TYPE, "Too many files"),
    (part("hyp", b"\x1f\x8b\x08", "a.gz") + END, TYPE, "may not be compressed"),
    (part("hyp", b"PK\x03\x04", "a.xlsx") + END, TYPE, "may not be compressed"),
])  # fmt: skip
def test_unusable_forms(tmp_path: Path, body: bytes, kind: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(Arriving(body, 5000, kind), tmp_path)


# ---------------------------------------------------------------- requests of jobs


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name in ("files/set", "jobs/x/input/1"):
        (folder / name).mkdir(parents=True)
    (folder / "files" / "set" / "ref.txt").write_text("a\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (folder / "files" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "files" / "folder").symlink_to(tmp_path)
    return folder


def test_a_form_with_files(data: Path) -> None:
    file = io.BytesIO()
    file.name = str(data / "jobs/x/input/1/sys.A.txt")
    items: list[tuple[str, str | UploadFile]] = [
        ("metric", "chrf"), ("metric", " ter  paragraph(size=2):chrf "), ("langs", "de-en"),
        ("ref-file", "set/ref.txt"), ("hyp", UploadFile(file, filename="C:\\sys.A.txt")),
        ("src", UploadFile(io.BytesIO(), filename="")), ("title", UploadFile(io.BytesIO(), filename="x"))]  # fmt: skip
    title, request = form_request(FormData(items), data, OPTIONS)
    assert title == "sys.A"
    assert request["files"] == {"hyp": [["sys.A", "jobs/x/input/1/sys.A.txt"]], "ref": [["ref", "files/set/ref.txt"]]}
    assert request["metrics"] == ["chrf", "ter", "paragraph(size=2):chrf"] and request["langs"] == "de-en"
    assert form_request(FormData({"demo": "zh-en"}), data, OPTIONS)[0] == "demo zh-en"


@pytest.mark.parametrize(("fields", "said"), [
    ([], "nothing to score"), ([("langs", "../..")], "invalid language"), ([("metric", "chrf")] * 31, "31 metrics"),
    ([("src-file", "set/ref.txt")] * 2, "2 files are given as src"),
    *(([("src-file", name)], "no file")
      for name in ("link.txt", "../../secret.txt", "/etc/passwd", "set/../set/ref.txt", "folder/secret.txt")),
])  # fmt: skip
def test_forms_that_are_refused(data: Path, fields: list[tuple[str, str]], said: str) -> None:
    assert listed_files(data) == ["set/ref.txt"]  # neither links nor what they lead to
    demo = [("demo", "de-en")] if fields else []
    with pytest.raises(InputError, match=said):
        form_request(FormData([*demo, *fields]), data, OPTIONS)


def test_documents_as_json(data: Path) -> None:
    folder = data / "jobs/x/input"
    fields = {"documents": DOCUMENTS, "metrics": ["chrf", "chrf"], "langs": "de-en", "baseline": None}
    request = json_request(score_fields(json.dumps(fields).encode()), folder, ServeOptions(data=data))
    files = {"corpus": [["documents", "jobs/x/input/documents.jsonl"]]}
    assert request == {"files": files, "metrics": ["chrf"], "langs": "de-en", "baseline": ""}
    assert [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()] == DOCUMENTS


@pytest.mark.parametrize("asked", [
    "{", "[]", "{}", '{"documents": []}', '{"documents": "x"}', '{"documents": [1], "metrics": "chrf"}',
    '{"documents": [1], "langs": 3}', '{"documents": [1], "metrics": [1]}', '{"documents": [1], "out": "/tmp/x"}',
    '{"documents": [1], "langs": "x"}',
])  # fmt: skip
def test_json_that_is_refused(data: Path, asked: str) -> None:
    with pytest.raises((InputError, SpecError)) as caught:
        json_request(score_fields(asked.encode()), data / "jobs/x/input", ServeOptions(data=data))
    assert caught.value.next


def test_metrics_whose_model_is_not_here_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "present", lambda model: None if "comet" in model or "bert" in model else model)
    offered = intake.offered_metrics()
    assert offered["missing"]["doc-comet"] == "Unbabel/wmt22-comet-da" and "wt-mini" not in offered["missing"]
    assert offered["missing"]["bertscore"] == "FacebookAI/roberta-large"
    assert "doc-bertscore@minilm" in offered["aliases"] and not {"chrf2", "gemba-mqm"} & {*offered["aliases"]}
    assert "chrf" in offered["metrics"] and "chrf" not in offered["missing"]
    assert not {"judge-da", "terms", "llm-prob"} & {*offered["metrics"]}
    texts = {name: entry["needs"] for name, entry in offered["offered"].items()}
    assert texts["chrf"] == ["hyp", "ref"] and texts["doc-comet"] == ["hyp", "ref", "src"] and texts["lc"] == ["hyp"]
    assert texts["doc-comet-qe"] == ["hyp", "src"]
    assert all(entry["summary"] for entry in offered["offered"].values())
