"""Sentence splitting by rule: terminators, quotes, abbreviations, initials, ordinals."""

from __future__ import annotations

import re
from collections.abc import Callable

from wholetext.errors import SpecError, choices
from wholetext.text import code_of

Splitter = Callable[[str], list[str]]
SPLITTERS = ("rules", "none")

_CLOSERS = "\"'”’»›)\\]」』）】》"
# Candidates: CJK stops end a sentence at once, others before a blank (bounded: linear time).
_CANDIDATE = re.compile(
    rf"[。！？｡．]+[{_CLOSERS}]*(?=[^{_CLOSERS}]|$)|[.!?…؟۔।॥։።]{{1,9}}[{_CLOSERS}]{{0,9}}(?=\s)"
)
_APART = re.compile(r"\s{1,2}([\"”’»›)\]])(?=\s|$)")
_OPENERS = re.compile(r"[\s\"'“‘„‚«‹(\[¿¡–—-]*")
# abbreviations where a number follows
_NUMBERED = frozenset(("no", "nr", "art", "fig", "vol", "pp", "abs", "par"))
_KANA = re.compile(r"[、，\u3041-\u309f]")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")  # e.g, U.S, z.B, т.е
_ORDINAL = frozenset(
    ("de", "da", "nb", "no", "is", "fi", "et", "lv", "cs", "sk", "pl", "sl", "hr", "sr", "hu", "tr")
)

# Words that a full stop does not end, by language; those of "" hold everywhere.
_ABBREVIATIONS: dict[str, frozenset[str]] = {
    lang: frozenset(words.split())
    for lang, words in {
        "": "dr prof st vs etc ca approx cf al jr sr dept est max min tel",
        "en": "mr mrs ms messrs gen col lt sgt capt cmdr adm rev hon pres gov sen rep mt ft ave "
        "blvd rd inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec",
        "de": "hr fr bzw ggf evtl inkl exkl sog vgl str usw bspw zzgl mind jh geb gest ing dipl "
        "mio mrd tsd",
        "fr": "m mm mme mlle mlles me dr pr av bd chap éd env ex janv févr avr juil sept oct nov "
        "déc",
        "es": "sr sra srta dr dra ud uds pág núm av avda ee uu aprox",
        "pt": "sr sra dr dra av pág núm exmo",
        "it": "sig sigg dott prof avv ing pag art ecc",
        "nl": "dhr mevr mw ir drs blz bijv enz nl",
        "cs": "např mj tj tzv tzn atd apod č čl odst ing mgr str mil mld tis",
        "pl": "np tzw tj itd itp ok ul al im św zł gr mln mld tys prof ks",
        "ru": "г гг в вв руб коп тыс млн млрд ул пр стр рис им проф акад см т д п",
        "uk": "р рр ст грн коп тис млн млрд вул пр див рис ім проф акад т д п",
    }.items()
}


def split(text: str, lang: str = "") -> list[str]:
    """Split a text into sentences; a line break always ends one."""
    lang = code_of(lang)
    sentences = []
    for line in text.splitlines():
        start = quotes = counted = 0
        for mark in _CANDIDATE.finditer(line):
            if _ends(line, start, mark, lang):
                quotes += line.count('"', counted, mark.end())
                counted = stop = mark.end()
                if (quote := _APART.match(line, stop)) and (
                    quote[1] != '"' or quotes % 2 or quote.end() == len(line)
                ):
                    stop = quote.end()  # a closing quote after a blank, as tokenised text has it
                sentences.append(line[start:stop])
                start = stop
        sentences.append(line[start:])
    return [sentence.strip() for sentence in sentences if sentence.strip()]


def _ends(line: str, start: int, mark: re.Match[str], lang: str) -> bool:
    if mark.group()[0] in "。！？｡．":
        # a quote left open must not win
        sentence = line[start : mark.end()] if mark.end() - start < 2000 else ""
        quoting = any(sentence.count(a) > sentence.count(b) for a, b in ("「」", "『』"))
        # a quotation of whole sentences goes on with its verb: 「…。」と述べた。
        return not quoting and not (mark.group()[-1] in "」』”" and _KANA.match(line, mark.end()))
    opened = _OPENERS.match(line, mark.end())
    next_at = opened.end() if opened else mark.end()
    following = line[next_at : next_at + 1]
    if following.islower():
        return False
    if mark.group() != ".":
        return True
    before = line[max(start, mark.start() - 40) : mark.start()].split()
    word = before[-1].lstrip("\"'“‘„‚«‹([/–—-") if before else ""
    if _DOTTED.fullmatch(word) or (len(word) == 1 and word.isalpha()):
        return False
    if word.lower() in _NUMBERED and following.isdigit():
        return False
    if word.isdigit() and len(word) <= 2 and lang in _ORDINAL:  # "3." is "3rd" there
        return False
    return word.lower() not in _ABBREVIATIONS[""] and word.lower() not in _ABBREVIATIONS.get(
        lang, ()
    )


def splitter(name: str, lang: str = "") -> Splitter:
    """Return a splitter: ``rules``, or ``none``, which keeps a text whole."""
    if name not in SPLITTERS:
        raise SpecError(f"there is no sentence splitter {name!r}", next=choices(name, SPLITTERS))
    return (lambda text: split(text, lang)) if name == "rules" else (lambda text: [text])
