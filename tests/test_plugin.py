"""The example plug-in: a real package, installed and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plug-in is installed."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(PLUGIN)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(ROOT / "src")])}


def run(environment: dict[str, str], *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *argv], env=environment, capture_output=True, text=True)


def test_an_installed_plugin_is_listed_conforms_and_scores(installed: dict[str, str], tmp_path: Path) -> None:
    assert "lengthmatch" in run(installed, "-m", "wholetext", "list").stdout
    check = (
        "from wholetext.testing import check_metric; "
        "check_metric('lengthmatch'); check_metric('slide(size=2):lengthmatch(unit=char)')"
    )
    done = run(installed, "-c", check)
    assert done.returncode == 0, done.stderr
    for name, lines in {"ref": ["a b c d", "e f"], "sys": ["a b c", "e f g h"]}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    texts = ["-t", str(tmp_path / "sys.txt"), "-r", str(tmp_path / "ref.txt")]
    done = run(installed, "-m", "wholetext", "score", *texts, "-m", "sentence:lengthmatch", "-f", "json")
    assert done.returncode == 0, done.stderr
    (metric,) = json.loads(done.stdout)["metrics"]
    assert metric["name"] == "sentence:lengthmatch"
    assert metric["systems"][0]["score"] == pytest.approx((3 / 4 + 2 / 4) / 2)
