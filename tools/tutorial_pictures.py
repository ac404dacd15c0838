"""Makes the pictures of docs/tutorial.md: three pages of the demo's report.

Needs the demo extra, playwright and Chromium: python tools/tutorial_pictures.py [demo-run]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from screenshot import ARGUMENTS, picture, smaller

from wholetext.cli.main import main as wholetext

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
WIDTH = 1000  # of a picture as it is kept
SHOTS = {"leaderboard": ("leaderboard", "p.legend"), "documents": ("documents?m=3", "main svg"),
         "document": ("document?d=0&m=3", "#segment2")}  # fmt: skip


def main(arguments: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium is installed (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        run = Path(arguments[0]) if arguments else Path(folder) / "demo"
        if not arguments:
            wholetext(["demo", "--out", str(run)])
        browser = tools.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name, (where, last) in SHOTS.items():
            file = FOLDER / f"tutorial-{name}.png"
            shot = picture(browser, run / "report.html", where, last)
            page = browser.new_context(viewport={"width": WIDTH, "height": 100}).new_page()
            page.set_content(f'<body style="margin:0"><img style="width:100%" src="data:image/png;base64,{shot}">')
            file.write_bytes(smaller(page.screenshot(full_page=True)))
            print(f"{file} ({file.stat().st_size / 1000:.0f} kB)")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
