"""Inconsistencies within a document: pronouns, tense, names, terms (English)."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from wholetext.stress.change import NotApplicable, Replacement, Site, TaggedText, change, like
from wholetext.stress.changes import WORDS
from wholetext.text.taggers.analysis import Analysis, Token

_MALE = {
    ("he", "PRP"): "she",
    ("him", "PRP"): "her",
    ("his", "PRP$"): "her",
    ("himself", "PRP"): "herself",
}
_FEMALE = {
    ("she", "PRP"): "he",
    ("her", "PRP"): "him",
    ("her", "PRP$"): "his",
    ("herself", "PRP"): "himself",
}
_OTHER_GENDER = {**_MALE, **_FEMALE}
_BEGINNING = Token("", "", "", "", "", 0, 0)
# Words that tell the gender inside the sentence, where a wrong pronoun would no longer be an error
# of the document.
_TELLING = re.compile(
    r"m(?:r|rs|s|iss|adam|adame|onsieur|ister)|sir|lady|ladies|lord|king|queen|prince(?:ss)?|"
    r"du(?:ke|chess)|(?:grand|step)?(?:father|mother|son|daughter)s?|brothers?|sisters?|husbands?|"
    r"wives|wife|uncles?|aunts?|nephews?|nieces?|boys?|girls?|guys?|m[uo]ms?|dads?|pa|ma|actors?|"
    r"actress(?:es)?|bride|groom|widow(?:er)?|(?:fe)?males?|pregnan\w+|mat?ernity|paternity|"
    r"beard\w*|nuns?|monks?|heroines?|hero|waitress|hostess|goddess|gentle\w+|"
    r"boyfriends?|girlfriends?|fianc[ée]e?s?|.*wom[ae]n|.*m[ae]n",
    re.I,
)
_OTHERS = re.compile(
    r"ones?|oneself|whoever|persons?|(?:every|any|some|no)(?:one|body)|each|"
    r"hers|his/her|her/his|s?he/s?he|\(s\)he",
    re.I,
)
_PLACES = frozenset(
    {"DATE", "TIME", "GPE", "LOC", "FAC", "NORP", "CARDINAL", "ORDINAL", "PERCENT", "MONEY"}
)


@change(
    "pronoun",
    "he becomes she, or she he, after the first mention",
    otherwise="every later pronoun has a name or a word that tells the gender in its sentence",
    languages=frozenset({"en"}),
    layers=frozenset({"tag", "entity"}),
)
def pronoun(text: TaggedText, rng: random.Random) -> list[Site]:
    """He becomes she, or she he, in segments after the one that has the first such pronoun.

    Sure only where all gendered pronouns of the document are of one gender, so that no other person
    can be meant, and where the sentence itself names nobody and has no word that tells the gender.
    All pronouns of a segment change together, so that the sentence is sound by itself (as in
    ContraPro, Müller et al. 2018).
    """
    mentions = [
        [token for token in analysis.tokens if _key(token) in _OTHER_GENDER]
        for analysis in text.analyses
    ]
    having = [at for at, tokens in enumerate(mentions) if tokens]
    if len(having) < 2:
        raise NotApplicable("no gendered pronoun after the first mention")
    if len({_key(token) in _MALE for tokens in mentions for token in tokens}) > 1:
        raise NotApplicable("pronouns of both genders")
    return [
        tuple(
            Replacement(at, token.start, token.end, like(_OTHER_GENDER[_key(token)], token.text))
            for token in mentions[at]
        )
        for at in having[1:]
        if _sure(text.analyses[at], mentions[at][0])
    ]


def _key(token: Token) -> tuple[str, str]:
    return token.text.lower(), token.tag


def _sure(analysis: Analysis, first: Token) -> bool:
    """Tell whether no word of the sentence names a person or tells the gender."""
    names = [entity for entity in analysis.entities if entity.label not in _PLACES]
    places = [(entity.start, entity.end) for entity in analysis.entities if entity.label in _PLACES]
    for token, following in pairwise((*analysis.tokens, _BEGINNING)):
        word = token.text.lower()
        surname = word in ("he", "she") and following.text.istitle()
        possessive = word == "his" and token.tag != "PRP$"
        proper = token.tag in ("NNP", "NNPS") and not any(a <= token.start < b for a, b in places)
        named = proper and token.start < first.start
        if surname or possessive or named or _TELLING.fullmatch(word) or _OTHERS.fullmatch(word):
            return False
    return not any(name.label == "PERSON" or name.start < first.start for name in names)


# the subject: first person, third person singular, anything else; "": unknown
Count = Literal["I", "one", "many", ""]

# patterns of lemmas, and their forms: the first that matches counts
_PAST = (
    (rf"(?=(?:{'|'.join(WORDS['doubled'])})$)(.*(.))", r"\1\2ed"),
    ("(.*e)", r"\1d"),
    ("(.*[^aeiou])y", r"\1ied"),
    ("[^aeiou]*[aeiou][^aeiouwxy]", ""),  # of one syllable: the consonant may double
    ("(.*)", r"\1ed"),
)
_THIRD_PERSON = (
    ("have", "has"),
    ("(.*[^aeiou])y", r"\1ies"),
    ("(.*(?:s|x|z|ch|sh|[^aeiou]o)|go|do)", r"\1es"),
    ("(.*)", r"\1s"),
)


def _inflected(lemma: str, rules: Sequence[tuple[str, str]]) -> str:
    """Apply the first rule that matches; ``""`` where past and present may be confused."""
    if lemma in WORDS["same"] or not re.fullmatch("[a-z]{2,}", lemma):
        return ""
    matches = ((re.fullmatch(pattern, lemma), form) for pattern, form in rules)
    return next(match.expand(form) for match, form in matches if match)


def past(lemma: str) -> str:
    """Return the past form, or ``""`` where it is not certain."""
    return str(WORDS["irregular"].get(lemma) or _inflected(lemma, _PAST))


def present(lemma: str, subject: Count) -> str:
    """Return the present form that agrees with a subject, or ``""`` where it is not certain."""
    if not subject:
        return ""
    if lemma == "be":
        return {"I": "am", "one": "is", "many": "are"}[subject]
    return _inflected(lemma, _THIRD_PERSON if subject == "one" else (("(.*)", r"\1"),))


_PRONOUNS: dict[str, Count] = {
    "i": "I",
    **dict.fromkeys(("he", "she", "it"), "one"),
    **dict.fromkeys(("we", "they", "you"), "many"),
}
_NOUNS: dict[str, Count] = {"NN": "one", "NNS": "many", "NNPS": "many"}


def subject_of(tokens: Sequence[Token], at: int) -> Count:
    """Return the number of the subject right before the verb or its adverbs; ``""`` if unsure."""
    words = list(tokens[:at])
    while words and words[-1].tag in ("RB", "RBR"):
        words.pop()
    if not words:
        return ""
    subject, before = words[-1], words[-9:-1]
    if subject.tag == "PRP":
        return _PRONOUNS.get(subject.text.lower(), "")
    joined = any(
        word.tag in ("IN", "CC", "TO", "VBD", "VBZ", "VBP", "VBG", "VBN", "WDT", "WP", ",")
        for word in before
    )
    # another noun may be the head
    return "" if joined or len(before) == 8 else _NOUNS.get(subject.tag, "")


_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_IN_TENSE = 4  # segments in the tense of the document
_SHARE = 0.8  # of the segments with one tense that are in it
# Words that fix a time, or ask for a tense inside the sentence
_TIMED = re.compile(
    r"\b(?:ago|yesterday|today|tonight|tomorrow|now|currently|once|already|yet|since|last|next|"
    r"former\w*|recent\w*|when|while|until|after|before|if|wish|would|could|should|as|then|"
    r"later|earlier|still|used to|19\d\d|20\d\d|century|always|never|ever|so that|to date|"
    r"history|future|present|presently|so far|picture|photo|title)\b|[\"“”„«»‘;:?]|(?:^|\s)'",
    re.I,
)


@change(
    "tense",
    "sentences in a row change from past to present",
    otherwise="no sentence whose verbs can all be changed with certainty",
    languages=frozenset({"en"}),
    layers=frozenset({"tag", "lemma", "entity"}),
    in_a_row=True,
)
def tense(text: TaggedText, rng: random.Random) -> list[Site]:
    """Verbs of segments that follow each other go from past to present.

    Sure only where most segments are in the past, where all finite verbs of a segment and of its
    two neighbours are and can be changed, and where nothing in the sentence (dates, adverbs of
    time, modal verbs, quotations) asks for a tense of its own. At least half of the segments in
    the past stay there.
    """
    tenses = [_tense(analysis) for analysis in text.analyses]
    in_past = [at for at, tense in enumerate(tenses) if tense == "past"]
    if len(in_past) < max(_IN_TENSE, _SHARE * sum(map(bool, tenses))):
        raise NotApplicable("no past tense that most of the document is in")
    # a neighbour in another tense may fit the changed sentence
    between = [at for at in in_past[1:] if tenses[at - 1 : at + 2] == ["past"] * 3]
    sites = [site for at in between if (site := _shifted(at, text))]
    most = len(in_past) // 2
    start = rng.randrange(max(1, len(sites) - most + 1))
    return sites[start : start + most]


def _tense(analysis: Analysis) -> str:
    """Return the tense of all finite verbs; ``""`` if they differ, or if one is a modal verb."""
    tags = {token.tag for token in analysis.tokens if token.tag in _FINITE}
    if tags == {"VBD"}:
        return "past"
    return "present" if tags and tags <= {"VBZ", "VBP"} else ""


def _shifted(segment: int, text: TaggedText) -> Site | None:
    """Put the verbs of a segment into the present; None if one of them is not certain."""
    analysis, words = text.analyses[segment], text.segments[segment]
    tokens = analysis.tokens
    first = next((at for at, token in enumerate(tokens) if token.tag == "VBD"), 0)
    infinitive = any(  # that may be a finite verb or an imperative
        token.tag == "VB" and before.tag not in ("TO", "MD", "RB") and before.lemma != "do"
        for before, token in pairwise((_BEGINNING, *tokens))
    )
    participle = any(token.tag == "VBN" for token in tokens[:first])  # that may be a past form
    dated = any(entity.label in ("DATE", "TIME") for entity in analysis.entities)
    if infinitive or participle or dated or _TIMED.search(words):
        return None
    replacements, subject, last = list[Replacement](), "", -1
    for at, token in enumerate(tokens):
        if token.tag != "VBD":
            continue
        own_subject = subject_of(tokens, at)
        coordinated = last >= 0 and tokens[at - 1].tag == "CC"
        subject = subject if coordinated and not own_subject else own_subject
        new = _present(tokens, at, subject)
        joined = last < 0 or _apart(tokens[last + 1 : at])
        if (
            not new
            or not joined
            or token.lemma in WORDS["reporting"]
            or re.search("['’]", token.text)
        ):
            return None
        replacements.append(Replacement(segment, token.start, token.end, like(new, token.text)))
        last = at
    return tuple(replacements)


def _apart(between: Sequence[Token]) -> bool:
    """Tell whether something joins two verbs: if nothing does, one is a participle."""
    return any(
        token.tag in ("CC", "WDT", "WP", ",")
        or token.text.lower() in ("that", "because", "although")
        for token in between
    )


def _present(tokens: Sequence[Token], at: int, subject: Count | str) -> str:
    """Return the present of a past form, or ``""`` where it is not certain."""
    word, lemma = tokens[at].text.lower(), tokens[at].lemma
    following = [token for token in tokens[at + 1 : at + 4] if token.tag not in ("RB", "RBR")]
    if word in ("was", "were"):
        passive = following[:1] and following[0].tag in ("VBN", "VBG")  # a state may well last
        return "" if subject == "I" or not passive else "is" if word == "was" else "are"
    by = (
        tokens[at + 1 : at + 2] and tokens[at + 1].text.lower() == "by"
    )  # "proposed by": participle
    sure = past(lemma) == word and not by
    return present(lemma, subject) if sure else ""  # type: ignore[arg-type]


_LETTERS = 5  # letters of the shortest name


@change(
    "name",
    "a person's name is spelled in another way after the first mention",
    languages=frozenset({"en"}),
    layers=frozenset({"pos", "lemma", "entity"}),
)
def name(text: TaggedText, rng: random.Random) -> list[Site]:
    """The name of one person, from the second mention on, in another spelling.

    The name is the last word of what the tagger takes for a person in at least two segments, and
    never for anything else, and somewhere it has a title, an age or *who* beside it, or does what
    persons alone do; the new spelling is one that transliterations differ in, and no other word of
    the document.
    """
    words = {token.text for analysis in text.analyses for token in analysis.tokens}
    persons = Counter(
        name
        for analysis in text.analyses
        for name in dict.fromkeys(  # in order of mention: no set, as hashes vary
            entity.text.split()[-1] for entity in analysis.entities if entity.label == "PERSON"
        )
    )
    others = {
        entity.text.split()[-1]
        for analysis in text.analyses
        for entity in analysis.entities
        if entity.label != "PERSON"
    }
    names = [
        name
        for name, segments in persons.most_common()
        if segments > 1
        and name not in others
        and len(name) >= _LETTERS
        and re.fullmatch(r"[^\W\d_]+", name)
        and name.istitle()
        and name.lower() not in words
        and any(_human(name, analysis.tokens) for analysis in text.analyses)
    ]
    for name in names:
        spellings = [
            re.sub(rf"(?<=[^\W\d_]){old}", new, name, count=1) for old, new in WORDS["spellings"]
        ]
        variants = [spelling for spelling in spellings if spelling != name][:3]
        new = rng.choice(variants) if variants else ""
        mentions = [
            (at, token)
            for at, analysis in enumerate(text.analyses)
            for token in analysis.tokens
            if token.text == name and token.pos == "PROPN"
        ]
        if new and new not in words and len(mentions) > 1:
            return [(Replacement(at, token.start, token.end, new),) for at, token in mentions[1:]]
    raise NotApplicable("no person is named twice" if not names else "no other spelling of a name")


def _human(name: str, tokens: Sequence[Token]) -> bool:
    """Tell whether something beside a name shows that it is a person's."""
    padded = (_BEGINNING, *tokens, _BEGINNING, _BEGINNING)
    return any(
        before.text.lower() in WORDS["titles"]
        or after.text.lower() in ("who", "whose")
        or after.lemma in WORDS["human"]
        or (after.text == "," and re.fullmatch(r"[1-9]\d", further.text) is not None)
        for before, token, after, further in zip(padded, padded[1:], padded[2:], padded[3:])
        if token.text == name
    )


def _plural(noun: str) -> str:
    regular = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
    irregular = {"series": "series", "fungus": "fungi"}
    return irregular.get(noun, f"{noun}es" if re.search("(?:s|x|ch|sh)$", noun) else regular)


_OTHER_THING = {
    form(noun): form(other) for noun, other in WORDS["near"].items() for form in (_plural, str)
}
_DEFINITE = frozenset({"the", "this", "that", "these", "those"})


@change(
    "term",
    "a term becomes another one after the first mention (hospital, clinic)",
    otherwise="no noun of the list stands by itself after its first use",
    languages=frozenset({"en"}),
    layers=frozenset({"tag", "lemma", "entity"}),
)
def term(text: TaggedText, rng: random.Random) -> list[Site]:
    """A noun of a list, from the second mention on, is the name of another thing that is near.

    Sure only for a definite noun by itself, which takes up the first mention: not beside another
    noun, a name or a hyphen, where it may be part of a fixed expression.
    """
    words = {token.text.lower() for analysis in text.analyses for token in analysis.tokens}
    uses: dict[str, list[tuple[int, int]]] = {}  # lemma → places
    for segment, analysis in enumerate(text.analyses):
        for at, token in enumerate(analysis.tokens):
            if token.text.lower() in _OTHER_THING and token.tag in ("NN", "NNS"):
                uses.setdefault(token.lemma.lower(), []).append((segment, at))
    for lemma in sorted(uses, key=lambda lemma: -len(uses[lemma])):
        other = _OTHER_THING.get(lemma, "")
        if not other or {other, _plural(other)} & words:
            continue
        first = uses[lemma][0][0]
        later = [
            (segment, text.analyses[segment].tokens[at])
            for segment, at in uses[lemma]
            if segment > first and _taken_up(text.analyses[segment], at)
        ]
        sites: list[Site] = [
            (
                Replacement(
                    at, token.start, token.end, like(_OTHER_THING[token.text.lower()], token.text)
                ),
            )
            for at, token in later
        ]
        if sites:
            return sites
    return []


def _taken_up(analysis: Analysis, at: int) -> bool:
    """Tell whether a noun is definite, and part of no name, compound or phrase."""
    token = analysis.tokens[at]
    before, _, after = (_BEGINNING, *analysis.tokens, _BEGINNING)[at : at + 3]
    named = any(entity.start <= token.start < entity.end for entity in analysis.entities)
    joined = after.tag in ("NN", "NNS", "NNP", "NNPS", "HYPH", "POS") or after.text in (
        "-",
        "’s",
        "'s",
        "of",
    )
    definite = before.tag == "DT" and before.text.lower() in _DEFINITE
    return not named and not joined and definite
