"""The documentation site: Sphinx, MyST and Furo. `make docs` builds it (tools/build_site.py); nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path

project = "wholetext"
author = copyright = "The wholetext authors"
release = version = "0.2.0"
for above in Path(__file__).resolve().parents:  # the site is built from a copy of docs/
    if (above / "src/wholetext/version.py").is_file():
        release = version = re.findall(r'"(\d.+)"', (above / "src/wholetext/version.py").read_text("utf-8"))[0]
        break

extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["README.md"]
suppress_warnings = ["myst.header"]  # pages may skip a level of headings

smartquotes = False  # -- before an option stays as it is typed

html_theme = "furo"
html_title = f"wholetext {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
