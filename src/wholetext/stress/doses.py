"""Doses: the number (`3`) or share (`50%`, `all`) of sites to change; larger doses contain smaller."""

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
    """A number of sites, at most all of them, or a share rounded up."""

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
    """Order sites for growing doses: at random, or as a run that grows."""
    if not in_a_row:
        return rng.sample(list(sites), len(sites))
    start = rng.randrange(len(sites)) if sites else 0
    return [*sites[start:], *reversed(sites[:start])]
