"""The report: one self-contained HTML page of a run and of studies.

Its figures for print are in ``wholetext.reporting.figures``, which needs the extra ``report``.
"""

from wholetext.reporting.analysis import RunAnalysis, analyse
from wholetext.reporting.page import PageOptions, write_report
from wholetext.reporting.studies import read_study
from wholetext.scoring.significance.compare import Significance

__all__ = [
    "PageOptions",
    "RunAnalysis",
    "Significance",
    "analyse",
    "read_study",
    "write_report",
]
