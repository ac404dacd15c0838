"""Prompts of judges: files → messages. Texts to judge stand between marks that they cannot contain.

A mark ends in a hash of all texts of the prompt, and in another one where a text contains that:
none can close it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, read_toml, reading
from wholetext.judges.chat import Ask
from wholetext.judges.parsers import ASPECTS, SEVERITIES, Fault
from wholetext.text import language_name
from wholetext.types import Excerpt

REWORDED = "reworded"  # instead of a file: the built-in prompt for the same task in other words
WMT26 = "wmt26"  # instead of a file: the built-in instructions by domain
KEYS = ("system", "user", "reference", "focus", "text", "json", "repair")
_FIELDS = (
    "source_language",
    "target_language",
    "src",
    "hyp",
    "ref",
    "a",
    "b",
    "texts",
    "reference",
    "focus",
    "answer",
    "errors",
    "mark",
    "problem",
)
_FIELD = re.compile(r"\{([a-z_]+)\}")
_FORM = (
    "a prompt file is TOML: user = '''… {texts} … {answer}''', and system, focus, reference, text, "
    "json, repair, [[examples]]"
)


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_FAULT = _object(
    severity={"type": "string", "enum": list(SEVERITIES)},
    category=_TEXT,
    span=_TEXT,
    context=_TEXT,
    reason=_TEXT,
)
_EVIDENCE = {"type": "array", "items": _object(quote=_TEXT, reason=_TEXT)}
SCHEMAS = {
    name: json.dumps(schema)
    for name, schema in {
        "score": _object(score=_NUMBER),
        "errors": _object(errors={"type": "array", "items": _FAULT}),
        "choice": _object(better={"type": "string", "enum": ["A", "B", "tie"]}),
        "rubric": _object(
            **{aspect: _object(score=_NUMBER, evidence=_EVIDENCE) for aspect in ASPECTS}
        ),
    }.items()
}


@dataclass(frozen=True)
class JudgedTexts:
    """What a judge reads: excerpts by name (source, reference, translation …), and the languages."""

    langs: tuple[str, str]
    sides: tuple[tuple[str, Excerpt], ...]
    domain: str | None = None  # what counts in the domain; None: not asked for, "": not known

    @property
    def mark(self) -> str:
        """Eight characters that occur in none of the texts."""
        parts: list[Any] = [[name, *side.parts, *side.focus] for name, side in self.sides]
        while True:
            mark = hashlib.blake2b(json.dumps(parts).encode(), digest_size=4).hexdigest()
            if not any(mark in part for _, side in self.sides for part in side.parts):
                return mark
            parts.append(mark)

    @property
    def has_context(self) -> bool:
        return any(side.before or side.after for _, side in self.sides)

    def shown(self) -> str:
        """Put every text between marks, a segment per line; the part to judge has marks of its own."""
        mark, blocks = self.mark, []
        for name, side in self.sides:
            tag = f"{name.replace(' ', '-')}-{mark}"
            language = language_name(self.langs[name != "source"])
            lines = [f"{name[0].upper()}{name[1:]}, in {language}:", f"<{tag}>", *side.scored]
            if self.has_context:
                judged = (f"<judged-{mark}>", *side.scored, f"</judged-{mark}>")
                lines[2:] = [*side.before, *judged, *side.after]
            blocks.append("\n".join([*lines, f"</{tag}>"]))
        return "\n\n".join(blocks)


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt file: messages, answer format and few-shot examples."""

    name: str
    parts: Mapping[str, str]
    examples: Sequence[tuple[JudgedTexts, Sequence[Fault]]]
    hash: str

    def ask(self, texts: JudgedTexts, form: str, schema: str, faults: Sequence[Fault] = ()) -> Ask:
        """Make the call that asks about these texts; ``form`` is json or text."""
        messages = [("system", self._filled("system", texts, form))] if self.parts["system"] else []
        for example, errors in self.examples:
            messages.append(("user", self._filled("user", example, form)))
            messages.append(("assistant", listed(errors, form)))
        # a judge that quotes its marks must not close those of the next call
        marked = listed(faults, "text").replace(texts.mark, "…")
        messages.append(("user", self._filled("user", texts, form, errors=marked)))
        return Ask(tuple(messages), SCHEMAS[schema] if form == "json" else "")

    def caveats(self, texts: JudgedTexts) -> Iterator[str]:
        """Name what is not in the prompt although a reader of the scores would expect it there."""
        shown = self.parts["system"] + self.parts["user"]
        if "_language}" in shown and not all(texts.langs):
            yield (
                "the judge is not told the languages, which are unknown: give them with -l or langs="
            )
        if texts.has_context and "{texts}" not in shown:
            yield "the judge is shown no context, as its prompt has no {texts}"
        if texts.domain == "":
            yield "the judge has no instructions for the domain of some texts, or it is not stated"
        elif texts.domain and "{focus}" not in shown:
            yield "the judge is shown no instructions for a domain, as its prompt has no {focus}"

    def repair(self, ask: Ask, answer: str, problem: str, form: str) -> Ask:
        """Repeat a call with the answer that could not be used, and a request for another."""
        again = _fill(self.parts["repair"], {"problem": problem, "answer": self.parts[form]})
        return ask._replace(
            messages=(*ask.messages, ("assistant", answer[:2000] or "…"), ("user", again))
        )

    def _filled(self, part: str, texts: JudgedTexts, form: str, **more: str) -> str:
        sides, parts = {name: side.text for name, side in texts.sides}, self.parts
        references = [text for name, text in sides.items() if name.startswith("reference")]
        focus = _fill(parts["focus"], {"mark": texts.mark}) if texts.has_context else ""
        focus = "\n".join(filter(None, (texts.domain, focus)))
        reference = parts["reference"] if references else ""
        values = {
            "source_language": language_name(texts.langs[0]),
            "target_language": language_name(texts.langs[1]),
            "src": sides.get("source", ""),
            "ref": "\n".join(references),
            "hyp": sides.get("translation", ""),
            "a": sides.get("translation A", ""),
            "b": sides.get("translation B", ""),
            "texts": texts.shown(),
            "answer": parts[form],
            "mark": texts.mark,
            "reference": reference and f"{reference}\n",
            "focus": focus and f"{focus}\n",
            **more,
        }
        return _fill(parts[part], values)


@lru_cache
def load_prompt(name: str, file: str = "") -> JudgePrompt:
    """Load a built-in prompt by name, or a user's file, which inherits only the repair request."""
    folder = files("wholetext.judges") / "prompt_files"
    shared, own, reworded = (
        read_toml((folder / f"{stem}.toml").read_bytes()) for stem in ("shared", name, REWORDED)
    )
    values = {**shared, **own, **(reworded[name] if file == REWORDED else {})}
    if file not in ("", REWORDED):
        values = read_toml(file_bytes(Path(file), next=_FORM), where=file, next=_FORM)
        values.setdefault("repair", shared["repair"])
    with reading(file, _FORM, what="this is not a prompt of this judge"):
        return _prompt(name, Path(file).name or f"wholetext/{name}", values)


@dataclass(frozen=True)
class Domains:
    """What counts in each domain, and a hash of it."""

    texts: Mapping[str, str]
    hash: str


@lru_cache
def load_domains(file: str) -> Domains:
    """Load the built-in instructions by domain (``wmt26``), or those of a user's file."""
    form = 'a file of domains is TOML: news = "What counts in news: …"'
    if file == WMT26:
        data = (files("wholetext.judges") / "prompt_files" / "domains.toml").read_bytes()
    else:
        data = file_bytes(Path(file), next=f"write domains={WMT26}, or a file: {form}")
    values = read_toml(data, where=file, next=form)
    texts = {name: text.strip() for name, text in values.items() if isinstance(text, str)}
    if not texts or len(texts) < len(values) or not all(texts.values()):
        raise InputError("these are no texts by domain", where=file, next=form)
    digest = hashlib.blake2b(json.dumps(texts, sort_keys=True).encode(), digest_size=6)
    return Domains(texts, f"{Path(file).name}#{digest.hexdigest()}")


def _prompt(name: str, label: str, values: Mapping[str, Any]) -> JudgePrompt:
    parts = {key: values.get(key, "") for key in KEYS}
    examples = values.get("examples", [])
    shown = parts["system"] + parts["user"]
    fields = [field for text in parts.values() for field in _FIELD.findall(text)]
    unknown = [
        *(key for key in values if key not in (*KEYS, "examples")),
        *(f"{{{field}}}" for field in fields if field not in _FIELDS),
    ]
    # a judge that does not see what it judges would answer all the same
    needed = ["{a}", "{b}"] if name == "pairwise" else ["{hyp}"]
    needed = [] if "{texts}" in shown else needed
    missing = [field for field in (*needed, *["{errors}"] * (name == "esa")) if field not in shown]
    if unknown or missing:
        what = f"{unknown[0]} is unknown" if unknown else f"{missing[0]} is missing"
        raise ValueError(f"{what}; fields are {', '.join(_FIELDS)}")
    pairs = [
        (_example_texts(example), [Fault(*map(str, error)) for error in example["errors"]])
        for example in examples
    ]
    digest = hashlib.blake2b(json.dumps([parts, examples]).encode(), digest_size=6).hexdigest()
    return JudgePrompt(label, {key: text.strip() for key, text in parts.items()}, pairs, digest)


def listed(faults: Sequence[Fault], form: str) -> str:
    """Render errors as an answer writes them."""
    if form == "json":
        names = ("severity", "category", "span", "context", "reason")
        errors = [dict(zip(names, astuple(fault))) for fault in faults]
        return json.dumps({"errors": errors}, ensure_ascii=False)
    blocks = []
    for severity in SEVERITIES:
        lines = [
            f'{fault.category} - "{fault.quote}"' for fault in faults if fault.severity == severity
        ]
        blocks.append("\n".join([f"{severity.capitalize()}:", *(lines or ["no-error"])]))
    return "\n".join(blocks)


def _example_texts(example: Mapping[str, Any]) -> JudgedTexts:
    source, target = map(str, example["langs"])
    src, hyp = (Excerpt((str(example[side]),), (0, 1)) for side in ("src", "hyp"))
    return JudgedTexts((source, target), (("source", src), ("translation", hyp)))


def _fill(form: str, values: Mapping[str, str]) -> str:
    """Fill all fields in one pass, so that text is never read as a field.

    Lone surrogates are replaced.
    """
    filled = _FIELD.sub(lambda field: values.get(field[1], field[0]), form)
    return filled.encode("utf-8", "replace").decode()
