"""The report: one self-contained HTML page of a run and of studies, and its figures for print."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.reporting.analysis import RunAnalysis as RunAnalysis, analyse as analyse
    from wholetext.reporting.figures import write_figures as write_figures
    from wholetext.reporting.page import PageOptions as PageOptions, write_report as write_report
    from wholetext.reporting.studies import read_study as read_study
    from wholetext.scoring.significance.compare import Significance as Significance
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "reporting.analysis": ("RunAnalysis", "analyse"),
            "reporting.figures": ("write_figures",),  # needs the extra `report`
            "reporting.page": ("PageOptions", "write_report"),
            "reporting.studies": ("read_study",),
            "scoring.significance.compare": ("Significance",),
        },
    )
