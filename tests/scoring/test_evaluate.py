"""The pipeline's own checks: what is refused before any work, what the signature says, what the cache goes by."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext import registry
from wholetext.cli.main import main
from wholetext.errors import AlignmentError, InputError, MetricError, RunError, SpecError
from wholetext.registry import scorer
from wholetext.scoring.bound import bind, salt_of
from wholetext.scoring.compute import Computer
from wholetext.scoring.engine import Engine
from wholetext.views import View

DOCS = (
    wt.Document("a", ["eins", "zwei"], {"x": ["one", "two"], "y": ["one one", "two two"]}),
    wt.Document("b", ["drei"], {"x": ["three"], "y": ["three three"]}),
)
CORPUS = wt.Corpus("c", ("de", "en"), DOCS)
OUTPUT = wt.Output("s", {"a": ["one", "too"], "b": ["three"]})


def test_lists_of_segments_are_as_good_as_tuples() -> None:
    assert DOCS[0].src == ("eins", "zwei") and OUTPUT.docs["a"] == ("one", "too")
    assert wt.score(wt.Loaded(CORPUS, [OUTPUT]), "chrf")["chrf"]["s"].at("doc").shape == (2,)
    with pytest.raises(InputError, match="not one string"):
        wt.Document("a", "one string")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not one string"):
        wt.Output("s", {"a": "one string"})  # type: ignore[dict-item]


def test_documents_of_one_id_are_refused() -> None:
    with pytest.raises(AlignmentError, match="several documents are called 'a'"):
        wt.score(wt.Loaded(replace(CORPUS, docs=(DOCS[0], DOCS[0])), [OUTPUT]), "chrf")


def test_segments_that_do_not_line_up_are_told_before_any_metric_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Computer, "run", lambda *_: pytest.fail("nothing should be measured"))
    other = wt.Output("joined", {"a": ["one too"], "b": ["three"]})
    with pytest.raises(AlignmentError, match="system joined, document a: chrf: the output has 1 segment,"):
        wt.score(wt.Loaded(CORPUS, [OUTPUT, other]), ["whole:chrf", "chrf"])


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[object]:
    """A list that grows by what each call of a function is given first."""
    calls: list[object] = []
    original = getattr(owner, name)

    def counting(first: object, *others: object) -> object:
        calls.append(first)
        return original(first, *others)

    monkeypatch.setattr(owner, name, counting)
    return calls


@pytest.mark.parametrize("view", ["sentence", "context(prev=1)", "paragraph(size=2)"])
def test_documents_are_checked_and_cut_once_however_many_metrics(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut, checked = counted(monkeypatch, View, "cut"), counted(monkeypatch, View, "check")
    metrics = [f"{view}:{name}" for name in ("bleu", "chrf", "chrf++")]
    options = wt.Options(cache=False, flags=False, overflow="error")
    wt.score(wt.Loaded(CORPUS, [OUTPUT, replace(OUTPUT, system="t")]), metrics, options=options)
    assert len(cut) == len(checked) == 2 * len(CORPUS)
    wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["whole:bleu", "whole:chrf", "slide(size=1):chrf"], options=options)
    assert len(cut) == (2 + 2) * len(CORPUS)  # two other views


def test_a_reference_for_some_documents_only_is_called_that() -> None:
    some = replace(CORPUS, docs=(DOCS[0], replace(DOCS[1], refs={})))
    with pytest.raises(MetricError, match="none for every document"):
        wt.score(wt.Loaded(some, [OUTPUT]), "chrf")


@pytest.mark.parametrize("wrong", [{"device": "foo"}, {"dtype": "fp12"}, {"refs": "x"}])
def test_options_are_checked(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError):
        wt.Options(**wrong)  # type: ignore[arg-type]


def test_int8_is_refused_with_the_reason_and_the_alternatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"(?s)int8 was removed in 0\.2.*as fast as fp32.*use fp32"):
        wt.Options(dtype="int8")
    (tmp_path / "a.txt").write_text("one\n")
    for dtype, said in (("int8", "int8 was removed in 0.2"), ("fp12", "dtype is one of fp32, bf16, fp16")):
        with pytest.raises(SystemExit, match="2"):
            main(["score", "-t", str(tmp_path / "a.txt"), "-r", str(tmp_path / "a.txt"), "--dtype", dtype])
        assert said in capsys.readouterr().err


def test_the_cache_may_be_named_by_a_string(tmp_path: Path) -> None:
    wt.score(wt.Loaded(CORPUS, [OUTPUT]), "chrf", options=wt.Options(cache=str(tmp_path / "mine.sqlite")))
    assert (tmp_path / "mine.sqlite").exists()


def test_texts_of_several_systems_and_tables() -> None:
    results = wt.score({"a": ["x y"], "b": ["y"]}, "chrf", refs=["x y"])
    assert list(results["chrf"]) == ["a", "b"] and results["chrf"]["a"].score == 100
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"ref": ["x y"], "hyp:a": ["x y"], "hyp:b": ["y"]})
    table = wt.score(frame, "chrf")
    assert [scores.score for scores in table["chrf"].values()] == [scores.score for scores in results["chrf"].values()]
    with pytest.raises(InputError, match="no column has the output of a system"):
        wt.score(frame[["ref"]], "chrf")


def test_unknown_levels_and_outputs_are_answered() -> None:
    scores = wt.score(wt.Loaded(CORPUS, [OUTPUT]), "chrf")["chrf"]["s"]
    with pytest.raises(MetricError, match="row, segment, doc, corpus"):
        scores.at("docs")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="it has score"):
        scores.at("doc", "recall")


def test_rows_of_another_version_are_not_taken_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    work = bind(scorer("chrf"), CORPUS, [OUTPUT], Engine(CORPUS.langs), None)
    now = salt_of(work)
    monkeypatch.setattr(sys.modules["wholetext.scoring.bound"], "__version__", "9")
    assert salt_of(work) != now


@dataclass(frozen=True)
class Judge(wt.Metric):
    """The number of words of context; needs no reference."""

    name = "judge"
    summary = "words of context"
    needs = frozenset({"hyp"})
    range = (0.0, 100.0)

    def measure(self, requests: object, run: object) -> wt.FloatArray:
        return wt.mean_stats([float(len(" ".join(r.hyp[0].before).split())) for r in requests])  # type: ignore[attr-defined]


def test_the_signature_says_whose_context_was_borrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILTIN", {**registry.BUILTIN, "judge": f"{__name__}:Judge"})
    spec = "context(prev=1,hyp=ref):judge"
    first = wt.score(wt.Loaded(CORPUS, [OUTPUT]), spec, options=wt.Options(refs=("x",)))[spec]["s"]
    second = wt.score(wt.Loaded(CORPUS, [OUTPUT]), spec, options=wt.Options(refs=("y",)))[spec]["s"]
    assert (first.score, second.score) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert first.signature["context_refs"] == "x" and second.signature["context_refs"] == "y"


# ---------------------------------------------------------------- run folders


def test_a_run_folder_may_be_named_by_a_string_and_reads_back(tmp_path: Path) -> None:
    results = wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["chrf", "d-bleu"])
    wt.scoring.write_run(results, str(tmp_path / "run"))
    again = wt.open_run(str(tmp_path / "run"))
    for spec, by_system in results.scores.items():
        assert np.array_equal(again[spec]["s"].table("doc"), by_system["s"].table("doc"), equal_nan=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_what_is_not_a_run_folder_is_never_replaced(tmp_path: Path) -> None:
    results = wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["chrf"])
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    for name in ("file", "full"):
        with pytest.raises(RunError, match="not a run folder"):
            wt.scoring.write_run(results, tmp_path / name)
    with pytest.raises(RunError, match="cannot be written"):
        wt.scoring.write_run(results, tmp_path / "file" / "below")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "full"]


@pytest.mark.parametrize(("column", "value"), [("doc", 7), ("doc", -1), ("stop", 99), ("start", -1)])
def test_rows_outside_of_documents_are_damage(tmp_path: Path, column: str, value: int) -> None:
    wt.scoring.write_run(wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["chrf"]), tmp_path / "run")
    path = tmp_path / "run" / "stats0.npz"
    with np.load(path) as found:
        arrays = dict(found)
    arrays[f"0.{column}"][-1] = value
    np.savez_compressed(path, **arrays)
    with pytest.raises(RunError, match="damaged"):
        wt.open_run(tmp_path / "run")


def test_a_head_that_is_not_an_object_is_damage(tmp_path: Path) -> None:
    wt.scoring.write_run(wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["chrf"]), tmp_path / "run")
    for text in ("[1]", "[" * 100_000, json.dumps({"format": 1})):
        (tmp_path / "run" / "run.json").write_text(text)
        with pytest.raises(RunError):
            wt.open_run(tmp_path / "run")
    with pytest.raises(RunError, match="no such folder"):
        wt.open_run(tmp_path / "nowhere")


# ---------------------------------------------------------------- surface metrics


@pytest.mark.parametrize("spec", ["chrf(char_order=0)", "chrf(beta=0)", "chrf(word_order=-1)", "bleu(smooth_value=-1)"])
def test_impossible_parameters_are_refused(spec: str) -> None:
    with pytest.raises(SpecError):
        scorer(spec)


def test_choices_that_look_like_numbers_need_no_quotes() -> None:
    assert scorer("rouge-1").spec == "rouge(kind=1)" and scorer("rouge(kind=1)") == scorer('rouge(kind="1")')


def test_rouge_says_its_package_and_what_it_cannot_read() -> None:
    results = wt.score(wt.Loaded(CORPUS, [wt.Output("s", {"a": ["один", "два"], "b": ["three"]})]), ["rouge"])
    assert "rouge-score" in results["rouge"]["s"].signature
    assert any("drops all others" in warning for warning in results.warnings)


def test_one_document_has_no_interval() -> None:
    one = replace(CORPUS, docs=DOCS[:1])
    standing = wt.compare(wt.score(wt.Loaded(one, [OUTPUT]), "chrf"))["chrf"].standings[0]
    assert np.isnan([standing.interval.low, standing.interval.high, standing.delta_interval.low]).all()
