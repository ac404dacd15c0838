r"""The annotation layers of BWB (Jiang et al. 2023): entities, terms, pronouns and quotations.

``BWB_annotation/BookN/i.ref_re.an.txt`` has the sentences of a chapter with marks in them:
``<PER, T, 1>{Qiao Lian}`` is a mention of entity 1, a person and a term (``N``: no term),
``<P, 1>{she}`` a pronoun that refers to it, ``<O, 1>{her}`` one that the other language omits, and
``<Q, 1> … <\Q>`` what it says. Marks may be nested. The files have slips (missing braces, missing
fields): what is certain is read, the others are named in ``slips``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(
    r"<\s*(?:(?P<type>PER|FAC|GPE|LOC|VEH|ORG|P|O|Q)\s*,\s*(?:(?P<term>[A-Z])\s*,\s*)?(?P<id>\d+)"
    r"|(?P<end>[\\/]\s*Q))\s*>(?P<brace>\s*\{)?|(?P<close>\})"
)


@dataclass(frozen=True)
class Mention:
    """A marked span of a sentence: an entity by name or description, or a pronoun."""

    type: str  # PER, FAC, GPE, LOC, VEH, ORG; P: pronoun, O: pronoun that the other language omits
    entity: int
    text: str
    term: bool | None = None  # whether it is a term; None: not marked, or a pronoun
    start: int = 0  # place in the sentence without marks
    end: int = 0

    @property
    def pronoun(self) -> bool:
        return self.type in ("P", "O")


@dataclass(frozen=True)
class AnnotatedLine:
    """A sentence without its marks, what was marked, and the marks that could not be read."""

    text: str
    mentions: tuple[Mention, ...]  # in the order of their ends
    quotations: tuple[tuple[int, str], ...]  # (speaker, text)
    slips: tuple[str, ...]


def parse(line: str, where: str = "") -> AnnotatedLine:
    """Read the marks of a sentence."""
    text, last, slips = "", 0, list[str]()
    mentions, quotations = list[Mention](), list[tuple[int, str]]()
    spans: list[tuple[re.Match[str], int]] = []  # open mentions and where they start
    quotes: list[tuple[int, int]] = []  # open quotations: speaker, start
    for mark in _MARK.finditer(line):
        text += line[last : mark.start()]
        last = mark.end()
        if mark["type"] == "Q":
            quotes.append((int(mark["id"]), len(text)))
        elif mark["end"] and quotes:
            speaker, start = quotes.pop()
            quotations.append((speaker, text[start:].strip()))
        elif mark["type"]:
            if not mark["brace"]:
                slips.append(f"no brace after {mark[0]}")
            spans.append((mark, len(text)))
        elif mark["close"] and spans:
            opened, start = spans.pop()
            kind, term = opened["type"], opened["term"]
            if kind not in ("P", "O") and term not in ("T", "N"):
                slips.append(f"neither T nor N in {opened[0].rstrip('{')}")
            known = {"T": True, "N": False}.get(term or "")
            mentions.append(Mention(kind, int(opened["id"]), text[start:], known, start, len(text)))
        else:
            slips.append(f"{mark[0]} closes nothing")
    slips += [f"{opened[0].rstrip('{')} is not closed" for opened, _ in spans]
    slips += [f"the quotation of {speaker} is not closed" for speaker, _ in quotes]
    placed = tuple(f"{where}: {slip}" for slip in slips)
    return AnnotatedLine(text + line[last:], tuple(mentions), tuple(quotations), placed)


def ellipsis_line(layers: AnnotatedLine) -> str:
    """Write the pronouns that the source omits as a line of an.txt: errors of type 3, ellipsis."""
    phrases = [mention.text.strip() for mention in layers.mentions if mention.type == "O"]
    return "\t".join([layers.text, *(f"3,{phrase}, <>" for phrase in phrases)])


def names_line(layers: AnnotatedLine) -> str:
    """Write the terms as a line of ner.txt: persons and others, with their counts."""
    groups: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for mention in layers.mentions:
        if mention.term and not set(mention.text) & set(":;()"):
            names = groups[mention.type == "PER"]
            names[mention.text.strip()] = names.get(mention.text.strip(), 0) + 1
    person, other = (
        "".join(f"{name}: {number}; " for name, number in groups[kind].items())
        for kind in (True, False)
    )
    return f"PERSON: ({person})\tNONPERSON: ({other})"
