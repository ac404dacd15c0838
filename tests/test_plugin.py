"""The example plug-in: a real package, installed and used; and the recipe of CONTRIBUTING, followed to the letter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "examples" / "plugin"
FROZEN = ROOT / "tests" / "oracle" / "plugin-0.1.0"
METRIC = PLUGIN / "src" / "wholetext_lengthmatch" / "__init__.py"


@pytest.fixture(scope="module", params=[PLUGIN, FROZEN], ids=["now", "0.1.0"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plug-in is installed, as it is now or as it was made for the first interface."""
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(target),
        str(request.param),
    ]
    subprocess.run(command, check=True, capture_output=True)
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
    done = run(
        installed,
        "-m",
        "wholetext",
        "score",
        "-t",
        str(tmp_path / "sys.txt"),
        "-r",
        str(tmp_path / "ref.txt"),
        "-m",
        "sentence:lengthmatch",
        "-f",
        "json",
    )
    assert done.returncode == 0, done.stderr
    (metric,) = json.loads(done.stdout)["metrics"]
    assert metric["name"] == "sentence:lengthmatch"
    assert metric["systems"][0]["score"] == pytest.approx((3 / 4 + 2 / 4) / 2)


def test_without_the_plugin_its_name_is_unknown() -> None:
    done = run(dict(os.environ, PYTHONPATH=str(ROOT / "src")), "-m", "wholetext", "show", "lengthmatch")
    assert done.returncode == 2
    assert "there is no metric 'lengthmatch'" in done.stderr
    assert "Traceback" not in done.stderr


def copied(folder: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the package to add to, and the environment in which it is used."""
    shutil.copytree(ROOT / "src" / "wholetext", folder / "wholetext", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "wholetext", dict(os.environ, PYTHONPATH=str(folder))


def put(page: Path, mark: str, line: str) -> None:
    """Add a line after a mark that is there once."""
    text = page.read_text("utf-8")
    assert text.count(mark) == 1
    page.write_text(text.replace(mark, mark + line), "utf-8")


def test_adding_a_metric_is_one_file_of_thirty_lines_and_one_line(tmp_path: Path) -> None:
    assert len(METRIC.read_text().splitlines()) <= 30
    copy, environment = copied(tmp_path)
    (copy / "metrics" / "lengthmatch.py").write_text(METRIC.read_text())
    line = '    "lengthmatch": "wholetext.metrics.lengthmatch:LengthMatch",\n'
    put(copy / "registry.py", "CORE_METRICS: Mapping[str, str] = {\n", line)
    done = run(environment, "-c", "from wholetext.testing import check_metric; check_metric('lengthmatch')")
    assert done.returncode == 0, done.stderr
    assert re.search("^  lengthmatch +↑ hyp\\+ref +ratio of", run(environment, "-m", "wholetext", "list").stdout, re.M)


def test_adding_a_view_and_a_verb_takes_what_the_recipes_say(tmp_path: Path) -> None:
    copy, environment = copied(tmp_path)
    view = '    """The first segment of each document."""\n\n    name: ClassVar[str] = "first"\n\n'
    view = f"@dataclass(frozen=True)\nclass First(View):\n{view}    def spans(self, size: int) -> list[Span]:\n"
    put(copy / "views.py", "return windows\n", f"\n\n{view}        return [(0, 1, 1.0)]\n")
    put(copy / "views.py", "VIEWS: Mapping[str, type[View]] = {\n", '    "first": First,\n')
    verb = 'def greet(name: str) -> None:\n    """Greet."""\n    print("good day", name)\n'
    (copy / "cli" / "greet.py").write_text(verb)
    put(copy / "cli" / "main.py", "CORE_VERBS = {\n", '    "greet": "wholetext.cli.greet:greet",\n')
    listed = run(environment, "-m", "wholetext", "list").stdout
    assert re.search(r"^  first +The first segment of each document\.$", listed, re.M)
    code = "import wholetext as w; print(w.score_texts(['a', 'b'], refs=['a', 'x'], metric='first:chrf').score)"
    assert run(environment, "-W", "ignore", "-c", code).stdout == "100.0\n"
    assert re.search(r"^  greet +Greet\.$", run(environment, "-m", "wholetext", "--help").stdout, re.M)
    assert run(environment, "-m", "wholetext", "greet", "Ann").stdout == "good day Ann\n"


def test_a_broken_plugin_does_not_hide_the_others(installed: dict[str, str], tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[wholetext.metrics]\nbroken = nowhere_to_be_found:Metric\n")
    environment = {**installed, "PYTHONPATH": os.pathsep.join([str(tmp_path), installed["PYTHONPATH"]])}
    done = run(environment, "-m", "wholetext", "list")
    assert done.returncode == 0 and "lengthmatch" in done.stdout
    assert "warning: the plug-in broken cannot be used" in done.stderr and "nowhere_to_be_found" in done.stderr
    told = json.loads(run(environment, "-m", "wholetext", "list", "--json").stdout)
    assert list(told["broken"]) == ["broken"] and "lengthmatch" in told["metrics"]
    done = run(environment, "-m", "wholetext", "show", "broken")
    assert done.returncode == 2 and "Traceback" not in done.stderr
