"""Inconsistencies within a document: pronouns, tense, names, terms, forms of address."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from wholetext.stress.change import Change, Refused, Replacement, Site, Text, certain, like
from wholetext.text.taggers.analysis import Analysis, Layer, Token

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
# Words that tell the gender inside the sentence, where a wrong pronoun would no longer be an error of the document.
_TELLING = re.compile(
    r"m(?:r|rs|s|iss|adam|adame|onsieur|ister)|sir|lady|ladies|lord|king|queen|prince(?:ss)?|du(?:ke|chess)|"
    r"(?:grand|step)?(?:father|mother|son|daughter)s?|brothers?|sisters?|husbands?|wives|wife|uncles?|aunts?|nephews?|"
    r"nieces?|boys?|girls?|guys?|m[uo]ms?|dads?|pa|ma|actors?|actress(?:es)?|bride|groom|widow(?:er)?|(?:fe)?males?|"
    r"pregnan\w+|mat?ernity|paternity|beard\w*|nuns?|monks?|heroines?|hero|waitress|hostess|goddess|gentle\w+|"
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
_CHINESE_PRONOUNS = {"他": "她", "她": "他"}


class Pronoun(Change):
    """He becomes she, or she he, in segments after the one that has the first such pronoun.

    Sure only where all gendered pronouns of the document are of one gender, so that no other person can be meant, and
    where the sentence itself names nobody and has no word that tells the gender. All pronouns of a segment change
    together, so that the sentence is sound by itself (as in ContraPro, Müller et al. 2018).
    """

    name = "pronoun"
    summary = "he becomes she, or she he, after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en", "zh"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag", "entity"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        mentions = [
            [(token, new) for token in analysis.tokens if (new := _other(token, text.lang))]
            for analysis in text.analyses
        ]
        having = [at for at, some in enumerate(mentions) if some]
        if len(having) < 2:
            raise Refused("no gendered pronoun after the first mention")
        if len({_gender(token, text.lang) for some in mentions for token, _ in some}) > 1:
            raise Refused("pronouns of both genders")
        sure = _sure_chinese if text.lang == "zh" else _sure_english
        sites = [
            tuple(
                Replacement(at, token.start, token.end, like(new, token.text))
                for token, new in mentions[at]
            )
            for at in having[1:]
            if sure(text.segments[at], text.analyses[at], mentions[at][0][0])
        ]
        return certain(
            sites, "every later pronoun has a name or a word that tells the gender in its sentence"
        )


def _pronouns(lang: str) -> Mapping[tuple[str, str], str]:
    return (
        {**_MALE, **_FEMALE}
        if lang == "en"
        else {(word, ""): new for word, new in _CHINESE_PRONOUNS.items()}
    )


def _other(token: Token, lang: str) -> str:
    """The pronoun of the other gender, or nothing."""
    return _pronouns(lang).get((token.text.lower(), token.tag if lang == "en" else ""), "")


def _gender(token: Token, lang: str) -> str:
    word = token.text.lower()
    return word if lang == "zh" else "male" if word in ("he", "him", "his", "himself") else "female"


def _sure_english(segment: str, analysis: Analysis, first: Token) -> bool:
    names = [one for one in analysis.entities if one.label not in _PLACES]
    places = [(one.start, one.end) for one in analysis.entities if one.label in _PLACES]
    for at, token in enumerate(analysis.tokens):
        word = token.text.lower()
        if (
            word in ("he", "she")
            and analysis.tokens[at + 1 : at + 2]
            and analysis.tokens[at + 1].text.istitle()
        ):
            return False  # the surname He
        if (
            _TELLING.fullmatch(word)
            or _OTHERS.fullmatch(word)
            or (word == "his" and token.tag != "PRP$")
        ):
            return False
        proper = token.tag in ("NNP", "NNPS") and not any(a <= token.start < b for a, b in places)
        if proper and token.start < first.start:
            return False
    return not any(one.label == "PERSON" or one.start < first.start for one in names)


def _sure_chinese(segment: str, analysis: Analysis, first: Token) -> bool:
    if any(
        mark in segment for mark in "们男女父母爸妈哥弟姐妹夫妻丈儿爷奶叔姨舅姑婆公王后妃先生小姐太"
    ):
        return False
    return not any(token.tag in ("nr", "PER", "nrt", "nrfg") for token in analysis.tokens)


Count = Literal[
    "I", "one", "many", ""
]  # the subject: first person, third person singular, anything else; "": unknown

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
_VOWELS = tuple("aeiou")


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
    short = re.fullmatch(
        r"[^aeiou]*[aeiou][^aeiouwxy]", lemma
    )  # of one syllable: the consonant may double
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
        return {"i": "I", "he": "one", "she": "one", "it": "one"}.get(
            word, "many" if word in ("we", "they", "you") else ""
        )  # type: ignore[return-value]
    before = tokens[max(0, place - 8) : place]
    if token.tag not in ("NN", "NNS", "NNP", "NNPS"):
        return ""
    joined = any(
        one.tag in ("IN", "CC", "TO", "VBD", "VBZ", "VBP", "VBG", "VBN", "WDT", "WP", ",")
        for one in before
    )
    if joined or len(before) == 8:  # another noun may be the head
        return ""
    return "many" if token.tag in ("NNS", "NNPS") else "one" if token.tag == "NN" else ""


_PAST, _PRESENT = frozenset({"VBD"}), frozenset({"VBZ", "VBP"})
_IN_TENSE = 4  # segments in the tense of the document
_SHARE = 0.8  # of the segments with one tense that are in it
# Words that fix a time, or ask for a tense inside the sentence
_TIMED = re.compile(
    r"\b(?:ago|yesterday|today|tonight|tomorrow|now|currently|once|already|yet|since|last|next|"
    r"former\w*|recent\w*|when|while|until|after|before|if|wish|would|could|should|as|then|later|earlier|"
    r"still|used to|19\d\d|20\d\d|century|always|never|ever|so that|to date|history|future|"
    r"present|presently|so far|picture|photo|title)\b",
    re.I,
)
# Verbs of which news has the present and the past side by side
_VERBS = (
    "remain stay continue "
    "say report believe tell claim note add think state announce write show indicate suggest explain point stress "
    "emphasize emphasise mean"
)
_BEGINNING = Token("", "", "", "", "", 0, 0)
_REPORTING = frozenset(_VERBS.split())


class Tense(Change):
    """Verbs of segments that follow each other go from past to present, or from present to past.

    Sure only where most segments have one tense, where all finite verbs of a segment and of its two neighbours have it
    and can be changed, and where nothing in the sentence (dates, adverbs of time, modal verbs, quotations) asks for a
    tense of its own. At least half of the segments in the tense of the document keep it.
    """

    name = "tense"
    summary = "sentences in a row change from past to present, or from present to past"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag", "lemma", "entity"})
    in_a_row = True

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        tenses = [_tense(one) for one in text.analyses]
        main = max(("past", "present"), key=tenses.count)
        known = [at for at, tense in enumerate(tenses) if tense == main]
        if len(known) < _IN_TENSE or len(known) < _SHARE * sum(map(bool, tenses)):
            raise Refused("no tense that most of the document is in")
        between = [
            at for at in known[1:] if tenses[at - 1 : at + 2] == [main] * 3
        ]  # else it may fit what is beside it
        sites = [site for at in between if (site := _shifted(at, text, to_past=main == "present"))]
        certain(sites, "no sentence whose verbs can all be changed with certainty")
        most = len(known) // 2
        start = rng.randrange(max(1, len(sites) - most + 1))
        return sites[start : start + most]


def _finite(analysis: Analysis) -> list[int]:
    return [
        at for at, token in enumerate(analysis.tokens) if token.tag in _PAST | _PRESENT | {"MD"}
    ]


def _tense(analysis: Analysis) -> str:
    tags = {analysis.tokens[at].tag for at in _finite(analysis)}
    return (
        ""
        if not tags or "MD" in tags
        else "past"
        if tags <= _PAST
        else "present"
        if tags <= _PRESENT
        else ""
    )


def _shifted(segment: int, text: Text, to_past: bool) -> Site | None:
    analysis, words = text.analyses[segment], text.segments[segment]
    if _TIMED.search(words) or re.search('["“”„«»;:?]', words):
        return None
    if any(one.label in ("DATE", "TIME") for one in analysis.entities):
        return None
    made, subject, last = [], "", -1
    tokens = analysis.tokens
    first = next((at for at, one in enumerate(tokens) if one.tag in _PAST | _PRESENT), 0)
    if any(
        other.tag == "VB" and one.tag not in ("TO", "MD", "RB") and one.lemma != "do"
        for one, other in pairwise((_BEGINNING, *tokens))
    ):
        return None  # an infinitive that may be a finite verb or an imperative
    if any(one.tag == "VBN" for one in tokens[:first]):
        return None  # a participle that may be one
    for at in _finite(analysis):
        if tokens[at].lemma in _REPORTING or "'" in tokens[at].text or "’" in tokens[at].text:
            return None
        if last >= 0 and not _apart(tokens[last + 1 : at]):
            return None
        own_subject = subject_of(tokens, at)
        coordinated = last >= 0 and at > 0 and tokens[at - 1].tag == "CC"
        subject = subject if coordinated and not own_subject else own_subject
        new = _past(tokens[at], subject) if to_past else _present(tokens, at, subject)
        if not new or new.lower() == tokens[at].text.lower():
            return None
        made.append(
            Replacement(segment, tokens[at].start, tokens[at].end, like(new, tokens[at].text))
        )
        last = at
    return tuple(made) or None


def _apart(between: Sequence[Token]) -> bool:
    """Whether something joins two finite verbs: if nothing does, one is a participle that was taken for a past form."""
    return any(
        token.tag in ("CC", "WDT", "WP", ",")
        or token.text.lower() in ("that", "because", "although")
        for token in between
    )


def _past(token: Token, subject: Count | str) -> str:
    if token.lemma == "be":
        return {"is": "was", "am": "was", "are": "were"}.get(token.text.lower(), "")
    if token.tag == "VBP" and not subject:  # may be a noun or an infinitive
        return ""
    return past(token.lemma)


def _present(tokens: Sequence[Token], at: int, subject: Count | str) -> str:
    word, after = tokens[at].text.lower(), tokens[at + 1] if at + 1 < len(tokens) else None
    if word in ("was", "were"):
        if subject == "I":
            return ""
        verbs = [one.tag for one in tokens[at + 1 : at + 4] if one.tag not in ("RB", "RBR")][:1]
        return (
            "" if verbs not in (["VBN"], ["VBG"]) else "is" if word == "was" else "are"
        )  # a state may well last
    if after is not None and after.text.lower() == "by":  # "the plan proposed by …": a participle
        return ""
    return present(tokens[at].lemma, subject) if past(tokens[at].lemma) == word else ""  # type: ignore[arg-type]


_LABELS = frozenset({"PERSON"})
_LETTERS = 5  # letters of the shortest name
# Spellings that one name has in different transliterations; the first letter stays.
_SPELLINGS = tuple(
    (re.compile(rf"(?<=[^\W\d_]){old}"), new)
    for old, new in (
        ("sch", "sh"),
        ("tch", "ch"),
        ("ck", "k"),
        ("ph", "f"),
        ("th", "t"),
        ("oo", "u"),
        ("ou", "u"),
        ("ei", "ai"),
        ("ai", "ei"),
        ("ee", "i"),
        ("ie", "ee"),
        ("ov$", "off"),
        ("ev$", "eff"),
        ("sky$", "ski"),
        ("ski$", "sky"),
        ("ff", "v"),
        ("w", "v"),
        ("v", "w"),
        ("zh", "j"),
        ("x", "ks"),
        ("y$", "i"),
        ("i$", "y"),
        ("ia", "ya"),
        (r"([bdfglmnprst])\1", r"\1"),
        ("c(?=[aou])", "k"),
        ("k(?=[aou])", "c"),
        ("(?<=[aeiou])s(?=[aeiou])", "z"),
        ("z", "s"),
        ("(?<=[aeiou])([lnt])(?=[aeiou])", r"\1\1"),
        ("i", "y"),
        ("j", "y"),
        ("e(?=[rln])", "a"),
    )
)


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
        persons = Counter(
            name
            for analysis in text.analyses
            for name in dict.fromkeys(  # in order of mention: no set, as hashes vary
                one.text.split()[-1] for one in analysis.entities if one.label in _LABELS
            )
        )
        others = {
            one.text.split()[-1]
            for analysis in text.analyses
            for one in analysis.entities
            if one.label not in _LABELS
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
        ]
        for name in names:
            new = _respelled(name, rng)
            mentions = [
                (at, token)
                for at, analysis in enumerate(text.analyses)
                for token in analysis.tokens
                if token.text == name and token.pos == "PROPN"
            ]
            if new and new not in words and len(mentions) > 1:
                return [
                    (Replacement(at, token.start, token.end, new),) for at, token in mentions[1:]
                ]
        raise Refused("no person is named twice" if not names else "no other spelling of a name")


def _respelled(name: str, rng: random.Random) -> str:
    variants = [
        new
        for pattern, variant in _SPELLINGS
        if (new := pattern.sub(variant, name, count=1)) != name
    ]
    return rng.choice(variants[:3]) if variants else ""


# Nouns that mean the same thing in nearly every text; plurals after the bar.
_SYNONYMS = {
    one: two
    for pair in (
        "company|companies firm|firms",
        "firm|firms company|companies",
        "doctor|doctors physician|physicians",
        "physician|physicians doctor|doctors",
        "lawyer|lawyers attorney|attorneys",
        "attorney|attorneys lawyer|lawyers",
        "film|films movie|movies",
        "movie|movies film|films",
        "country|countries nation|nations",
        "nation|nations country|countries",
        "car|cars automobile|automobiles",
        "plane|planes aircraft|aircraft",
        "airplane|airplanes aircraft|aircraft",
        "aircraft|aircraft airplane|airplanes",
        "ship|ships vessel|vessels",
        "journalist|journalists reporter|reporters",
        "reporter|reporters journalist|journalists",
        "scientist|scientists researcher|researchers",
        "researcher|researchers scientist|scientists",
        "customer|customers client|clients",
        "prison|prisons jail|jails",
        "jail|jails prison|prisons",
        "earthquake|earthquakes quake|quakes",
        "medicine|medicines medication|medications",
        "medication|medications medicine|medicines",
        "employee|employees worker|workers",
        "resident|residents inhabitant|inhabitants",
        "inhabitant|inhabitants resident|residents",
        "shop|shops store|stores",
        "store|stores shop|shops",
        "apartment|apartments flat|flats",
        "illness|illnesses disease|diseases",
        "disease|diseases illness|illnesses",
        "attack|attacks assault|assaults",
        "baby|babies infant|infants",
        "infant|infants baby|babies",
        "agreement|agreements accord|accords",
        "treaty|treaties pact|pacts",
        "expert|experts specialist|specialists",
        "author|authors writer|writers",
        "writer|writers author|authors",
        "photo|photos photograph|photographs",
        "photograph|photographs photo|photos",
        "engine|engines motor|motors",
        "bicycle|bicycles bike|bikes",
        "bike|bikes bicycle|bicycles",
        "victory|victories win|wins",
        "method|methods technique|techniques",
        "outcome|outcomes result|results",
        "award|awards prize|prizes",
        "prize|prizes award|awards",
        "mistake|mistakes error|errors",
        "error|errors mistake|mistakes",
        "pupil|pupils student|students",
        "spectator|spectators onlooker|onlookers",
        "salary|salaries wage|wages",
        "murder|murders killing|killings",
        "epidemic|epidemics outbreak|outbreaks",
        "vacation|vacations holiday|holidays",
        "violin|violins fiddle|fiddles",
        "letter|letters message|messages",
        "painting|paintings picture|pictures",
        "boat|boats vessel|vessels",
        "ferry|ferries boat|boats",
        "newspaper|newspapers paper|papers",
        "corporation|corporations company|companies",
        "enterprise|enterprises company|companies",
        "automobile|automobiles car|cars",
        "teacher|teachers instructor|instructors",
        "migrant|migrants immigrant|immigrants",
    )
    for one, two in zip(pair.split()[0].split("|"), pair.split()[1].split("|"))
}


class Term(Change):
    """A noun of a list of synonyms, from the second mention on, is called by the other name.

    Sure only for a noun by itself: not beside another noun, a name or a hyphen, where it may be part of a fixed
    expression, and not where the article would change.
    """

    name = "term"
    summary = "a term is called by another name after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag", "lemma", "entity"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        words = {token.text.lower() for analysis in text.analyses for token in analysis.tokens}
        uses: dict[str, list[tuple[int, int]]] = {}  # lemma → places
        for segment, analysis in enumerate(text.analyses):
            for at, token in enumerate(analysis.tokens):
                if token.text.lower() in _SYNONYMS and token.tag in ("NN", "NNS"):
                    uses.setdefault(token.lemma.lower(), []).append((segment, at))
        sites: list[Site] = []
        for lemma in sorted(uses, key=lambda lemma: -len(uses[lemma])):
            other = _SYNONYMS.get(lemma, "")
            segment, at = uses[lemma][0]
            first = text.analyses[segment].tokens[at]
            if not other or other in words or _SYNONYMS[first.text.lower()] in words:
                continue
            sites = [
                (
                    Replacement(
                        segment,
                        token.start,
                        token.end,
                        like(_SYNONYMS[token.text.lower()], token.text),
                    ),
                )
                for segment, at in uses[lemma][1:]
                if _alone(text.analyses[segment], at)
                and (token := text.analyses[segment].tokens[at])
            ]
            if sites:
                return sites
        twice = any(len(places) > 1 for places in uses.values())
        raise Refused(
            "every later use of a noun is part of an expression, or its synonym is used too"
            if twice
            else "no noun of the list of synonyms is used twice"
        )


def _alone(analysis: Analysis, at: int) -> bool:
    token, tokens = analysis.tokens[at], analysis.tokens
    if any(one.start <= token.start < one.end for one in analysis.entities):
        return False
    before = tokens[at - 1] if at else None
    if before is not None and before.tag == "TO":  # a verb
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if any(one is not None and _joined(one) for one in (before, after)):
        return False
    new = _SYNONYMS[token.text.lower()]
    article = before is not None and before.text.lower() in ("a", "an")
    return not article or new.startswith(_VOWELS) == token.text.lower().startswith(_VOWELS)


def _joined(token: Token) -> bool:
    return token.tag in ("NN", "NNS", "NNP", "NNPS", "HYPH", "POS") or token.text in (
        "-",
        "’s",
        "'s",
        "of",
    )


Words = list[tuple[int, int, str]]  # start, end, new word
_GERMAN = {"Ihnen": "dir", **{f"Ihr{end}": f"dein{end}" for end in ("e", "em", "en", "er", "es")}}
_RUSSIAN = {"вам": "тебе", "вас": "тебя", "вами": "тобой"} | {
    f"ваш{old}": f"тво{new}"
    for old, new in (
        ("", "й"),
        ("а", "я"),
        ("е", "ё"),
        ("и", "и"),
        ("его", "его"),
        ("ей", "ей"),
        ("ему", "ему"),
        ("им", "им"),
        ("ем", "ём"),
        ("у", "ю"),
        ("их", "их"),
        ("ими", "ими"),
    )
}
_CHINESE_ADDRESS = {"您": "你", "你": "您"}


class Address(Change):
    """Segments after the first one that addresses the reader do so in the other form.

    Sure only where nothing has to agree with it: German and Russian pronouns and possessives in segments without the
    subject form (Sie, вы), whose verb would change too; Chinese 您 and 你, where the document has one of them.
    """

    name = "address"
    summary = "formal address becomes informal, or the other way round, after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"de", "ru", "zh"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        find: Callable[[str], Words] = {"de": _german, "ru": _russian, "zh": _chinese}[text.lang]
        forms = [(at, some) for at, segment in enumerate(text.segments) if (some := find(segment))]
        if (
            text.lang == "zh"
            and len(
                {
                    segment[a:b]
                    for at, some in forms
                    for segment in [text.segments[at]]
                    for a, b, _ in some
                }
            )
            > 1
        ):
            raise Refused("both forms of address")
        if len(forms) < 2:
            raise Refused("no form of address, after the first one, that nothing has to agree with")
        return [tuple(Replacement(at, *one) for one in some) for at, some in forms[1:]]


def _words(segment: str, table: dict[str, str], fold: bool) -> Words:
    forms = []
    for match in re.finditer(r"[^\W\d_]+", segment):
        new = table.get(match[0].lower() if fold else match[0], "")
        if new:
            forms.append((*match.span(), like(new, match[0]) if fold else new))
    return forms


def _german(segment: str) -> Words:
    """Capital letters tell address from the third person, except at the beginning of a sentence."""
    if re.search(r"\b(?:Sie|Ihr|sich|Euch|euch|ihr)\b", segment) or re.search(
        r"(?:^|[.!?:“„\"»])\s*Ihr", segment
    ):
        return []
    return _words(segment, _GERMAN, fold=False)


def _russian(segment: str) -> Words:
    return (
        []
        if re.search(r"\bвы\b|\b\w+те(?:сь)?\b", segment, re.I)
        else _words(segment, _RUSSIAN, fold=True)
    )


def _chinese(segment: str) -> Words:
    """你们 has no formal form."""
    return [
        (match.start(), match.end(), _CHINESE_ADDRESS[match[0]])
        for match in re.finditer("[您你](?!们)", segment)
    ]
