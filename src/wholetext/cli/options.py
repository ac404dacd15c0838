"""Options that several commands share, in groups, and the reading of input by them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, wraps
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from wholetext import slices
from wholetext.cli.completion import complete_metrics, complete_systems
from wholetext.cli.spelling import TOKENS_PER_SEGMENT, split_metrics
from wholetext.errors import InputError
from wholetext.io.formats import BUILTIN

if TYPE_CHECKING:
    from wholetext.executor import Executor
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import Options
    from wholetext.scoring.significance.compare import Significance


def int_or_none(text: str) -> int | None:
    """Parse a seed: an integer, or ``none`` for a random one, as in SACREBLEU_SEED."""
    from wholetext.files.parsing import integer

    if str(text).lower() == "none":
        return None
    return integer(str(text), low=0, high=2**63 - 1, where="--seed")


def metrics_option(help: str) -> Any:
    """Declare the option ``-m``, which takes one metric or several."""
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
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        help=f"Input format (default: detected): {', '.join(BUILTIN)}, or that of a plug-in.",
    ),
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
        "Metrics to compute, [view:]metric[@model] "
        "(default: document-level ones that are installed)"
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
_FORMATS = (TableOrJson, TableJsonTsv, Format, SampleFormat)  # with one of these comes --json
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
    """Files to read: one file or folder, or parallel text files."""

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
    """Format of the input, and the part of it to use."""

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
            help=f"COMET's spelling: --batch-tokens of {TOKENS_PER_SEGMENT} times this number of "
            "segments.",
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

    def options(self, **others: Any) -> Options:
        """Make the library's options; ``others`` are passed on."""
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
            **others,
        )

    @cached_property
    def executor(self) -> Executor:
        """The executor of the command, whose workers end with it."""
        return executor(self.on, self.workers, self.gpus)


def executor(on: str | None, workers: int | None, gpus: int | None = None) -> Executor:
    """Make the executor of a command."""
    from wholetext.executor import Executor

    os.environ.setdefault("PYTHONSAFEPATH", "1")  # workers import nothing from the current folder
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
    """Alignment of outputs whose segments differ from those of the document."""

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
        """Options of scoring that concern alignment."""
        if not self.align and self.align_to is None:
            return {"align": None, "nulls": self.nulls}
        make = slices.required("align-options", "--align")
        return {"align": make(self.align_to or "auto"), "nulls": self.nulls}


@dataclass(frozen=True)
class Testing:
    """Significance tests of differences between systems."""

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


def sections(command: Callable[..., None]) -> dict[str, str]:
    """Titles under which help lists the options of a command's groups, by option."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    return {
        option.name: "LLM judges" if option.name in JUDGES else TITLES[parameter.annotation]
        for parameter in parameters
        if parameter.annotation in TITLES
        for option in fields(parameter.annotation)
    }


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command readable for typer, which knows no groups of options.

    A parameter whose type is a group becomes the options of the group; one of the formats becomes
    ``-f`` and ``--json``.
    """
    groups: dict[str, Any] = {}
    options: dict[str, Parameter] = {}
    # eval_str rather than get_type_hints, which hides options in Python 3.10
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        group: Any = parameter.annotation
        if is_dataclass(group):
            groups[name], kinds = group, get_type_hints(group, include_extras=True)
            options |= {
                one.name: _option(one.name, one.default, kinds[one.name]) for one in fields(group)
            }
        else:
            options[name] = parameter.replace(kind=Parameter.KEYWORD_ONLY)
        if group in _FORMATS:
            options["json_"] = _option("json_", False, Json)

    @wraps(command)
    def run(**values: Any) -> None:
        if values.pop("json_", False):
            values["format"] = "json"
        made = {
            name: group(**{option.name: values.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        try:
            command(**made, **values)
        finally:
            for group in made.values():
                if "executor" in vars(group):  # cached: it was used
                    group.executor.close()

    run.__signature__ = inspect.Signature([*options.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _option(name: str, default: Any, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def load(files: Files, chosen: Chosen) -> Loaded:
    """Read one file, folder or test set (with more outputs by -t), or parallel files."""
    from wholetext.io import LineFiles, read

    corpus = files.input
    if chosen.test_set is not None:
        if corpus is not None:
            raise InputError(
                "both INPUT and --test-set were given", where=corpus, next="give one of them"
            )
        corpus = f"sacrebleu:{chosen.test_set}"
    if not any((corpus, files.sources, files.translations, files.references, files.docs)):
        raise InputError(
            "nothing to read",
            next="wholetext score -s src.txt -t sys.txt -r ref.txt -d docs.txt -m chrf, "
            "or wholetext score corpus.jsonl -m chrf; `wholetext demo` shows a whole run",
        )
    return read(
        LineFiles(
            src=files.sources,
            hyps=named(files.translations),
            refs=named(files.references),
            docs=files.docs,
            corpus=corpus,
        ),
        langs=chosen.langs,
        systems=chosen.system or None,
        refs=chosen.ref or None,
        format=chosen.reader,
        segments=chosen.segments,
    )


def named(paths: list[str] | None) -> list[str | tuple[str, str]]:
    """Split ``name=FILE`` into pairs; plain paths stay, and are named after their files."""
    pairs: list[str | tuple[str, str]] = []
    for path in paths or ():
        name, equals, file = path.partition("=")
        # os.path: pathlib raises where a name is too long
        pairs.append((name, file) if equals and not os.path.exists(path) else path)  # noqa: PTH110
    return pairs


def refuse_existing(out: Path, files: Files, overwrite: bool, option: str = "--out") -> None:
    """Raise if the output file exists, unless ``overwrite``; an input file is never replaced."""
    if not out.is_file():
        return
    texts = named([*(files.translations or ()), *(files.references or ())])
    paths = [files.input, files.sources, files.docs]
    paths += [text if isinstance(text, str) else text[1] for text in texts]
    if any(path and os.path.exists(path) and out.samefile(path) for path in paths):  # noqa: PTH110
        raise InputError(
            "this is one of the input files", where=str(out), next=f"choose another {option}"
        )
    if not overwrite:
        raise InputError(
            "this file exists already",
            where=str(out),
            next=f"choose another {option}, or replace it with --overwrite",
        )
