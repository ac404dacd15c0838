"""`judge-check` of the small model on the beginnings of some documents: every check, real intervals.

The figures are in docs/judges.md; here it is tested that they are there, and about the rows they should be about.
"""

from __future__ import annotations

import math

import pytest

import wholetext as wt
from tests.judges import small_model
from tests.judges.counting import CountingProxy
from tests.judges.judge_material import demo_pieces
from wholetext.judges.chat import Calls
from wholetext.judges.check import JudgeMeasure

pytestmark = pytest.mark.slow
ALL = ("position", "consistency", "wording", "agreement")


def checked(proxy: CountingProxy, segments: int, systems: tuple[str, ...], judges: list[str], **settings: object
            ) -> dict[tuple[str, str, str, str], JudgeMeasure]:
    corpus, outputs = demo_pieces(4, segments, systems)
    options = wt.Options(cache=False, calls=Calls(proxy.url, parallel=1, timeout=1800), flags=False)
    specs = [f"{one}@{small_model.NAME}" for one in judges]
    found = wt.judges.judge_check(corpus, outputs, specs, wt.judges.JudgeCheckOptions(**settings), options)  # type: ignore[arg-type]
    for one in found.measures:
        print(f"{one.check} {one.judge} {one.setting} {one.measure}: {one.value:.3f} [{one.low:.3f}, {one.high:.3f}], "
              f"{one.count}")  # fmt: skip
        assert math.isnan(one.value) or one.low <= one.value <= one.high
    names = [one.removesuffix(f"@{small_model.NAME}") for one in [m.judge for m in found.measures]]
    print(f"{proxy.arrived} calls", *found.notes, sep="\n")
    return {(one.check, name, one.setting.removesuffix(f"@{small_model.NAME}"), one.measure): one
            for name, one in zip(names, found.measures)}  # fmt: skip


def test_position_consistency_wording_and_agreement(real: CountingProxy) -> None:
    judges = ["judge-da", "judge-sqm"]
    found = checked(real, 2, ("coherent", "literal"), judges, checks=ALL, samples=3)
    rows = {("position", "judge-pairwise", "", "flip rate"): 8,  # 4 documents, 2 segments, 1 pair of systems
            ("agreement", "judge-da", "judge-sqm", "mean absolute difference"): 16,
            ("agreement", "judge-da", "judge-sqm", "equal preferences between systems"): 8}
    for name in judges:
        rows["consistency", name, "3 samples, temperature 0.7", "standard deviation"] = 16
        rows["wording", name, "reworded", "mean absolute difference"] = 16
    for label, most in rows.items():  # fewer where an answer cannot be read, nor the next one
        assert most / 2 <= found[label].count <= most and math.isfinite(found[label].high), label


def test_length(real: CountingProxy) -> None:
    found = checked(real, 4, ("literal",), ["judge-mqm(max_tokens=64)"], checks=("length",), windows=(1, 2, 4))
    rates = {setting: one.count for (_, _, setting, name), one in found.items() if name.startswith("errors per")}
    assert rates == {"window 1": 16, "window 2": 8, "window 4": 4}
