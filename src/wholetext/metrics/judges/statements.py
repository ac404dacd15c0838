"""What a judge says in words: a score or a choice in one of a few forms, and remarks that do not speak against it.

The forms are a closed list. Any other number may be part of a scale, a quote, the score of something else or a change
of mind: then it is not clear what the judge means, and nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

REFUSED = "the judge refused to answer"

_SCALE = re.compile(r"\(?\b(?P<named>(?:on )?a scale )?(?:of |from |between )?0\s*(?:-|–|—|to|and)\s*100\b\)?"
                    r"(?(named),?)", re.I)  # fmt: skip
_NUMBER = r"(?P<number>\d{1,3})(?:\s*(?:/|out of|of)\s*100)?"
_LABEL = (r"(?:(?:my|the|your|final|overall|total|translation|quality|given|assigned|esa|da|sqm)\s+)*"
          r"(?:score|rating|grade|quality|answer)(?:\s+(?:of|for)\s+(?:the|this)\s+(?:translation|segment))?")
_GAVE = (r"I(?:['’]d| would| will)?\s+(?:give|rate|assign|score|grade)\s+(?:(?:it|(?:the|this)(?: translation)?)\s+)?"
         r"(?:with |as |at )?(?:an? )?(?:(?:overall |final )?(?:score|rating|grade) of )?")  # fmt: skip
_STATED = re.compile(
    rf"(?P<label>{_LABEL}(?:\s*[:=]\s*|\s+[-–]\s+|\s+is:?\s+|\s+of\s+|\s+)|{_GAVE})?[\"'(\[]*{_NUMBER}[\"')\]]*"
    r"\s*[.!]?(?P<tail>(?(label)(?:\s*\(.*\)[.!]?|\s+[-–—]\s.*|,?\s+(?:because|since|as)\s.*)?|))", re.I)
_TENS = r"twenty|thirty|fou?rty|fifty|sixty|seventy|eighty|ninety|hundred"
_ANY_NUMBER = re.compile(rf"[-+−~<>≤≥]?\d+(?:[.,]\d+)*|\b(?:{_TENS})\b", re.I)
_COUNTED = re.compile(r"(?:\s+[^\W\d]+){0,2}?\s+(?:errors?|mistakes?|issues?|slips?|words?|sentences?|segments?|"
                      r"names?)\b", re.I)  # fmt: skip
_NUMBERED = re.compile(r"\b(?:error|mistake|issue|sentence|segment|line|paragraph)\s+#?\Z", re.I)
_REVISED = re.compile(
    r"\b(?:actually|wait|correction|reconsider\w*|on reflection|on second thoughts?|revis(?:e[ds]?|ing|ion)|"
    r"scratch that|too (?:high|low|generous|harsh|strict)|kidding|joking|"
    r"not (?:my|the) (?:score|rating|answer|verdict|choice))\b", re.I)  # fmt: skip
_ASKED = r"asks?|asked|demands?|demanded|instruct\w*|tells?|told|requests?|requested"
_TOLD = re.compile(rf"\b(?:{_ASKED})\b", re.I)
_FOREIGN = re.compile(  # in the line that leads to a statement: it is not the judge's own
    rf"\b(?:examples?|e\.g|form|format|template|says?|said|claims?|contains?|reads|quot\w+|according|if|not|never|wants?|"
    rf"{_ASKED})\b|n['’]t\b", re.I)  # fmt: skip
_CONDITION = re.compile(rf"\b(?:if|unless|examples?|claims?|according|requires?|not really|{_ASKED})\b", re.I)
_TAG = re.compile(r"</?[a-z][a-z_]*\b[^<>\n]*>|<\|", re.I)
_CHOICE = re.compile(
    r"\A(?:(?:(?:the|my)\s+)?(?:better|best|winner|answer|verdict|choice)(?:\s+(?:one|translation))?\s*(?:is)?\s*[:=]?\s*)?"
    r"(?:translation\s+|option\s+)?[\[(\"']*((?P<one>A|B)|tie|both|equal|neither)[\])\"']*"
    r"(?:\s+is\s+better(?(one)(?:\s+than\s+(?:translation\s+|option\s+)?(?!(?P=one))[AB])?))?[.!]?\Z", re.I)
_OTHER_CHOICE = re.compile(r"(?-i:\b[AB]\b)|\b(?:tie|draw|equal|neither|both|former|latter|first|second|not|worse)\b|"
                           r"n['’]t\b", re.I)  # fmt: skip
_REFUSAL = re.compile(
    r"\bi['’]?(?: a)?m (?:sorry|unable|not able)|\bi (?:can['’]?t|cannot|can not|won['’]t|will not|must decline)\b|"
    r"\bas an ai\b|\bunable to (?:assist|help|comply|evaluate|provide)|\bagainst (?:my|the) (?:policy|guidelines)|"
    r"\btut mir leid\b|\bich kann\b.*\bnicht\b|\bdésolée?\b|\bje ne peux pas\b|\blo siento\b|\bno puedo\b|"
    r"\bmi dispiace\b|\bnon posso\b|\bdesculpe\b|\bnão posso\b|\bhet spijt me\b|\bprzykro mi\b|\bnie mogę\b|"
    r"\bomlouvám se\b|\bnemohu\b|\büzgünüm\b|извините|не могу|вибачте|抱歉|"
    r"对不起|對不起|我.{0,4}(?:不能|无法|無法)|申し訳|お(?:手伝い|答え)できません|"
    r"죄송|آسف|لا أستطيع|لا يمكنني|क्षमा", re.I)  # fmt: skip
_FOUND_NONE = re.compile(r"\b(?:find|see|detect|identify|spot|fault)\b", re.I)  # "I cannot find any errors" answers


class Unparsable(Exception):
    """Why an answer cannot be used."""


def refuses(text: str) -> bool:
    """Whether an answer begins with a refusal in the judge's own words; words that it quotes are not its own, and who
    names a number or finds nothing does not refuse."""
    begin = re.split(r"[.!?。\n\"“”„«{]", text[:300])[0]
    return bool(_REFUSAL.search(begin)) and not _FOUND_NONE.search(begin) and not re.search(r"\d", begin)


def stated_score(text: str, cut: bool) -> float:
    """The one score that an answer states as a sentence or line of its own; the last number of
    an answer that was cut may have been."""
    parts = sentences(_SCALE.sub(" ", text))
    said, remarks, before = dict[int, None](), list[str](), ""
    for at, sentence in enumerate(parts):
        found = _STATED.fullmatch(sentence)
        lead = before
        before = sentence
        if found and not (cut and at == len(parts) - 1 and not found["tail"]):
            if (lead.endswith(":") and _FOREIGN.search(lead)) or _CONDITION.search(found["tail"]):
                raise Unparsable("it is not clear whether the score is the judge's")
            said[int(found["number"])] = None
            sentence = found["tail"]
        remarks.append(sentence)
    if len(said) != 1:
        raise Unparsable("the answer has several scores" if said else "the answer has no score from 0 to 100")
    (score,) = said
    check_remarks("\n".join(remarks), speaks_of_number(score))
    return float(score)


def stated_choice(text: str) -> str:
    """A, B or tie, as stated in the first line and contradicted by no other."""
    first, *others = _plain(text).split("\n")
    verdicts = [_CHOICE.match(one) for one in (first, *others)]
    words = {found[1].lower() if found[1].lower() in "ab" else "tie" for found in verdicts if found}
    if not verdicts[0] or len(words) != 1:
        raise Unparsable("the answer does not say which is better")
    check_remarks("\n".join(one for one, found in zip(others, verdicts[1:]) if not found), speaks_of_choice)
    (word,) = words
    return word if word == "tie" else word.upper()


def check_remarks(text: str, speaks: Callable[[str], bool], before: str = "") -> None:
    """Remarks around a statement: none may speak of what is stated, or take it back; ``before`` leads to it."""
    if before.rstrip(" \n*_`").endswith(":") and _FOREIGN.search(sentences(before)[-1]):
        raise Unparsable("it is not clear whether the answer is the judge's")
    remarks = f"{before}\n{text}"
    if speaks(remarks) or _REVISED.search(remarks) or _TOLD.search(remarks) or _TAG.search(remarks):
        raise Unparsable("the answer says one thing, and its other words perhaps another")


def speaks_of_number(score: float | None) -> Callable[[str], bool]:
    """Whether a remark has a number that could be another score: none that counts or numbers something, no year."""

    def speaks(text: str) -> bool:
        plain = re.sub(r"(\d)\s*(?:/|out of)\s*100\b", r"\1", _SCALE.sub(" ", text))
        return any(not _harmless(found, score) for found in _ANY_NUMBER.finditer(plain))

    return speaks


def speaks_of_choice(text: str) -> bool:
    return bool(_OTHER_CHOICE.search(text))


def _harmless(found: re.Match[str], score: float | None) -> bool:
    """Whether a number is the score itself, too large for one, or the number of a line or of things."""
    word, after = found[0], found.string[found.end() : found.end() + 100]
    before = found.string[max(0, found.start() - 40) : found.start()].rpartition("\n")[2]
    if not word.isdecimal():
        return False
    value = int(word[:20])  # an answer may have thousands of digits in a row, which are more than 100 as well
    if value > 100 or value == score:
        return not re.match(r"\s*(?:/|out of)\s*\d", after)
    listed = value < 30 and not before.strip(" \t(") and re.match(r"[.)]\s+\S", after)
    return bool(listed or _NUMBERED.search(before) or _COUNTED.match(after))


def _plain(text: str) -> str:
    """Lines that have words, without the signs of Markdown; a block quote keeps its own."""
    plain = re.sub(r"^\s*(?:```[a-z]*\s*$|#{1,6}\s+)|\*+|`|(?<!\w)__|__(?!\w)", "", text, flags=re.M | re.I)
    return "\n".join(line.strip() for line in plain.splitlines() if line.strip())


def sentences(text: str) -> list[str]:
    """Lines and sentences; a number on the line after its label is in one line with it."""
    plain = re.sub(rf"^({_LABEL}\s*:?)\n(?=\d)", r"\1 ", _plain(text), flags=re.M | re.I)
    ends = re.compile(r"(?<=[.!?;。！？])(?<!^\d\.)(?<!^\d\d\.)\s+")
    return [part for line in plain.split("\n") for part in ends.split(line)]
