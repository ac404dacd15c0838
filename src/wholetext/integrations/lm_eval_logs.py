"""Sample logs of lm-evaluation-harness (``--log_samples``): ``MODEL/samples_TASK_DATE.jsonl``.

A sample is a segment: ``filtered_resps`` has the output, ``target`` the reference, and ``doc``, the
row of the data set, perhaps the source and the id of its document. The system is the model.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, count
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.columns import FIELDS
from wholetext.io.formats.jsonl import objects
from wholetext.io.records import load
from wholetext.io.text import TextFile, at, stem

_HEAD = re.compile(r'\{\s*"doc_id"\s*:\s*[^,"]+,\s*"doc"\s*:\s*[{\[]')
_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.-]+)?\.jsonl(?:\.gz)?")


def recognise(file: TextFile) -> bool:
    """Tell a log of samples by the fields at its start."""
    head = file.head()
    return head.startswith("{") and ('"filtered_resps"' in head or bool(_HEAD.match(head)))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a log; several filters of the responses are several systems."""
    samples = list(objects(file, constants=True))  # metrics may be NaN
    numbers = [sample.get("doc_id") for _, sample in samples]
    if all(isinstance(number, int) for number in numbers):  # processes may have logged out of order
        samples.sort(key=lambda numbered: (str(numbered[1].get("filter")), numbered[1]["doc_id"]))
    notes: dict[str, int] = {}
    records = list(_records(samples, file, notes))
    loaded = load(records, file.name, langs)
    counted = (f"{text} in {count(number, 'sample')}" for text, number in notes.items())
    return replace(loaded, warnings=(*counted, *loaded.warnings))


def _records(
    samples: list[tuple[int, dict[str, Any]]], file: TextFile, notes: dict[str, int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    named = _NAME.fullmatch(Path(file.path).name)
    model = Path(file.path).resolve().parent.name if named else ""
    system = model or stem(file.path)
    filters = {str(sample.get("filter")) for _, sample in samples}
    for line, sample in samples:
        where = at(file.name, line)
        row = sample.get("doc")
        row = row if isinstance(row, dict) else {}
        doc, src = _first(row, "doc"), _first(row, "src")
        target = _target(sample.get("target"), where)
        if not isinstance(src, str):
            src = _other_side(row.get("translation"), target)
        record = {
            "doc": sample.get("doc_id") if doc is None else doc,
            "system": f"{system}-{sample.get('filter')}" if len(filters) > 1 else system,
            "hyp": _response(sample, where, notes),
            "src": src,
            **({"ref": target[0]} if len(target) == 1 else {"refs": target}),
            **({"corpus": named[1]} if named else {}),
        }
        for text, missing in (
            ("no source is called src or source", src is None),
            ("no document id: a sample is taken as a document", doc is None),
        ):
            if missing:
                notes[text] = notes.get(text, 0) + 1
        yield line, record


def _first(row: Mapping[str, Any], kind: str) -> Any:
    """The value of a row under one of the names that a kind of field has."""
    return next((row[name] for name in FIELDS[kind] if row.get(name) is not None), None)


def _other_side(texts: Any, target: list[str]) -> str | None:
    """The source in WMT's ``translation``, a text per language: the text that is not the target."""
    sides = list(texts.values()) if isinstance(texts, dict) else []
    rest = [text for text in sides if text not in target]
    return rest[0] if len(sides) == 2 and len(rest) == 1 and isinstance(rest[0], str) else None


def _target(target: Any, where: str) -> list[str]:
    """References of a sample; several are logged as a printed list."""
    if not isinstance(target, str):
        raise InputError(
            "there is no target in this sample", where=where, next="log the samples once more"
        )
    if target.startswith(("['", '["')):
        try:
            several = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [target]  # a text in brackets
        if isinstance(several, list) and all(isinstance(text, str) for text in several):
            return [*several]
    return [target] if target else []


def _response(sample: Mapping[str, Any], where: str, notes: dict[str, int]) -> str:
    responses = sample.get("filtered_resps")
    response = responses[0] if isinstance(responses, list) and responses else None
    if isinstance(response, list) and response and response[-1] not in ("True", "False"):
        if len(response) > 1:
            text = "only the first of several responses is read"
            notes[text] = notes.get(text, 0) + 1
        response = response[0]
    if not isinstance(response, str):
        raise InputError(
            "this sample has no generated text, but log-probabilities or nothing",
            where=where,
            next="score a task whose output_type is generate_until",
        )
    return response
