"""The page of `wholetext serve` in a real browser: upload, progress, report, download; the token; small screens."""

from __future__ import annotations

import signal
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import AXE, PHONE, violations
from tests.serving.serving_material import BAD, GOOD, REF, Running, install_hold

pytestmark = pytest.mark.browser
TOKEN = "a-token-for-the-browser"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    pytest.importorskip("uvicorn", reason="the server is not installed: pip install 'wholetext[serve]'")
    running: list[Running] = []

    def started(*more: str) -> Running:
        running.append(Running(tmp_path / "data", *more))
        return running[-1]

    yield started
    for one in running:
        one.end(signal.SIGKILL)


@pytest.fixture
def browse(chromium: Any) -> Iterator[Callable[..., Any]]:
    """``browse(address, **context)`` opens a page; anything unexpected on its console fails the test."""
    contexts, said = [], []

    def opened(address: str, quiet: bool = True, **options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        page = context.new_page()
        page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        contexts.append(context)
        if quiet:
            page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda fault: said.append(str(fault)))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def sign_in(page: Any) -> None:
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_selector("html[data-ready] #metrics input")


def score_the_demo(page: Any) -> None:
    page.get_by_label("Bundled demo").check()
    page.locator("#metric-chrf").check()
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("li[data-state=done] .board table")


def choose_files(page: Any, folder: Path) -> None:
    for name, text in (("ref.txt", REF), ("good.txt", GOOD), ("bad.txt", BAD)):
        (folder / name).write_text(text)
    page.get_by_label("Outputs, one file per system").set_input_files([folder / "good.txt", folder / "bad.txt"])
    page.get_by_label("References", exact=True).set_input_files(folder / "ref.txt")
    page.get_by_label("Languages, such as de-en").fill("de-en")


def test_upload_progress_report_download(
    start: Callable[..., Running], browse: Callable[..., Any], tmp_path: Path, artefacts: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    page = browse(start().address)
    page.wait_for_selector("html[data-ready]")
    choose_files(page, tmp_path)
    page.locator("#metric-chrf").check()
    page.get_by_label("Further metrics").fill("hold paragraph(size=2):chrf")
    page.get_by_label("Name of the job").fill("<b>first</b> job")
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("li[data-state=running] progress")  # it cannot end before it is told to
    assert page.locator("li h3").inner_text().startswith("<b>first</b> job")
    page.wait_for_function("document.querySelector('li').getBoundingClientRect().bottom <= innerHeight")  # in sight
    page.wait_for_selector("li .progress:has-text('of')")
    page.screenshot(path=artefacts / "serve-running.png", full_page=True)
    (signs / "go").touch()
    page.wait_for_selector("li[data-state=done]")
    assert "done" in page.locator("#said").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Run folder (zip)").click()
    with zipfile.ZipFile(waiting.value.path()) as packed:
        assert {"run/run.json", "run/report.html"} <= {*packed.namelist()}
    page.get_by_role("link", name="Report").click()
    report = page
    report.wait_for_selector("html[data-ready] #leaderboard")
    assert report.locator("#leaderboard tbody tr").count() == 2
    assert report.locator("h1").inner_text() == "<b>first</b> job"
    report.get_by_role("link", name="Documents", exact=True).click()
    report.wait_for_selector("html[data-page=documents]")  # the sandbox lets it change its address
    with report.expect_download() as saved:
        report.get_by_role("button", name="Download Documents as TSV").click()
    assert "good" in Path(saved.value.path()).read_text("utf-8")
    assert report.evaluate("origin") == "null"  # of no origin: it can reach nothing of the server
    report.get_by_role("link", name="← Jobs").click()
    page.wait_for_selector("#list li")
    page.get_by_role("button", name="Delete").click()
    page.wait_for_selector("#results[hidden]", state="attached")


def test_errors_are_shown(start: Callable[..., Running], browse: Callable[..., Any], tmp_path: Path) -> None:
    page = browse(start("--max-upload", "1").address, quiet=False)
    page.wait_for_selector("html[data-ready]")
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("#error:has-text('there is nothing to score')")
    (tmp_path / "large.txt").write_text("x" * 1_500_000)
    page.get_by_label("Source", exact=True).set_input_files(tmp_path / "large.txt")
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("#error:has-text('These files have 1.5 MB; the limit of this server is 1.0 MB.')")
    page.get_by_label("Source", exact=True).set_input_files([])
    choose_files(page, tmp_path)
    page.get_by_label("Further metrics").fill("chrff")
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("#error:has-text('did you mean')")
    page.get_by_label("Further metrics").fill("chrf")
    page.get_by_label("References", exact=True).set_input_files([])
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("li[data-state=failed] pre:has-text('needs a reference')")


def test_the_token(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    one = start("--token", TOKEN)
    page = browse(one.address, quiet=False)
    assert page.url.endswith("/login")
    page.get_by_label("Token").fill("a-wrong-token-altogether")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_selector("#error:has-text('not the token')")
    assert page.context.cookies() == []
    sign_in(page)
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and TOKEN not in cookie["value"]
    assert "token of this server is missing or wrong" in one.ask("/v1/jobs")["error"]
    assert one.ask("/v1/jobs", Authorization=f"Bearer {TOKEN}") == {"jobs": []}


def test_a_page_of_another_site_changes_nothing(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    one, other = start(), "http://localhost"
    address = one.address.replace("http://127.0.0.1", other)  # another origin, the same server
    page = browse(address, quiet=False, bypass_csp=True)
    post = """async (address) => {
        const form = new FormData();
        form.append("demo", "de-en");
        await fetch(`${address}/v1/jobs`, { method: "POST", mode: "no-cors", body: form }).catch(() => null);
    }"""
    page.evaluate(post, one.address)
    assert one.ask("/v1/jobs") == {"jobs": []}
    page.evaluate(post, address)  # its own page may
    assert len(one.ask("/v1/jobs")["jobs"]) == 1


def test_small_screens_and_axe(start: Callable[..., Running], browse: Callable[..., Any], artefacts: Path) -> None:
    one = start("--token", TOKEN)
    axe = AXE.read_text("utf-8") if AXE.is_file() else ""
    for name, options in (("phone", {"viewport": PHONE}), ("light", {}), ("dark", {"color_scheme": "dark"})):
        page = browse(one.address, quiet=False, bypass_csp=True, **options)  # axe is put into the page
        for place in ("login", "page"):
            if place == "page":
                sign_in(page)
                score_the_demo(page)
                page.locator("#metrics summary").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            if axe:
                assert violations(page, axe, "light") == [], (name, place)
            page.screenshot(path=artefacts / f"serve-{place}-{name}.png", full_page=True)


# ---------------------------------------------------------------- files


DROP = """(files) => {
    const holder = new DataTransfer();
    for (const [name, text] of files) holder.items.add(new File([text], name));
    const target = document.getElementById("drop");
    target.dispatchEvent(new DragEvent("dragover", { dataTransfer: holder, bubbles: true, cancelable: true }));
    const over = target.classList.contains("over");
    target.dispatchEvent(new DragEvent("drop", { dataTransfer: holder, bubbles: true, cancelable: true }));
    return over;
}"""


def opened(start: Callable[..., Running], browse: Callable[..., Any], **options: Any) -> Any:
    page = browse(start().address, **options)
    page.wait_for_selector("html[data-ready]")
    return page


def test_files_are_dropped_told_apart_and_shown_before_scoring(
    start: Callable[..., Running], browse: Callable[..., Any]
) -> None:
    page = opened(start, browse)
    files = [["my-ref.de-en.txt", REF], ["source.txt", "x\ny\n"], ["docids.txt", "d1\nd2\n"], ["good.txt", GOOD],
             ["human_made.txt", BAD]]  # fmt: skip
    assert page.evaluate(DROP, files)  # the zone shows that it takes them
    assert page.locator("#dropped select").evaluate_all("(all) => all.map((one) => one.value)") == [
        "ref", "src", "docs", "hyp", "ref"]  # fmt: skip
    page.get_by_label("human_made.txt").select_option(label="output")  # a wrong guess is corrected
    page.wait_for_selector("#preview:has-text('2 systems, 1 reference')")
    assert "2 documents, 2 segments" in page.locator("#preview").inner_text()
    assert "name the languages" in page.locator("#preview").inner_text()
    page.get_by_label("Languages").fill("de-en")
    page.get_by_label("Name of the job").focus()
    page.wait_for_selector("#preview:has-text('de → en')")
    assert ["output human_made", "a dog sat"] in [
        [row.locator("th").inner_text(), row.locator("td").inner_text()] for row in page.locator("#preview tr").all()]
    page.locator("#metric-chrf").check()
    page.get_by_role("button", name="Score").click()
    page.wait_for_selector("li[data-state=done] .board table")
    assert page.locator(".board tbody th").all_inner_texts() == ["good", "human_made"]


def test_columns_are_shown_before_scoring(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    page = opened(start, browse)
    page.evaluate(DROP, [["set.tsv", "doc\tsource\tref\thyp:one\tremark\nd\teins\tone\tone\tx\n"]])
    page.wait_for_selector("#preview:has-text('Columns, as they are taken')")
    assert page.locator("input[value=corpus]").is_checked()
    rows = page.locator("#preview table").first.locator("tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["doc", "document"], ["source", "source"], ["ref", "reference ref"],
                                                 ["hyp:one", "output one"], ["remark", "not used"]]  # fmt: skip
    page.evaluate(DROP, [["a.txt", "one\n"], ["ref.txt", "one\ntwo\n"]])
    page.wait_for_selector("#preview .error:has-text('This cannot be scored yet')")
    page.get_by_label("Bundled demo").check()
    page.wait_for_selector("#preview[hidden]", state="attached")


def test_of_large_files_the_first_lines_are_shown(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    page = opened(start, browse)
    page.evaluate(DROP, [["good.txt", "a longer line of text\n" * 60_000], ["ref.txt", "a line\n" * 60_000]])
    page.wait_for_selector("#preview:has-text('In the first lines: 1 document')")
    page.evaluate(DROP, [["set.xml", "<x/>" * 300_000]])  # half of it would be no XML
    page.wait_for_selector("#preview:has-text('too large to be looked at')")


def test_metrics_are_grouped_by_what_they_need(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    page = opened(start, browse)
    groups = {one.locator("h3").inner_text(): one for one in page.locator("#metrics .group").all()}
    assert groups["Need outputs and references"].locator("#metric-chrf").count() == 1
    assert groups["Need outputs alone"].locator("#metric-lc").count() == 1
    heights = page.locator("#metrics .group .metric").evaluate_all("(all) => all.map((one) => one.clientHeight)")
    assert max(heights) < 30  # a line each
    folded = page.locator("#metrics details")
    assert "whose models are not on this server" in folded.locator("summary").inner_text()
    assert not folded.locator("input").first.is_visible()
    folded.locator("summary").click()
    assert folded.locator("input").first.is_disabled()


# ---------------------------------------------------------------- jobs


def test_the_new_job_is_on_top_with_its_leaderboard(
    start: Callable[..., Running], browse: Callable[..., Any], tmp_path: Path
) -> None:
    page = opened(start, browse)
    choose_files(page, tmp_path)
    page.locator("#metric-chrf").check()
    for at in range(5):
        page.get_by_label("Name of the job").fill(f"job {at}")
        page.get_by_role("button", name="Score").click()
        page.wait_for_selector(f"#list li:first-child:has-text('job {at}')")
        page.wait_for_function("document.activeElement.id === 'jobs'")
        page.wait_for_selector("#list li:first-child[data-state=done] .board table")
    first = page.locator("#list li").first.bounding_box()
    assert first["y"] < page.locator("#new").bounding_box()["y"]
    rows = page.locator("#list li").first.locator(".board tbody tr")
    assert rows.locator("th").all_inner_texts() == ["good", "bad"]
    assert rows.first.locator("td").inner_text().startswith("100.00")
    assert page.locator("#list li").count() == 3
    page.locator("#earlier > summary", has_text="2 earlier jobs").click()
    old = page.locator("#older li").last
    if not old.locator("table").is_visible():
        old.locator(".board summary").click()
    old.locator(".board table").wait_for()


def test_the_way_back_keeps_who_signed_in(start: Callable[..., Running], browse: Callable[..., Any]) -> None:
    """A report has no origin, so that a link from it has no cookie: the page of the token sends back who has it."""
    page = browse(start("--token", TOKEN).address, quiet=False)
    sign_in(page)
    score_the_demo(page)
    page.get_by_role("link", name="Report").click()
    page.wait_for_selector("html[data-ready] #leaderboard")
    page.get_by_role("link", name="← Jobs").click()
    page.wait_for_selector("#list li[data-state=done]")
