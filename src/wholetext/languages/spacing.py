"""How languages are written: their scripts, the blanks between words and sentences, and how dense the writing is."""

from __future__ import annotations

from collections.abc import Mapping

from wholetext.languages.codes import code_of

_CHARACTERS = frozenset({"zh", "ja"})  # written in ideographs, without blanks between words or sentences
_UNSPACED = _CHARACTERS | {"th", "lo", "my", "km", "bo"}  # these put a blank between sentences, none between words
_DENSITY: Mapping[str, float] = {"zh": 4.0, "ja": 2.8, "ko": 2.0}

# What languages are written in; one that is not here is judged by its references.
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "el": ("Greek",), "hy": ("Armenian",), "he": ("Hebrew",), "yi": ("Hebrew",), "ka": ("Georgian",),
    "ko": ("Hangul", "Han"), "th": ("Thai",), "lo": ("Lao",), "my": ("Myanmar",), "km": ("Khmer",), "bo": ("Tibetan",),
    "zh": ("Han",), "ja": ("Han", "Hiragana", "Katakana"), "ta": ("Tamil",), "te": ("Telugu",),
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


def scripts_of(lang: str) -> tuple[str, ...]:
    """The scripts a language is written in, or () where that is not known."""
    return _SCRIPTS.get(code_of(lang), ())


def has_ideographs(lang: str) -> bool:
    """Whether a language is written in Chinese characters, each about as much as a word."""
    return code_of(lang) in _CHARACTERS


def is_unspaced(lang: str) -> bool:
    """Whether a language is written without blanks between words."""
    return code_of(lang) in _UNSPACED


def joiner(lang: str) -> str:
    """What stands between two sentences: nothing in Chinese and Japanese, else a blank (in Thai and Khmer too)."""
    return "" if code_of(lang) in _CHARACTERS else " "


def density(lang: str) -> float:
    """Letters that one character of a language stands for (measured on the news of WMT 2021; Korean is a guess)."""
    return _DENSITY.get(code_of(lang), 1.0)
