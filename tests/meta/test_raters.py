"""Agreement between raters: Cohen's kappa, Krippendorff's alpha, pairs of outputs; `paragraphs --agreement`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.in_process import call
from tests.meta import evalset_folder
from wholetext.meta.judgments import gather
from wholetext.meta.raters import cohen_kappa, krippendorff_alpha, rater_pairs

nan = float("nan")


def test_cohen_kappa() -> None:
    """Cohen 1960's kind of table: 20 yes-yes, 5 and 10 disagreements, 15 no-no."""
    one = np.array([1] * 25 + [0] * 25, dtype=float)
    two = np.array([1] * 20 + [0] * 5 + [1] * 10 + [0] * 15, dtype=float)
    assert cohen_kappa(one, two) == pytest.approx(0.4)
    assert cohen_kappa(one, one) == 1.0
    assert np.isnan(cohen_kappa(np.ones(3), np.ones(3)))
    assert np.isnan(cohen_kappa(np.array([nan]), np.array([1.0])))


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)])
def test_krippendorff_alpha(scale: str, alpha: float) -> None:
    """The example of Krippendorff 2011: four observers, twelve units, gaps."""
    data = np.array([[1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
                     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    assert krippendorff_alpha(data, scale) == pytest.approx(alpha, abs=5e-4)  # type: ignore[arg-type]
    assert np.isnan(krippendorff_alpha(np.ones((2, 3))))


def test_pairs_of_raters() -> None:
    rows = [(system, ("d", i), rater, float(score)) for rater, table in (
        ("r1", {"A": [1, 2, 3], "B": [2, 2, 1]}), ("r2", {"A": [1, 2, 2], "B": [3, 1, 1]}), ("r3", {"A": [1]}))
        for system, scores in table.items() for i, score in enumerate(scores)]
    pairs = rater_pairs(gather("da", rows))
    assert [(p.first, p.second) for p in pairs] == [("r1", "r2")]
    assert (pairs[0].items, pairs[0].pairs) == (6, 3)
    assert pairs[0].pair_agreement == pytest.approx(2 / 3)  # B > A, tie against A > B, A > B


def test_the_agreement_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evalset_folder.make(tmp_path)
    lines = ["system\tseg\trater\tscore"]
    for rater, step in (("ann", 1), ("bob", 2)):
        lines += [f"{system}\t{i}\t{rater}\t{-step * i}" for system in ("alpha", "beta") for i in range(8)]
    evalset_folder.write(folder / "human-scores" / "de-en.mqm.raters.tsv", lines)
    code, text, _ = call(capsys, "meta", "paragraphs", folder, "--k", 2, "--agreement", "interval")
    out = text.splitlines()
    assert code == 0 and out[2].startswith("Krippendorff's alpha (interval): 0.")
    assert out[4].split("\t")[:4] == ["ann", "bob", "16", "1.0000"]
