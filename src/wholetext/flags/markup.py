"""What an output must keep: JSON keys, placeholders, tags, URLs, addresses, code fences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from wholetext.errors import WholetextError
from wholetext.files.parsing import read_json

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
_EMAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_FENCED = re.compile(r"^\s*```[ \t]*\w*[ \t]*\n(.*?)\n?[ \t]*```\s*$", re.S)
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")  # common in sources; nothing else is repaired

Tokens = Counter[str]


def tags(text: str) -> Tokens:
    """Count ``<br>``, ``</p>`` …: HTML and elements of translation files, without attributes."""
    return (
        Counter(f"<{slash}{name.lower()}>" for slash, name in _TAG.findall(text))
        if "<" in text
        else Counter()
    )


def placeholders(text: str) -> Tokens:
    """Count ``%s``, ``{name}``, ``{{name}}``, ``${name}``, ``<0>`` …, without blanks."""
    if not any(mark in text for mark in "{%<"):
        return Counter()
    return Counter("".join(token.split()) for token in _PLACEHOLDER.findall(text))


def urls(text: str) -> Tokens:
    """Count addresses, without scheme, case and final punctuation."""
    if "://" not in text and "www." not in text.lower():
        return Counter()
    addresses = (address.rstrip(".,;:!?…*_~-/&").lower() for address in _URL.findall(text))
    return Counter(re.sub(r"^(?:https?://)?(?:www\.)?", "", address) for address in addresses)


def emails(text: str) -> Tokens:
    return (
        Counter(address.lower() for address in _EMAIL.findall(text)) if "@" in text else Counter()
    )


def fences(text: str) -> int:
    """Count lines that open or close a block of code in Markdown."""
    return len(_FENCE.findall(text)) if "```" in text or "~~~" in text else 0


def looks_like_json(text: str) -> bool:
    """Tell whether a document is a JSON object or array, or a fenced block of one."""
    body = _body(text)
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


def _body(text: str) -> str:
    fenced = _FENCED.match(text)
    return (fenced[1] if fenced else text).strip()


def _value(text: str) -> object:
    try:
        return read_json(_TRAILING_COMMA.sub("", _body(text)))
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
