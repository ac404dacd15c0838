"""Prompts of judges: files → messages. Texts to judge stand between marks that they cannot contain.

A mark ends in a hash of all texts of the prompt, and in another one where a text contains that: none can close it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, read_toml
from wholetext.judges.chat.calls import Ask
from wholetext.judges.error_lists import SEVERITIES, Fault
from wholetext.judges.parsers import ASPECTS
from wholetext.text import language_name
from wholetext.types import Excerpt

REWORDED = "reworded"  # instead of a file: the built-in prompt for the same task in other words
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
_FORM = "a prompt file is TOML: user = '''… {texts} … {answer}''', and system, focus, reference, text, json, repair"


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
class Texts:
    """What a judge reads: excerpts by name (source, reference, translation, A, B), in order, and the languages."""

    langs: tuple[str, str]
    sides: tuple[tuple[str, Excerpt], ...]

    @property
    def mark(self) -> str:
        """Eight characters that occur in none of the texts."""
        parts: list[Any] = [[name, *one.parts, *one.focus] for name, one in self.sides]
        while True:
            mark = hashlib.blake2b(json.dumps(parts).encode(), digest_size=4).hexdigest()
            if not any(mark in part for _, one in self.sides for part in one.parts):
                return mark
            parts.append(mark)

    @property
    def has_context(self) -> bool:
        return any(one.before or one.after for _, one in self.sides)

    def shown(self) -> str:
        """Every text between markers, one segment per line; a part to judge within context has its own markers."""
        mark, blocks = self.mark, []
        for name, one in self.sides:
            tag, language = (
                f"{name.replace(' ', '-')}-{mark}",
                language_name(self.langs[name != "source"]),
            )
            lines = list(one.scored)
            if self.has_context:
                lines = [
                    *one.before,
                    f"<judged-{mark}>",
                    *one.scored,
                    f"</judged-{mark}>",
                    *one.after,
                ]
            blocks.append(
                "\n".join(
                    [
                        f"{name[0].upper()}{name[1:]}, in {language}:",
                        f"<{tag}>",
                        *lines,
                        f"</{tag}>",
                    ]
                )
            )
        return "\n\n".join(blocks)


@dataclass(frozen=True)
class Prompt:
    """A prompt file: messages, answer format and few-shot examples."""

    parts: Mapping[str, str]
    examples: Sequence[Mapping[str, Any]]
    hash: str

    def ask(
        self, texts: Texts, form: str, schema: str, *, faults: Sequence[Fault] = (), sample: int = 0
    ) -> Ask:
        """The call that asks about these texts; ``form`` is json or text."""
        messages = [("system", self._filled("system", texts, form))] if self.parts["system"] else []
        for one in self.examples:
            shown = _example_texts(one)
            found = [Fault(*map(str, error)) for error in one["errors"]]
            messages.append(("user", self._filled("user", shown, form)))
            messages.append(("assistant", listed(found, form)))
        marked = listed(faults, "text").replace(
            texts.mark, "…"
        )  # quotes of a judge that copied its marks
        messages.append(("user", self._filled("user", texts, form, errors=marked)))
        return Ask(tuple(messages), SCHEMAS[schema] if form == "json" else "", sample)

    def caveats(self, texts: Texts) -> list[str]:
        """What is not in the prompt although a reader of the scores would expect it there."""
        said = self.parts["system"] + self.parts["user"]
        sides = zip(("{source_language}", "{target_language}"), texts.langs)
        unknown = any(field in said and not code for field, code in sides)
        notes = [
            "the judge is not told the languages, which are unknown: give them with -l or langs="
        ] * unknown
        hidden = texts.has_context and "{texts}" not in said
        return notes + ["the judge is shown no context, as its prompt has no {texts}"] * hidden

    def repair(self, ask: Ask, answer: str, problem: str, form: str) -> Ask:
        """The same call with the answer that could not be used, and a request for another."""
        again = _fill(self.parts["repair"], {"problem": problem, "answer": self.parts[form]})
        return ask._replace(
            messages=(*ask.messages, ("assistant", answer[:2000] or "…"), ("user", again))
        )

    def _filled(self, part: str, texts: Texts, form: str, **more: str) -> str:
        sides, parts = dict(texts.sides), self.parts
        references = [one.text for name, one in texts.sides if name.startswith("reference")]
        values = {
            "source_language": language_name(texts.langs[0]),
            "target_language": language_name(texts.langs[1]),
            "src": sides["source"].text if "source" in sides else "",
            "ref": "\n".join(references),
            "hyp": sides["translation"].text if "translation" in sides else "",
            **{
                name.lower(): sides[f"translation {name}"].text
                for name in "AB"
                if f"translation {name}" in sides
            },
            "texts": texts.shown(),
            "answer": parts[form],
            "mark": texts.mark,
            "reference": parts["reference"] + "\n" if references and parts["reference"] else "",
            "focus": _fill(parts["focus"], {"mark": texts.mark}) + "\n"
            if texts.has_context and parts["focus"]
            else "",
            **more,
        }
        return _fill(parts[part], values)


@lru_cache
def load_prompt(name: str, file: str = "") -> Prompt:
    """A built-in prompt by name, or a user's prompt file, which inherits nothing from the built-in ones."""
    folder = files("wholetext.judges") / "prompt_files"
    shared = read_toml((folder / "shared.toml").read_bytes())
    if file == REWORDED:
        others = read_toml((folder / "reworded.toml").read_bytes())
        found = {**shared, **read_toml((folder / f"{name}.toml").read_bytes()), **others[name]}
    elif file:
        found = {
            "repair": shared["repair"],
            **read_toml(file_bytes(Path(file), next=_FORM), where=file, next=_FORM),
        }
    else:
        found = {**shared, **read_toml((folder / f"{name}.toml").read_bytes())}
    parts = {key: found.get(key, "") for key in KEYS}
    examples = found.get("examples", [])
    wrong = [key for key in found if key not in (*KEYS, "examples")] or [
        key for key, value in parts.items() if not isinstance(value, str)
    ]
    if wrong or not parts["user"]:
        raise InputError(
            f"the prompt has {'a wrong key ' + wrong[0] if wrong else 'no user message'}",
            where=file,
            next=_FORM,
        )
    for key, value in parts.items():
        unknown = [field for field in re.findall(r"\{([a-z_]+)\}", value) if field not in _FIELDS]
        if unknown:
            raise InputError(
                f"{key} has an unknown field {{{unknown[0]}}}",
                where=file,
                next=f"fields are {', '.join(_FIELDS)}",
            )
    _check_shown(name, parts["system"] + parts["user"], file)
    try:
        for one in examples:
            _example_texts(one)
            assert all(len(error) == 5 for error in one["errors"])
    except (KeyError, TypeError, IndexError, AssertionError):
        raise InputError(
            "an example is not langs, src, hyp and errors (severity, category, span, context, reason)",
            where=file,
            next=_FORM,
        ) from None
    digest = hashlib.blake2b(json.dumps([parts, examples]).encode(), digest_size=6).hexdigest()
    return Prompt({key: value.strip() for key, value in parts.items()}, examples, digest)


def _check_shown(name: str, said: str, file: str) -> None:
    """A judge that does not see what it judges would answer all the same."""
    ways = (("texts",), ("a", "b")) if name == "pairwise" else (("texts",), ("hyp",))
    if not any(all(f"{{{field}}}" in said for field in way) for way in ways):
        other = "{a} and {b}" if name == "pairwise" else "{hyp}"
        raise InputError(
            "the prompt does not show the translation",
            where=file,
            next=f"write {{texts}}, or {other}",
        )
    if name == "esa" and "{errors}" not in said:
        raise InputError(
            "the second prompt of judge-esa does not show the errors of the first call",
            where=file,
            next="write {errors}; errors_prompt=FILE is the prompt of the first call",
        )


def listed(faults: Sequence[Fault], form: str) -> str:
    """Errors as an answer writes them."""
    if form == "json":
        names = ("severity", "category", "span", "context", "reason")
        rows = [(one.severity, one.category, one.quote, one.context, one.reason) for one in faults]
        return json.dumps({"errors": [dict(zip(names, row)) for row in rows]}, ensure_ascii=False)
    blocks = []
    for severity in SEVERITIES:
        lines = [f'{one.category} - "{one.quote}"' for one in faults if one.severity == severity]
        blocks.append("\n".join([f"{severity.capitalize()}:", *(lines or ["no-error"])]))
    return "\n".join(blocks)


def _example_texts(one: Mapping[str, Any]) -> Texts:
    src, hyp = (Excerpt((str(one[side]),), (0, 1)) for side in ("src", "hyp"))
    return Texts(
        (str(one["langs"][0]), str(one["langs"][1])), (("source", src), ("translation", hyp))
    )


def _fill(form: str, values: Mapping[str, str]) -> str:
    """Fill all fields in one pass, so that text is never read as a field; lone surrogates are replaced."""
    filled = re.sub(r"\{([a-z_]+)\}", lambda found: values.get(found[1], found[0]), form)
    return filled.encode("utf-8", "replace").decode()
