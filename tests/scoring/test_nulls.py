"""What an output leaves out and adds: counted, scored as the worst, or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext.alignment.realign import AlignOptions, align
from wholetext.errors import InputError, MetricError
from wholetext.io import Loaded
from wholetext.io.formats import jsonl
from wholetext.metrics.comet.metric import Comet
from wholetext.metrics.metricx import MetricX
from wholetext.metrics.prism import Prism
from wholetext.scoring.evaluate import Options, open_run, score
from wholetext.scoring.nulls import check_worst, worst_of
from wholetext.types import Corpus, Document, Nulls, Output, Scores

REF = ("He came at seven in the morning.", "She went to Berlin by train.", "They met in the old hotel.", "It rained.")
CORPUS = Corpus("c", ("de", "en"), (Document("d", None, {"r": REF}), Document("e", None, {"r": REF[:2]})))
ROUGE, MORE = "sentence:rouge", "Penguins cannot fly."
# left out: the second; added: one sentence after the third
OUTPUT = Output(
    "s", {"d": (REF[0], "", f"{REF[2]} {MORE}", "It was raining."), "e": REF[:2]},
    {"d": "to=r,nulls=count"}, {"d": Nulls((1,), ((2, 1, REF[2]),))},
)  # fmt: skip


def scores(metric: str, nulls: str | None, output: Output = OUTPUT) -> Scores:
    results = score(Loaded(CORPUS, [output]), [metric], options=Options(cache=False, nulls=nulls))  # type: ignore[arg-type]
    return next(iter(results.scores.values()))["s"]


def alone(metric: str, hyps: Sequence[str], refs: Sequence[str]) -> np.ndarray:
    return wt.score(hyps, metric, refs=refs, langs="de-en", options=Options(cache=False))[metric]["hyp"].at("row")


def test_the_mean_with_the_worst() -> None:
    own = alone(ROUGE, [REF[0], REF[2], "It was raining.", *REF[:2]], [REF[0], *REF[2:], *REF[:2]])
    assert scores(ROUGE, "worst").score == pytest.approx(own.sum() / 7)  # 5 + left out + added
    assert scores(ROUGE, "drop").score == pytest.approx(own.mean())
    rows = scores(ROUGE, "worst").at("row")
    assert rows[1] == 0 and rows[2] == pytest.approx(own[1] / 2)
    assert np.isnan(scores(ROUGE, "drop").at("row")[1])
    counted = alone(ROUGE, [REF[0], "", f"{REF[2]} {MORE}", "It was raining.", *REF[:2]], [*REF, *REF[:2]])
    assert scores(ROUGE, "count").score == scores(ROUGE, None).score == pytest.approx(counted.mean())


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter"])
def test_sums_of_counts_need_no_worst_score(metric: str) -> None:
    assert scores(metric, "worst").score == scores(metric, "count").score
    kept = [REF[0], REF[2], "It was raining.", *REF[:2]]
    wanted = wt.score(
        kept, metric, refs=[REF[0], *REF[2:], *REF[:2]], langs="de-en", options=Options(cache=False)
    ).score
    assert scores(metric, "drop").score == pytest.approx(wanted)


def test_windows_share_their_worst() -> None:
    """A row of k segments, z left out, a added: (k − z) shares of its own score and z + a of the worst."""
    view = "paragraph(size=2):rouge"
    texts = scores(view, "drop").at("row")  # without the added sentence
    found = scores(view, "worst")
    assert found.at("row")[0] == pytest.approx(texts[0] / 2)
    assert found.at("row")[1] == pytest.approx(texts[1] * 2 / 3)


def test_the_worst_of_a_metric() -> None:
    assert worst_of(MetricX()) == 25
    assert worst_of(Comet()) == 0
    with pytest.raises(MetricError, match="comet has no worst score") as caught:
        worst_of(Comet(model="Unbabel/wmt20-comet-da"))
    assert "nulls=drop" in caught.value.next
    with pytest.raises(MetricError, match="prism has no worst score"):
        check_worst(Prism(), [replace(OUTPUT, nulls={"d": Nulls((1,), (), "worst")})])
    check_worst(Prism(), [OUTPUT])


def test_signature_and_notes_say_so(tmp_path: Path) -> None:
    run = score(
        Loaded(CORPUS, (OUTPUT,), ()),
        [ROUGE],
        options=Options(cache=False, nulls="drop"),
        out=tmp_path / "run",
        significance=wt.Significance(),
    )
    for results in (run, open_run(tmp_path / "run")):
        signature = results[ROUGE]["s"].signature
        assert signature["realigned"] == "1/2 to=r,nulls=drop omitted=1 added=1"
        assert any("1 segment left out, 1 sentence added: left out of the scores (nulls=drop)" in note
                   for note in results.warnings)
        assert any("the output leaves this out (nulls=drop) (1 of 6 segments)" in note for note in results.notes)


def test_aligning_and_scoring_in_one_step() -> None:
    flat = Output("s", {"d": (" ".join([REF[0], *REF[2:]]),), "e": REF[:2]})
    options = AlignOptions(nulls="worst")
    at_once = score(Loaded(CORPUS, [flat]), [ROUGE], options=Options(cache=False, align=options))
    aligned = align(CORPUS, [flat], options)
    then = score(Loaded(CORPUS, aligned.outputs), [ROUGE], options=Options(cache=False))
    for results in (at_once, then):
        assert results[ROUGE]["s"].score == pytest.approx(5 / 6)
    assert str(at_once[ROUGE]["s"].signature) == str(then[ROUGE]["s"].signature)
    assert "nulls=worst omitted=1 added=0" in at_once[ROUGE]["s"].signature["realigned"]
    assert aligned.notes[0] in at_once.warnings


def test_a_file_keeps_what_was_left_out(tmp_path: Path) -> None:
    output = replace(OUTPUT, nulls={"d": replace(OUTPUT.nulls["d"], policy="worst")})
    jsonl.write(tmp_path / "x.jsonl", Loaded(CORPUS, (output,), ()))
    loaded = wt.read(tmp_path / "x.jsonl")
    assert loaded.outputs[0].nulls == output.nulls and not loaded.corpus.docs[0].meta
    assert scores(ROUGE, None, loaded.outputs[0]).score == scores(ROUGE, "worst").score
    text = (tmp_path / "x.jsonl").read_text("utf-8")
    for damage in ('[\\"worse\\", [1]', '[\\"worst\\", [9]', '[\\"worst\\", 1'):
        (tmp_path / "y.jsonl").write_text(text.replace('[\\"worst\\", [1]', damage), "utf-8")
        with pytest.raises(InputError) as caught:
            wt.read(tmp_path / "y.jsonl")
        assert "wholetext align" in caught.value.next


def test_nothing_was_aligned() -> None:
    with pytest.raises(InputError, match="none was aligned") as caught:
        scores(ROUGE, "worst", Output("s", {"d": REF, "e": REF[:2]}))
    assert "--align" in caught.value.next
