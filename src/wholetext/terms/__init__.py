"""Terminology: are the terms of a glossary used, and is a term translated alike in a document?"""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.terms.glossary import (
        Glossary as Glossary,
        Term as Term,
        read_glossary as read_glossary,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__, {"terms.glossary": ("Glossary", "Term", "read_glossary")}
    )
