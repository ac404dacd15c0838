"""The finding: whatever a sentence says of a system is what the comparisons say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.scoring.build_scores import scores_of
from wholetext.scoring.finding import CLAUSES, finding
from wholetext.scoring.significance.compare import Comparison, Significance

LABELS = ("bleu", "chrf", "d-blonde", "ter")
VERDICTS = ("better", "worse", "no significant difference")


def compared(
    verdicts: Sequence[str], *, baseline: int = 0, void: int = 0, documents: int = 30, draws: int = 50
) -> Comparison:
    """Systems s0, s1 … in the order of their scores, with these verdicts; the last ``void`` have no score."""
    size = len(verdicts) + 1
    scores = {
        f"s{i}": scores_of(np.full(documents, np.nan if i >= size - void else -float(i)), [1] * documents)
        for i in range(size)
    }
    made = Significance(draws=draws, baseline=f"s{baseline}").compare(scores)
    said = iter(verdicts)
    standings = tuple(
        standing if standing.verdict in ("baseline", "not tested") else replace(standing, verdict=next(said))  # type: ignore[arg-type]
        for standing in made.standings
    )
    return replace(made, standings=standings)


def named(text: str) -> list[str]:
    return re.findall(r"\bs\d+\b", text)


def on(text: str) -> list[str]:
    return [label for label in LABELS if re.search(rf"(?<![\w-]){label}\b", text)]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_it_says_of_leaders_is_what_the_tests_say(data: st.DataObject) -> None:
    systems = data.draw(st.integers(2, 8), "systems")
    spread = {
        label: compared([data.draw(st.sampled_from(VERDICTS[1:])) for _ in range(systems - 1)])
        for label in LABELS[: data.draw(st.integers(1, 4), "metrics")]
    }
    sentence = finding(spread)
    leaders = {label: {s.system for s in c.standings if s.verdict != "worse"} for label, c in spread.items()}
    worse = {label: {s.system for s in c.standings if s.verdict == "worse"} for label, c in spread.items()}
    disagree = len(spread) > 1 and not set.intersection(*leaders.values())
    assert sentence.startswith("The metrics disagree: ") == disagree
    stated = set[str]()
    for clause in re.split(r"; |: ", sentence.rstrip(".")):
        if " lead on every metric" in clause or " leads on every metric" in clause:
            assert set(named(clause)) == set.intersection(*leaders.values())
            continue
        for part in re.split(r"(?<=[a-z]), (?=\d)|(?<=[a-z]) and (?=\d)", clause):
            labels = on(part)
            stated.update(labels)
            for label in labels:
                if "worse than the best are" in clause:
                    number, size, names = re.search(r"(\d+) of (\d+)(?: \(([^)]*)\))?", part).groups()  # type: ignore[union-attr]
                    assert (int(number), int(size)) == (len(worse[label]), systems)
                    assert set(named(names or "")) in (set(), worse[label])
                elif " lead" in part:
                    front, _, back = part.partition(" lead")
                    assert set(named(front)) == leaders[label] and set(named(back)) <= worse[label]
                    rest = re.search(r"the other (\d+)", back)
                    assert len(worse[label]) == (int(rest[1]) if rest else 1)
                elif "is significantly better than" in part:
                    best, other = named(part)
                    assert {best} == leaders[label] and {other} == worse[label]
                else:
                    assert "o significant difference between" in part or "o system is significantly worse" in part
                    assert not worse[label]
    assert stated == set(spread) or "see the table" in sentence


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_it_says_about_a_baseline_is_what_the_tests_say(data: st.DataObject) -> None:
    systems = data.draw(st.integers(2, 8), "systems")
    base = data.draw(st.integers(0, systems - 1), "baseline")
    spread = {
        label: compared([data.draw(st.sampled_from(VERDICTS)) for _ in range(systems - 1)], baseline=base)
        for label in LABELS[: data.draw(st.integers(1, 4), "metrics")]
    }
    sentence = finding(spread, f"s{base}")
    start = f"Compared with s{base}, "
    assert sentence.startswith(start)
    seen = 0
    for clause in sentence[len(start) :].rstrip(".").split("; "):
        for label in on(clause):
            seen += 1
            for verdict in VERDICTS:
                group = {s.system for s in spread[label].standings if s.verdict == verdict}
                part = re.search(rf"((?:s\d+(?:, | and )?)+|\d+ systems) \w+ (?:significantly )?{verdict}", clause)
                assert (part is None) == (not group)
                if part and "systems" in part[1]:
                    assert int(part[1].split()[0]) == len(group) > 3
                elif part:
                    assert set(named(part[1])) == group
    assert seen == len(spread)


def test_one_two_and_many_systems() -> None:
    alone = finding({"bleu": compared([]), "ter": compared([])})
    assert re.fullmatch(
        r"s0 scores \S+ ± \S+ on bleu and \S+ ± \S+ on ter; there is no other system to compare it with\.", alone
    )
    assert finding({"bleu": compared(["worse"])}) == "s0 is significantly better than s1 on bleu."
    same = compared([VERDICTS[2]])
    assert finding({"bleu": same, "ter": same}) == "No significant difference between s0 and s1 on bleu and ter."
    few = compared([VERDICTS[2]], documents=3)
    assert finding({"bleu": few}).endswith(" on bleu: with 3 documents no difference can be significant.")
    leads = compared([VERDICTS[2], *["worse"] * 11])
    third = compared([*[VERDICTS[2]] * 10, "worse", "worse"])
    assert finding({"bleu": leads, "chrf": leads, "d-blonde": third}) == (
        "s0 and s1 lead on bleu and chrf, where the other 11 are significantly worse "
        "than the best; significantly worse than the best are 2 of 13 (s11 and s12) on d-blonde."
    )


def test_untested_and_undefined_scores() -> None:
    one = compared(["", ""], documents=1)
    assert not one.tested and {s.rank for s in one.standings} == {None}
    sentence = "Differences were not tested (a test needs several documents): s0 scores best on bleu."
    assert finding({"bleu": one}) == sentence
    off = compared(["", ""], draws=0)
    assert finding({"bleu": off, "ter": off}) == "Differences were not tested: s0 scores best on bleu and ter."
    assert off["s1"].interval.high == off["s1"].score  # intervals stay
    gap = compared(["worse"] * 2, void=1)
    assert finding({"bleu": gap}) == "s0 is significantly better than s1 on bleu; s2 has no score on bleu."


def test_many_metrics_are_left_to_the_table() -> None:
    spread = {f"m{i}": compared([VERDICTS[2 - (i >> k & 1)] for k in range(4)]) for i in range(3, 16)}
    assert finding(spread).count(";") <= CLAUSES


@pytest.mark.parametrize("name", ["", "x" * 300, "a\nb"])
def test_odd_names_stay_short(name: str) -> None:
    two = compared(["worse"])
    odd = replace(two, baseline=name, standings=(replace(two.standings[0], system=name), two.standings[1]))
    sentence = finding({"bleu": odd})
    assert "\n" not in sentence and len(sentence) < 120
