"""The tables and figures of five papers, computed again beside the published numbers."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.reproduce.catalogue import Entry as Entry, Paper as Paper, papers as papers
    from wholetext.reproduce.run import Reproduction as Reproduction, reproduce as reproduce
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "reproduce.catalogue": ("Entry", "Paper", "papers"),
            "reproduce.run": ("Reproduction", "reproduce"),
        },
    )
