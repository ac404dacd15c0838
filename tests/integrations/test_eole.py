"""Scorers of eole, with its own registry and early stopping."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

import wholetext as wt
from tests.integrations.cases import LANGS, by_command, rows

pytest.importorskip("pyonmttok", reason="pyonmttok is not installed: make test-integration")
pytest.importorskip("eole.scorers", reason="eole is not installed: make test-integration")

from eole.scorers import build_scorers, get_scorers_cls, load_scorer_modules
from eole.utils.earlystopping import EarlyStopping, PatienceEnum, scorers_from_config
from eole.utils.statistics import Statistics

load_scorer_modules(["wholetext.integrations.eole"])
SPECS = ("chrf", "d-bleu", "ter")
NAMES = [f"wholetext/{spec}" for spec in SPECS]


def config(**options: object) -> SimpleNamespace:
    return SimpleNamespace(scorer_configs={"wholetext": options}, valid_metrics=NAMES, early_stopping_criteria=None)


def test_scores_are_those_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segments = rows()
    expected = by_command(capsys, tmp_path, segments, *SPECS)  # writes doc.txt, too
    scorers = build_scorers(config(langs=LANGS, docs=tmp_path / "doc.txt"), get_scorers_cls(NAMES))
    sides = [[row[side] for row in segments] for side in ("hyp", "ref", "src")]
    assert [entry["scorer"].compute_score(*sides) for entry in scorers.values()] == pytest.approx(expected, abs=1e-6)
    assert [entry["scorer"].higher_is_better for entry in scorers.values()] == [True, True, False]
    assert math.isnan(scorers[NAMES[0]]["scorer"].compute_score([], [], []))


@pytest.mark.parametrize(("spec", "values"), [("chrf", [30, 40, 35, 35]), ("ter", [80, 70, 75, 75])])
def test_training_stops_early(spec: str, values: list[float]) -> None:
    name = f"wholetext/{spec}"
    settings = config()
    settings.early_stopping_criteria = [name]
    stopping = EarlyStopping(2, scorers_from_config(settings))
    states = []
    for step, value in enumerate(values, 1):
        stopping(Statistics(computed_metrics={name: value}), step)
        states.append(stopping.status)
    assert states[1] is PatienceEnum.IMPROVING and states[3] is PatienceEnum.STOPPED and stopping.current_step_best == 2


def test_mistakes_are_answered() -> None:
    from wholetext.integrations.eole import register

    register("slide(size=2,step=1):chrf")
    assert "wholetext/slide(size=2,step=1):chrf" in get_scorers_cls(["wholetext/slide(size=2,step=1):chrf"])
    with pytest.raises(wt.errors.SpecError, match="there is no metric 'chrff'"):
        register("chrff")
    with pytest.raises(ValueError, match="specified metric not supported"):  # eole's own words
        get_scorers_cls(["wholetext/chrff"])
    with pytest.raises(wt.errors.InputError, match="scorer_configs, wholetext: there is no option 'lang'") as caught:
        build_scorers(config(lang="de-en"), get_scorers_cls(NAMES))
    assert "did you mean langs?" in caught.value.next
    scorers = build_scorers(config(), get_scorers_cls(["wholetext/term-consistency"]))
    with pytest.raises(wt.errors.MetricError, match="needs the source"):
        scorers["wholetext/term-consistency"]["scorer"].compute_score(["a"], ["a"])
