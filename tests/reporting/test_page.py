"""The page as a file: what is in it, that it is whole, safe, small, and says the same as `compare`."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reporting.report_material import UNITS, big_run, full_run
from tests.scored import compare
from wholetext.errors import RunError, WholetextError
from wholetext.io import Loaded
from wholetext.reporting import PageOptions, Significance, analyse, write_report
from wholetext.reporting.page import SCRIPTS, STYLES, render
from wholetext.reporting.panels import shorts
from wholetext.reporting.texts import choose
from wholetext.scoring.evaluate import Options, open_run, score
from wholetext.scoring.results import write_run
from wholetext.types import Corpus, Document, Output

ASSETS = Path(__file__).parents[2] / "src" / "wholetext" / "reporting" / "assets"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run as every later verb reads it: from its folder."""
    folder = tmp_path_factory.mktemp("run") / "run"
    write_run(full_run(), folder)
    return open_run(folder)


@pytest.fixture(scope="module")
def page(run: Any) -> str:
    return render(analyse(run), [], PageOptions())


def block(page: str, name: str) -> Any:
    packed = re.search(rf'<script type="text/plain" id="data-{name}">([^<]*)</script>', page)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed.group(1))))


def test_significance_of_every_pair_is_what_compare_says(run: Any, page: str) -> None:
    head = block(page, "head")
    for spec, metric in zip(run.scores, head["metrics"]):
        for base, name in enumerate(head["systems"]):
            found = compare(run.scores[spec], name)
            for i, system in enumerate(head["systems"]):
                standing = found[system]
                places = f".{found.decimals}f"
                assert metric["digits"] == found.decimals
                assert format(metric["score"][i], places) == format(standing.score, places)
                assert format(metric["low"][i], places) == format(standing.interval.low, places)
                assert format(metric["high"][i], places) == format(standing.interval.high, places)
                assert format(metric["delta"][base][i], places) == format(standing.delta, places)
                assert metric["rank"][i] == standing.rank
                if i != base:
                    assert metric["p"][base][i] == pytest.approx(standing.p, rel=1e-3)
                    assert metric["holmBase"][base][i] == pytest.approx(standing.p_holm, rel=1e-3)
                    low, high = metric["deltas"][base][i]
                    assert format(low, places) == format(standing.delta_interval.low, places)
                    assert format(high, places) == format(standing.delta_interval.high, places)
                    wanted = standing.power.needed if standing.power else None
                    assert metric["needed"][base][i] == shorts(wanted)
        best = compare(run.scores[spec])
        assert head["systems"][metric["best"]] == best.baseline
        for i, system in enumerate(head["systems"]):
            if system != best.baseline:
                assert metric["holmAll"][metric["best"]][i] == pytest.approx(best[system].p_holm, rel=1e-3)


def test_shares_of_documents_add_up_to_the_score(run: Any, page: str) -> None:
    head = block(page, "head")
    for i, metric in enumerate(head["metrics"]):
        shares = np.array(block(page, f"metric{i}")["weight"], dtype=float)
        # the jackknife's linear part: exact for means, close for ratios and products
        assert np.nansum(shares, axis=1) == pytest.approx(metric["score"], rel=0.05)
        if metric["spec"] == "bertscore":
            assert np.nansum(shares, axis=1) == pytest.approx(metric["score"], rel=1e-3)


def test_documents_hold_texts_rows_and_marks(run: Any, page: str) -> None:
    head = block(page, "head")
    specs = [metric["spec"] for metric in head["metrics"]]
    found = block(page, "text0")["0"]
    doc = run.corpus.docs[0]
    assert found["src"] == list(doc.src) and found["refs"] == [list(doc.refs["human"])]
    for system, out in zip(head["systems"], found["out"]):
        assert out == list(next(o for o in run.outputs if o.system == system).docs[doc.id])
    slide = found["rows"][specs.index("slide(size=3,step=1):chrf")]
    assert slide["at"] == [[0, 3], [1, 4], [2, 5]]
    assert found["rows"][specs.index("chrf")]["at"] is None
    assert found["rows"][specs.index("blonde")]["at"] == [[0, 5]]
    context = specs.index("doc-bertscore")
    assert head["metrics"][context]["without"] == specs.index("bertscore")
    assert found["lost"][context][0] == [[0, 3, 7]]
    last = head["systems"].index("system-C")
    assert [0, "empty"] in [flag[:2] for flag in found["flags"][last]]
    assert head["faults"][last] == {"empty": 1}
    cut = found["marks"][context][head["systems"].index("system-A")]["cuts"]
    assert cut == [[0, 20]]
    errors = found["marks"][specs.index("comet@xcomet")][0]["errors"]
    assert errors == [[1, 4, 11, "major", 0.75], [4, 4, 11, "major", 0.75]]


def test_spans_are_the_words_they_name(run: Any, page: str) -> None:
    head = block(page, "head")
    at = [metric["spec"] for metric in head["metrics"]].index("blonde")
    found = block(page, "text0")["0"]
    seen = 0
    for system, marks in enumerate(found["marks"][at]):
        for side, segment, start, end, category, _feature, _matched in marks["units"]:
            text = (found["out"][system] if side < 0 else found["refs"][side])[segment]
            word = text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le").lower()
            assert UNITS[word][0] == category
            seen += 1
    assert seen > 20


def test_policy_names_exactly_what_is_inline(page: str) -> None:
    begin = page.rindex("<script>") + 8
    script = page[begin : page.index("</script>", begin)]
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for text, directive in ((script, "script-src"), (style, "style-src")):
        name = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{name}'" in html.unescape(policy.group(1))
    assert policy.group(1).startswith("default-src 'none'") and "unsafe" not in policy.group(1)
    assert page.count("<script") == 1 + len(re.findall(r'<script type="text/plain"', page))


def test_scripts_make_no_markup_and_reach_nothing() -> None:
    for name in SCRIPTS:
        text = (ASSETS / name).read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(",
                     "XMLHttpRequest", "import(", "</script", "<!--"):  # fmt: skip
            assert word not in text, f"{name} has {word}"
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not any("url(" in (ASSETS / name).read_text("utf-8") for name in STYLES)


def test_names_and_titles_are_escaped() -> None:
    corpus = Corpus("<b>corpus</b>", ("de", "en"), (Document("<i>d</i>", ("a b c d",), {"r": ("a b c d",)}),))
    output = Output('"><script>alert(1)</script>', {"<i>d</i>": ("a b c e",)})
    run = score(Loaded(corpus, [output]), ["chrf"], options=Options(cache=False))
    page = render(analyse(run), [], PageOptions(title="{{ 7*7 }}</title>"))
    assert "<b>" not in page and "alert(1)</script>" not in page and "{{ 7*7 }}&lt;/title&gt;" in page
    assert "&lt;script&gt;alert(1)" in page  # in the table for readers without scripts


def test_ten_thousand_segments_are_sampled_with_a_notice() -> None:
    run = big_run(documents=500, segments=20, systems=2)
    chosen, notice = choose(run, 5_000)
    assert sum(chosen.values()) <= 5_000 and len(chosen) >= 240
    assert "250 of 500 documents" in notice and "5,000 of 10,000" in notice
    table = np.stack([scores.at("doc") for scores in run.scores["bertscore"].values()])
    widest = np.argsort(-np.ptp(table, axis=0))[:100]
    assert set(widest.tolist()) <= set(chosen)  # those on which systems differ most are there
    assert min(chosen) < 10 and max(chosen) > 490
    assert choose(run, 10_000) == (dict.fromkeys(range(500), 20), "")


def test_a_document_longer_than_the_file_takes_is_cut() -> None:
    run = big_run(documents=1, segments=300, systems=2)
    assert choose(run, 100)[0] == {0: 100}
    page = render(analyse(run), [], PageOptions(segments=100))
    assert len(block(page, "text0")["0"]["src"]) == 100
    assert len(block(page, "text0")["0"]["rows"][0]["v"][0]) == 100


def test_unknown_baseline_and_unwritable_place(run: Any, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no system 'system-X'"):
        analyse(run, "system-X")
    (tmp_path / "file").write_text("")
    with pytest.raises(WholetextError, match="cannot be written"):
        write_report(analyse(run, testing=Significance("bootstrap", draws=10)), [], tmp_path / "file" / "report.html")


def test_names_in_the_page_itself_have_no_control_characters() -> None:
    """Title, heading and the table for browsers without scripts; the script does the same with what it draws."""
    evil = "\x1b[31m\u202elive\u2066\x9b"
    corpus = Corpus(f"set{evil}", ("de", "en"), (Document("d", ("a",), {"r": ("a b",)}),))
    loaded = Loaded(corpus, [Output(f"sys{evil}", {"d": ("a b",)})])
    page = render(analyse(score(loaded, ["chrf"], options=Options(cache=False, flags=False))), [], PageOptions())
    assert "sys\\x1b[31m\\u202elive\\u2066\\u009b" in page and not set("\x1b\u202e\u2066\x9b") & set(page)
