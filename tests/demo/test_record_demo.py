"""docs/demo.md: the recording of `make demo` is what the demo shows now, and fits a terminal of 80 columns."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tools.record_demo import PAGE, record
from wholetext.scoring.evaluate import demo_metrics

RECORDING = PAGE.read_text("utf-8").split("```text\n")[1].split("```")[0]
NUMBER = re.compile(r"\d+\.\d+")


def test_the_recording_fits_80_columns_and_is_whole() -> None:
    lines = RECORDING.splitlines()
    assert max(map(len, lines)) <= 80 and lines[0] == "$ make demo"
    assert "d-blonde ↑" in RECORDING and "run folder: demo-run" in RECORDING and lines[-1].startswith("report: ")


def test_the_recording_and_the_readme_have_the_same_scores() -> None:
    readme = (PAGE.parent.parent / "README.md").read_text("utf-8")
    table = readme.split("<!-- three commands")[1].split("```text\n")[1].split("```")[0]
    assert set(NUMBER.findall(table)) <= set(NUMBER.findall(RECORDING))


@pytest.mark.slow
def test_the_recording_is_fresh() -> None:
    if len(demo_metrics()) < 5 or find_spec("jinja2") is None:
        pytest.skip("the extra demo is not installed")

    def words(text: str) -> list[str]:
        settled = re.sub(r"v:[^|]+\|#\w+|#[0-9a-f]{8}", "VERSION", text)
        return NUMBER.sub("N", settled).split()

    now, then = record(), RECORDING.split("\n", 2)[2]
    assert words(now) == words(then), "run `make docs`"
    for new, old in zip(NUMBER.findall(now), NUMBER.findall(then)):
        assert float(new) == pytest.approx(float(old), rel=2e-3, abs=2e-4)
