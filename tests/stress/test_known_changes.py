"""The list of changes, and what packages add to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import wholetext as wt
from wholetext import plugins
from wholetext.errors import InputError, PluginError
from wholetext.stress.change import Refused, Text, applied
from wholetext.stress.known_changes import BUILTIN, chosen, described, origins
from wholetext.stress.perturb import StressOptions, perturb

PLUGIN = """
from wholetext import Change
from wholetext.stress.change import Replacement

interface = 2

class Shout(Change):
    name = "shout"
    summary = "everything in capitals"
    kind = "harmless"

    def sites(self, text, rng):
        return [(Replacement(at, 0, len(one), one.upper()),) for at, one in enumerate(text.segments)]

class Misnamed(Shout):
    name = "other"

nothing = 7
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that adds a change, and two that are none."""
    (tmp_path / "loud-1.5.dist-info").mkdir()
    (tmp_path / "loud-1.5.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.5\n")
    (tmp_path / "loud-1.5.dist-info/entry_points.txt").write_text(
        "[wholetext.changes]\nshout = loud_changes:Shout\nmumble = loud_changes:Misnamed\nbad = loud_changes:nothing\n")
    (tmp_path / "loud_changes.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.installed.cache_clear()
    yield
    plugins.installed.cache_clear()


def test_every_change_says_what_it_is() -> None:
    found = wt.list_changes()
    assert [*found][: len(BUILTIN)] == [*BUILTIN]
    for name, change in found.items():
        assert change.name == name and change.summary and change.__doc__
        assert change.kind in ("document", "sentence", "harmless")
        assert change.languages is None or change.languages <= {"en", "de", "fr", "ru", "es", "zh"}
    assert {change.kind for change in found.values()} == {"document", "sentence", "harmless"}


def test_an_unknown_change_is_answered_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="there is no change 'pronouns'") as caught:
        chosen(["pronouns"])
    assert "pronoun" in caught.value.next


def test_the_change_of_the_guide_works() -> None:
    guide = (Path(__file__).parents[2] / "docs/stress.md").read_text("utf-8").split("## Another change")[1]
    names: dict[str, Any] = {}
    exec(guide.split("```python\n")[1].split("```")[0], names)
    text = Text("doc", "en", ("It rained.", "Oh?"))
    made, _ = applied(text.segments, names["Exclaim"]().sites(text, Random(0)))
    assert made == ("It rained!", "Oh?")
    with pytest.raises(Refused, match="full stop"):
        names["Exclaim"]().sites(Text("doc", "en", ("Oh?",)), Random(0))


@pytest.mark.usefixtures("package")
def test_a_package_adds_a_change() -> None:
    assert [one.name for one in chosen(["shout"])] == ["shout"]
    corpus = wt.Corpus("c", ("", "en"), (wt.Document("a", ("x",), {}),))
    made = perturb(corpus, wt.Output("s", {"a": ("hello",)}), StressOptions(("shout",), ("all",)))
    assert made.items[0].segments == ("HELLO",) and made.kinds == {"shout": "harmless"}
    assert origins(["swap", "shout"]) == {"shout": "loud 1.5"}
    listed, broken = described()
    assert listed["shout"] == {"kind": "harmless", "summary": "everything in capitals", "languages": None}
    assert {*broken} == {"bad", "mumble"} and "pronoun" in listed
    with pytest.raises(PluginError, match=r"'bad' of loud 1\.5 is not a subclass of Change"):
        chosen(["bad"])
    with pytest.raises(PluginError, match=r"'mumble' of loud 1\.5 has the name 'other'"):
        chosen(["mumble"])
