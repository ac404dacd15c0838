"""English verbs between past and present: forms, and the number of a verb's subject where it is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from wholetext.taggers.analysis import Token

Count = Literal["I", "one", "many", ""]  # the subject: first person, third person singular, anything else; "": unknown

# lemma and past of irregular verbs; all others get -ed
_PAIRS = (
    "be:was have:had do:did go:went say:said make:made get:got take:took come:came see:saw know:knew "
    "think:thought give:gave find:found tell:told become:became leave:left feel:felt bring:brought begin:began "
    "keep:kept hold:held write:wrote stand:stood hear:heard mean:meant meet:met run:ran pay:paid sit:sat "
    "speak:spoke lead:led grow:grew lose:lost fall:fell send:sent build:built understand:understood draw:drew "
    "break:broke spend:spent rise:rose drive:drove buy:bought wear:wore choose:chose seek:sought throw:threw "
    "catch:caught deal:dealt win:won forget:forgot sell:sold fight:fought teach:taught eat:ate sing:sang "
    "strike:struck hang:hung shake:shook ride:rode feed:fed shoot:shot drink:drank hit:hit arise:arose fly:flew "
    "sleep:slept stick:stuck sink:sank swim:swam steal:stole blow:blew bend:bent wake:woke tear:tore freeze:froze "
    "hide:hid bear:bore lend:lent bite:bit undergo:underwent overcome:overcame withdraw:withdrew foresee:foresaw "
    "shrink:shrank swear:swore dig:dug cling:clung swing:swung sweep:swept flee:fled bind:bound wind:wound "
    "ring:rang spring:sprang light:lit shine:shone weave:wove spin:spun creep:crept weep:wept leap:leapt "
    "forgive:forgave undertake:undertook undo:undid redo:redid rebuild:rebuilt mislead:misled overtake:overtook "
    "remake:remade retell:retold uphold:upheld withhold:withheld"
)
_IRREGULAR = dict(pair.split(":") for pair in _PAIRS.split())
# past and present look alike, or are often confused
_ALIKE = (
    "cut put set let hit hurt cost shut read spread quit bet cast burst split beat bid shed rid thrust forecast "
    "broadcast upset lie lay"
)
_SAME = frozenset(_ALIKE.split())
_DOUBLING = (
    "stop plan drop ban admit permit commit occur refer prefer control regret submit equip rob step slip trap "
    "grab beg nod pat rub hug jog ship trip wrap chat fit pop snap plug omit compel expel deter transfer incur"
)
_DOUBLED = frozenset(_DOUBLING.split())
_VOWELS = "aeiou"


def past(lemma: str) -> str:
    """The past form, or ``""`` where it is not certain."""
    if lemma in _SAME or not re.fullmatch("[a-z]{2,}", lemma):
        return ""
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if lemma in _DOUBLED:
        return f"{lemma}{lemma[-1]}ed"
    if lemma.endswith("e"):
        return f"{lemma}d"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return f"{lemma[:-1]}ied"
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", lemma)  # of one syllable: the consonant may double
    return "" if short else f"{lemma}ed"


def present(lemma: str, subject: Count) -> str:
    """The present form that agrees with a subject, or ``""`` where it is not certain."""
    if lemma in _SAME or not subject or not re.fullmatch("[a-z]{2,}", lemma):
        return ""
    if lemma == "be":
        return {"I": "am", "one": "is", "many": "are"}[subject]
    if subject != "one":
        return lemma
    if lemma == "have":
        return "has"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return f"{lemma[:-1]}ies"
    return f"{lemma}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o|^go|^do)$", lemma) else f"{lemma}s"


def subject_of(tokens: Sequence[Token], at: int) -> Count:
    """The number of the subject right before the verb, with nothing but adverbs between them; ``""`` if unsure."""
    place = at - 1
    while place >= 0 and tokens[place].tag in ("RB", "RBR"):
        place -= 1
    if place < 0:
        return ""
    token = tokens[place]
    word = token.text.lower()
    if token.tag == "PRP":
        return {"i": "I", "he": "one", "she": "one", "it": "one"}.get(word, "many" if word in ("we", "they", "you")
                                                                      else "")  # type: ignore[return-value]
    before = tokens[max(0, place - 8) : place]
    if token.tag not in ("NN", "NNS", "NNP", "NNPS"):
        return ""
    joined = any(one.tag in ("IN", "CC", "TO", "VBD", "VBZ", "VBP", "VBG", "VBN", "WDT", "WP", ",") for one in before)
    if joined or len(before) == 8:  # another noun may be the head
        return ""
    return "many" if token.tag in ("NNS", "NNPS") else "one" if token.tag == "NN" else ""
