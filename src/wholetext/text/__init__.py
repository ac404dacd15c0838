"""Languages: their codes, scripts and spacing. Everything that depends on a language asks here."""

from wholetext.text.codes import Language, code_of, language, language_name, pair_of, same_language
from wholetext.text.scripts import density, has_ideographs, is_unspaced, joiner, scripts_of

__all__ = [
    "Language",
    "code_of",
    "density",
    "has_ideographs",
    "is_unspaced",
    "joiner",
    "language",
    "language_name",
    "pair_of",
    "same_language",
    "scripts_of",
]
