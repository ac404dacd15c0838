"""Options that several verbs share, declared once; groups of options, and how the input is read."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from wholetext import slices
from wholetext.cli.completion import complete_metrics, complete_systems
from wholetext.cli.spelling import TOKENS_PER_SEGMENT, split_metrics
from wholetext.errors import InputError
from wholetext.io.formats import BUILTIN, names

if TYPE_CHECKING:
    from wholetext.executor import Executor
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import Options
    from wholetext.scoring.significance.compare import Significance


def int_or_none(text: str) -> int | None:
    """An integer, or ``none`` for a random seed, as for sacreBLEU's SACREBLEU_SEED."""
    from wholetext.files.parsing import integer

    return (
        None
        if str(text).lower() == "none"
        else integer(str(text), low=0, high=2**63 - 1, where="--seed")
    )


def metrics_option(help: str) -> Any:
    """The option ``-m``, which takes one or several metrics however they are written."""
    return typer.Option(
        "-m",
        "--metric",
        "--metrics",
        callback=split_metrics,
        autocompletion=complete_metrics,
        help=f"{help}; several: -m chrf bleu, -m chrf,bleu or repeated.",
    )


Sources = Annotated[
    str | None, typer.Option("-s", "--sources", help="Source file, one segment per line.")
]
Translations = Annotated[
    list[str] | None,
    typer.Option(
        "-t",
        "--translations",
        help="System outputs, one file per system (FILE or NAME=FILE), or a folder of WMT's.",
    ),
]
References = Annotated[
    list[str] | None, typer.Option("-r", "--references", help="Reference files.")
]
Docs = Annotated[
    str | None, typer.Option("-d", "--docs", help="File with one document id per line.")
]
Langs = Annotated[str | None, typer.Option("-l", "--langs", help="Language pair, e.g. de-en.")]
TestSet = Annotated[
    str | None,
    typer.Option("--test-set", help="sacreBLEU test set to take source and references from."),
]
# looking for plug-ins takes time, so they are named only where the help of a verb is asked for
_FORMATS = ", ".join(names() if {"-h", "--help"} & {*sys.argv[2:]} else BUILTIN)
Reader = Annotated[
    str | None, typer.Option("--reader", help=f"Input format (default: detected): {_FORMATS}.")
]
Segments = Annotated[
    Literal["auto", "p", "lines", "json", "none"],
    typer.Option(
        "--segments",
        help="Segments of WMT25/26 documents: <p>, lines, JSON strings, or none (one segment).",
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system", autocompletion=complete_systems, help="Restrict to these systems (repeatable)."
    ),
]
Metrics = Annotated[
    list[str] | None,
    metrics_option(
        "Metrics to compute, [view:]metric[@model] (default: document-level ones that are installed)"
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Output run folder (read by compare, explain and report)."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing run in --out.")]
Json = Annotated[bool, typer.Option("--json", help="Same as -f json.")]
TableOrJson = Annotated[
    Literal["table", "json"], typer.Option("-f", "--format", help="Output format.")
]
TableJsonTsv = Annotated[
    Literal["table", "json", "tsv"], typer.Option("-f", "--format", help="Output format.")
]
Format = Annotated[
    Literal["table", "json", "tsv", "latex"], typer.Option("-f", "--format", help="Output format.")
]
SampleFormat = Annotated[
    Literal["list", "json", "pearmut"],
    typer.Option("-f", "--format", help="List of documents, JSON, or a campaign for Pearmut."),
]
_FORMATS_WITH_JSON = (
    TableOrJson,
    TableJsonTsv,
    Format,
    SampleFormat,
)  # verbs with one of them also have --json
Signatures = Annotated[bool, typer.Option("--signatures", help="Print full signatures.")]
ByDomain = Annotated[
    bool, typer.Option("--by-domain", help="Also show the scores within each domain.")
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        autocompletion=complete_systems,
        help="Baseline system for paired tests (default: the best system).",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Random seed; 'none' for a different seed each time.",
        envvar="SACREBLEU_SEED",
        parser=int_or_none,
        metavar="INT|none",
    ),
]
Alpha = Annotated[float, typer.Option("--alpha", help="Significance level.")]
Golds = Annotated[
    list[str] | None,
    typer.Option(
        "--gold", help="Human scores to use, by name (default: MQM if available; repeatable)."
    ),
]
Joiner = Annotated[
    Literal["auto", "space", "none"],
    typer.Option("--joiner", help="What joins the segments of a paragraph; auto = by language."),
]
RunFolder = Annotated[Path, typer.Argument(help="Run folder written by `wholetext score --out`.")]
Resamples = Annotated[
    int, typer.Option("--draws", min=1, help="Number of bootstrap resamples of documents.")
]
TestDraws = Annotated[
    int,
    typer.Option("--draws", min=0, help="Number of resamples per significance test; 0 = no tests."),
]
_LENGTHS = typer.Option("--k", help="Paragraph lengths in segments, e.g. 1..10 or 1,5,10.")
Lengths = Annotated[str, _LENGTHS]
LengthsIfAny = Annotated[str | None, _LENGTHS]
Device = Annotated[str, typer.Option("--device", help="Device: auto, cpu, cuda or mps.")]
Endpoint = Annotated[
    str,
    typer.Option(
        "--endpoint",
        metavar="URL",
        envvar="OPENAI_BASE_URL",
        help="OpenAI-compatible server of judges.",
    ),
]
Prices = Annotated[
    str,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Price table of judges' models (TOML).",
        envvar="WHOLETEXT_PRICES",
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not show progress or hints.")]
Decimals = Annotated[
    int | None,
    typer.Option(
        "-w",
        "--width",
        "--decimals",
        min=0,
        max=12,
        help="Decimals of printed scores (default: by the metric's scale).",
    ),
]

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Number of workers; local processes unless --on names others."
    ),
]


@dataclass(frozen=True)
class Files:
    """What to read: one file or folder, or parallel text files."""

    input: Annotated[
        str | None,
        typer.Argument(
            help="JSONL, TSV or WMT file, or folder of an EvalSet or WMT25/26 (with -l)."
        ),
    ] = None
    sources: Sources = None
    translations: Translations = None
    references: References = None
    docs: Docs = None


@dataclass(frozen=True)
class Chosen:
    """What to select from the input, and its format."""

    langs: Langs = None
    test_set: TestSet = None
    reader: Reader = None
    system: Systems = None
    ref: Annotated[
        list[str] | None,
        typer.Option("--ref", help="Restrict to these references, by name (repeatable)."),
    ] = None
    segments: Segments = "auto"


@dataclass(frozen=True)
class Execution:
    """How models are run."""

    no_cache: Annotated[bool, typer.Option("--no-cache", help="Disable the cache of scores.")] = (
        False
    )
    device: Device = "auto"
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype",
            metavar="fp32|bf16|fp16",
            help="Numeric precision of models; fp32 alone on a CPU.",
        ),
    ] = "fp32"
    batch_tokens: Annotated[
        int,
        typer.Option(
            "--batch-tokens", min=1, help="Maximum number of tokens per batch, padding included."
        ),
    ] = 1024
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            "--batch_size",
            min=1,
            help=f"COMET's spelling: --batch-tokens of {TOKENS_PER_SEGMENT} times this number of segments.",
        ),
    ] = None

    endpoint: Endpoint = ""
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, help="Maximum number of parallel calls to judges.")
    ] = 8
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", help="Maximum number of calls to judges per minute (default: no limit)."
        ),
    ] = None
    timeout: Annotated[
        float, typer.Option("--timeout", help="Maximum number of seconds per call to a judge.")
    ] = 600
    prices: Prices = ""
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", help="Maximum cost of calls to judges (needs --prices); answers are cached."
        ),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="local|processes|ray[://HOST:PORT]",
            help="Where to compute: this process, other local processes, or a Ray cluster.",
        ),
    ] = None
    workers: Workers = None
    gpus: Annotated[
        int | None,
        typer.Option(
            "--gpus",
            min=0,
            help="Number of GPUs to use, with one worker each by default; 0 = --device cpu.",
        ),
    ] = None

    def options(self, **more: Any) -> Options:
        from wholetext.scoring.evaluate import Options

        make_calls = slices.hook("calls")
        calls = make_calls and make_calls(
            self.endpoint,
            self.parallel,
            self.rate,
            self.timeout,
            budget=self.budget,
            prices=self.prices,
        )
        tokens = TOKENS_PER_SEGMENT * self.batch_size if self.batch_size else self.batch_tokens
        device = "cpu" if self.gpus == 0 else self.device  # as COMET's --gpus 0
        return Options(
            cache=not self.no_cache,
            device=device,
            dtype=self.dtype,
            batch_tokens=tokens,
            calls=calls,
            executor=self.executor,
            **more,
        )

    @cached_property
    def executor(self) -> Executor:
        """One for all that the command evaluates; its workers end with the command."""
        return executor(self.on, self.workers, self.gpus)


def executor(on: str | None, workers: int | None, gpus: int | None = None) -> Executor:
    """Where the work of a command is computed; its workers import nothing from the current folder."""
    from wholetext.executor import Executor

    os.environ.setdefault("PYTHONSAFEPATH", "1")
    return Executor(on or ("processes" if workers or gpus else "local"), workers, gpus or None)


Nulls = Annotated[
    Literal["count", "worst", "drop"] | None,
    typer.Option(
        "--nulls",
        help="Omissions and additions found by alignment: score them as text (default), give them "
        "the metric's worst score, or drop them.",
    ),
]


@dataclass(frozen=True)
class Aligning:
    """How outputs with other segments than their document are aligned before scoring."""

    align: Annotated[
        bool,
        typer.Option(
            "--align",
            help="First align outputs whose number of segments differs from the source's.",
        ),
    ] = False
    align_to: Annotated[
        str | None,
        typer.Option(
            "--align-to",
            help="Align to: auto (a reference if available), source, or a reference by NAME.",
        ),
    ] = None
    nulls: Nulls = None

    def options(self) -> dict[str, Any]:
        if not self.align and self.align_to is None:
            return {"align": None, "nulls": self.nulls}
        chosen = slices.required("align-options", "--align")
        return {"align": chosen(self.align_to or "auto"), "nulls": self.nulls}


@dataclass(frozen=True)
class Testing:
    """How systems are tested for significant differences."""

    resample: Annotated[
        Literal["documents", "segments"],
        typer.Option("--resample", help="Unit that is resampled in significance tests."),
    ] = "documents"
    test: Annotated[
        Literal["randomization", "bootstrap", "bootstrap-centred"],
        typer.Option("--test", help="Paired significance test."),
    ] = "randomization"
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=1,
            help="Number of trials (default 10,000) or bootstrap resamples (default 1,000).",
        ),
    ] = None
    seed: Seed = 12345
    alpha: Alpha = 0.05

    def significance(self, baseline: str | None) -> Significance:
        from wholetext.scoring.significance.compare import Significance

        unit: Literal["doc", "segment"] = "doc" if self.resample == "documents" else "segment"
        return Significance(self.test, unit, self.draws, self.seed, self.alpha, baseline)


JUDGES = {"endpoint", "parallel", "rate", "timeout", "prices", "budget"}  # of Execution
TITLES = {
    Files: "Input",
    Chosen: "Input",
    Aligning: "Alignment",
    Testing: "Significance tests",
    Execution: "Models and processors",
}


def sections(verb: Callable[..., None]) -> dict[str, str]:
    """The titles under which help lists the options of a verb's groups."""
    parameters = inspect.signature(verb, eval_str=True).parameters.values()
    return {
        option.name: "LLM judges" if option.name in JUDGES else TITLES[one.annotation]
        for one in parameters
        if one.annotation in TITLES
        for option in fields(one.annotation)
    }


def flattened(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer reads it: a parameter that is a group of options stands for the options of the group, and one
    of the formats for ``-f`` and ``--json``.
    """
    parameters = inspect.signature(
        verb, eval_str=True
    ).parameters  # get_type_hints of Python 3.10 would hide options
    groups: dict[str, Any] = {
        name: one.annotation for name, one in parameters.items() if is_dataclass(one.annotation)
    }
    formatted = any(one.annotation in _FORMATS_WITH_JSON for one in parameters.values())
    options = []
    for name, parameter in parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            options += [
                inspect.Parameter(
                    one.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=one.default,
                    annotation=kinds[one.name],
                )
                for one in fields(groups[name])
            ]
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        if parameter.annotation in _FORMATS_WITH_JSON:
            options.append(
                inspect.Parameter(
                    "json_", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json
                )
            )

    @wraps(verb)
    def run(**given: Any) -> None:
        if formatted and given.pop("json_", False):
            given["format"] = "json"
        made = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in groups.items()
        }
        try:
            verb(**made, **given)
        finally:
            for group in made.values():
                if "executor" in vars(group):  # it was asked for
                    group.executor.close()

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def load(files: Files, chosen: Chosen) -> Loaded:
    """Read the input: one file, folder or test set (more outputs by -t), or parallel files."""
    from wholetext.io import LineFiles, read

    corpus = files.input
    if chosen.test_set is not None:
        if corpus is not None:
            raise InputError(
                "both INPUT and --test-set were given", where=corpus, next="give one of them"
            )
        corpus = f"sacrebleu:{chosen.test_set}"
    if corpus is None and not any(
        (files.sources, files.translations, files.references, files.docs)
    ):
        raise InputError(
            "nothing to read",
            next="wholetext score -s src.txt -t sys.txt -r ref.txt -d docs.txt -m chrf, "
            "or wholetext score corpus.jsonl -m chrf; `wholetext demo` shows a whole run",
        )
    given = LineFiles(
        src=files.sources,
        hyps=named(files.translations),
        refs=named(files.references),
        docs=files.docs,
        corpus=corpus,
    )
    return read(
        given,
        langs=chosen.langs,
        systems=chosen.system or None,
        refs=chosen.ref or None,
        format=chosen.reader,
        segments=chosen.segments,
    )


def named(paths: list[str] | None) -> list[str | tuple[str, str]]:
    """``name=FILE`` entries as pairs; plain paths are named after their files."""
    exists = os.path.exists  # pathlib's raises where a name is too long
    return [
        (path.partition("=")[0], path.partition("=")[2])
        if "=" in path and not exists(path)
        else path
        for path in paths or ()
    ]


def refuse_existing(out: Path, files: Files, overwrite: bool, option: str = "--out") -> None:
    """Raise if the output file exists and may not be replaced; an input file never may."""
    if not out.is_file():
        return
    given = [
        files.input,
        files.sources,
        files.docs,
        *(files.translations or ()),
        *(files.references or ()),
    ]
    paths = [
        path for one in given if one for path in (Path(one), Path(one.partition("=")[2] or one))
    ]
    if any(os.path.exists(path) and path.samefile(out) for path in paths):  # noqa: PTH110 - names may be too long
        raise InputError(
            "this is one of the input files", where=str(out), next=f"choose another {option}"
        )
    if not overwrite:
        raise InputError(
            "this file exists already",
            where=str(out),
            next=f"choose another {option}, or replace it with --overwrite",
        )
