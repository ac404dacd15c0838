"""Modules of Hugging Face evaluate."""

# ruff: noqa: E402
from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from tests.integrations.cases import LANGS, by_command, rows

evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed: make test-integration")

import wholetext.integrations.evaluate as module
from wholetext.integrations.evaluate import Wholetext


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(evaluate.config, "HF_UPDATE_DOWNLOAD_COUNTS", False)


def test_scores_are_those_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segments, specs = rows(), ("chrf", "d-bleu", "slide(size=3,step=3):ter", "term-consistency")
    texts = {"predictions": [row["hyp"] for row in segments], "references": [row["ref"] for row in segments]}
    docs, sources = [row["doc"] for row in segments], [row["src"] for row in segments]
    made = [evaluate.load(module.__file__, spec, langs=LANGS).compute(**texts, sources=sources, documents=docs)
            for spec in specs]  # fmt: skip
    expected = by_command(capsys, tmp_path, segments, *specs)
    assert [result["score"] for result in made] == pytest.approx(expected, abs=1e-6)
    assert len(made[0]["scores"]) == len(segments) and "metric:chrf|view:sentence" in made[0]["signature"]
    assert made[2]["metric"] == "slide(size=3,step=3):ter"


def test_texts_are_added_in_batches_and_may_have_several_references() -> None:
    chrf = Wholetext("chrf")
    for hyp, refs in (("a b c", ["a b d", "a c c"]), ("e f", ["e g", "f g"])):
        chrf.add_batch(predictions=[hyp], references=[refs])
    expected = wt.score(["a b c", "e f"], "chrf", refs={"x": ["a b d", "e g"], "y": ["a c c", "f g"]}).score
    assert chrf.compute()["score"] == pytest.approx(expected, abs=1e-6)
    chrf.add(prediction="a", reference="a")
    assert chrf.compute()["score"] == 100
    with pytest.raises(wt.errors.AlignmentError, match=r"references\[1\]: this text has 1 reference, and the first"):
        chrf.compute(predictions=["a", "b"], references=[["a", "b"], ["b"]])
    combined = evaluate.combine([chrf, Wholetext("bleu")]).compute(predictions=["a b"], references=["a b"])
    assert combined["wholetext_0_score"] == 100


def test_mistakes_are_answered() -> None:
    with pytest.raises(wt.errors.SpecError, match="there is no metric 'chrff'"):
        evaluate.load(module.__file__, "chrff")
    with pytest.raises(wt.errors.InputError, match="chrf: there are no references for 1 predictions") as caught:
        Wholetext("chrf").compute(predictions=["a"])
    assert caught.value.next == "chrf needs predictions, references, one for each segment"
    with pytest.raises(wt.errors.InputError, match="there are no sources for 1 predictions"):
        Wholetext("comet").compute(predictions=["a"], references=["a"])
    with pytest.raises(wt.errors.InputError, match="there are 2 references for 1 predictions"):
        Wholetext("chrf").compute(predictions=["a"], references=["a", "b"])
