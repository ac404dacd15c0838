"""The report: one self-contained HTML page of a run and of studies, and its figures for print."""

from wholetext.reporting.analysis import RunAnalysis, analyse
from wholetext.reporting.figures import write_figures
from wholetext.reporting.page import PageOptions, write_report
from wholetext.reporting.studies import read_study
from wholetext.scoring.significance.compare import Significance

__all__ = [
    "PageOptions",
    "RunAnalysis",
    "Significance",
    "analyse",
    "read_study",
    "write_figures",
    "write_report",
]
