"""Makes docs/report.png for the README: the demo's report, leaderboard above and a document below, in one picture.

Needs the demo extra, playwright and Chromium: python tools/screenshot.py [demo-run]
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from wholetext.cli.main import main as wholetext

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 1180
FRAME = """<style>
body {{ margin: 0; padding: 28px; width: {width}px; box-sizing: border-box; background: #e9edf1 }}
body {{ display: grid; gap: 28px }}
img {{ width: 100%; display: block; border-radius: 6px; box-shadow: 0 1px 5px #0003 }}
</style>{pictures}"""
PICTURE = '<img src="data:image/png;base64,{data}">'
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def picture(browser: Any, page_file: Path, where: str, height: int) -> str:
    """The top of one page of the report, as base64."""
    context = browser.new_context(viewport={"width": WIDTH, "height": height}, device_scale_factor=1.5)
    page = context.new_page()
    page.goto(f"{page_file.resolve().as_uri()}#{where}")
    page.wait_for_selector("html[data-ready]")
    page.mouse.move(0, 0)
    if where.startswith("document"):
        page.evaluate("document.querySelector('.title').remove()")
    data = base64.b64encode(page.screenshot()).decode("ascii")
    context.close()
    return data


def main(arguments: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium is installed (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        run = Path(arguments[0]) if arguments else Path(folder) / "demo"
        if not arguments:
            wholetext(["demo", "--out", str(run)])
        report = run / "report.html"
        browser = tools.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        shots = [picture(browser, report, "leaderboard", 640), picture(browser, report, "document?d=0&m=4", 900)]
        page = browser.new_context(viewport={"width": WIDTH + 56, "height": 100}).new_page()
        page.set_content(FRAME.format(width=WIDTH + 56, pictures="".join(PICTURE.format(data=shot) for shot in shots)))
        page.screenshot(path=ROOT / "docs" / "report.png", full_page=True)
        browser.close()
    print(ROOT / "docs" / "report.png")


if __name__ == "__main__":
    main(sys.argv[1:])
