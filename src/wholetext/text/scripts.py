"""How languages are written: scripts, blanks between words and sentences, density."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wholetext.text.codes import code_of
from wholetext.types import IntArray

# Ranges of letters (first, last) by script, from the block charts of the Unicode standard.
_RANGES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "Latin": (
        (0x41, 0x5A),
        (0x61, 0x7A),
        (0xAA, 0xAA),
        (0xBA, 0xBA),
        (0xC0, 0xD6),
        (0xD8, 0xF6),
        (0xF8, 0x2AF),
        (0x1E00, 0x1EFF),
        (0x2C60, 0x2C7F),
        (0xA722, 0xA7FF),
        (0xFF21, 0xFF3A),
        (0xFF41, 0xFF5A),
    ),
    "Greek": (
        (0x370, 0x373),
        (0x376, 0x377),
        (0x37B, 0x37D),
        (0x37F, 0x37F),
        (0x386, 0x386),
        (0x388, 0x3FF),
        (0x1F00, 0x1FFF),
    ),
    "Cyrillic": ((0x400, 0x481), (0x48A, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA69F)),
    "Armenian": ((0x531, 0x556), (0x561, 0x587)),
    "Hebrew": ((0x5D0, 0x5F2),),
    "Arabic": (
        (0x620, 0x64A),
        (0x66E, 0x6D3),
        (0x6FA, 0x6FF),
        (0x750, 0x77F),
        (0x8A0, 0x8FF),
        (0xFB50, 0xFDFF),
        (0xFE70, 0xFEFC),
    ),
    "Devanagari": ((0x904, 0x963), (0x971, 0x97F)),
    "Bengali": ((0x985, 0x9E3),),
    "Gurmukhi": ((0xA05, 0xA5E),),
    "Gujarati": ((0xA85, 0xAE3),),
    "Oriya": ((0xB05, 0xB63),),
    "Tamil": ((0xB83, 0xBD7),),
    "Telugu": ((0xC05, 0xC63),),
    "Kannada": ((0xC85, 0xCE3),),
    "Malayalam": ((0xD05, 0xD63),),
    "Sinhala": ((0xD85, 0xDDF),),
    "Thai": ((0xE01, 0xE4E),),
    "Lao": ((0xE81, 0xECD),),
    "Tibetan": ((0xF40, 0xFBC),),
    "Myanmar": ((0x1000, 0x103F), (0x1050, 0x109D)),
    "Georgian": ((0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)),
    "Hangul": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7FB)),
    "Ethiopic": ((0x1200, 0x135A), (0x1380, 0x139F), (0x2D80, 0x2DDE)),
    "Khmer": ((0x1780, 0x17D3),),
    "Mongolian": ((0x1820, 0x18AA),),
    "Hiragana": ((0x3041, 0x3096),),
    "Katakana": ((0x30A1, 0x30FA), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)),
    "Han": (
        (0x3005, 0x3007),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
        (0x20000, 0x323AF),
    ),
}
SCRIPTS = tuple(_RANGES)
# by code point: 1 + index of the script, 0 for non-letters; the last for all beyond
_SCRIPT_OF = np.zeros(2 + max(stop for ranges in _RANGES.values() for _, stop in ranges), np.uint8)
for _number, _ranges in enumerate(_RANGES.values(), 1):
    for _start, _stop in _ranges:
        _SCRIPT_OF[_start : _stop + 1] = _number
# Letters of an alphabet per character: a name of ten letters does not outweigh five ideographs.
_CONTENT: Mapping[str, float] = {"Han": 4.0, "Hiragana": 2.0, "Katakana": 2.0, "Hangul": 2.0}
CONTENT = np.array([_CONTENT.get(script, 1.0) for script in SCRIPTS])

# ideographs, without blanks between words or sentences
_CHARACTERS = frozenset({"zh", "ja"})
# no blank between words; these five have one between sentences
_UNSPACED = _CHARACTERS | {"th", "lo", "my", "km", "bo"}
_DENSITY: Mapping[str, float] = {"zh": 4.0, "ja": 2.8, "ko": 2.0}

_LATIN = """
    en de fr es it pt nl pl cs sk sl hr ro hu fi et lv lt sv da no nb nn is ga cy tr vi id ms tl sw
    ha zu xh yo ig so eu ca gl sq mt af
    """.split()  # noqa: SIM905 - a list literal takes 44 lines

# Scripts of languages; others are inferred from the references.
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "el": ("Greek",),
    "hy": ("Armenian",),
    "he": ("Hebrew",),
    "yi": ("Hebrew",),
    "ka": ("Georgian",),
    "ko": ("Hangul", "Han"),
    "th": ("Thai",),
    "lo": ("Lao",),
    "my": ("Myanmar",),
    "km": ("Khmer",),
    "bo": ("Tibetan",),
    "zh": ("Han",),
    "ja": ("Han", "Hiragana", "Katakana"),
    "ta": ("Tamil",),
    "te": ("Telugu",),
    "kn": ("Kannada",),
    "ml": ("Malayalam",),
    "si": ("Sinhala",),
    "bn": ("Bengali",),
    "as": ("Bengali",),
    "gu": ("Gujarati",),
    "or": ("Oriya",),
    **dict.fromkeys(("ru", "uk", "bg", "mk", "be"), ("Cyrillic",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), ("Arabic",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("Devanagari",)),
    **dict.fromkeys(("am", "ti"), ("Ethiopic",)),
    **dict.fromkeys(_LATIN, ("Latin",)),
}


def scripts_of(lang: str) -> tuple[str, ...]:
    """Return the scripts of a language, () if unknown."""
    return _SCRIPTS.get(code_of(lang), ())


def has_ideographs(lang: str) -> bool:
    """Tell whether a language is written in Chinese characters."""
    return code_of(lang) in _CHARACTERS


def is_unspaced(lang: str) -> bool:
    """Tell whether a language is written without blanks between words."""
    return code_of(lang) in _UNSPACED


def joiner(lang: str, how: str = "auto") -> str:
    """Return what joins sentences: nothing in Chinese and Japanese, else a blank.

    ``how``: ``auto``, or ``space`` or ``none`` in any language.
    """
    if how == "auto":
        return "" if code_of(lang) in _CHARACTERS else " "
    return " " if how == "space" else ""


def density(lang: str) -> float:
    """Letters per character of a language (measured on WMT 2021 news; Korean is a guess)."""
    return _DENSITY.get(code_of(lang), 1.0)


def letters(texts: Sequence[str]) -> IntArray:
    """Count letters by script, in the order of ``SCRIPTS``: (texts, scripts)."""
    kinds = len(SCRIPTS) + 1
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    owner = np.repeat(np.arange(len(texts)) * kinds, sizes)
    scripts = _SCRIPT_OF[np.minimum(codes, len(_SCRIPT_OF) - 1)]
    flat = np.bincount(owner + scripts, minlength=len(texts) * kinds)
    return np.asarray(flat.reshape(len(texts), kinds)[:, 1:])
