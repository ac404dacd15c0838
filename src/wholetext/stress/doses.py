"""Doses: how many of the sites of a change are made, `1`, `3`, `50%` or `all`. A larger dose contains a smaller one."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wholetext.errors import InputError
from wholetext.stress.change import Site

_FORM = re.compile(r"all|([1-9][0-9]{0,4})|([1-9][0-9]?|100)%")


@dataclass(frozen=True)
class Dose:
    """A number of sites, or a share of them rounded up; as many as there are if they are fewer."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _FORM.fullmatch(self.name):
            raise InputError(
                f"there is no dose {self.name!r}",
                next="a dose is a number of places (1), a share of them (50%) or all",
            )

    def of(self, sites: int) -> int:
        if self.name == "all":
            return sites
        if self.name.endswith("%"):
            return math.ceil(sites * int(self.name[:-1]) / 100)
        return min(sites, int(self.name))


def ordered(sites: Sequence[Site], rng: random.Random, in_a_row: bool) -> list[Site]:
    """The order in which sites are taken as the dose grows: at random, or one run that grows to its ends."""
    if not in_a_row:
        return rng.sample(list(sites), len(sites))
    start = rng.randrange(len(sites)) if sites else 0
    return [*sites[start:], *reversed(sites[:start])]
