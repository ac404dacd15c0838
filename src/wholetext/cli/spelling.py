"""Spellings of sacrebleu and COMET: several values after one option, metrics with commas."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence

from wholetext.errors import InputError, SpecError

OUTPUTS = {"-t", "--translations"}
FILES = OUTPUTS | {"-r", "--references"}  # take several values, as COMET's do: -t a.txt b.txt
METRICS = {"-m", "--metric", "--metrics"}  # as sacrebleu's: -m chrf bleu
ONE_METRIC = {"sweep", "explain"}  # commands with a single metric
TOKENS_PER_SEGMENT = 64  # COMET's default of 16 segments is our default of 1024 tokens
# options of sacrebleu and COMET → what to write here
OTHERS = {
    "-i": "outputs are given with -t FILE …, references with -r FILE",
    "--input": "outputs are given with -t FILE …, references with -r FILE",
    "-tok": "it is an argument of the metric: -m 'bleu(tokenize=zh)'",
    "--tokenize": "it is an argument of the metric: -m 'bleu(tokenize=zh)'",
    "-lc": "it is an argument of the metric: -m 'bleu(lowercase=true)'",
    "--lowercase": "it is an argument of the metric: -m 'bleu(lowercase=true)'",
    "--smooth-method": "it is an argument of the metric: -m 'bleu(smooth=floor)'",
    "--chrf-word-order": "it is an argument of the metric: -m 'chrf(word_order=2)', or -m chrf++",
    "--paired-bs": "systems are always tested in pairs: --test bootstrap --baseline NAME",
    "--paired-ar": "systems are always tested in pairs: --test randomization --baseline NAME",
    "--paired-bs-n": "it is called --draws here",
    "--paired-ar-n": "it is called --draws here",
    "-ci": "95 % intervals are always printed",
    "--confidence": "95 % intervals are always printed",
    "--confidence-n": "the number of bootstrap resamples is --draws with --test bootstrap",
    "--num-refs": "several references are given as files: -r refA.txt refB.txt",
    "--detail": "scores of documents and segments are in results.jsonl of --out FOLDER",
    "--citation": "`wholetext show METRIC` names the papers of a metric and of its parameters",
    "--list": "`wholetext list` lists metrics; test sets are those of sacrebleu: --test-set wmt21",
    "-sl": "scores of segments are in results.jsonl of --out FOLDER",
    "--sentence-level": "scores of segments are in results.jsonl of --out FOLDER",
    "--only_system": "-b prints scores of systems only",
    "--to_json": "-f json prints JSON: wholetext score … -f json > FILE",
    "--disable_cache": "it is called --no-cache here",
    "--num_workers": "it is called --workers here (processes)",
    "--accelerator": "it is called --device here (cpu, cuda)",
    "--model_storage_path": "models are read from the cache of the Hugging Face Hub: set HF_HOME",
    "--enable-context": "context is a view: -m doc-comet, or 'context(prev=2):comet@MODEL'",
    "--lang": "the language pair is given with -l, such as -l de-en",
    "--seed_everything": "it is called --seed here",
}
_FILE = re.compile(r"[^@(]*/|.*\.(jsonl?|tsv|csv|txt|xml|sgm|gz)$", re.I)
_TEST_SET = re.compile(r"(wmt|iwslt|mtnt)[0-9][\w./-]*", re.I)  # sacrebleu's: -t wmt21


def spread(argv: list[str]) -> list[str]:
    """Repeat options before each of their values: ``-t a b`` → ``-t a -t b``; so for ``-m``."""
    several = FILES if {*argv[:1]} & ONE_METRIC else FILES | METRICS
    if argv[:1] == ["score"] and (other := next((word for word in argv if word in OTHERS), "")):
        raise InputError(
            f"{other} is an option of another tool", where="wholetext score", next=OTHERS[other]
        )
    out: list[str] = []
    current = first = ""
    for word, following in zip(argv, [*argv[1:], "--"]):
        if word in several:
            if following.startswith("-") and following != "-":
                kind = "metric" if word in METRICS else "file"
                raise InputError(
                    f"{word} is given without a {kind}",
                    next=f"write {word} {kind.upper()} …, or leave it out",
                )
            current = first = word
            continue
        if current in OUTPUTS and _TEST_SET.fullmatch(word) and not os.path.exists(word):  # noqa: PTH110
            raise InputError(
                f"{word} is a test set, and -t takes outputs",
                where=f"wholetext {argv[0]}",
                next=f"write --test-set {word} -l de-en -t FILE …",
            )
        option = word.startswith("-") and word != "-"
        is_input = current in METRICS and not first and not _is_metric(word)
        if option or is_input:  # score -m chrf corpus.jsonl
            current = ""
        out += [current, word] if current else [word]
        first = ""
    return out


def _is_metric(word: str) -> bool:
    """Tell a further metric after ``-m`` from the input file or folder."""
    from wholetext.registry import canonical, names

    name = re.split(r"[,(@]", re.sub(r"^[a-z]+(\([^)]*\))?:", "", word))[0]
    # os.path: pathlib raises where a name is too long
    return canonical(name) in names() or not (os.path.exists(word) or _FILE.match(word))  # noqa: PTH110


def split_metrics(texts: list[str] | None) -> list[str] | None:
    """Split metrics at commas, except those between parentheses, which separate arguments."""
    return None if texts is None else [part for text in texts for part in _parts(text)]


def _parts(text: str) -> list[str]:
    if "," not in text or os.path.exists(text.partition("@")[2]):  # noqa: PTH110
        return [text]  # the folder of a model may have commas
    parts, depth, quote = [""], 0, ""
    for char in text:
        quote = "" if char == quote else quote or (char if depth and char in "\"'" else "")
        depth += 0 if quote else {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    if not all(part.strip() for part in parts):
        raise SpecError(
            f"a metric is missing beside a comma\n  in {text}", next="write metrics as chrf,bleu"
        )
    return [part.strip() for part in parts]


def with_model(metrics: Sequence[str] | None, model: str) -> list[str]:
    """Apply COMET's ``--model`` to metrics that take a model and name none; alone, to ``comet``."""
    from wholetext.registry import parameters, scorer

    if not metrics:
        return [f"comet@{model}"]
    changed = [
        f"{text}@{model}"
        if "@" not in text and "model" in parameters(type(scorer(text).metric))
        else text
        for text in metrics
    ]
    if changed == [*metrics]:
        raise SpecError(
            f"--model {model}: none of {', '.join(metrics)} takes a model that it does not name",
            next=f"leave out --model, or write -m comet@{model}",
        )
    return changed
