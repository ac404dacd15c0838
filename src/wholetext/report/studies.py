"""Files that `meta`, `sweep` and `contrast` write, read into pages."""
from __future__ import annotations
from wholetext.report.panels import Study
