"""Makes docs/report.png for the README: the demo's report, leaderboard above and a document below, in one picture.

Needs the demo extra, playwright and Chromium: python tools/screenshot.py [demo-run]
"""

from __future__ import annotations

import base64
import io
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from wholetext.cli.main import main as wholetext

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "report.png"
WIDTH, FINAL = 1180, 1400  # of the page as it is laid out, of the picture as it is kept
METRICS = ("bleu", "chrf", "d-blonde", "doc-bertscore@minilm")  # as many as the page is wide
FRAME = """<style>
body {{ margin: 0; padding: 30px; background: #e9edf1; display: grid; gap: 30px }}
img {{ width: 100%; display: block; border-radius: 6px; box-shadow: 0 1px 5px #0003 }}
</style>{pictures}"""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def picture(browser: Any, report: Path, where: str, last: str) -> str:
    """A page of the report from its top to the end of the element ``last``, as base64."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 1400}, device_scale_factor=1.5)
    page = context.new_page()
    page.goto(f"{report.resolve().as_uri()}#{where}")
    page.wait_for_selector("html[data-ready]")
    if where.startswith("document"):
        page.evaluate("document.querySelector('.title').remove()")
    box = page.locator(last).first.bounding_box()
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 14}
    data = base64.b64encode(page.screenshot(clip=clip)).decode("ascii")
    context.close()
    return data


def smaller(picture: bytes) -> bytes:
    """The same picture in few colours, where Pillow is installed: a third of the size, no difference to the eye."""
    try:
        from PIL import Image
    except ImportError:
        return picture
    found = io.BytesIO()
    few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)  # rare colours stay
    few.save(found, "PNG", optimize=True)
    return found.getvalue()


def main(arguments: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium is installed (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        run = Path(arguments[0]) if arguments else Path(folder) / "demo"
        if not arguments:
            with suppress(SystemExit):
                wholetext(["demo", "-m", *METRICS, "--out", str(run)])
        browser = tools.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        shots = [picture(browser, run / "report.html", "leaderboard", "p.legend"),
                 picture(browser, run / "report.html", "document?d=0&m=3", "#segment3")]
        page = browser.new_context(viewport={"width": FINAL, "height": 100}).new_page()
        images = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
        page.set_content(FRAME.format(pictures=images))
        PICTURE.write_bytes(smaller(page.screenshot(full_page=True)))
        browser.close()
    print(f"{PICTURE} ({PICTURE.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main(sys.argv[1:])
