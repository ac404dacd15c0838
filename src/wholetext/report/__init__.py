"""The report: one self-contained HTML page of a run and of studies, and the same figures for print."""

from wholetext.report.page import Choices, write_report

__all__ = ["Choices", "write_report"]
