"""Plug-ins of other packages: loaded when used, refused with the package's name where they cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.in_process import call
from tests.judges.scripted import ScriptedServer
from tests.judges.scripted_judge import right
from wholetext import Corpus, Document, Options, Output, open_run, plugins, score
from wholetext.errors import PluginError, SpecError
from wholetext.io import Loaded
from wholetext.registry import catalogue, scorer
from wholetext.reporting.texts import Texts, marks_of
from wholetext.scoring import write_run
from wholetext.scoring.explain import explain
from wholetext.testing import sample
from wholetext.views import Whole

Install = Callable[..., None]
ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "examples" / "plugin"
EXAMPLE = PLUGIN / "src/wholetext_lengthmatch/__init__.py"


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
        plugins.installed.cache_clear()

    yield made
    for name in set(sys.modules) - before:
        if name.endswith("_code"):
            del sys.modules[name]


def test_nothing_is_imported_before_it_is_used(install: Install) -> None:
    install("first", "[wholetext.things]\none = first_code:one\nbad = nowhere:one\n", "interface = 3\none = len\n")
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
    install(
        "first", "[wholetext.things]\nscore = first_code:one\nmine = first_code:one\n", "interface = 3\none = len\n"
    )
    with pytest.raises(PluginError, match=r"'score' is the name of a built-in.* of first 1.5"):
        plugins.load("wholetext.things", {"score": ""})["score"]()
    install("second", "[wholetext.things]\nmine = second_code:one\n", "interface = 3\none = len\n")
    with pytest.raises(PluginError, match=r"(first|second) 1.5 and (first|second) 1.5 both provide 'mine'"):
        plugins.load("wholetext.things")["mine"]()


@pytest.mark.parametrize("declared", ["4", "2", "None"])
def test_other_interfaces_are_refused(install: Install, declared: str) -> None:
    points = "[wholetext.things]\nthing = apart_code:thing\nkind = apart_code:Kind\n"
    install("apart", points, f"interface = {declared}\ndef thing(): pass\nclass Kind:\n    interface = {declared}\n")
    for name in ("thing", "kind"):
        with pytest.raises(PluginError, match=f"'{name}' of apart 1.5 is made for interface {declared}") as caught:
            plugins.load("wholetext.things")[name]()
        assert "wholetext help plugins" in caught.value.next


VIEW = """
from dataclasses import dataclass
from typing import ClassVar
from wholetext.views import Span, View

interface = 3

@dataclass(frozen=True)
class Halves(View):
    \"\"\"The first and the second half of each document.\"\"\"

    name: ClassVar[str] = "halves"
    swap: bool = False

    def spans(self, size: int) -> list[Span]:
        found = [(0, size // 2, 1.0), (size // 2, size, 1.0)]
        return found[::-1] if self.swap else found
"""


def test_a_view_of_a_plugin_is_used_like_any_other(install: Install) -> None:
    install("halves", "[wholetext.views]\nhalves = halves_code:Halves\nwhole = halves_code:Halves\n", VIEW)
    results = score(Loaded(*sample()), ["halves(swap=true):chrf"], options=Options(cache=False))
    scores = results["halves(swap=true):chrf"]["same"]
    assert [(row.start, row.stop) for row in scores.rows][:2] == [(1, 3), (0, 1)]
    assert scores.signature["view"] == "halves" and scores.signature["view.plugin"] == "halves 1.5"
    assert scorer("whole:chrf").view == Whole()  # a built-in is never replaced
    known = catalogue()
    assert known["views"]["halves"] == "The first and the second half of each document."
    assert "'whole' is the name of a built-in" in known["broken"]["whole"]
    with pytest.raises(SpecError, match="'halves' is a view and needs a metric"):
        scorer("halves")
    with pytest.raises(SpecError, match="did you mean halves"):
        scorer("halve:chrf")


def test_what_is_no_metric_or_view_is_refused(install: Install) -> None:
    points = "[wholetext.views]\nodd = wrong_code:Odd\n[wholetext.metrics]\nbad = wrong_code:Odd\n"
    install("wrong", points, "interface = 3\nOdd = dict\n")
    for spec, kind in (("odd:chrf", "view"), ("bad", "metric")):
        with pytest.raises(PluginError, match=f"of wrong 1.5 is not a {kind}") as caught:
            scorer(spec)
        assert "frozen dataclass" in caught.value.next
    assert set(catalogue()["broken"]) == {"bad", "odd"}


def test_a_broken_plugin_does_not_hide_the_others(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    points = "[wholetext.metrics]\nbroken = nowhere_to_be_found:Metric\nlengthmatch = lengths_code:LengthMatch\n"
    install("lengths", points, EXAMPLE.read_text("utf-8"))
    code, out, err = call(capsys, "list")
    assert code == 0 and "lengthmatch" in out
    assert "warning: the plug-in broken cannot be used" in err and "nowhere_to_be_found" in err
    listed = json.loads(call(capsys, "list", "--json")[1])
    assert list(listed["broken"]) == ["broken"] and "lengthmatch" in listed["metrics"]
    code, _, err = call(capsys, "list", "broken")
    assert code == 2 and "lengths 1.5" in err and "Traceback" not in err


JUDGE = """
from dataclasses import dataclass
from pathlib import Path
from wholetext.judges.judge import JudgeDa

interface = 3

@dataclass(frozen=True)
class Tone(JudgeDa):
    \"\"\"How well the tone of the source is kept.\"\"\"

    name = "judge-tone"
    summary = "tone of the source kept, from 0 to 100"

    prompt: str = str(Path(__file__).with_name("tone.toml"))
"""
TONE = """
user = "Rate the tone of {hyp} against {src}. {answer}"
json = 'Answer {"score": N}.'
"""


def test_a_judge_of_a_plugin_asks_with_its_own_prompt(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx")
    install("tone", "[wholetext.metrics]\njudge-tone = tone_code:Tone\n", JUDGE)
    (tmp_path / "tone.toml").write_text(TONE)
    assert "judge-tone" in catalogue()["metrics"]
    with ScriptedServer(right) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        scores = score(Loaded(*sample()), ["judge-tone@m"], options=Options(cache=False))["judge-tone@m"]["same"]
    assert scores.signature["plugin"] == "tone 1.5" and scores.signature["prompt"].startswith("tone.toml#")
    asked = [body["messages"][-1]["content"] for body in server.asked]
    assert all(text.startswith("Rate the tone of ") for text in asked) and len({*asked}) == len(asked) > 3
    assert 0 <= scores.score <= 100


@pytest.mark.parametrize("spec", ["lengthmatch", "sentence:lengthmatch", "slide(size=2,step=1):lengthmatch"])
def test_spans_that_a_plugin_marks_are_explained_and_reported(
    spec: str, install: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    install("lengths", "[wholetext.metrics]\nlengthmatch = lengths_code:LengthMatch\n", EXAMPLE.read_text("utf-8"))
    doc = Document("d", None, {"r": ("a b c", "e f")})
    outputs = [Output("s", {"d": ("a b c", "e f g h")})]
    results = score(Loaded(Corpus("c", ("de", "en"), (doc,)), outputs), [spec], options=Options(cache=False))
    write_run(results, tmp_path / "run")
    code, shown, _ = call(capsys, "explain", tmp_path / "run")
    assert code == 0 and "e f[+ g h+]" in shown
    assert "surplus    g h (2)" in shown and "1 of 2 segments not shown" in shown
    found = explain(open_run(tmp_path / "run"))
    assert [[asdict(span) for span in segment.extra] for segment in found.segments] == [
        [], [{"category": "surplus", "feature": "", "text": " g h", "start": 3, "end": 7}],
    ]  # fmt: skip
    assert marks_of(results[spec]["s"], 0, Texts(outputs[0].docs["d"]), 9)["errors"] == [[1, 3, 7, "surplus", 0.0]]


def test_the_example_is_installed_listed_conforms_and_scores(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(tmp_path / "site"), str(PLUGIN)], check=True, capture_output=True)
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT / "src")])

    def python(*argv: str) -> str:
        done = subprocess.run([sys.executable, *argv], env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "lengthmatch" in python("-m", "wholetext", "list")
    for spec in ("lengthmatch", "slide(size=2):lengthmatch(unit=char)"):
        python("-c", f"from wholetext.testing import check_metric; check_metric('{spec}')")
    for name, lines in {"ref": "a b c d\ne f\n", "sys": "a b c\ne f g h\n"}.items():
        (tmp_path / f"{name}.txt").write_text(lines)
    files = ["-t", "sys.txt", "-r", "ref.txt", "-m", "sentence:lengthmatch", "-f", "json"]
    (metric,) = json.loads(python("-m", "wholetext", "score", *files))["metrics"]
    assert metric["name"] == "sentence:lengthmatch"
    assert metric["systems"][0]["score"] == pytest.approx((3 / 4 + 2 / 4) / 2)
