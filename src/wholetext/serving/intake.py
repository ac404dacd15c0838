"""Requests: bodies are read within limits, forms and JSON become the request of a job."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import Any

from anyio import CancelScope, fail_after
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from wholetext.errors import InputError, did_you_mean, listed
from wholetext.files.parsing import printable, read_json
from wholetext.files.storage import write_file
from wholetext.models.catalogue import present, users_of
from wholetext.registry import catalogue, reference_free, scorer
from wholetext.scoring.single import EXAMPLE, Treatment, independent, read_texts
from wholetext.serving.access import Refused
from wholetext.serving.settings import ServeOptions, allowed_metric

FIELD_BYTES = 100_000  # limit of a field that is not a file
PARTS = 300  # limit of fields, and of files
NAME_BYTES = 200  # limit of a file name; file systems take 255
GRACE = 30.0  # seconds that a body may take, beside those that RATE allows it
RATE = 10_000  # bytes per second below which a client is too slow
ROLES = {"corpus": 1, "src": 1, "docs": 1, "hyp": 200, "ref": 20}  # role → limit of files
MOST_METRICS = 30
JSON = 10_000_000  # bytes of a request that is decoded here
TEXTS = 1_000_000  # bytes of texts that are scored at once
MOST_VALUES = 1_000_000  # in a request of JSON: Python makes up to 100 bytes of each
# not served, or useless without a file of the user's
# judges cost money; the others need a folder, a file or a model that the page does not ask for
NOT_OFFERED = re.compile("judge-.*|learned|blonde-plus|terms|llm-prob")
SMALL = {"doc-bertscore@minilm": "context(prev=2):bertscore@minilm", "sbert@minilm": "sbert@minilm"}
SCORE = "/v1/score"
EXAMPLES = {
    "documents": 'send {"documents": [{"doc": "d1", "src": […], "refs": {"A": […]}, '
    '"outputs": {"my-system": […]}}], "metrics": ["chrf"], "langs": "de-en"}',
    "texts": f'send {{"texts": [{EXAMPLE}], "metrics": ["chrf"], "langs": "de-en"}}',
}
TEXT = (str, NoneType)
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "documents": {
        "documents": (list,),
        "metrics": (list, NoneType),
        "langs": TEXT,
        "baseline": TEXT,
    },
    "texts": {
        "texts": (list,),
        "metrics": (list,),
        "langs": TEXT,
        "strip": (bool,),
        "language": TEXT,
        "align": (bool,),
    },
}


# ---------------------------------------------------------------- bodies


class _FormParser(MultiPartParser):
    """Write files to a folder as they arrive, rather than to the folder for temporary files."""

    folder: Path
    complete = False

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            path = self.folder / str(len(self.items)) / safe_name(upload.filename or "")
            path.parent.mkdir(parents=True)
            upload.file = path.open("w+b")

    def on_end(self) -> None:
        self.complete = True


async def read_form(request: Request, folder: Path, limit: int) -> FormData:
    """Parse the form of a request; ``file.name`` of an upload is its path in ``folder``."""
    content_type = request.headers.get("content-type", "")
    if not content_type.lower().startswith("multipart/form-data"):
        raise InputError(
            "the request has no form with files", next="send it as multipart/form-data"
        )
    limits = {"max_files": PARTS, "max_fields": PARTS, "max_part_size": FIELD_BYTES}
    try:
        with _patience() as scope:
            parser = _FormParser(request.headers, _limited(request, limit, scope), **limits)
            parser.folder = folder
            form = await parser.parse()
        if not parser.complete:
            raise MultiPartException("it is incomplete")
    except (MultiPartException, ValueError) as fault:  # ValueError: of python-multipart, of codecs
        reason = getattr(fault, "message", fault)
        raise InputError(
            f"the form of the request cannot be read ({reason})",
            next="send it again, with a boundary of at most 70 characters",
        ) from None
    for _, upload in form.multi_items():
        if not isinstance(upload, str):
            with upload.file as file:
                # a small file can expand to terabytes: gzip, and workbooks, which are zip archives
                if file.read(4).startswith((b"\x1f\x8b", b"PK\x03\x04")):
                    raise InputError(
                        "uploads may not be compressed",
                        next="gunzip the file first, or save the workbook as CSV",
                    )
    return form


async def read_body(request: Request, limit: int) -> bytes:
    """Read a body of JSON; one that is too large is read too, so that the client gets the error."""
    body = bytearray()
    with _patience() as scope:
        async for chunk in _limited(request, limit, scope):
            body += chunk if len(body) <= JSON else b""
    if len(body) > JSON:
        raise Refused(
            413,
            f"the request has more than {JSON:,} bytes of JSON",
            "send documents as files (POST /v1/jobs), or fewer at a time",
        )
    return bytes(body)


@contextmanager
def _patience() -> Iterator[CancelScope]:
    """Refuse a request that comes too slowly; what reads it extends the deadline."""
    try:
        with fail_after(GRACE) as scope:
            yield scope
    except TimeoutError:
        raise Refused(
            408,
            f"the request arrives at less than {RATE:,} bytes per second",
            "send it again over a faster connection, or in smaller parts",
        ) from None


async def _limited(request: Request, limit: int, scope: CancelScope) -> AsyncGenerator[bytes, None]:
    """Yield the body of a request; raise an error if it is too large."""
    chunks, received = request.stream(), 0
    announced = int(request.headers.get("content-length", 0))
    while max(received, announced) <= limit:
        chunk = await anext(chunks, None)
        if chunk is None:
            return
        received += len(chunk)
        scope.deadline += len(chunk) / RATE
        yield chunk
    raise Refused(
        413,
        f"the request has more than {limit:,} bytes, the limit of this server",
        "send fewer files at a time, or start the server with a larger --max-upload",
    )


def safe_name(name: str) -> str:
    """Reduce a file name to its last part, with plain characters only."""
    plain = re.sub(r"[^\w.+-]", "_", re.split(r"[/\\]", name)[-1])[-80:]
    return plain.encode()[-NAME_BYTES:].decode("utf-8", "ignore").lstrip(".") or "file"


# ---------------------------------------------------------------- what can be requested


def listed_files(data: Path) -> list[str]:
    """Files that the operator has put into ``files`` of the data folder; links are left out."""
    paths = [
        Path(folder, name)
        for folder, _, names in os.walk(data / "files")  # does not follow links to folders
        for name in names
    ]
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(path.relative_to(data / "files").as_posix() for path in files)[:1000]


def offered_metrics() -> dict[str, Any]:
    """Metrics, aliases (one per spec) and views to choose from, texts needed, missing models."""
    known, missing = catalogue(), {}
    first: dict[str, str] = {}
    for alias, spec in {**known["aliases"], **SMALL}.items():
        first.setdefault(spec, alias)
    aliases = {alias: spec for spec, alias in first.items() if spec not in known["metrics"]}
    metrics, aliases = (
        {name: entry for name, entry in entries.items() if not NOT_OFFERED.fullmatch(name)}
        for entries in (known["metrics"], aliases)
    )
    offered = {}
    for name in (*metrics, *aliases):
        metric = scorer(name).metric
        needs = metric.needs | (set() if reference_free(name) else {"ref"})
        offered[name] = {"summary": metric.summary, "needs": sorted(needs)}
        model = getattr(metric, "model", None)
        usual = [entry.name for entry in users_of(metric.name)] if model == "" else []
        models = [model] if model else usual  # several if they depend on the language
        if models and not any(map(present, models)):
            missing[name] = models[0]
    return {
        "metrics": metrics,
        "aliases": aliases,
        "offered": offered,
        "views": known["views"],
        "missing": missing,
    }


# ---------------------------------------------------------------- requests of jobs


def form_request(form: FormData, data: Path, options: ServeOptions) -> tuple[str, dict[str, Any]]:
    """Title and request of a job from the form of the page."""
    demo, files = _field(form, "demo"), form_files(form, data)
    if not demo and not (files.get("corpus") or files.get("hyp")):
        raise InputError(
            "there is nothing to score",
            next="choose a corpus file, or outputs and a reference or source",
        )
    names = [name for role in ("corpus", "hyp") for name, _ in files.get(role, ())]
    usual = (f"demo {demo}" if demo else listed(names, 4))[:200]
    title = _field(form, "title")[:200]
    heading = title if demo or "corpus" in files else title or usual  # of the report
    metrics = " ".join(_fields(form, "metric")).split()
    choices = _choices(metrics, _field(form, "langs"), _field(form, "baseline"), options)
    return title or usual, {"demo": demo, "files": files, "title": heading, **choices}


def form_files(form: FormData, data: Path) -> dict[str, list[list[str]]]:
    """Role → name and path of its files: uploads, and files of the data folder."""
    known, files = listed_files(data), {}
    for role, limit in ROLES.items():
        uploads = [upload for upload in form.getlist(role) if not isinstance(upload, str)]
        entries = [(upload.filename, upload.file.name) for upload in uploads if upload.filename]
        for name in filter(None, _fields(form, f"{role}-file")):
            if name not in known:
                raise InputError(
                    f"there is no file {name!r} to choose",
                    next=did_you_mean(name, known) or "choose one of the list",
                )
            entries.append((name, f"{data}/files/{name}"))
        if len(entries) > limit:
            raise InputError(
                f"{len(entries)} files are given as {role}", next=f"give at most {limit}"
            )
        if entries:
            files[role] = [
                [_system(name), Path(path).relative_to(data).as_posix()] for name, path in entries
            ]
    return files


def score_fields(body: bytes) -> dict[str, Any]:
    """The fields of ``POST /v1/score``: documents, or texts of their own."""
    if sum(map(body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise InputError(
            f"the request has more than {MOST_VALUES:,} values",
            where=SCORE,
            next="send documents as files (POST /v1/jobs), or fewer at a time",
        )
    fields = read_json(body, where=SCORE, next=EXAMPLES["documents"])
    kind = "texts" if isinstance(fields, dict) and "texts" in fields else "documents"
    if kind == "texts" and len(body) > TEXTS:
        raise InputError(
            f"texts are scored in requests of up to {TEXTS:,} bytes",
            where=SCORE,
            next="send fewer at a time",
        )
    known, example = FIELDS[kind], EXAMPLES[kind]
    if not isinstance(fields, dict) or not fields.get(kind):
        raise InputError(f"there are no {kind}", where=SCORE, next=example)
    if kind == "texts" and not fields.get("metrics"):
        raise InputError("there are no metrics", where=SCORE, next=example)
    for name, value in fields.items():
        if not isinstance(value, known.get(name, ())):
            raise InputError(
                f"{name!r} is not a field of the request, or has a value of another kind",
                where=SCORE,
                next=did_you_mean(name, [*known]) or example,
            )
    return fields


def json_request(fields: Mapping[str, Any], folder: Path, options: ServeOptions) -> dict[str, Any]:
    """The request of a job for documents, which are written to a folder as JSONL."""
    file = folder / "documents.jsonl"
    lines = [json.dumps(document, ensure_ascii=False) for document in fields["documents"]]
    write_file(file, "\n".join(lines) + "\n")
    files = {"corpus": [["documents", file.relative_to(options.folder).as_posix()]]}
    langs, baseline = fields.get("langs") or "", fields.get("baseline") or ""
    metrics = [str(metric) for metric in fields.get("metrics") or ()]
    return {"files": files, **_choices(metrics, langs, baseline, options)}


def texts_request(fields: Mapping[str, Any], options: ServeOptions) -> dict[str, Any]:
    """The request for texts of their own, as ``worker.run_batch`` takes it."""
    langs, align = fields.get("langs") or "", fields.get("align", False)
    return {
        "texts": read_texts(fields["texts"], align),
        "metrics": _metrics_of_texts(tuple(map(str, fields["metrics"])), langs, options),
        "how": Treatment(langs, fields.get("strip", False), fields.get("language"), align),
    }


@lru_cache(maxsize=100)  # a training asks for the same a million times
def _metrics_of_texts(metrics: tuple[str, ...], langs: str, options: ServeOptions) -> list[str]:
    return [independent(metric) for metric in _choices(metrics, langs, "", options)["metrics"]]


def _choices(
    metrics: Sequence[str], langs: str, baseline: str, options: ServeOptions
) -> dict[str, Any]:
    if len(metrics) > MOST_METRICS:
        raise InputError(
            f"{len(metrics)} metrics are requested",
            next=f"request at most {MOST_METRICS} at a time",
        )
    if langs and not re.fullmatch(r"[A-Za-z0-9_]{2,20}-[A-Za-z0-9_]{2,20}", langs):
        raise InputError(f"invalid language pair {langs!r}", next="write it as de-en")
    specs = dict.fromkeys(allowed_metric(metric, options) for metric in metrics)
    return {"metrics": list(specs), "langs": langs, "baseline": baseline[:500]}


def _fields(form: FormData, name: str) -> list[str]:
    return [printable(value.strip()) for value in form.getlist(name) if isinstance(value, str)]


def _field(form: FormData, name: str) -> str:
    return next(iter(_fields(form, name)), "")


def _system(name: str) -> str:
    """The name of a system or reference: that of its file, without folder and extension."""
    stem = printable(re.split(r"[/\\]", name)[-1])
    return stem.rpartition(".")[0] or stem
