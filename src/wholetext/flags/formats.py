"""Formats and instructions that an output did not follow: kept, included or left out.

JSON keys, placeholders, tags, URLs, addresses, code fences and numbers must be kept. Like the flags
of ``degenerate`` these are hints for people and prefer silence to a false alarm: what no reference
keeps either is not required. docs/degenerate.md has the precision of each check.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from wholetext.errors import WholetextError, count
from wholetext.files.parsing import read_json
from wholetext.flags.degenerate import DEGENERATE, Flag, FormatKind, degenerate, side_by_side
from wholetext.flags.numbers import missing_numbers
from wholetext.types import Corpus, Output

WORDS: dict[str, str] = {
    "prompt": "prompt leakage",
    "fence": "Markdown fences",
    "json": "broken JSON or changed keys",
    "placeholder": "changed placeholders",
    "tag": "changed tags",
    "url": "changed URLs",
    "email": "changed e-mail addresses",
    "number": "changed numbers",
}
# HTML, and the inline elements of XLIFF and TMX
_HTML = (
    "a abbr b blockquote br button code dd del div dl dt em figure font footer h1 h2 h3 h4 h5 h6 header hr i img input "
    "ins label li mark ol option p pre q s section select small span strong sub sup table tbody td th thead tr tt u ul "
    "video bpt ept ph mrk seg it bx ex"
)
_TAG = re.compile(rf"<(/?)({'|'.join(_HTML.split())})(?:\s[^<>]*=[^<>]*)?\s*/?>", re.I)
_PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]{1,60}\}\}|[$%#]\{[^{}\n]{1,60}\}"  # {{name}} ${name} %{name}
    r"|\{[A-Za-z_]\w*(?:[.:,][^{}\n]{0,40})?\}|\{\d{0,2}\}"  # {name} {0}
    r"|(?<![\d%])(?<!\d[ \u00a0\u202f])%(?:\(\w+\)|\d+\$)?(?:[sdif@]|\.\d+f|l[du])(?![A-Za-z0-9])|%[A-Z][A-Z_]{2,}%"
    r"|</?\d{1,3}/?>|</?[gx]\d{1,3}/?>"
)
_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'“”„«»（）()\[\]{}、。，；！？「」『』【】|\\`\u4e00-\u9fff\u3040-\u30ff]+",
    re.I,
)
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?")
_EMAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_FENCED = re.compile(r"^\s*```[ \t]*\w*[ \t]*\n(.*?)\n?[ \t]*```\s*$", re.S)
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")  # common in sources; nothing else is repaired

# what must be kept: its tokens, and how they are compared: without blanks, attributes, case, scheme
KEPT: dict[FormatKind, tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = {
    "placeholder": (_PLACEHOLDER, lambda token: "".join(token[0].split())),
    "tag": (_TAG, lambda token: f"<{token[1]}{token[2].lower()}>"),
    "url": (_URL, lambda token: _SCHEME.sub("", token[0].rstrip(".,;:!?…*_~-/&").lower())),
    "email": (_EMAIL, lambda token: token[0].lower()),
}
_SIGN = re.compile(r"[{%<@:]")  # what placeholders, tags and addresses have, or "www."
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class _Text:
    """A segment, or a document (whole, or not aligned), in every language."""

    hyp: str
    src: str | None
    refs: tuple[str, ...]


def flags(corpus: Corpus, output: Output) -> list[Flag]:
    """Flag the output of one system: degenerate texts, then faults of format.

    A text may have several faults of format, each once. Segments for which the file has no output
    have no flags. Without a source, only leaked prompts and invalid JSON are detected.
    """
    texts = side_by_side(corpus, output)
    units: dict[str, list[tuple[int | None, _Text]]] = {}
    for at, doc in enumerate(texts.docs):
        src = None if texts.src is None else texts.src[at]
        text = _Text(texts.hyp[at], src, tuple(ref[at] for ref in texts.refs))
        units.setdefault(doc, []).append((texts.segments[at], text))
    faults = [
        Flag(kind, doc, segment, note)
        for doc, parts in units.items()
        for segment, kind, note in _document(parts)
    ]
    gone = {
        (doc, segment)
        for doc, nulls in output.nulls.items()
        if nulls.policy == "drop" and doc not in output.realigned
        for segment in nulls.omitted
    }
    return [flag for flag in (*degenerate(texts), *faults) if (flag.doc, flag.segment) not in gone]


def notes_on_flags(flags: Mapping[str, Sequence[Flag]]) -> list[str]:
    """Summarise the flags of each system: counts by kind, and where to look first.

    Degenerate output and formats have a line each.
    """
    notes = []
    for system, words in product(flags, (DEGENERATE, WORDS)):
        groups: dict[tuple[str, bool], list[Flag]] = {}  # kind, whether of a document
        for flag in flags[system]:
            if flag.kind in words:
                groups.setdefault((flag.kind, flag.segment is None), []).append(flag)
        if groups:
            ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
            parts = [
                f"{words[kind]} in {count(len(group), 'document' if whole else 'segment')}"
                for (kind, whole), group in ordered
            ]
            first = ordered[0][1][0]
            place = "" if first.segment is None else f", segment {first.segment + 1}"
            seen = f"see document {first.doc}{place}: {first.note}"
            notes.append(f"{system}: {', '.join(parts)}; {seen}")
    return notes


def _document(
    units: list[tuple[int | None, _Text]],
) -> Iterator[tuple[int | None, FormatKind, str]]:
    whole = _joined([text for _, text in units])
    alone = units[0][0] if len(units) == 1 else None  # where a fault of the whole document is
    if looks_like_json(whole.hyp if whole.src is None else whole.src) and (
        note := json_fault(whole.hyp, whole.src)
    ):
        yield alone, "json", note
    if whole.src is not None:
        sides = (whole.hyp, whole.src, *whole.refs)
        marks, *expected = (len(_FENCE.findall(side)) for side in sides)
        if marks not in expected:
            yield alone, "fence", f"{marks} fences, the source has {expected[0]}"
    for at, (segment, text) in enumerate(units):
        if words := leaked(text.hyp, text.src):
            yield segment, "prompt", f"“{words[:60]}”"
        if text.src is None:
            continue
        if any(_SIGN.search(side) or "www." in side.lower() for side in (text.hyp, text.src)):
            for kind in KEPT:
                if note := _changed(kind, text, whole):
                    yield segment, kind, note
        near = [neighbour for _, neighbour in units[max(0, at - 1) : at + 2]]
        if _DIGIT.search(text.src) and (note := _lost_numbers(text, near)):
            yield segment, "number", note


def _joined(texts: list[_Text]) -> _Text:
    if len(texts) == 1:
        return texts[0]
    src = (
        None
        if any(text.src is None for text in texts)
        else "\n".join(text.src or "" for text in texts)
    )
    refs = tuple(map("\n".join, zip(*(text.refs for text in texts))))
    return _Text("\n".join(text.hyp for text in texts), src, refs)


def _lost_numbers(text: _Text, near: list[_Text]) -> str:
    """Name numbers that segment and neighbours lack, though a reference has them."""
    lost = missing_numbers(without_tokens(text.src or ""), text.hyp)
    if not lost:
        return ""
    around = _joined(near)
    lost = [
        number
        for number in lost
        if missing_numbers(number, around.hyp)
        and not (text.refs and all(missing_numbers(number, ref) for ref in around.refs))
    ]
    return f"missing: {', '.join(lost[:3])}" if lost else ""


def _changed(kind: FormatKind, text: _Text, whole: _Text) -> str:
    """Name tokens of the source that segment and document lack, or that were added."""
    expected, actual = _tokens(kind, text.src or ""), _tokens(kind, text.hyp)
    if expected == actual:
        return ""
    output, source = _tokens(kind, whole.hyp), _tokens(kind, whole.src or "")
    lost = [*((expected - actual) & (source - output))]
    added = [*((actual - expected) & (output - source))]
    if whole.refs:  # as often as in some reference is enough
        by_reference = [_tokens(kind, ref) for ref in whole.refs]
        lost = [token for token in lost if output[token] < min(ref[token] for ref in by_reference)]
        added = [
            token for token in added if output[token] > max(ref[token] for ref in by_reference)
        ]
    if kind in ("url", "email"):  # other words for the same place are common: only a loss counts
        lost, added = [token for token in lost if token not in whole.hyp.lower()], []
    parts = [
        f"{word}: {', '.join(changed[:3])}"
        for word, changed in (("lost", lost), ("added", added))
        if changed
    ]
    return "; ".join(parts)


# ---------------------------------------------------------------- what must be kept


def _tokens(kind: FormatKind, text: str) -> Counter[str]:
    """Count tokens of a kind as they are compared."""
    pattern, compared = KEPT[kind]
    return Counter(map(compared, pattern.finditer(text)))


def looks_like_json(text: str) -> bool:
    """Tell whether a document is a JSON object or array, or a fenced block of one."""
    body = _FENCED.sub(r"\1", text).strip()
    return (
        len(body) > 2
        and body[0] + body[-1] in ("{}", "[]")
        and any(quote in body for quote in '"”“„«')
    )


def json_fault(output: str, source: str | None) -> str:
    """Describe faults of output that must be JSON: invalid, or other keys; or ``""``."""
    hyp = _value(output)
    if source is None or not looks_like_json(source) or (src := _value(source)) is None:
        return "not valid JSON" if hyp is None and looks_like_json(output) else ""
    if hyp is None:
        return "not valid JSON"
    before, after = Counter(_keys(src)), Counter(_keys(hyp))
    lost, added = list((before - after).elements()), list((after - before).elements())
    parts = [
        f"{len(keys)} {word}, e.g. {keys[0]}"
        for keys, word in ((lost, "lost"), (added, "added"))
        if keys
    ]
    return f"keys: {'; '.join(parts)}" if parts else ""


def _value(text: str) -> object:
    try:
        return read_json(_TRAILING_COMMA.sub("", _FENCED.sub(r"\1", text).strip()))
    except WholetextError:
        return None


def _keys(value: object, path: str = "") -> Iterator[str]:
    """Yield paths of keys; items of an array by their place."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in items:
        yield f"{path}{key}"
        yield from _keys(child, f"{path}{key}/")


@lru_cache(maxsize=4096)  # each system's output is checked against the same sources
def without_tokens(text: str) -> str:
    """Mask tags, placeholders and addresses by a letter: their digits are no numbers."""
    for pattern in (_URL, _EMAIL, _TAG, _PLACEHOLDER):
        text = pattern.sub("x", text)
    return text


# ---------------------------------------------------------------- leaked prompts


# Templates and special tokens of chat models; no document has them.
_TOKENS = re.compile(
    r"</?think>|<\|(?:im_start|im_end|endoftext|eot_id|assistant|user|system|end|start_header_id|end_header_id)\|>"
    r"|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|^#{2,3} ?(?:Response|Instruction|Translation|Input|Output):?\s*$"
    r"|^(?:assistant|system|user)\s*\n",
    re.M,
)
# At the beginning: an announcement, in the languages of instructions and of common targets.
_ANNOUNCED = re.compile(
    r"(?i)^\W{0,4}(?:(?:sure|certainly|of course|okay|ok|natürlich|klar|bien sûr|certo|claro|por supuesto|конечно)\b"
    r"[^\n]{0,3}\s*)?"
    r"(?:"
    r"(?:here(?:['’]s| is| are)|below is|the following is) (?:the|a|your|my)\b[^\n.]{0,40}\btranslat(?:ion|ed)\b"
    r"|(?:hier ist|hier die|nachfolgend) [^\n.]{0,30}\bübersetz(?:ung|te)"
    r"|(?:voici|voilà) [^\n.]{0,30}\b(?:traduction|traduit)"
    r"|(?:aquí (?:está|tienes|tiene)|a continuación) [^\n.]{0,30}\b(?:traducción|traducid)"
    r"|(?:ecco|di seguito) [^\n.]{0,30}\b(?:traduzione|tradott)"
    r"|(?:aqui está|segue|eis) [^\n.]{0,30}\b(?:tradução|traduzid)"
    r"|(?:hier is|hieronder) [^\n.]{0,30}\b(?:vertaling|vertaald)"
    r"|(?:вот|ниже)\b[^\n.]{0,30}\b(?:перевод|переведен)|(?:вось|ніжэй)\b[^\n.]{0,30}\bпераклад"
    r"|(?:ось|нижче)\b[^\n.]{0,30}\bпереклад|(?:oto|poniżej)\b[^\n.]{0,30}\b(?:tłumaczenie|przetłumaczon)"
    r"|(?:zde je|tady je|níže)\b[^\n.]{0,30}\b(?:překlad|přelož)|(?:siin on|allpool)\b[^\n.]{0,30}\btõl(?:ge|gitud)"
    r"|(?:hér er|hérna er|hér að neðan)\b[^\n.]{0,30}\b(?:þýðing|þýdd)|(?:tässä on|alla on)\b[^\n.]{0,30}\bkäännö"
    r"|(?:işte|aşağıda)\b[^\n.]{0,30}\bçeviri|(?:dưới đây|đây) là bản dịch|(?:berikut|inilah)\b[^\n.]{0,30}\bterjemahan"
    r"|(?:以下是|这是|這是|下面是)[^\n。]{0,20}(?:翻译|翻譯|译文|譯文)|(?:以下|こちら)(?:が|は)[^\n。]{0,20}(?:翻訳|訳文)"
    r"|(?:다음은|아래는|여기)[^\n.]{0,20}번역|(?:إليك|فيما يلي|هذه هي|دي)\b[^\n.]{0,20}(?:الترجمة|ترجمة)"
    r"|(?:यहाँ|यहां|निम्नलिखित)[^\n।]{0,30}अनुवाद"
    r")[^\n]{0,60}?[:：\n]"
)
# A bare heading; "Translation:" and the like on a line of its own or before the text.
_HEADED = re.compile(
    r"(?i)^\W{0,4}(?:(?:the )?translation(?: \([^)\n]{2,20}\)| (?:in)?to [A-Z]\w+)?|translated text|übersetzung"
    r"|traduction|traducción|traduzione|tradução|перевод|переклад|пераклад|tłumaczenie|překlad|tõlge|þýðing|käännös|çeviri"
    r"|bản dịch|terjemahan"
    r"|翻译|翻譯|译文|譯文|翻訳|訳文|번역|الترجمة|अनुवाद)\W{0,4}[:：]"
)
# Refusals and remarks of the model about itself or its task.
_ABOUT_ITSELF = re.compile(
    r"(?i)\bas an? (?:AI|artificial intelligence)(?: language)? (?:model|assistant)\b"
    r"|\bI(?:['’]m sorry| am sorry|['’]m unable| cannot| can['’]t| apologi[sz]e)\b[^\n.]{0,60}\btranslat"
    r"|\b(?:please provide|you haven['’]t provided|you did not provide)\b[^\n.]{0,40}\b(?:text|sentence|source)"
    r"[^\n.]{0,40}\btranslat"
    r"|\b(?:note|explanation)s?\W{1,4}(?:I|the|this) [^\n]{0,40}\btranslat(?:ed|ion)\b"
    r"|\btranslate the following\b|\b(?:let me know if you|feel free to ask)\b[^\n.]{0,60}\btranslat"
    r"|тут (?:можна|лепш) не перакладаць|здесь (?:можно|лучше) не переводить"
    r"|als (?:KI|künstliche Intelligenz)[- ]?(?:Sprachmodell|Modell|Assistent)|en tant que (?:modèle de langage|IA)\b"
    r"|como modelo de lenguaje|как (?:языковая модель|ИИ-модель)|作为(?:一个|一款)?(?:AI|人工智能|大?语言模型)"
)

# A refusal without a word of translation; a dialogue may have the same words.
_REFUSAL = re.compile(
    r"(?i)^\W{0,4}(?:I(?:['’]m| am) (?:really |very |so )?sorry,? (?:but )?)?I(?:['’]m| am)? ?"
    r"(?:can['’]t|cannot|can not|unable to|not able to|won['’]t) "
    r"(?:assist|help|comply|fulfill?|provide|continue|engage|create|generate|process)"
    r"\b[^\n]{0,60}\b(?:request|content|that|this)\b"
)
# without one of these the slow patterns find nothing
_MARKS = ("<", "[", "##", "assistant", "system", "user")
_CUES = (
    "translat",
    " ai ",
    "artificial",
    "перакл",
    "переводить",
    "als k",
    "en tant que",
    "como modelo",
    "как ",
    "作为",
)
_TRANSLATION = re.compile(
    r"(?i)translat|übersetz|tradu|перев[оі]д|перекл|перакл|tłumacz|přek|tõl[gk]|þýð|käänn|çevir|翻[译譯訳]|[译譯訳]文|번역|ترجم|अनुवाद"
    r"|language model|sprachmodell"
)


def leaked(output: str, source: str | None) -> str:
    """Return leaked words, or ``""``; quiet where the source is about translation."""
    match = None
    if ":" in output or "：" in output or "\n" in output:  # one of which ends both
        match = _ANNOUNCED.match(output) or _HEADED.match(output)
    if match is None and any(map(output.__contains__, _MARKS)):
        match = _TOKENS.search(output)
    if match is None and any(map(output.lower().__contains__, _CUES)):
        match = _ABOUT_ITSELF.search(output)
    if match is None and (refusal := _REFUSAL.match(output)) and len(output) < 300:
        much_shorter = source is not None and len(source) > 2 * len(output)
        return " ".join(refusal[0].split()) if much_shorter else ""
    if match is None or (
        source is not None and (match[0].strip() in source or _TRANSLATION.search(source))
    ):
        return ""
    return " ".join(match[0].split())
