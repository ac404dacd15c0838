"""Findings of ``explain``: each kind in its segment, quiet about harmless differences."""

from __future__ import annotations

from functools import cache

import pytest

from wholetext.findings.findings import findings
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.explain import explain
from wholetext.types import Corpus, Document, Output

pytest.importorskip("spacy")
REFERENCE = ("Pavlov was ill for a week.", "He went home in the evening.", "The doctor gave him some medicine.",
             "But Pavlov did not take any of it.", "Nobody in the village saw the old bridge fall.")
OUTPUT = ("Pavlov was sick for a week.", "He returned home in the evening.", "The doctor gave him medicine.",
          "But Pavlov took none of it.", "Nobody in the village saw how the old bridge fell.")  # fmt: skip


@cache
def kinds(hyp: tuple[str, ...], ref: tuple[str, ...] = REFERENCE) -> list[set[str]]:
    by_segment = findings(hyp, ref, "en")
    assert by_segment is not None
    return [{finding.kind for finding in segment} for segment in by_segment]


def changed(at: int, text: str) -> tuple[str, ...]:
    return (*OUTPUT[:at], text, *OUTPUT[at + 1 :])


@pytest.mark.parametrize(("kind", "at", "text"), [
    ("pronoun", 1, "She returned home in the evening."),
    ("tense", 1, "He returns home in the evening."),
    ("connective", 3, "So Pavlov took none of it."),
    ("name", 3, "But Pawlov took none of it."),
    ("coverage", 2, ""),
    ("coverage", 2, "The doctor gave him medicine. The doctor gave him medicine. The doctor gave him medicine."),
])  # fmt: skip
def test_a_change_is_found_in_its_segment(kind: str, at: int, text: str) -> None:
    before, after = kinds(OUTPUT), kinds(changed(at, text))
    assert after[at] - before[at] == {kind}
    assert after[:at] + after[at + 1 :] == before[:at] + before[at + 1 :]


def test_a_moved_segment_is_out_of_order() -> None:
    moved = kinds((OUTPUT[4], *OUTPUT[1:4], OUTPUT[0]))
    assert ["order" in segment for segment in moved] == [True, False, False, False, True]
    assert not any("order" in segment for segment in kinds(OUTPUT))


def test_a_gender_that_the_reference_never_has_counts_where_it_has_no_pronoun() -> None:
    """The segment of the reference has a name in its place: only the document tells."""
    assert kinds(changed(3, "But she took none of it."))[3] >= {"pronoun"}


def test_names_of_the_reference_and_derived_words_are_not_other_spellings() -> None:
    ref = ("Martin met Martha in town.", "Nobody else came.")
    assert not any("name" in segment for segment in kinds((ref[0], "No Russian from Russia came."), ref))


def test_other_languages_and_other_segments_are_not_compared() -> None:
    assert findings(OUTPUT, REFERENCE, "de") is None and findings(OUTPUT[:2], REFERENCE, "en") is None


def test_explain_shows_them_for_a_metric_that_marks_nothing() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"r": REFERENCE}),))
    output = Output("s", {"d": changed(1, "She returned home in the evening.")})
    results = score(Loaded(corpus, [output]), ["chrf"], options=Options(cache=False, flags=False))
    (span,) = explain(results).segments[1].extra
    assert (span.category, span.text, span.feature) == ("pronoun", "She", "the reference has no feminine pronoun")
