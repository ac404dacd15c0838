"""The gender of pronouns changes in the middle of a document."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like
from wholetext.taggers.analysis import Analysis, Layer, Token

_MALE = {("he", "PRP"): "she", ("him", "PRP"): "her", ("his", "PRP$"): "her", ("himself", "PRP"): "herself"}
_FEMALE = {("she", "PRP"): "he", ("her", "PRP"): "him", ("her", "PRP$"): "his", ("herself", "PRP"): "himself"}
# Words that tell the gender inside the sentence, where a wrong pronoun would no longer be an error of the document.
_TELLING = re.compile(
    r"m(?:r|rs|s|iss|adam|adame|onsieur|ister)|sir|lady|ladies|lord|king|queen|prince(?:ss)?|du(?:ke|chess)|"
    r"(?:grand|step)?(?:father|mother|son|daughter)s?|brothers?|sisters?|husbands?|wives|wife|uncles?|aunts?|nephews?|"
    r"nieces?|boys?|girls?|guys?|m[uo]ms?|dads?|pa|ma|actors?|actress(?:es)?|bride|groom|widow(?:er)?|(?:fe)?males?|"
    r"pregnan\w+|mat?ernity|paternity|beard\w*|nuns?|monks?|heroines?|hero|waitress|hostess|goddess|gentle\w+|"
    r"boyfriends?|girlfriends?|fianc[ée]e?s?|.*wom[ae]n|.*m[ae]n", re.I)
_OTHERS = re.compile(r"ones?|oneself|whoever|persons?|(?:every|any|some|no)(?:one|body)|each|"
                     r"hers|his/her|her/his|s?he/s?he|\(s\)he", re.I)
_PLACES = frozenset({"DATE", "TIME", "GPE", "LOC", "FAC", "NORP", "CARDINAL", "ORDINAL", "PERCENT", "MONEY"})
_CHINESE = {"他": "她", "她": "他"}


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
        mentions = [[(token, new) for token in analysis.tokens if (new := _other(token, text.lang))]
                    for analysis in text.analyses]
        having = [at for at, some in enumerate(mentions) if some]
        if len(having) < 2:
            raise Refused("no gendered pronoun after the first mention")
        if len({_gender(token, text.lang) for some in mentions for token, _ in some}) > 1:
            raise Refused("pronouns of both genders")
        sure = _sure_chinese if text.lang == "zh" else _sure_english
        found = [tuple(Replacement(at, token.start, token.end, like(new, token.text)) for token, new in mentions[at])
                 for at in having[1:] if sure(text.segments[at], text.analyses[at], mentions[at][0][0])]
        if not found:
            raise Refused("every later pronoun has a name or a word that tells the gender in its sentence")
        return found


def _table(lang: str) -> Mapping[tuple[str, str], str]:
    return {**_MALE, **_FEMALE} if lang == "en" else {(word, ""): new for word, new in _CHINESE.items()}


def _other(token: Token, lang: str) -> str:
    """The pronoun of the other gender, or nothing."""
    return _table(lang).get((token.text.lower(), token.tag if lang == "en" else ""), "")


def _gender(token: Token, lang: str) -> str:
    word = token.text.lower()
    return word if lang == "zh" else "male" if word in ("he", "him", "his", "himself") else "female"


def _sure_english(segment: str, analysis: Analysis, first: Token) -> bool:
    names = [one for one in analysis.entities if one.label not in _PLACES]
    places = [(one.start, one.end) for one in analysis.entities if one.label in _PLACES]
    for at, token in enumerate(analysis.tokens):
        word = token.text.lower()
        if word in ("he", "she") and analysis.tokens[at + 1 : at + 2] and analysis.tokens[at + 1].text.istitle():
            return False  # the surname He
        if _TELLING.fullmatch(word) or _OTHERS.fullmatch(word) or (word == "his" and token.tag != "PRP$"):
            return False
        proper = token.tag in ("NNP", "NNPS") and not any(a <= token.start < b for a, b in places)
        if proper and token.start < first.start:
            return False
    return not any(one.label == "PERSON" or one.start < first.start for one in names)


def _sure_chinese(segment: str, analysis: Analysis, first: Token) -> bool:
    if any(mark in segment for mark in "们男女父母爸妈哥弟姐妹夫妻丈儿爷奶叔姨舅姑婆公王后妃先生小姐太"):
        return False
    return not any(token.tag in ("nr", "PER", "nrt", "nrfg") for token in analysis.tokens)
