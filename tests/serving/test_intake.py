"""What people ask for becomes the request of a job, or an error that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.serving.serving_material import DOCUMENTS
from wholetext.errors import InputError, SpecError
from wholetext.serving import intake
from wholetext.serving.intake import form_request, json_request, listed_files
from wholetext.serving.settings import ServeOptions
from wholetext.serving.uploads import Form

OPTIONS = ServeOptions()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name in ("files/set", "jobs/x/input/1", "outside"):
        (folder / name).mkdir(parents=True)
    (folder / "files" / "set" / "ref.txt").write_text("a\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (folder / "files" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "files" / "folder").symlink_to(tmp_path)
    (folder / "jobs/x/input/1/sys.A.txt").write_text("a\n")
    return folder


def test_a_form_with_files(data: Path) -> None:
    path = data / "jobs/x/input/1/sys.A.txt"
    form = Form({"metric": ["chrf", " ter  paragraph(size=2):chrf "], "langs": ["de-en"], "ref-file": ["set/ref.txt"]},
                {"hyp": [("sys.A.txt", path)]})  # fmt: skip
    title, request = form_request(form, data, OPTIONS)
    assert title == "sys.A"
    assert request["files"] == {"hyp": [["sys.A", "jobs/x/input/1/sys.A.txt"]], "ref": [["ref", "files/set/ref.txt"]]}
    assert request["metrics"] == ["chrf", "ter", "paragraph(size=2):chrf"] and request["langs"] == "de-en"
    assert form_request(Form({"demo": ["zh-en"]}), data, OPTIONS)[0] == "demo zh-en"


def test_only_files_of_the_folder_can_be_chosen(data: Path) -> None:
    assert listed_files(data) == ["set/ref.txt"]  # neither links nor what they lead to
    for name in ("link.txt", "../../secret.txt", "/etc/passwd", "set/../set/ref.txt", "folder/secret.txt", "x.sqlite"):
        with pytest.raises(InputError, match="no file"):
            form_request(Form({"demo": ["de-en"], "src-file": [name]}), data, OPTIONS)


@pytest.mark.parametrize(("fields", "said"), [
    ({}, "nothing to score"), ({"demo": ["xx"]}, "no demo 'xx'"),
    ({"demo": ["de-en"], "langs": ["../.."]}, "invalid language"),
    ({"demo": ["de-en"], "metric": ["chrf"] * 31}, "31 metrics"),
    ({"demo": ["de-en"], "src-file": ["set/ref.txt"] * 2}, "2 files are given as src"),
])  # fmt: skip
def test_forms_that_are_refused(data: Path, fields: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        form_request(Form(fields), data, OPTIONS)


def test_metrics_are_checked_at_once(data: Path) -> None:
    for text in ("chrff", "comet@/etc/passwd", "chrf("):
        with pytest.raises(SpecError):
            form_request(Form({"demo": ["de-en"], "metric": [text]}), data, OPTIONS)


def test_documents_as_json(data: Path) -> None:
    folder = data / "jobs/x/input"
    asked = {"documents": DOCUMENTS, "metrics": ["chrf", "chrf"], "langs": "de-en"}
    (folder / "request.json").write_text(json.dumps(asked))
    request = json_request(folder / "request.json", ServeOptions(data=data))
    files = {"corpus": [["documents", "jobs/x/input/documents.jsonl"]]}
    assert request == {"files": files, "metrics": ["chrf"], "langs": "de-en", "baseline": ""}
    assert [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()] == DOCUMENTS


@pytest.mark.parametrize("asked", [
    [], {}, {"documents": []}, {"documents": "x"}, {"documents": [1], "metrics": "chrf"},
    {"documents": [1], "langs": 3},
    {"documents": [1], "metrics": [1]}, {"documents": [1], "out": "/tmp/x"}, {"documents": [1], "langs": "x"},
])  # fmt: skip
def test_json_that_is_refused(data: Path, asked: Any) -> None:
    body = data / "jobs/x/input/request.json"
    for text in (json.dumps(asked), "{"):
        body.write_text(text)
        with pytest.raises(InputError) as caught:
            json_request(body, ServeOptions(data=data))
        assert caught.value.next


def test_metrics_whose_model_is_not_here_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "present", lambda model: None if "comet" in model or "bert" in model else model)
    found = intake.offered_metrics()
    assert found["missing"]["doc-comet"] == "Unbabel/wmt22-comet-da" and "wt-mini" not in found["missing"]
    assert found["missing"]["bertscore"] == "FacebookAI/roberta-large"
    assert "doc-bertscore@minilm" in found["aliases"] and not {"chrf2", "gemba-mqm"} & {*found["aliases"]}
    assert "chrf" in found["metrics"] and "chrf" not in found["missing"] and "judge-da" not in found["metrics"]
