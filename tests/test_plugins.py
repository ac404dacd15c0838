"""Plug-ins of other packages: loaded when used, refused with the package's name where they cannot be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wholetext import plugins
from wholetext.errors import PluginError

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that installs a package: its name, the lines of its entry points, and the text of its module."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(package: str, points: str, module: str = "") -> None:
        info = tmp_path / f"{package}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(points)
        (tmp_path / f"{package}_code.py").write_text(module)

    yield made
    for name in set(sys.modules) - before:
        if name.endswith("_code"):
            del sys.modules[name]


def test_nothing_is_imported_before_it_is_used(install: Install) -> None:
    install("first", "[wholetext.things]\none = first_code:one\nbad = nowhere:one\n", "one = len\n")
    found = plugins.load("wholetext.things")
    assert list(found) == ["bad", "one"] and "first_code" not in sys.modules
    assert found["one"]() is len
    assert plugins.origin("wholetext.things", "one") == "first 1.5"
    assert plugins.load("wholetext.others") == {} and plugins.origin("wholetext.things", "other") == ""


def test_a_broken_plugin_is_named_with_its_package(install: Install) -> None:
    install("crashes", "[wholetext.things]\nthing = crashes_code:thing\n", "thing = 1 / 0\n")
    with pytest.raises(PluginError, match=r"'thing' of crashes 1.5 cannot be loaded .*ZeroDivisionError") as caught:
        plugins.load("wholetext.things")["thing"]()
    assert "reinstall" in caught.value.next


def test_a_name_that_is_taken_is_refused(install: Install) -> None:
    install("first", "[wholetext.things]\nscore = first_code:one\nmine = first_code:one\n", "one = len\n")
    with pytest.raises(PluginError, match=r"'score' is the name of a built-in.* of first 1.5"):
        plugins.load("wholetext.things", {"score": ""})["score"]()
    install("second", "[wholetext.things]\nmine = second_code:one\n", "one = len\n")
    with pytest.raises(PluginError, match=r"(first|second) 1.5 and (first|second) 1.5 both provide 'mine'"):
        plugins.load("wholetext.things")["mine"]()


@pytest.mark.parametrize("declared", ["", "interface = 1", f"interface = {plugins.INTERFACE}"])
def test_interfaces_that_work(install: Install, declared: str) -> None:
    install("fits", "[wholetext.things]\nthing = fits_code:thing\n", f"{declared}\ndef thing(): pass\n")
    assert callable(plugins.load("wholetext.things")["thing"]())


@pytest.mark.parametrize(("declared", "remedy"), [
    (f"{plugins.INTERFACE + 1}", "update wholetext"), ("0", "update that package"), ("'new'", "update that package"),
])  # fmt: skip
def test_other_interfaces_are_refused(install: Install, declared: str, remedy: str) -> None:
    points = "[wholetext.things]\nthing = apart_code:thing\nkind = apart_code:Kind\n"
    install("apart", points, f"interface = {declared}\ndef thing(): pass\nclass Kind:\n    interface = {declared}\n")
    for name in ("thing", "kind"):
        with pytest.raises(PluginError, match=f"'{name}' of apart 1.5 is made for interface {declared}") as caught:
            plugins.load("wholetext.things")[name]()
        assert remedy in caught.value.next
