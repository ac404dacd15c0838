"""Control: a number is another one."""

from __future__ import annotations

import random
import re

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

_NUMBER = re.compile(r"(?<![\w.,:/#'’–-])[1-9]\d*(?:[.,]\d+)*(?![\w/'’–-]|[.,]\d|\s*:\s*\d)")
_LISTED = re.compile(r"(?:^|(?<=\())\d+[.)]")  # 1), (1): the number of an item
_TIME = re.compile(r"\d\s*:\s*$")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NEAR = 40  # characters before a number in which the hour of a time may stand
_DAY = 31  # numbers up to this may be days of a month and stay possible ones


class Number(Change):
    """A number in digits is replaced by another of the same form; years keep their decade, 1 stays as it is, since the
    noun after it is in the singular."""

    name = "number"
    summary = "a number in digits is changed"
    kind = "sentence"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found: list[Site] = []
        for place, segment in enumerate(text.segments):
            for match in _NUMBER.finditer(segment):
                before = segment[max(0, match.start() - _NEAR) : match.start()]
                if match[0] != "1" and not _TIME.search(before) and not _LISTED.match(segment, match.start()):
                    found.append((Replacement(place, *match.span(), _another(match[0], rng)),))
        if not found:
            raise Refused("no number in digits")
        return found


def _another(number: str, rng: random.Random) -> str:
    if _YEAR.fullmatch(number):
        return number[:3] + rng.choice([digit for digit in "0123456789" if digit != number[3]])
    if number.isdigit() and len(number) <= 2 and int(number) <= _DAY:
        return str(rng.choice([one for one in range(2, 29) if len(str(one)) == len(number) and str(one) != number]))
    return rng.choice([digit for digit in "23456789" if digit != number[0]]) + number[1:]
