"""Validate what clients send (a form, or documents as JSON) and turn it into the request of a job."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wholetext.errors import InputError, WholetextError, did_you_mean
from wholetext.files.parsing import printable, read_json
from wholetext.files.storage import write_file
from wholetext.models.catalogue import present, users_of
from wholetext.registry import catalogue, scorer
from wholetext.serving.settings import ServeOptions, allowed_metric

if TYPE_CHECKING:
    from wholetext.serving.uploads import Form

ROLES = {"corpus": 1, "src": 1, "docs": 1, "hyp": 200, "ref": 20}  # role → limit of files
DEMOS = ("de-en", "zh-en")
MOST_METRICS = 30
# not served, or useless without a file of the user's
NOT_OFFERED = re.compile("judge-.*|learned|blonde-plus")
SMALL = {"doc-bertscore@minilm": "context(prev=2):bertscore@minilm", "sbert@minilm": "sbert@minilm"}
KEYS = {"documents", "metrics", "langs", "baseline"}  # of /v1/score


def listed_files(data: Path) -> list[str]:
    """Files that the operator has put into ``files`` of the data folder."""
    paths: list[str] = []
    for folder, _, names in os.walk(data / "files"):  # links to folders are not followed
        paths += [
            path.relative_to(data / "files").as_posix()
            for name in names
            if (path := Path(folder, name)).is_file() and not path.is_symlink()
        ]
    return sorted(paths)[:1000]


def offered_metrics() -> dict[str, Any]:
    """Metrics, aliases (one per spec) and views that can be requested, and missing models."""
    known, missing = catalogue(), {}
    metrics = {
        name: entry for name, entry in known["metrics"].items() if not NOT_OFFERED.fullmatch(name)
    }
    aliases: dict[str, str] = {}
    for alias, spec in {**known["aliases"], **SMALL}.items():
        if spec not in {*known["metrics"], *aliases.values()} and not NOT_OFFERED.fullmatch(alias):
            aliases[alias] = spec
    for name in (*metrics, *aliases):
        metric = scorer(name).metric
        model = getattr(metric, "model", None)
        usual = [entry.name for entry in users_of(metric.name)] if model == "" else []
        models = [model] if model else usual  # several if they depend on the language
        if models and not any(map(_is_installed, models)):
            missing[name] = models[0]
    return {"metrics": metrics, "aliases": aliases, "views": known["views"], "missing": missing}


def _is_installed(model: str) -> bool:
    try:
        return present(model) is not None
    except WholetextError:
        return False


def form_request(form: Form, data: Path, options: ServeOptions) -> tuple[str, dict[str, Any]]:
    """Title and request of a job from the form of the page."""
    demo = _field(form, "demo")
    if demo and demo not in DEMOS:
        raise InputError(f"there is no demo {demo!r}", next=f"choose one of {', '.join(DEMOS)}")
    files = {
        role: [
            [_system(name), path.relative_to(data).as_posix()]
            for name, path in form.files.get(role, ())
        ]
        for role in ROLES
    }
    known = set(listed_files(data))
    for role, entries in files.items():
        for name in form.fields.get(f"{role}-file", ()):
            if name and name not in known:
                raise InputError(
                    f"there is no file {name!r} to choose",
                    next=did_you_mean(name, sorted(known)) or "choose one of the list",
                )
            entries += [[_system(name), f"files/{name}"]] if name else []
        if len(entries) > ROLES[role]:
            raise InputError(
                f"{len(entries)} files are given as {role}", next=f"give at most {ROLES[role]}"
            )
    files = {role: entries for role, entries in files.items() if entries}
    if not demo and not (files.get("corpus") or files.get("hyp")):
        raise InputError(
            "there is nothing to score",
            next="choose a corpus file, or outputs and a reference or source",
        )
    metrics = " ".join(form.fields.get("metric", ())).split()
    title = _field(form, "title") or _title(demo, files)
    return title[:200], {
        "demo": demo,
        "files": files,
        **_choices(metrics, _field(form, "langs"), _field(form, "baseline"), options),
    }


def json_request(body: Path, options: ServeOptions) -> dict[str, Any]:
    """The request of ``POST /v1/score``; its documents are written beside the body as JSONL."""
    fields = read_json(body.read_bytes(), where="/v1/score", next="send a JSON object")
    documents = fields.get("documents") if isinstance(fields, dict) else None
    if not isinstance(documents, list) or not documents:
        raise InputError(
            "there are no documents",
            where="/v1/score",
            next='send {"documents": [{"doc": "d1", "src": […], "refs": {"A": […]}, '
            '"outputs": {"my-system": […]}}]}',
        )
    if unknown := sorted({*fields} - KEYS):
        raise InputError(
            f"there is no field {unknown[0]!r}",
            where="/v1/score",
            next=did_you_mean(unknown[0], sorted(KEYS)) or f"fields are {', '.join(sorted(KEYS))}",
        )
    metrics = fields.get("metrics") or []
    langs, baseline = fields.get("langs") or "", fields.get("baseline") or ""
    if not isinstance(metrics, list) or not all(
        isinstance(value, str) for value in (*metrics, langs, baseline)
    ):
        raise InputError(
            "metrics is a list of strings, langs and baseline are strings",
            where="/v1/score",
            next='write "metrics": ["chrf", "bleu"], "langs": "de-en"',
        )
    file = body.with_name("documents.jsonl")
    lines = [json.dumps(document, ensure_ascii=False) for document in documents]
    write_file(file, "\n".join(lines) + "\n")
    files = {"corpus": [["documents", file.relative_to(options.folder).as_posix()]]}
    return {"files": files, **_choices(metrics, langs, baseline, options)}


def _choices(
    metrics: Sequence[str], langs: str, baseline: str, options: ServeOptions
) -> dict[str, Any]:
    if len(metrics) > MOST_METRICS:
        raise InputError(
            f"{len(metrics)} metrics are requested",
            next=f"request at most {MOST_METRICS} at a time",
        )
    specs = list(dict.fromkeys(allowed_metric(metric, options) for metric in metrics))
    if langs and not re.fullmatch(r"[A-Za-z0-9_]{2,20}-[A-Za-z0-9_]{2,20}", langs):
        raise InputError(f"invalid language pair {langs!r}", next="write it as de-en")
    return {"metrics": specs, "langs": langs, "baseline": baseline[:500]}


def _field(form: Form, name: str) -> str:
    return printable(form.fields.get(name, [""])[0].strip())


def _system(name: str) -> str:
    """The name of a system or reference: that of its file, without folder and extension."""
    stem = Path(name).name
    return stem.rpartition(".")[0] or stem


def _title(demo: str, files: Mapping[str, Sequence[Sequence[str]]]) -> str:
    if demo:
        return f"demo {demo}"
    names = [name for role in ("corpus", "hyp") for name, _ in files.get(role, ())]
    return ", ".join(names)
