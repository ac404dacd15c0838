"""The worked examples of the BlonDe paper (Jiang et al. 2022), from their counts to their scores.

Figure 3 counts, for two translations, how many tenses, pronouns, entities and markers match the reference (``sim``),
and how many the translation and the reference have. Table 3 gives the scores of the same two translations; its BLONDE
columns come from the sentences of the authors' example script, with precision and recall exchanged in print.
"""

from __future__ import annotations

import numpy as np
import pytest

from wholetext.metrics.blonde.metric import Blonde, DBlonde
from wholetext.metrics.blonde.units import CATEGORIES

Counts = dict[str, tuple[float, float, float]]  # category → match, reference, system


def scores(metric: Blonde, counts: Counts) -> dict[str, float]:
    table = np.zeros((len(CATEGORIES) + (len(metric.outputs) - 3) // 3 - len(metric.factors), 3))
    for category, three in counts.items():
        table[CATEGORIES.index(category)] = three
    return dict(zip(metric.outputs, metric.reduce(table.reshape(-1))))


FIGURE3_A: Counts = {"entity": (1, 2, 1), "tense": (2, 7, 7), "pronoun": (4, 5, 6), "marker": (0, 2, 0)}
FIGURE3_B: Counts = {"entity": (2, 2, 2), "tense": (7, 7, 7), "pronoun": (5, 5, 6), "marker": (2, 2, 2)}


def test_figure_3_translation_a() -> None:
    """p = (1, 2/7, 2/3, NA), r = (1/2, 2/7, 4/5, 0), F = (2/3, 2/7, 8/11, NA) for entity, tense, pronoun, marker."""
    got = scores(DBlonde(profile="paper"), FIGURE3_A)
    expected = {"entity": (1, 1 / 2, 2 / 3), "tense": (2 / 7, 2 / 7, 2 / 7), "pronoun": (2 / 3, 4 / 5, 8 / 11),
                "marker": (np.nan, 0, np.nan)}
    for name, (precision, recall, f1) in expected.items():
        three = [got[f"{name}.precision"], got[f"{name}.recall"], got[name]]
        np.testing.assert_allclose(three, [precision, recall, f1], atol=1e-12)


def test_figure_3_translation_a_combined() -> None:
    """Eqs. 8–10 with 1e-5 for the recall of 0.

    Footnote 18 prints .114, .057 and .076: products whose root was not taken, and three recalls where precisions
    belong; Table 3's 7.6 is that slip.
    """
    got = scores(DBlonde(profile="paper"), FIGURE3_A)
    assert got["precision"] == pytest.approx((4 / 21) ** (1 / 3), abs=1e-12)
    assert round(got["precision"], 5) == 0.57537
    assert got["recall"] == pytest.approx((4 / 35 * 1e-5) ** (1 / 4), abs=1e-12)
    assert round(got["recall"], 5) == 0.03270
    assert round(got["f1"], 5) == 0.06188


def test_figure_3_translation_b() -> None:
    """BLOND-D of the better translation: 97.7 in Table 3."""
    got = scores(DBlonde(profile="paper"), FIGURE3_B)
    assert [round(got[name], 5) for name in ("precision", "recall", "f1")] == [0.95544, 1, 0.97721]


TABLE3_A: Counts = {
    "tense": (2, 9, 7), "pronoun": (2, 4, 2), "entity": (1, 2, 2), "marker": (0, 2, 0),
    "ngram1": (30, 50, 41), "ngram2": (21, 46, 37), "ngram3": (15, 42, 33), "ngram4": (10, 38, 29),
}
TABLE3_B: Counts = {
    "tense": (8, 9, 8), "pronoun": (4, 4, 4), "entity": (2, 2, 2), "marker": (2, 2, 2),
    "ngram1": (35, 50, 54), "ngram2": (22, 46, 50), "ngram3": (14, 42, 46), "ngram4": (7, 38, 42),
}
FIGURE3_TEXT_A: Counts = {
    "tense": (3, 9, 8), "pronoun": (2, 4, 4), "entity": (1, 2, 2), "marker": (0, 2, 0),
    "ngram1": (38, 50, 48), "ngram2": (28, 46, 44), "ngram3": (19, 42, 40), "ngram4": (12, 38, 36),
}


@pytest.mark.parametrize(
    ("metric", "counts", "expected"),  # recall, precision, F1
    [
        (Blonde(), TABLE3_A, (0.1046, 0.5126, 0.1737)),  # Table 3 prints P 10.5, R 51.3, F1 17.4
        (DBlonde(), TABLE3_A, (0.0273, 0.5228, 0.0519)),
        (Blonde(), TABLE3_B, (0.6064, 0.5889, 0.5975)),  # Table 3 prints 60.6, 58.9, 59.8
        (DBlonde(), TABLE3_B, (0.9710, 1.0, 0.9853)),
        (Blonde(), FIGURE3_TEXT_A, (0.1238, 0.4969, 0.1982)),
    ],
)
def test_table_3(metric: Blonde, counts: Counts, expected: tuple[float, float, float]) -> None:
    got = scores(metric, counts)
    assert tuple(round(got[name], 4) for name in ("recall", "precision", "f1")) == expected


def test_with_d_counts_the_discourse_factors_twice() -> None:
    """The experiments' sBlonDe: .1058 for recall where the definition gives .1238."""
    assert round(scores(Blonde(with_d=True), FIGURE3_TEXT_A)["recall"], 4) == 0.1058
