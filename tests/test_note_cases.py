"""Every note that a run can carry is said in table, JSON, TSV, LaTeX, Python and report, first and from the cache."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.in_process import call
from tests.judges.scripted import Reply, ScriptedServer, completion
from tools.note_cases import CASES, FILES, PUBLISHED, Case
from wholetext.files import packages
from wholetext.io import LineFiles, read
from wholetext.reporting import PageOptions, analyse
from wholetext.reporting.page import _parts

SOURCES = Path(wt.__file__).parent
TINY = Path(__file__).parent / "oracle" / "neural" / "models"
MODELS = dict(zip(PUBLISHED, ("tiny-bert", "xcomet", "comet-reg-mix", "tiny-mbart50", "judge", "causal")))


def careless(body: Mapping[str, Any], number: int) -> Reply:
    """What a judge answers that gives cause for notes."""
    said = body["messages"][-1]["content"]
    if '"errors"' in said:
        return '{"errors": [{"severity": "minor", "category": "style", "span": "nowhere"}]}'
    if '"better"' in said:
        return '{"better": "A"}'
    if body["temperature"]:
        return "70" if number % 2 else (200, completion(None, message={"refusal": "no"}))
    return "70" if "could not be used" in said else "0.50"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ScriptedServer(careless) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The texts of a case, where its command is run."""
    case: Case = request.node.callspec.params["case"]
    missing = [name for name in case.needs if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    for name, lines in {**FILES, **case.files}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    if "{judge}" in case.options:
        request.getfixturevalue("judge")
    if "{causal}" in case.options:
        from tests.metrics.test_llm_prob import gpt2, made

        made(gpt2, tmp_path / "causal")
    if case.where == "files/packages.py":
        other = {name: {**facts, "version": "0.0"} for name, facts in packages._known().items()}
        monkeypatch.setattr(packages, "_known", lambda: other)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(case: Case) -> list[str]:
    typed = case.options
    for small, name in MODELS.items():
        typed = typed.replace(small, "./causal" if name == "causal" else str(TINY / name))
    draws = [] if "--draws" in typed else ["--draws", "60"]
    if case.corpus:
        return [*shlex.split(typed), *draws]
    docs = [] if case.files.get("docs.txt") == () else ["-d", "docs.txt"]
    return ["-s", "src.txt", "-t", *outputs(case), "-r", "ref.txt", *docs, *(["-l", case.langs] if case.langs else []),
            *shlex.split(typed), *draws]


def outputs(case: Case) -> list[str]:
    return ["a.txt", "b.txt", *(["c.txt"] if "c.txt" in case.files else [])]


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[str, str]:
    code, out, err = call(capsys, *argv)
    assert not code, err
    return out, err


def told(case: Case, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, str]]:
    """(place, everything said there) of one run."""
    table, _ = printed(capsys, "score", *words(case))
    yield "table", " ".join(re.sub(r"\n  ", " ", table).split())
    out, _ = printed(capsys, "score", *words(case), "-f", "json", "--out", "run", "--overwrite")
    yield "json", "\n".join(json.loads(out)["notes"])
    for kind in ("tsv", "latex"):
        yield kind, printed(capsys, "score", *words(case), "-f", kind)[1]
    table, _ = printed(capsys, "compare", "run")
    yield "compare", " ".join(re.sub(r"\n  ", " ", table).split())
    head: dict[str, Any] = _parts(analyse(wt.open_run("run")), PageOptions())["head"]
    yield "report", "\n".join([*head["warnings"], *(note for one in head["metrics"] for note in one["warnings"])])
    yield "python", "\n".join(in_python(case))


def in_python(case: Case) -> list[str]:
    given = words(case)
    specs = [given[at + 1] for at, word in enumerate(given) if word == "-m"]
    docs = None if "-d" not in given else "docs.txt"
    lines = LineFiles(src="src.txt", hyps=outputs(case), refs=["ref.txt"], docs=docs)
    loaded = read(case.corpus or lines, langs=case.langs or None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = wt.score(loaded, specs)
    own = [note for by_system in results.scores.values() for one in by_system.values() for note in one.notes]
    said = [str(one.message) for one in caught if issubclass(one.category, wt.WholetextWarning)]
    assert all(any(note.partition(" (")[0] in text for text in said) for note in own), "scores.notes are warned of too"
    compared = wt.open_run("run").comparisons.values()
    return [*said, *loaded.warnings, *(note for one in compared for note in one.warnings)]


QUICK = CASES[:2] + CASES[-1:]  # the rest needs models, taggers, or half a minute


@pytest.mark.parametrize("case", [
    pytest.param(case, id=re.sub(r"\W+", "-", case.note)[:40], marks=[] if case in QUICK else [pytest.mark.slow])
    for case in CASES
])  # fmt: skip
def test_a_note_is_said_everywhere(
    case: Case, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHOLETEXT_CACHE", str(folder / "cache.sqlite"))
    for run in ("first", "cached"):
        for place, text in told(case, capsys):
            assert case.note in text, f"{place}, {run}: {text}"


def test_every_module_that_notes_has_a_case() -> None:
    speak = {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py")
             if re.search(r"run\.warn\(|def notes\(self, langs", path.read_text("utf-8"))}
    speak -= {"types.py", "scoring/engine.py"}  # where metrics are asked, not where they speak
    assert speak <= {case.where for case in CASES}, "a module has notes that no case provokes"
