"""The table of verbs: each is imported when it is used, and packages add their own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from wholetext import plugins
from wholetext.cli import help
from wholetext.cli.main import COMMANDS

VERB = '''
from typing import Annotated
from cyclopts import App, Parameter
from wholetext.cli import options

interface = 3
app = App("tools", help="Tools.")

@app.command
def count(files: options.Files = options.Files(), *, chosen: options.Chosen = options.Chosen(),
          shout: Annotated[bool, Parameter(help="Print it loudly.")] = False) -> None:
    """Count the segments of the input."""
    loaded = options.load(files, chosen)
    text = f"{sum(map(len, loaded.corpus.docs))} segments"
    print(text.upper() if shout else text)

'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with the verbs `count`, `tools` and `score`."""
    info = tmp_path / "verbs-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: verbs\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[wholetext.verbs]\n" + "".join(
        f"{name} = verbs_code:{function}\n" for name, function in
        (("count", "count"), ("tools", "app"), ("score", "count"))))
    (tmp_path / "verbs_code.py").write_text(VERB)
    (tmp_path / "texts.txt").write_text("one\ntwo\nthree\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.installed.cache_clear()
    yield tmp_path
    sys.modules.pop("verbs_code", None)
    plugins.installed.cache_clear()


def test_a_verb_of_a_package_is_listed_without_importing_it(package: Path, capsys: Capture) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0 and re.search(r"^  count +Plug-in of verbs 1.5$", out, re.M)
    assert "verbs_code" not in sys.modules


def test_a_verb_of_a_package_has_options_like_any_other(package: Path, capsys: Capture) -> None:
    texts = str(package / "texts.txt")
    assert call(capsys, "count", "-t", texts, "-r", texts)[:2] == (0, "3 segments\n")
    assert call(capsys, "count", "-t", texts, "-r", texts, "--shout")[:2] == (0, "3 SEGMENTS\n")
    assert call(capsys, "tools", "count", "-t", texts, "-r", texts)[:2] == (0, "3 segments\n")
    code, out, _ = call(capsys, "count", "--help-all")
    assert code == 0 and "Count the segments" in out and "--shout" in out and "--test-set" in out


def test_packages_cannot_replace_verbs(package: Path, capsys: Capture) -> None:
    code, out, _ = call(capsys, "score", "--help")
    assert code == 0 and "Score systems" in out and "Count" not in out


@pytest.mark.parametrize("words", [["--help"], ["score", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = ("import sys; from wholetext.cli.main import main\n"
               f"try: main({words!r})\n"
               "except SystemExit: pass\n"
               "print([name for name in ('numpy', 'scipy', 'rich', 'torch') if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_names_every_verb_on_one_line_of_80_columns(capsys: Capture) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    listed = [(title, verb, text) for title, verbs in help.COMMANDS.items() for verb, text in verbs.items()]
    assert {verb for _, verb, _ in listed} - {"convert"} <= {*COMMANDS} <= {verb for _, verb, _ in listed}
    assert len(COMMANDS) <= 18 + 1  # `cache` is hidden
    for title, verb, text in listed:
        shown = re.search(rf"^  {verb} +{re.escape(text)}$", out, re.M)
        assert bool(shown) == (title != "" and verb in COMMANDS), verb


def test_help_lists_options_by_section_and_rare_ones_on_request(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    short, out = (call(capsys, "score", word)[1] for word in ("--help", "--help-all"))
    parts = dict(re.findall(r"^([A-Z].+):\n((?:  .*\n?)+)", out, re.M))
    assert list(parts) == ["Examples", "Input", "Options", "Alignment", "Significance tests", "Models and processors",
                           "LLM judges"]  # fmt: skip
    for title, option in (("Input", "--docids"), ("Options", "--out"), ("LLM judges", "--budget")):
        assert [name for name in list(parts)[1:] if option in parts[name]] == [title]
    assert "--budget" not in short and "--help-all" in short
    assert max(map(len, f"{short}\n{out}".splitlines())) <= 80


def test_completion_is_installed_for_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capsys: Capture) -> None:  # fmt: skip
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    code, out, err = call(capsys, "--install-completion")
    script = next(path for path in tmp_path.rglob("*") if path.is_file() and "--translations" in path.read_text())
    assert code == 0 and str(script) in out, err
