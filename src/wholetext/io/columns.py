"""What the columns of a table (or keys of JSONL) hold: as requested, by name, or guessed.

Names of ``FIELDS`` are the documented ones. Others are guessed from the names in ``GUESSES``, from
language codes, and from the texts (a column per system); a guess is always a note.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from wholetext.errors import InputError, choices
from wholetext.notes import Note
from wholetext.text import code_of, same_language, scripts_of

Key = tuple[str, str]  # kind (doc, src, ref, hyp, system, meta, gold, human …) and name
Columns = Mapping[str, str | int | Sequence[str | int]]  # role → names or numbers of columns

# What a field may be called, by what it is. `target` is the reference in WMT24++ and EvalSet files.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "doc": ("doc", "doc_id", "docid", "document", "document_id"),
    "src": ("src", "source"),
    "ref": ("ref", "reference", "target"),
    "refs": ("refs",),  # texts by name, or a list
    "hyp": ("hyp", "hypothesis", "mt", "translation", "output"),
    "hyps": ("outputs",),  # likewise
    "system": ("system",),
    "gold": ("human",),  # a score by people
    "meta": ("domain", "origlang", "collection_id"),
    "metas": ("meta",),  # values by name
    "langs": ("langs", "lp"),
    "src_lang": ("src_lang",),
    "tgt_lang": ("tgt_lang",),
    "corpus": ("corpus", "dataset_id"),
}
GUESSES: Mapping[str, tuple[str, ...]] = {
    kind: tuple(names.split())
    for kind, names in {
        "doc": "document_name doc_name file filename file_name article article_id chapter story "
        "talk",
        "src": "source_text src_text source_segment source_sentence original original_text input",
        "ref": "reference_text ref_text reference_translation reference_segment human_translation "
        "human_reference gold target_text post_edit pe",
        "hyp": "output_text mt_output system_output mt_text translated_text candidate "
        "machine_translation prediction response completion generated",
        "system": "system_name system_id model model_name model_id engine",
        "gold": "human_score score rating mqm esa da raw_score z_score",
    }.items()
}
ROLES = {"doc": "document", "src": "source", "ref": "reference", "hyp": "output"}
ROLES |= {"system": "system", "gold": "human", "meta": "domain"}
_FIELD_OF = {name: kind for kind, names in FIELDS.items() for name in names}
_GUESS_OF = {name: kind for kind, names in GUESSES.items() for name in names}
_PREFIX = {"ref": "ref", "hyp": "hyp", "mt": "hyp", "sys": "hyp", "meta": "meta", "human": "human"}
_PREFIX |= {"reference": "ref", "output": "hyp"}
_SYSTEM = re.compile(r"(?:hyp|mt|output|translation|system|sys|prediction)[ _.-]+(.+)", re.I)
_REFERENCE = re.compile(r"ref(?:erence)?[ _.-]?\w{1,2}", re.I)
_CODE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+%?")
_RUNNING = 12  # words of a column by which its language is told
_REQUEST = re.compile(r",(?=\s*\w+(?::[^=,]*)?=)")  # a comma before the next ROLE=


def key_of(name: str) -> Key | None:
    """Return what a column or key of this name holds; None if unknown."""
    kind, colon, label = name.partition(":")
    kind, label = kind.strip().lower(), label.strip()
    if colon:
        return (_PREFIX[kind], label) if kind in _PREFIX and label else None
    if kind in _FIELD_OF:
        label = kind if _FIELD_OF[kind] in ("meta", "gold") else ""
        return _FIELD_OF[kind], "ref" if _FIELD_OF[kind] == "ref" else label
    return ("ref", name.strip()) if kind[:3] == "ref" and len(kind) == 4 else None  # refA, ref0


def familiar(name: str) -> bool:
    """Tell whether a name is a documented or a common one: the name of a column, not a text."""
    return key_of(name) is not None or _plain(name) in _GUESS_OF


def parse_columns(texts: Iterable[str]) -> dict[str, list[str | int]]:
    """Parse ``source=German,output=GPT-4,output=DeepL``; a number is a position, from 1."""
    columns: dict[str, list[str | int]] = {}
    for part in (part for text in texts for part in _REQUEST.split(text)):
        role, equals, name = part.partition("=")
        if not equals or not name.strip():
            raise InputError(
                f"--columns takes ROLE=COLUMN, not {part!r}",
                next="write --columns source=German,reference=English,output=GPT-4",
            )
        columns.setdefault(role.strip(), []).append(name.strip())
    return columns


def with_paths(fields: Mapping[str, Any], columns: Columns | None) -> Mapping[str, Any]:
    """Add the values at requested paths of nested JSON: ``response.choices.0.text``."""
    if not columns:
        return fields
    paths = [str(path) for values in columns.values() for path in listed(values)]
    added = {path: _at(fields, path.split(".")) for path in paths if "." in path}
    return {**fields, **{path: value for path, value in added.items() if value is not None}}


def _at(value: Any, path: Sequence[str]) -> Any:
    for step in path:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def listed(value: str | int | Sequence[str | int]) -> list[str | int]:
    """Return the columns of a role, which may be a single one."""
    return [value] if isinstance(value, (str, int)) else list(value)


def settle(
    names: Sequence[str],
    sample: Sequence[Mapping[str, Any]],
    where: str,
    *,
    columns: Columns | None = None,
    langs: tuple[str, str] = ("", ""),
    documents: Collection[str] = (),
    outputs: bool = True,
) -> tuple[dict[str, Key], list[str]]:
    """Decide what each column holds; return keys by name, and a note on what was guessed.

    ``sample`` are some records; ``documents`` the ids of the corpus that these are outputs for.
    Without ``outputs``, columns of unknown names are never taken for systems.
    """
    keys = _requested(columns or {}, names, where)
    kinds = {kind for kind, _ in keys.values()}
    known = {name: key for name in names if name not in keys and (key := key_of(name))}
    keys |= {name: key for name, key in known.items() if key[0] not in kinds or key[0] == "meta"}
    guesses = dict[str, Key]()

    def free(kind: str) -> list[str]:
        """List columns that may be of this kind; none if there is such a column already."""
        taken = keys | guesses
        others = {"hyp": {"hyp", "hyps"}, "ref": {"ref", "refs"}}.get(kind, {kind})
        if others & {known for known, _ in taken.values()}:
            return []
        return [name for name in names if name not in taken]

    for kind in GUESSES:
        common = [name for name in free(kind) if _GUESS_OF.get(_plain(name)) == kind]
        if kind == "doc" and not common and documents:
            common = [n for n in free(kind) if _values(sample, n) and _all_in(documents, sample, n)]
        if kind in ("src", "ref") and not common and all(langs):
            code = langs[0 if kind == "src" else 1]
            common = [n for n in free(kind) if _CODE.fullmatch(n) and same_language(n, code)]
        if kind == "gold":
            numeric = (n for n in common if _numbers(_values(sample, n)))
            guesses |= {name: ("gold", name) for name in numeric}
        elif common:
            guesses[common[0]] = (kind, "ref" if kind == "ref" else "")
        if kind == "ref":
            guesses |= {n: ("ref", n) for n in free(kind) if _REFERENCE.fullmatch(n)}
    guesses |= {n: ("hyp", match[1]) for n in free("hyp") if (match := _SYSTEM.fullmatch(n))}
    sources = [n for n in free("src") if _in_source_language(_values(sample, n), langs)]
    if len(sources) == 1:
        guesses[sources[0]] = ("src", "")
    if outputs:
        texts = _texts(free("hyp"), keys | guesses, sample, bool(documents))
        guesses |= {name: ("hyp", name) for name in texts}
    settled = keys | guesses
    named = documents or "system" in {kind for kind, _ in settled.values()}  # by file, by column
    hyps = [name for name, (kind, _) in settled.items() if kind == "hyp"]
    if named and len(hyps) == 1 and settled[hyps[0]][1] == hyps[0]:
        settled[hyps[0]] = ("hyp", "")
    return settled, [_told(guesses)] if guesses else []


def _requested(columns: Columns, names: Sequence[str], where: str) -> dict[str, Key]:
    """Map requested columns to keys; a system or reference is named by its role or its column."""
    keys = dict[str, Key]()
    roles = {role: kind for kind, role in ROLES.items()}
    for role, value in columns.items():
        values = listed(value)
        kind, label = key_of(role) or (roles.get(role, ""), "")
        if kind not in (*ROLES, "human"):
            raise InputError(
                f"there is no role {role!r} of a column",
                where=where,
                next=choices(role, [*ROLES.values()]),
            )
        for name in (_named(value, names, where) for value in values):
            own = ":" in role and label
            if kind == "ref" and not own:
                label = name if len(values) > 1 else "ref"
            elif kind == "hyp" and not own:
                label = "" if len(values) == 1 and familiar(name) else name
            elif kind == "gold":
                label = name if len(values) > 1 else "human"
            keys[name] = kind, label
    return keys


def _named(value: str | int, names: Sequence[str], where: str) -> str:
    """Find a column by its name, in any case, or by its number from 1."""
    text = str(value).strip()
    folded = {name.strip().casefold(): name for name in names}
    if text in names or text.casefold() in folded:
        return text if text in names else folded[text.casefold()]
    if text.isdecimal() and 0 < int(text) <= len(names):
        return names[int(text) - 1]
    raise InputError(
        f"there is no column {text!r}",
        where=where,
        next=f"{choices(text, names)} (or write its number, from 1)",
    )


def _texts(
    names: Sequence[str], keys: Mapping[str, Key], sample: Sequence[Mapping[str, Any]], beside: bool
) -> list[str]:
    """List columns that look like outputs: text about as long as source or reference."""
    sides = [name for name, (kind, _) in keys.items() if kind in ("src", "ref", "refs")]
    sizes = [_size(_values(sample, name)) for name in sides]
    if not beside and not any(sizes):
        return []
    low, high = (1.0, float("inf")) if beside else (max(sizes) / 6, max(sizes) * 6)
    texts = []
    for name in names:
        values = _values(sample, name)
        varied = len({str(value) for value in values}) > len(values) / 2
        if name and varied and not _numbers(values) and low <= _size(values) <= high:
            texts.append(name)
    several = "system" in {kind for kind, _ in keys.values()} or beside
    return texts if len(texts) == 1 or not several else []


def _in_source_language(values: Sequence[Any], langs: tuple[str, str]) -> bool:
    """Tell whether texts are clearly written in the source language, not in the target language."""
    from wholetext.text.identify import other_language
    from wholetext.text.scripts import SCRIPTS, letters

    texts, scripts = [str(value) for value in values], scripts_of(langs[0])
    if not all(langs):
        return False
    if scripts and not {*scripts} & {*scripts_of(langs[1])}:
        counts = dict(zip(SCRIPTS, letters(texts).sum(axis=0).tolist()))
        return bool(2 * sum(counts[script] for script in scripts) > sum(counts.values()))
    other = other_language(texts, code_of(langs[1]), _RUNNING)
    return other != "" and bool(same_language(other, langs[0]))


def _values(sample: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in sample if row.get(name) not in (None, "")]


def _all_in(documents: Collection[str], sample: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(str(value) in documents for value in _values(sample, name))


def _numbers(values: Sequence[Any]) -> bool:
    return bool(values) and all(_NUMBER.fullmatch(str(value).strip()) for value in values)


def _size(values: Sequence[Any]) -> float:
    """Return the mean length of texts in characters; 0 if these are not texts."""
    texts = ["".join(value) if _strings(value) else value for value in values]
    if not texts or not all(isinstance(text, str) for text in texts):
        return 0.0
    return sum(map(len, texts)) / len(texts)


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _told(guesses: Mapping[str, Key]) -> Note:
    by_role: dict[str, list[str]] = {}
    for name, (kind, _) in guesses.items():
        by_role.setdefault(ROLES[kind], []).append(repr(name))
    parts = "; ".join(f"{role} = {', '.join(names)}" for role, names in by_role.items())
    return Note("columns", f"columns guessed from the header: {parts} (--columns names others)")
