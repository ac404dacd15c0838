"""Options that several commands share, in groups, and the reading of input by them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from wholetext import slices
from wholetext.errors import InputError, known
from wholetext.io.formats import BUILTIN

if TYPE_CHECKING:
    from wholetext.executor import Executor
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import Options
    from wholetext.scoring.results import Results
    from wholetext.scoring.significance.compare import Significance

_COMMA = re.compile(r",(?![^()]*\))")  # outside parentheses
_TEST_SET = re.compile(r"(wmt|iwslt|mtnt)[0-9][\w./-]*", re.I)  # of sacrebleu: -t wmt21


# axes of --sweep → their values, where these are words
AXES: Mapping[str, tuple[str, ...]] = {
    "context": (),
    "window": (),
    "hyp": ("ref", "own"),
    "source": ("same", "shuffled", "other"),
    "step": (),
    "partial": ("drop", "include", "weighted"),
}


# ---------------------------------------------------------------- declaring options


def option(
    *names: str, low: float | None = None, high: float | None = None, rare: bool = False, **how: Any
) -> Parameter:
    """Declare an option: its names, its bounds, and whether only ``--help-all`` lists it."""
    if (low, high) != (None, None):
        how["validator"] = Number(gte=low, lte=high)
    return Parameter(name=names, show=not rare, negative=how.pop("negative", ()), **how)


# an option that takes one value or more: ``-t a b``, or ``-t a -t b``
several = partial(option, consume_multiple=(1, None))


def metrics_option(help: str) -> Parameter:
    """Declare the option ``-m``, which takes one metric or several."""
    return several(
        "-m",
        "--metric",
        "--metrics",
        converter=split_metrics,
        help=f"{help}: -m `METRIC` METRIC, or METRIC,METRIC.",
    )


def split_metrics(kind: Any, tokens: Sequence[Any]) -> list[str]:
    """Split metrics at commas, except those between parentheses, which separate arguments."""
    from wholetext.registry import canonical, names

    metrics: list[str] = []
    for text in (str(token.value) for token in tokens):
        # os.path: pathlib raises where a name is too long
        if os.path.exists(text) and canonical(text) not in names():  # noqa: PTH110
            raise InputError(
                f"{text} is a file or folder, and -m takes metrics",
                next=f"write {text} before -m",
            )
        if os.path.exists(text.partition("@")[2]):  # noqa: PTH110
            metrics.append(text)  # the folder of a model may have commas
        else:
            metrics += [part.strip() for part in _COMMA.split(text) if part.strip()]
    return metrics


def seed_or_none(text: str) -> int | None:
    """Read a seed: an integer, or ``none`` for a random one, as in SACREBLEU_SEED."""
    from wholetext.files.parsing import integer

    if text.lower() == "none":
        return None
    return integer(text, low=0, high=2**63 - 1, where="--seed")


# ---------------------------------------------------------------- single options

Langs = Annotated[str | None, option("-l", "--langs", help="Language `PAIR`, e.g. de-en.")]
TestSet = Annotated[
    str | None,
    option(
        "--test-set",
        rare=True,
        help="sacreBLEU test set to take source and references from.",
    ),
]
Reader = Annotated[
    str | None,
    option(
        "--reader",
        rare=True,
        help=f"`FORMAT` of the input (default: detected): {', '.join(BUILTIN)}, or that of a plug-in.",
    ),
]
Segments = Annotated[
    Literal["auto", "p", "lines", "json", "none"],
    option(
        "--segments",
        rare=True,
        help="Segments of WMT25/26 documents: <p>, lines, JSON strings, or none (one segment).",
    ),
]
Columns = Annotated[
    list[str] | None,
    several(
        "--columns",
        help="What the columns of a table or keys of JSONL hold, where it is not guessed right: "
        "`ROLE`=COLUMN,… with source, reference, output, system, document, human or domain; a "
        "number counts columns from 1.",
    ),
]
Systems = Annotated[
    list[str] | None,
    several("--system", rare=True, help="Restrict to these systems."),
]
Metrics = Annotated[
    list[str] | None,
    metrics_option(
        "Metrics to compute, [view:]metric[@model] (default: document-level ones that are "
        "installed)"
    ),
]
Out = Annotated[
    Path | None,
    option(
        "-o",
        "--out",
        help="Output run `FOLDER` (read by compare, explain and report).",
    ),
]
Overwrite = Annotated[
    bool, option("--overwrite", help="Replace what --out already has (a run, a file).")
]
_FORMAT = option("-f", "--format", help="Output format; --json is -f json.")
TableOrJson = Annotated[Literal["table", "json"], _FORMAT]
TableJsonTsv = Annotated[Literal["table", "json", "tsv"], _FORMAT]
Format = Annotated[Literal["table", "json", "tsv", "latex"], _FORMAT]
FormatOfScores = Annotated[Literal["table", "json", "tsv", "latex", "markdown"], _FORMAT]
Signatures = Annotated[bool, option("--signatures", rare=True, help="Print full signatures.")]
ByDomain = Annotated[
    bool, option("--by-domain", rare=True, help="Also show scores or ranks within each domain.")
]
Baseline = Annotated[
    str | None,
    option(
        "--baseline",
        help="Baseline system for paired tests (default: the best system).",
    ),
]
Seed = Annotated[
    int | None,
    option(
        "--seed",
        rare=True,
        help="Random seed: `N`, or none for a different one each time.",
        env_var="SACREBLEU_SEED",
        converter=lambda kind, tokens: seed_or_none(tokens[0].value),
    ),
]
Alpha = Annotated[float, option("--alpha", rare=True, help="Significance level `P`.")]
Golds = Annotated[
    list[str] | None,
    several("--gold", help="Human scores to use (default: MQM if available)."),
]
Joiner = Annotated[
    Literal["auto", "space", "none"],
    option(
        "--joiner",
        rare=True,
        help="What joins the segments of a paragraph; auto = by language.",
    ),
]
SweepGrid = Annotated[
    list[str] | None,
    several(
        "--sweep",
        rare=True,
        help="Instead, a grid of `SETTING`s: context=N or window=N, the largest size; with "
        "hyp=ref,own, source=same,shuffled,other, step=1,2 or partial=drop.",
    ),
]
RunFolder = Annotated[Path, Parameter(help="`RUN` folder written by `wholetext score --out`.")]
Resamples = Annotated[
    int, option("--draws", low=1, rare=True, help="Number of bootstrap resamples of documents.")
]
TestDraws = Annotated[
    int,
    option(
        "--draws", low=0, rare=True, help="Number of resamples per significance test; 0 = no tests."
    ),
]
_LENGTHS = option("--k", help="Paragraph `LENGTHS` in segments, e.g. 1..10 or 1,5,10.")
Lengths = Annotated[str, _LENGTHS]
LengthsIfAny = Annotated[str | None, _LENGTHS]
Device = Annotated[
    str,
    option(
        "--device",
        rare=True,
        help="`DEVICE` of models: auto, cpu, cuda or mps.",
    ),
]
Quiet = Annotated[bool, option("-q", "--quiet", rare=True, help="Do not show progress or hints.")]
Decimals = Annotated[
    int | None,
    option(
        "-w",
        "--decimals",
        low=0,
        high=12,
        rare=True,
        help="Decimals of printed scores (default: by the metric's scale).",
    ),
]
Workers = Annotated[
    int | None,
    option(
        "--workers",
        low=1,
        rare=True,
        help="Number of workers; local processes unless --on names others.",
    ),
]
Nulls = Annotated[
    Literal["count", "worst", "drop"] | None,
    option(
        "--nulls",
        rare=True,
        help="Omissions and additions found by alignment: score them as text (default), give them "
        "the metric's worst score, or drop them.",
    ),
]


# ---------------------------------------------------------------- groups of options


@Parameter(name="*", group="Input")
@dataclass(frozen=True)
class Files:
    """Files to read: one file or folder, or parallel text files."""

    input: Annotated[
        str | None,
        Parameter(
            help="JSONL, CSV, TSV, .xlsx or WMT file, or folder of an EvalSet or WMT25/26 (with -l)."
        ),
    ] = None
    _: KW_ONLY
    sources: Annotated[
        str | None, option("-s", "--sources", help="Source `FILE`, one segment per line.")
    ] = None
    translations: Annotated[
        list[str] | None,
        several(
            "-t",
            "--translations",
            help="System outputs, one `FILE` or NAME=FILE per system, or a folder: of WMT's files, "
            "or of one file per document.",
        ),
    ] = None
    references: Annotated[
        list[str] | None, several("-r", "--references", help="References, one `FILE` each.")
    ] = None
    docs: Annotated[
        str | None, option("-d", "--docids", help="`FILE` with one document id per line.")
    ] = None


@Parameter(name="*", group="Input")
@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Format of the input, and the part of it to use."""

    langs: Langs = None
    test_set: TestSet = None
    reader: Reader = None
    columns: Columns = None
    system: Systems = None
    ref: Annotated[
        list[str] | None,
        several(
            "--ref",
            rare=True,
            help="References to use by `NAME`, or all (EvalSets: the standard one).",
        ),
    ] = None
    segments: Segments = "auto"


@Parameter(name="*", group="Models and processors")
@dataclass(frozen=True, kw_only=True)
class Execution:
    """How models are run."""

    no_cache: Annotated[
        bool, option("--no-cache", rare=True, help="Disable the cache of scores.")
    ] = False
    device: Device = "auto"
    dtype: Annotated[
        str,
        option(
            "--dtype",
            rare=True,
            help="Numeric `PRECISION` of models: fp32, bf16 or fp16; fp32 alone on a CPU.",
        ),
    ] = "fp32"
    batch_tokens: Annotated[
        int,
        option(
            "--batch-tokens",
            low=1,
            rare=True,
            help="Maximum number of tokens per batch, padding included.",
        ),
    ] = 1024
    on: Annotated[
        str | None,
        option(
            "--on",
            rare=True,
            help="`WHERE` to compute: local, processes, or a cluster: ray, ray://HOST:PORT.",
        ),
    ] = None
    workers: Workers = None
    gpus: Annotated[
        int | None,
        option(
            "--gpus",
            low=0,
            rare=True,
            help="Number of GPUs to use, with one worker each by default; 0 = --device cpu.",
        ),
    ] = None
    endpoint: Annotated[
        str,
        option(
            "--endpoint",
            env_var="OPENAI_BASE_URL",
            rare=True,
            group="LLM judges",
            help="`URL` of the OpenAI-compatible server of judges.",
        ),
    ] = ""
    parallel: Annotated[
        int,
        option(
            "--parallel",
            low=1,
            rare=True,
            group="LLM judges",
            help="Maximum number of parallel calls to judges.",
        ),
    ] = 8
    timeout: Annotated[
        float,
        option(
            "--timeout",
            rare=True,
            group="LLM judges",
            help="Maximum number of `SECONDS` per call to a judge.",
        ),
    ] = 600
    prices: Annotated[
        str,
        option(
            "--prices",
            env_var="WHOLETEXT_PRICES",
            rare=True,
            group="LLM judges",
            help="`FILE` with prices of judges' models (TOML).",
        ),
    ] = ""
    budget: Annotated[
        float | None,
        option(
            "--budget",
            rare=True,
            group="LLM judges",
            help="Maximum cost of calls to judges (needs --prices); answers are cached.",
        ),
    ] = None

    def options(self, **others: Any) -> Options:
        """Make the library's options; ``others`` are passed on."""
        from wholetext.scoring.evaluate import Options

        judging = (self.endpoint, self.parallel, self.timeout)
        calls = None
        if (*judging, self.budget, self.prices) != ("", 8, 600, None, ""):
            make_calls = slices.required("calls", "options of judges")
            calls = make_calls(*judging, budget=self.budget, prices=self.prices)
        return Options(
            cache=not self.no_cache,
            device="cpu" if self.gpus == 0 else self.device,  # as COMET's --gpus 0
            dtype=self.dtype,
            batch_tokens=self.batch_tokens,
            calls=calls,
            executor=self.executor if self.on or self.workers or self.gpus else "local",
            **others,
        )

    @cached_property
    def executor(self) -> Executor:
        """The executor of the command, whose workers end with it."""
        from wholetext.executor import Executor

        os.environ.setdefault("PYTHONSAFEPATH", "1")  # workers import nothing from the folder
        on = self.on or ("processes" if self.workers or self.gpus else "local")
        return Executor(on, self.workers, self.gpus or None)


@Parameter(name="*", group="Alignment")
@dataclass(frozen=True, kw_only=True)
class Aligning:
    """Alignment of outputs whose segments differ from those of the document."""

    align: Annotated[
        bool,
        option(
            "--align",
            help="First align outputs whose number of segments differs from the source's.",
        ),
    ] = False
    align_to: Annotated[
        str | None,
        option(
            "--align-to",
            rare=True,
            help="Align to: auto (a reference if available), source, or a reference by NAME.",
        ),
    ] = None
    nulls: Nulls = None


@Parameter(name="*", group="Significance tests")
@dataclass(frozen=True, kw_only=True)
class Testing:
    """Significance tests of differences between systems; None where an option is not given."""

    resample: Annotated[
        Literal["documents", "segments"] | None,
        option(
            "--resample",
            rare=True,
            help="Unit that is resampled in significance tests (default: documents).",
        ),
    ] = None
    test: Annotated[
        Literal["randomization", "bootstrap", "bootstrap-centred"] | None,
        option("--test", rare=True, help="Paired significance test (default: randomization)."),
    ] = None
    draws: Annotated[
        int | None,
        option(
            "--draws",
            low=0,
            rare=True,
            help="Number of trials (default 10,000) or bootstrap resamples (default 1,000); 0: none.",
        ),
    ] = None
    seed: Annotated[
        str | None,
        option(
            "--seed",
            rare=True,
            help="Random seed: `N`, or none for a different one each time "
            "(default: $SACREBLEU_SEED, or 12345).",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        option("--alpha", rare=True, help="Significance level `P` (default: 0.05)."),
    ] = None

    def significance(self, baseline: str | None, run: Results | None = None) -> Significance | None:
        """Settings of the tests: those of the run's stored comparison, changed by the options.

        None if the stored comparison is as requested.
        """
        from wholetext.scoring.significance.compare import Significance

        stored = run.significance if run is not None else None
        changes: dict[str, Any] = {
            "test": self.test,
            "unit": self.resample and {"documents": "doc", "segments": "segment"}[self.resample],
            "draws": self.draws,
            "alpha": self.alpha,
            "baseline": baseline,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        seed = self.seed or (None if stored else os.environ.get("SACREBLEU_SEED"))
        if seed is not None:
            changes["seed"] = seed_or_none(seed)
        if stored is None:
            return Significance(**changes)
        return replace(stored, **changes) if changes else None


def sweep_settings(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read the settings of ``--sweep``: axis → its values."""
    settings: dict[str, list[str]] = {}
    for text in texts:
        axis, equals, values = text.partition("=")
        if not equals:
            step = "write context=3 or window=6; files come before --sweep"
            raise InputError(f"{text} is not a setting", where="--sweep", next=step)
        known("setting", axis, AXES, where="--sweep")
        for value in filter(None, values.split(",")):
            known(axis, value, AXES[axis] or (value,), where="--sweep")
            settings.setdefault(axis, []).append(value)
    return settings


# ---------------------------------------------------------------- reading input


def load(files: Files, chosen: Chosen, resegmented: bool = False) -> Loaded:
    """Read one file, folder or test set (with more outputs by -t), or parallel files.

    With ``resegmented``, outputs will be aligned: plain text may have other line breaks.
    """
    from wholetext.io.columns import parse_columns
    from wholetext.io.detect import read
    from wholetext.io.formats.lines import LineFiles

    corpus = files.input
    if chosen.test_set is not None:
        if corpus is not None:
            raise InputError(
                "both INPUT and --test-set were given", where=corpus, next="give one of them"
            )
        corpus = f"sacrebleu:{chosen.test_set}"
    for path in files.translations or ():
        if _TEST_SET.fullmatch(path) and not os.path.exists(path):  # noqa: PTH110
            raise InputError(
                f"{path} is a test set, and -t takes outputs",
                next=f"write --test-set {path} -l de-en -t FILE …",
            )
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
        columns=parse_columns(chosen.columns) if chosen.columns else None,
        resegmented=resegmented,
    )


def refuse_beside(mode: str, options: Mapping[str, object]) -> None:
    """Raise if an option was given that has no effect beside ``mode``."""
    for name, value in options.items():
        if value:
            raise InputError(f"{name} has no effect beside {mode}", next=f"leave out {name}")


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
