"""Numbers of the source that the output lacks, in whatever locale they are written.

Numbers are compared by their significant digits: 1,000.5, 1.000,5, 1 000,5 and ١٠٠٠٫٥ are the same,
and so are 2500万 and 25 million. What languages write in words, convert or reorder (small and round
numbers, ordinals, times, dates, feet, miles) is not checked, nor what only repeats a number in
other units: "(about 456 million)".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

DIGITS = 3  # significant digits of checked numbers; shorter and round ones are often in words
_NUMBER = re.compile(r"\d+(?:[.,'’·٫٬]\d+|[ \u00a0\u2009\u202f]\d{3}(?!\d))*")
_ALPHABET = (
    "A-Za-zªµº\u00c0-\u1fff"  # letters of alphabets; ideographs and kana are adjacent to numbers
)
# part of a code, a range, a score or a sum:
_CODE_BEFORE = re.compile(
    rf"[{_ALPHABET}_#@&=+'’/:.,*^×\-‐-―~〜～−]$|[/:*^×\-‐-―~〜～−+=]\s$|\d\s$"
)
_CODE_AFTER = re.compile(
    rf"[{_ALPHABET}_'’]|[/:*^×\-‐-―~〜～−+=]|\s[/:*^×\-‐-―~〜～−+=]\s?\d|[.,]\d|\s\d"
)
_DATE_OR_TIME = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{2,4})?|\d{4}\.\d{1,2}(?:\.\d{1,2})?")
# emergency calls and codes, which languages replace by their own
_LOCAL = re.compile(r"911|999|112|0\d{1,4}")
# units of one country: translators convert them
_CONVERTED = re.compile(
    r"(?i)[\s°]*(?:(?:feet|foot|ft|miles?|inch(?:es)?|yards?|pounds?|lbs?|ounces?|acres?|gallons?|f|fahrenheit)\b"
    r"|degrees f|華氏|华氏|英[里尺寸亩畝]|マイル|フィート|インチ|ポンド|エーカー)"
)
# what stands before, in another currency or unit: translators keep one of the two
_REPEATED = re.compile(
    r"(?i)[（(]\s*(?:[約约]|大[約约]|≈|~|about|approx\.?|approximately|around|roughly|около|примерно|etwa|rund|ca\.?|circa|environ"
    r"|env\.|unos|aprox\.?|cerca de|asi|zhruba|około)\s*[$€£¥￥]?\s*$"
)
# 1億2345万: one number in two parts
_SCALED_SUM = re.compile(r"\s?[十百千万萬亿億兆]+[余多餘]?\s?\d")
_SUM_BEFORE = re.compile(r"\d[十百千万萬亿億兆]+\s?$")
_IN_WORDS = re.compile(
    r"(?i)(?:[a-z]+[ -])(?:hundred|thousand)|\w*(?:hundert|tausend)\w+|[а-яіїў]+(?:сот|ста)\b|[а-яіїў]+ тысяч"
    r"|[一二三四五六七八九〇零十百千]{3}"
)
_BETWEEN = re.compile(r"(?<=\d)[^\w]{1,2}(?=\d)")


def western_digits(text: str) -> str:
    """Write decimal digits of every script as 0–9."""
    return (
        text
        if text.isascii()
        else re.sub(r"\d", lambda digit: str(unicodedata.decimal(digit[0])), text)
    )


def missing_numbers(source: str, output: str) -> list[str]:
    """List numbers of the source whose significant digits are nowhere in the output."""
    expected = _expected(source)
    if not expected:
        return []
    output = western_digits(output)
    if _IN_WORDS.search(output):
        return []
    digits = _BETWEEN.sub("", output)
    return [number for number in dict.fromkeys(expected) if _significant(number) not in digits]


@lru_cache(maxsize=4096)  # each system's output is checked against the same sources
def _expected(source: str) -> tuple[str, ...]:
    source = western_digits(source)
    return tuple(match[0] for match in _NUMBER.finditer(source) if _checkable(source, match))


def _checkable(text: str, match: re.Match[str]) -> bool:
    number, start = match[0], match.start()
    before, after = text[max(0, start - 3) : start], text[match.end() : match.end() + 12]
    return len(_significant(number)) >= DIGITS and not (
        _DATE_OR_TIME.fullmatch(number)
        or _LOCAL.fullmatch(number)
        or _REPEATED.search(text[max(0, start - 20) : start])
        or _CODE_BEFORE.search(before)
        or _CODE_AFTER.match(after)
        or _CONVERTED.match(after)
        or _SCALED_SUM.match(after)
        or _SUM_BEFORE.search(before)
    )


def _significant(number: str) -> str:
    return re.sub(r"\D", "", number).strip("0")
