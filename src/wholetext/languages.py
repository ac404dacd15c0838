"""What the package knows about languages by their codes: scripts, blanks between words and sentences, density.

Every decision that depends on a language asks here or looks it up by ``language(code)``, so that ``pt-BR``, ``pt_BR``
and ``por_Latn`` are one language everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

# Three-letter codes (ISO 639-3, as in ``jpn_Jpan``) of languages that tables know by two letters.
_SHORT: Mapping[str, str] = {
    "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "kor": "ko", "tha": "th", "lao": "lo", "mya": "my",
    "khm": "km", "bod": "bo", "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es",
    "ita": "it", "por": "pt", "nld": "nl", "pol": "pl", "ces": "cs", "cze": "cs", "rus": "ru", "ukr": "uk",
    "bel": "be", "bul": "bg", "ell": "el", "heb": "he", "ara": "ar", "arb": "ar", "arz": "ar", "hin": "hi",
    "tur": "tr", "isl": "is", "ice": "is", "est": "et", "ekk": "et", "fin": "fi", "hun": "hu", "ron": "ro", "vie": "vi",
}
_CHARACTERS = frozenset({"zh", "yue", "ja"})  # written in ideographs, without blanks between words or sentences
_UNSPACED = _CHARACTERS | {"th", "lo", "my", "km", "bo"}  # these put a blank between sentences, none between words
_DENSITY: Mapping[str, float] = {"zh": 4.0, "yue": 4.0, "ja": 2.8, "ko": 2.0}

# What languages are written in; one that is not here is judged by its references.
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "el": ("Greek",), "hy": ("Armenian",), "he": ("Hebrew",), "yi": ("Hebrew",), "ka": ("Georgian",),
    "ko": ("Hangul", "Han"), "th": ("Thai",), "lo": ("Lao",), "my": ("Myanmar",), "km": ("Khmer",), "bo": ("Tibetan",),
    "zh": ("Han",), "yue": ("Han",), "ja": ("Han", "Hiragana", "Katakana"), "ta": ("Tamil",), "te": ("Telugu",),
    "kn": ("Kannada",), "ml": ("Malayalam",), "si": ("Sinhala",), "bn": ("Bengali",), "as": ("Bengali",),
    "gu": ("Gujarati",), "or": ("Oriya",),
    **dict.fromkeys(("ru", "uk", "bg", "mk", "be"), ("Cyrillic",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), ("Arabic",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("Devanagari",)),
    **dict.fromkeys(("am", "ti"), ("Ethiopic",)),
    **dict.fromkeys(
        ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "sl", "hr", "ro", "hu", "fi", "et", "lv", "lt",
         "sv", "da", "no", "nb", "nn", "is", "ga", "cy", "tr", "vi", "id", "ms", "tl", "sw", "ha", "zu", "xh", "yo",
         "ig", "so", "eu", "ca", "gl", "sq", "mt", "af"),
        ("Latin",),
    ),
}


@cache
def language(code: str) -> str:
    """The language of a code: ``pt`` for ``pt-BR`` and ``pt_BR``, ``ja`` for ``jpn_Jpan``."""
    first = code.lower().replace("_", "-").split("-")[0]
    return _SHORT.get(first, first)


def scripts_of(lang: str) -> tuple[str, ...]:
    """The scripts a language is written in, or () where that is not known."""
    return _SCRIPTS.get(language(lang), ())


def has_ideographs(lang: str) -> bool:
    """Whether a language is written in Chinese characters, each about as much as a word."""
    return language(lang) in _CHARACTERS


def is_unspaced(lang: str) -> bool:
    """Whether a language is written without blanks between words."""
    return language(lang) in _UNSPACED


def joiner(lang: str) -> str:
    """What stands between two sentences: nothing in Chinese and Japanese, else a blank (in Thai and Khmer too)."""
    return "" if language(lang) in _CHARACTERS else " "


def density(lang: str) -> float:
    """Letters that one character of a language stands for (measured on the news of WMT 2021; Korean is a guess)."""
    return _DENSITY.get(language(lang), 1.0)
