"""EvalSets are scored with their standard reference, and every table says with which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call
from tests.meta.evalset_folder import SYSTEMS, make
from wholetext.meta.conventions import standard_references
from wholetext.reporting import PageOptions, analyse
from wholetext.reporting.page import _parts

NEWS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "evalsets" / "wmt21.news"
QUIET = wt.Options(flags=False, cache=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set with two references, of which the agreed one is refB."""
    root = make(tmp_path)
    for path in sorted(root.rglob("*de-en*"), reverse=True):  # files before their folders
        path.rename(path.with_name(path.name.replace("de-en", "cs-en")))
    return root


def test_the_standard_reference_is_used_and_noted(folder: Path) -> None:
    loaded = wt.read(folder)
    assert loaded.corpus.standard == ("refB",) and loaded.corpus.references == ("refB", "refA")
    results = wt.score(loaded, "chrf", options=QUIET)
    assert results.references("chrf") == ("refB",) and set(results.systems) == {*SYSTEMS}
    assert (
        "used refB, the standard reference, of 2 references (refB, refA); --ref all uses all of them" in results.notes
    )
    alone = wt.score(wt.read(folder, refs=["refB"], systems=SYSTEMS), "chrf", options=QUIET)
    assert alone["chrf"]["beta"].score == results["chrf"]["beta"].score
    assert not [note for note in alone.notes if "standard" in note]


def test_all_references_and_others_by_name(folder: Path) -> None:
    by_option = wt.score(wt.read(folder), "chrf", options=wt.Options(refs=("all",), flags=False, cache=False))
    by_reading = wt.score(wt.read(folder, refs=["all"]), "chrf", options=QUIET)
    for results in (by_option, by_reading):
        assert results.references("chrf") == ("refB", "refA")
        assert not [note for note in results.notes if "standard" in note]
    assert by_option["chrf"]["beta"].score == by_reading["chrf"]["beta"].score
    other, agreed = (wt.score(wt.read(folder, refs=refs, systems=["beta"]), "chrf", options=QUIET)
                     for refs in (["refA"], None))  # fmt: skip
    assert other.references("chrf") == ("refA",) and other.score > agreed.score


def test_a_run_folder_keeps_the_choice(folder: Path, tmp_path: Path) -> None:
    wt.score(wt.read(folder), ["chrf", "lc"], options=QUIET, out=tmp_path / "run")
    again = wt.open_run(tmp_path / "run")
    assert again.corpus.standard == ("refB",) and again.references("chrf") == ("refB",) and again.references("lc") == ()


def test_every_table_has_the_number_and_names(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    _, table, _ = call(capsys, "score", str(folder), "-m", "chrf", "--out", str(run), "--no-cache")
    assert "1 ref: refB" in table and "! used refB, the standard reference" in table
    _, every, _ = call(capsys, "score", str(folder), "-m", "chrf", "--ref", "all", "--no-cache")
    assert "2 refs: refB, refA" in every and "standard reference" not in every
    _, out, _ = call(capsys, "compare", str(run), "-f", "json")
    assert json.loads(out)["metrics"][0]["references"] == ["refB"]
    for kind in ("markdown", "latex"):
        assert "1 ref: refB" in call(capsys, "compare", str(run), "-f", kind)[1]
    head, *rows = call(capsys, "compare", str(run), "-f", "tsv")[1].splitlines()
    assert {row.split("\t")[head.split("\t").index("references")] for row in rows} == {"refB"}
    results = wt.open_run(run)
    assert "(refB)" in repr(results) and "(refB)" in results._repr_html_()
    (metric,) = _parts(analyse(results), PageOptions())["head"]["metrics"]
    assert metric["references"] == ["refB"] and metric["under"] == "sentence · 1 ref: refB"


def test_sets_that_agreed_on_all_references() -> None:
    assert standard_references("summeval", "en-en", ("a", "b")) == ("a", "b")
    assert standard_references("wmt22", "cs-en", ("refA", "refB")) == ("refB",)
    assert standard_references("unknown", "cs-en", ("x", "y")) == ("x",)
    assert standard_references("unknown", "cs-en", ()) == ()


@pytest.mark.skipif(not NEWS.is_dir(), reason="the WMT21 news set is not here")
@pytest.mark.parametrize(("langs", "reference", "bleu"), [("de-en", "refA", 34.00), ("zh-en", "refB", None)])
def test_wmt21_is_scored_as_meta_scores_it(langs: str, reference: str, bleu: float | None) -> None:
    loaded = wt.read(NEWS, langs=langs, systems=["Facebook-AI"])
    results = wt.score(loaded, "bleu", options=QUIET)
    assert results.references("bleu") == (reference,)
    assert bleu is None or round(results.score, 2) == bleu
