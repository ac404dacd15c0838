"""A run remembers how its systems were compared: compare and report show that, and flags given anew change it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import Capture, call
from wholetext.demo import load
from wholetext.io import Loaded
from wholetext.io.formats import jsonl
from wholetext.scoring.evaluate import Options, open_run, score as score_systems
from wholetext.scoring.results import write_run
from wholetext.types import Corpus, Document, Output

HOW = ["--test", "bootstrap", "--resample", "segments", "--alpha", "0.3", "--baseline", "literal", "--draws", "300"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("corpus") / "demo.jsonl"
    found, outputs = load("de-en")
    jsonl.write(path, Loaded(found, outputs, ()))
    return str(path)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws again fails."""

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("drew again")

    for name in ("bootstrap_scores", "randomization_p", "bootstrap_p"):
        monkeypatch.setattr(f"wholetext.scoring.significance.compare.{name}", drawn)


def score(capsys: Capture, corpus: str, run: Path, *more: str) -> str:
    code, out, err = call(capsys, "score", corpus, "-m", "bleu", "-m", "chrf", "--out", str(run), *more)
    assert code == 0, err
    return out


def metrics(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["metrics"]
    return found


def test_compare_shows_what_score_showed_without_drawing(
    corpus: str, tmp_path: Path, capsys: Capture, request: pytest.FixtureRequest
) -> None:
    first = metrics(score(capsys, corpus, tmp_path / "run", *HOW, "--json"))
    assert first[0]["test"]["test"] == "bootstrap" and first[0]["baseline"] == "literal"
    request.getfixturevalue("undrawn")
    code, out, err = call(capsys, "compare", str(tmp_path / "run"), "--json")
    assert code == 0, err
    assert metrics(out) == first
    code, out, err = call(capsys, "compare", str(tmp_path / "run"), "-m", "chrf", "--json")
    assert metrics(out) == first[1:]


def test_only_flags_given_anew_change_it(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    score(capsys, corpus, tmp_path / "run", *HOW)
    (bleu, _) = metrics(call(capsys, "compare", str(tmp_path / "run"), "--baseline", "coherent", "--json")[1])
    assert bleu["baseline"] == "coherent"
    assert {**bleu["test"], "units": ""} == {"test": "bootstrap", "unit": "segment", "units": "", "draws": "300",
                                             "resamples": "300", "seed": "12345", "alpha": "0.3", "correction": "holm"}
    (bleu, _) = metrics(call(capsys, "compare", str(tmp_path / "run"), "--resample", "documents", "--json")[1])
    assert bleu["test"]["unit"] == "doc" and bleu["test"]["alpha"] == "0.3" and bleu["baseline"] == "literal"


def test_a_seed_that_draws_anew_is_drawn_once(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    first = metrics(score(capsys, corpus, tmp_path / "run", "--seed", "none", "--draws", "50", "--json"))
    assert metrics(call(capsys, "compare", str(tmp_path / "run"), "--json")[1]) == first


def test_table_json_latex_and_report_have_the_same_numbers(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    from wholetext.reporting import analyse

    run = tmp_path / "run"
    score(capsys, corpus, run, *HOW)
    table, latex = (call(capsys, "compare", str(run), "-f", kind)[1] for kind in ("table", "latex"))
    found = metrics(call(capsys, "compare", str(run), "--json")[1])
    analysis = analyse(open_run(run))
    for at, metric in enumerate(found):
        page, places = analysis.standings[at], f".{metric['decimals']}f"
        for system in metric["systems"]:
            i = analysis.systems.index(system["system"])
            score_, half = format(system["score"], places), (system["interval"][1] - system["interval"][0]) / 2
            assert f"{score_} ±{format(half, places)}" in table
            assert re.search(rf"{re.escape(score_)}\}}?(\$.*?\$)? {{\\scriptsize\$\\pm\${format(half, places)}", latex)
            assert format(page["score"][i], places) == score_
            shown = [page["low"][i], page["high"][i]]
            assert [format(end, places) for end in shown] == [format(end, places) for end in system["interval"]]
            if system["system"] != "literal":
                delta = format(page["delta"][analysis.baseline][i], "+" + places)  # type: ignore[index]
                assert re.search(rf"{system['system']} +{re.escape(delta)} +\[", table)
    assert analysis.testing.alpha == 0.3 and analysis.systems[analysis.baseline or 0] == "literal"


def test_decimals_follow_the_scale_and_not_the_scores(tmp_path: Path, capsys: Capture) -> None:
    docs = tuple(Document(f"d{i}", ("x",) * 3, {"ref": (f"a good sentence number {i} is here now",) * 3})
                 for i in range(5))
    poor = Output("poor", {doc.id: ("a bad one has nothing of it good at all",) * 3 for doc in docs})
    results = score_systems(
        Loaded(Corpus("low", ("de", "en"), docs), [poor]), ["bleu", "ter", "rouge"], options=Options(cache=False)
    )
    write_run(results, tmp_path / "run")
    assert 0 < results["bleu"]["poor"].score < 4
    _, out, _ = call(capsys, "compare", str(tmp_path / "run"))
    (line,) = [line for line in out.splitlines() if line.startswith("poor  ")]
    assert re.fullmatch(r"poor +\d\.\d\d ±\S+ +\d+\.\d\d ±\S+ +0\.\d{4} ±\S+", line.strip())


def test_out_does_not_replace_a_run_unless_told(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    score(capsys, corpus, run)
    before = (run / "run.json").read_bytes()
    code, _, err = call(capsys, "score", corpus, "-m", "ter", "--out", str(run))
    assert code == 2 and "--overwrite" in err and (run / "run.json").read_bytes() == before
    code, _, err = call(capsys, "score", corpus, "-m", "chrf", "--sweep", "window=2", "--out", str(run))
    assert code == 2 and "--overwrite" in err and (run / "run.json").read_bytes() == before
    score(capsys, corpus, run, "--overwrite", "-m", "ter")
    assert "ter" in open_run(run).scores


def test_nothing_is_wider_than_80_columns(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    shown = score(capsys, corpus, tmp_path / "run", "--draws", "20")
    code, out, _ = call(capsys, "compare", str(tmp_path / "run"))
    assert code == 0 and "documents like these would separate them from the baseline" in " ".join(out.split())
    assert "|alpha:0.05|correction:holm" in "".join(line.strip() for line in shown.splitlines())
    assert [line for line in f"{shown}\n{out}".splitlines() if len(line) > 80] == []


def test_notes_on_metrics_left_out_are_left_out(corpus: str, tmp_path: Path, capsys: Capture) -> None:
    specs = [f"slide(size=5,step=5):{metric}" for metric in ("chrf", "bleu")]
    assert call(capsys, "score", corpus, "-m", *specs, "--out", tmp_path / "run")[0] == 0
    _, out, _ = call(capsys, "compare", tmp_path / "run", "-m", specs[0], "--json")
    notes = [note for note in json.loads(out)["notes"] if "fills no window" in note]
    assert len(notes) == 1 and notes[0].startswith(f"{specs[0]}: text that")
