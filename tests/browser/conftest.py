"""A real browser on report files: anything on the console, any error and any request at all fails the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reporting import study_files
from tests.reporting.report_material import full_run
from wholetext.io import Loaded
from wholetext.reporting import analyse, read_study, write_report
from wholetext.scoring.evaluate import Options, open_run, score
from wholetext.scoring.results import write_run

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {"width": 390, "height": 844}
Look = Callable[..., Any]  # what the fixture `look` gives
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, or whichever is on the path."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'wholetext[dev]'")
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    if not found:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with api.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=found[0], args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where screenshots are kept."""
    folder = ROOT / "artefacts"
    folder.mkdir(exist_ok=True)
    return folder


def report_of(loaded: Loaded, path: Path, *metrics: str, flags: bool = True) -> Path:
    """Score texts and write their report."""
    write_report(analyse(score(loaded, metrics, options=Options(cache=False, flags=flags))), [], path)
    return path


class Watch:
    """What a page said and asked for."""

    def __init__(self, page: Any, file: Path) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda fault: self.said.append(f"error: {fault}"))
        page.on("request", lambda request: self.asked.append(request.url))
        self.file = file.as_uri()

    def clean(self) -> None:
        assert self.said == []
        assert [url for url in self.asked if url.split("#")[0] != self.file] == []


@pytest.fixture
def look(chromium: Any) -> Iterator[Look]:
    """``look(file, "documents?m=1", **context)`` opens a report and waits until it is drawn."""
    contexts, watches = [], []

    def opened(file: Path, where: str = "", **options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is slow, not wrong
        watches.append(Watch(page, file))
        contexts.append(context)
        page.goto(file.as_uri() + (f"#{where}" if where else ""))
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    for watch in watches:
        watch.clean()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three systems on six documents with every kind of score, from its run folder."""
    folder = tmp_path_factory.mktemp("report") / "run"
    write_run(full_run(), folder)
    write_report(analyse(open_run(folder)), [], folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of studies alone, from the files that `meta`, `sweep` and `contrast` wrote."""
    folder = tmp_path_factory.mktemp("studies")
    found = study_files.make(folder)
    files = [found["meta"] / "meta.json", found["windows"] / "grid.json", found["contexts"] / "grid.json",
             found["contrast"] / "contrast.json"]  # fmt: skip
    write_report(None, [read_study(file) for file in files], folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (npm install --no-save axe-core)")
    return AXE.read_text("utf-8")


def violations(page: Any, axe: str, scheme: str) -> list[str]:
    """What axe calls serious or critical. Dark pages are checked for contrast: nothing else differs."""
    page.evaluate(axe)
    only = "runOnly: ['color-contrast'], " if scheme == "dark" else ""
    found = page.evaluate(f"axe.run(document, {{ {only}resultTypes: ['violations'] }})")
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]
            if one["impact"] in ("serious", "critical")]  # fmt: skip
