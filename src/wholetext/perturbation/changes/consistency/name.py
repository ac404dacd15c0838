"""The name of a person is spelled in two ways."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text
from wholetext.taggers.analysis import Layer

_LABELS = frozenset({"PERSON"})
_LEAST = 5  # letters of the shortest name
# Spellings that one name has in different transliterations; the first letter stays.
_VARIANTS = tuple((re.compile(rf"(?<=[^\W\d_]){old}"), new) for old, new in (
    ("sch", "sh"), ("tch", "ch"), ("ck", "k"), ("ph", "f"), ("th", "t"), ("oo", "u"), ("ou", "u"), ("ei", "ai"),
    ("ai", "ei"), ("ee", "i"), ("ie", "ee"), ("ov$", "off"), ("ev$", "eff"), ("sky$", "ski"), ("ski$", "sky"),
    ("ff", "v"), ("w", "v"), ("v", "w"), ("zh", "j"), ("x", "ks"), ("y$", "i"), ("i$", "y"), ("ia", "ya"),
    (r"([bdfglmnprst])\1", r"\1"), ("c(?=[aou])", "k"), ("k(?=[aou])", "c"), ("(?<=[aeiou])s(?=[aeiou])", "z"),
    ("z", "s"), ("(?<=[aeiou])([lnt])(?=[aeiou])", r"\1\1"), ("i", "y"), ("j", "y"), ("e(?=[rln])", "a"),
))


class Name(Change):
    """The name of one person, from the second mention on, in another spelling.

    The name is the last word of what the tagger takes for a person in at least two segments, and never for anything
    else; the new spelling is one that transliterations differ in, and no other word of the document.
    """

    name = "name"
    summary = "a person's name is spelled in another way after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"pos", "entity"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        words = {token.text for analysis in text.analyses for token in analysis.tokens}
        persons = Counter(name for analysis in text.analyses for name in  # in order of mention: no set, as hashes vary
                          dict.fromkeys(one.text.split()[-1] for one in analysis.entities if one.label in _LABELS))
        others = {one.text.split()[-1] for analysis in text.analyses for one in analysis.entities
                  if one.label not in _LABELS}
        names = [name for name, segments in persons.most_common() if segments > 1 and name not in others
                 and len(name) >= _LEAST and re.fullmatch(r"[^\W\d_]+", name) and name.istitle()
                 and name.lower() not in words]
        for name in names:
            new = _respelled(name, rng)
            found = [(at, token) for at, analysis in enumerate(text.analyses) for token in analysis.tokens
                     if token.text == name and token.pos == "PROPN"]
            if new and new not in words and len(found) > 1:
                return [(Replacement(at, token.start, token.end, new),) for at, token in found[1:]]
        raise Refused("no person is named twice" if not names else "no other spelling of a name")


def _respelled(name: str, rng: random.Random) -> str:
    found = [new for pattern, variant in _VARIANTS if (new := pattern.sub(variant, name, count=1)) != name]
    return rng.choice(found[:3]) if found else ""
