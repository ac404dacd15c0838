"""Scores sent to experiment trackers; rewards for training loops (``rewards``)."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.integrations.loggers import log_run as log_run
else:
    __getattr__, __dir__, __all__ = exports(__name__, {"integrations.loggers": ("log_run",)})
