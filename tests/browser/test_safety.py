"""Texts that try to become something else: they are shown as they are, nothing runs, nothing is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Look, report_of
from wholetext import report
from wholetext.io import Loaded
from wholetext.ranking import rank
from wholetext.scoring.evaluate import Options
from wholetext.stress import StressOptions, stress, write_stress
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    "<img src=x onerror='window.pwned = 3'> <svg onload=window.pwned=4>",
    "{{ 7 * 7 }} {% raw %} ${window.pwned = 5} <!-- --> ]]>",
    "\"double\" 'single' `tick` \\u0000 \\x00 &lt;b&gt; &#0; \\",
    "left \u202eto thgir\u202c and \u2066isolated\u2069 end",
    "bell \x07 and escape \x1b[31m here",
    "javascript:window.pwned=6 <a href='javascript:window.pwned=7'>x</a>",
    "emoji 😀 and \U00020000 and ümlaut",
    "x" * 100_000,
)
SENTENCES = ("The dog sleeps.", "He dreams of 5 cats.", "The cat is awake.", "She waits.")
NAME = "<b onclick=window.pwned=8>sys</b>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    doc = Document("<i>'doc\"</i>", HOSTILE, {"<u>ref</u>": HOSTILE[::-1]})
    corpus = Corpus("</title><script>window.pwned=9</script>", ("<de>", "\"en'"), (doc,))
    outputs = [Output(NAME, {doc.id: HOSTILE}), Output("{{ other }}", {doc.id: HOSTILE[1:] + HOSTILE[:1]})]
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    return report_of(Loaded(corpus, outputs), path, "chrf", "slide(size=2,step=1):chrf", flags=False)


def test_hostile_texts_are_texts(look: Look, hostile: Path, artefacts: Path) -> None:
    for where in ("leaderboard", "documents", "compare", "document?s=0"):
        page = look(hostile, where)
        assert page.evaluate("window.pwned") is None
        assert page.locator("main script, main img, main iframe, main object, main b, main i, main u").count() == 0
        assert page.evaluate("[...document.scripts].filter((one) => !one.type).length") == 1
    cells = page.locator("#texts tr.segment td.hyp").all()
    shown = [cell.locator(".text").inner_text() for cell in cells if cell.get_attribute("data-label") == NAME]
    for text, seen in zip(HOSTILE, shown):
        if not any(char in text for char in "\u202e\u2066\x07"):
            assert seen == text
    assert "U+202E" in shown[5] and "U+2066" in shown[5] and "\u202e" not in shown[5]
    assert "U+0007" in shown[6] and "U+001B" in shown[6]
    assert len(shown[9]) == 100_000
    assert "49" not in shown[3]
    assert NAME in page.locator("#texts thead").first.inner_text()
    page.locator("#texts thead").first.get_by_text(NAME).hover()
    assert page.evaluate("window.pwned") is None
    page.screenshot(path=artefacts / "hostile.png")


def test_the_policy_blocks_handlers_scripts_and_network(chromium: Any, report: Path) -> None:
    """Not through ``look``: here the console is meant to complain."""
    page = chromium.new_context().new_page()
    asked: list[tuple[str, str]] = []
    page.on("requestfinished", lambda request: asked.append((request.url, "")))
    page.on("requestfailed", lambda request: asked.append((request.url, request.failure)))
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate("""() => {
        const button = document.createElement("button");
        button.setAttribute("onclick", "window.pwned = 1");
        button.id = "trap";
        document.body.append(button);
        button.click();
        const script = document.createElement("script");
        script.textContent = "window.pwned = 2";
        document.body.append(script);
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(image);
        const style = document.createElement("style");
        style.textContent = "body { display: none }";
        document.head.append(style);
    }""")
    answer = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'reached', (fault) => 'blocked')")
    made = page.evaluate("""() => new Promise((done) => setTimeout(() => {  // evaluate itself is above the policy
        try { done(Function("return 1")()); } catch (fault) { done("blocked"); }
    }))""")
    assert answer == "blocked" and made == "blocked"
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert [failure for url, failure in asked if not url.startswith("file:")] == ["csp"]  # stopped before the network
    page.context.close()


def test_a_browser_without_scripts_still_has_the_scores(chromium: Any, report: Path) -> None:
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(report.as_uri())
    text = page.locator("noscript").inner_text()
    assert "system-A" in text and "doc-bertscore" in text
    page.context.close()


def test_hostile_names_in_studies(look: Look, tmp_path: Path) -> None:
    """Stress tests, rankings and checks of judges: names and texts are shown, nothing else."""
    names = (NAME, "__proto__", "constructor", HOSTILE[2])
    docs = tuple(Document(f"{HOSTILE[1]}{i}", SENTENCES, {"ref": SENTENCES}, {"domain": name})
                 for i, name in enumerate(names))
    outputs = [Output(name, {doc.id: (*SENTENCES[:-1], HOSTILE[i]) for doc in docs}) for i, name in enumerate(names)]
    corpus, settings = Corpus("c", ("de", "en"), docs), StressOptions(("swap", "drop"), ("1", "all"), draws=20)
    write_stress(stress(corpus, outputs, ["chrf", "bleu"], settings, Options(cache=False)), tmp_path / "run")
    rank(tmp_path / "run", draws=20, out=tmp_path / "ranks")
    measures = [{"check": check, "judge": name, "measure": what, "setting": setting, "value": 0.5, "low": 0.1,
                 "high": 0.9, "count": 3}
                for name in names for check, what, setting in (
                    ("position", "flip rate", ""), ("length", "errors per 1,000 characters", "window 4"),
                    ("wording", "difference", NAME))]  # fmt: skip
    (tmp_path / "judge-check.json").write_text(json.dumps({
        "kind": "judge-check", "corpus": NAME, "langs": ["de", "en"], "documents": 2, "systems": names, "judges": names,
        "settings": {"draws": 100, NAME: NAME}, "measures": measures, "notes": [HOSTILE[1]]}), "utf-8")
    made = report([tmp_path / "run", tmp_path / "ranks", tmp_path / "judge-check.json"], tmp_path / "report.html")
    page = look(made[0])
    for number in range(page.locator("nav a").count()):
        page.locator("nav a").nth(number).click()
        assert page.evaluate("window.pwned") is None
        assert page.locator("main script, main img, main iframe, main object, main b, main i, main u").count() == 0
        assert page.locator("main h2").count() > 0
    assert page.locator("main").inner_text().count("constructor") > 0


def test_names_with_control_characters_are_shown_by_their_codes(look: Look, tmp_path: Path) -> None:
    evil = "\x1b[31m\u202elive\u2066\x9b"
    doc = Document(f"doc{evil}", ("a b c",), {f"ref{evil}": ("a b d",)})
    outputs = [Output(f"{kind}{evil}", {doc.id: (f"a {kind}",)}) for kind in ("one", "two")]
    loaded = Loaded(Corpus(f"set{evil}", ("de", "en"), (doc,)), outputs)
    raw = report_of(loaded, tmp_path / "report.html", "chrf", flags=False).read_text("utf-8")
    for where in ("leaderboard", "documents", "compare", "document"):
        page = look(tmp_path / "report.html", where)
        made = page.evaluate("document.title + document.body.outerHTML.replace(/<script.*?<.script>/gs, '')")
        assert not [sign for sign in evil if not sign.isprintable() and (sign in made or sign in raw)], where
        assert "U+202E" in made
