"""The report: one self-contained HTML page of a run and of studies, and the same figures for print."""

from wholetext.report.analysis import Analysis, analyse
from wholetext.report.figures import write_figures
from wholetext.report.page import Choices, write_report
from wholetext.report.studies import read_study
from wholetext.stats.compare import Significance

__all__ = ["Analysis", "Choices", "Significance", "analyse", "read_study", "write_figures", "write_report"]
