"""docs/demo.md: the recording of the first five minutes is what commands print now, in 80 columns."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tests.in_process import call
from tools.record_demo import PAGE
from wholetext.scoring.evaluate import demo_metrics

DEMO, OWN = (part.split("```")[0] for part in PAGE.read_text("utf-8").split("```text\n")[1:3])
NUMBER = re.compile(r"\d+\.\d+")


def printed(recording: str) -> list[str]:
    """The lines of commands of ours, without those of make and pip."""
    return [line for line in recording.splitlines() if not line.startswith((".venv/bin/", "python3 -m venv"))]


def test_the_recording_fits_80_columns_and_is_whole() -> None:
    lines = [*printed(DEMO), *printed(OWN)]
    assert max(map(len, lines)) <= 80 and "$ make demo" in DEMO and "--align" in OWN
    assert "d-blonde ↑" in DEMO and "run folder: demo-run" in DEMO and printed(DEMO)[-1].startswith("report: ")


def test_the_recording_and_the_readme_have_the_same_scores() -> None:
    readme = (PAGE.parent.parent / "README.md").read_text("utf-8")
    table = readme.split("<!-- three commands")[1].split("```text\n")[1].split("```")[0]
    assert set(NUMBER.findall(table)) <= set(NUMBER.findall(DEMO))


@pytest.mark.slow
def test_the_recording_is_fresh(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
                                tmp_path: object) -> None:  # fmt: skip
    if len(demo_metrics()) < 5 or find_spec("jinja2") is None:
        pytest.skip("the extra demo is not installed")
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    code, now, _ = call(capsys, "demo", "--out", "demo-run")
    then = DEMO.split("wholetext demo --out demo-run\n")[1]

    def words(text: str) -> list[str]:
        settled = re.sub(r"v:[^|]+\|#\w+|#[0-9a-f]{8}", "VERSION", text)
        return NUMBER.sub("N", settled).split()

    assert code == 0 and words(now) == words(then), "run `make recording`"
    for new, old in zip(NUMBER.findall(now), NUMBER.findall(then)):
        assert float(new) == pytest.approx(float(old), rel=2e-3, abs=2e-4)
