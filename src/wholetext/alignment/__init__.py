"""Sentence splitting, and alignment of output that is segmented differently from its document."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.alignment.realign import (
        Aligned as Aligned,
        AlignOptions as AlignOptions,
        align as align,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__, {"alignment.realign": ("AlignOptions", "Aligned", "align")}
    )
