"""The table of verbs: each is imported when it is used, and packages add their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext import plugins
from wholetext.cli import options
from wholetext.cli.main import VERBS, command, function

VERB = '''
from typing import Annotated
import typer
from wholetext.cli import options

interface = 2

def count(*, files: options.Files, chosen: options.Chosen,
          shout: Annotated[bool, typer.Option("--shout", help="Print it loudly.")] = False) -> None:
    """Count the segments of the input."""
    loaded = options.load(files, chosen)
    text = f"{sum(map(len, loaded.corpus.docs))} segments"
    print(text.upper() if shout else text)

broken = 3
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with the verbs `count`, `broken` and `score`."""
    info = tmp_path / "verbs-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: verbs\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[wholetext.verbs]\n" + "".join(
        f"{name} = verbs_code:{function}\n" for name, function in
        (("count", "count"), ("broken", "broken"), ("score", "count"))))
    (tmp_path / "verbs_code.py").write_text(VERB)
    (tmp_path / "texts.txt").write_text("one\ntwo\nthree\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.installed.cache_clear()
    yield tmp_path
    sys.modules.pop("verbs_code", None)
    plugins.installed.cache_clear()


def test_a_verb_of_a_package_is_listed_without_importing_it(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0 and "Plug-in of verbs 1.5\n" in out and "\n  count " in out
    assert "verbs_code" not in sys.modules


def test_a_verb_of_a_package_has_options_like_any_other(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = str(package / "texts.txt")
    assert call(capsys, "count", "-t", texts, "-r", texts)[:2] == (0, "3 segments\n")
    assert call(capsys, "count", "-t", texts, "-r", texts, "--shout")[:2] == (0, "3 SEGMENTS\n")
    code, out, _ = call(capsys, "count", "--help")
    assert code == 0 and "Count the segments" in out and "--shout" in out and "--test-set" in out


def test_packages_cannot_replace_verbs_and_their_faults_name_them(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "score", "--help")
    assert code == 0 and "Score systems" in out and "Count" not in out
    code, _, err = call(capsys, "broken")
    assert code == 2 and "the verb 'broken' of verbs 1.5 is not a function" in err


@pytest.mark.parametrize("words", [["--help"], ["score", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = ("import sys; from wholetext.cli.main import main\n"
               f"try: main({words!r})\n"
               "except SystemExit: pass\n"
               "print([name for name in ('numpy', 'scipy', 'rich', 'torch') if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_for_itself_and_all_its_options(verb: str) -> None:
    found = command(verb, function(verb))
    assert found.name == verb and found.help
    for one in [found, *getattr(found, "commands", {}).values()]:
        assert one.help and all(option.help for option in one.params if option.name != "help")


@pytest.mark.parametrize("group", [options.Files, options.Chosen, options.Execution, options.Testing])
def test_groups_of_options_have_defaults(group: type) -> None:
    """Verbs that take only some options of a group make the rest themselves."""
    assert group() == group()
