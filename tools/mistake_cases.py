"""Typical mistakes on the command line, run one by one: docs/troubleshooting.md is made of their answers."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SRC = ("Die Katze schlief.", "Sie war müde.", "Der Hund kam.", "Er bellte laut.")
TEXT = ("The cat was asleep.", "She was tired.", "The dog came in.", "He barked loudly.")
DOCUMENT = {"doc": "news", "src": SRC, "refs": {"A": TEXT}}
LINES = {
    "src.txt": SRC, "sysA.txt": ("The cat was sleeping.", *TEXT[1:]), "sysB.txt": ("The cat slept.", *TEXT[1:]),
    "table.csv": ("source,reference,output", "Ja.,Yes.,Yes."), "ref.txt": TEXT, "ids.txt": ("a", "a", "b", "b"), "short.txt": TEXT[:3], "empty.txt": (),
    "corpus.jsonl": (json.dumps({**DOCUMENT, "outputs": {"sysA": TEXT}}),),
    "merged.jsonl": (json.dumps({**DOCUMENT, "outputs": {"sysA": [" ".join(TEXT)]}}),),
    "hyps.jsonl": (json.dumps({**DOCUMENT, "hyps": {"sysA": TEXT}}),),
    "broken.jsonl": (json.dumps({**DOCUMENT, "outputs": {"sysA": TEXT}}), '{"doc": "two", "src": ["Ja."'),
}  # fmt: skip
FILES = "-s src.txt -t sysA.txt sysB.txt -r ref.txt -d ids.txt -l de-en"


class Mistake(NamedTuple):
    """What somebody did, and the command."""

    what: str
    command: str


MISTAKES = (
    Mistake("no input", "score -m chrf"),
    Mistake("a file that is not there", "score -t sysC.txt -r ref.txt -m chrf"),
    Mistake("outputs given as arguments", "score ref.txt sysA.txt -m chrf"),
    Mistake("an option without its file", "score -t -r ref.txt -m chrf"),
    Mistake("files with different numbers of lines", "score -t short.txt -r ref.txt -m chrf"),
    Mistake("document ids of another file", "score -t short.txt -r short.txt -d ids.txt -m chrf"),
    Mistake("the same system twice", "score -t sysA.txt sysA.txt -r ref.txt -m chrf"),
    Mistake("an empty file", "score -t empty.txt -r empty.txt -m chrf"),
    Mistake("a file that is not UTF-8", "score -t latin1.txt -r ref.txt -m chrf"),
    Mistake("a line that is not JSON", "score broken.jsonl -m chrf"),
    Mistake("a key that is called otherwise", "score hyps.jsonl -m chrf"),
    Mistake("output with other sentence breaks", "score merged.jsonl -l de-en -m chrf"),
    Mistake("a misspelled command", "scroe corpus.jsonl -m chrf"),
    Mistake("a misspelled option", f"score {FILES} --metic chrf"),
    Mistake("a format that does not exist", f"score {FILES} -m chrf -f text"),
    Mistake("an option of sacrebleu", f"score {FILES} -m bleu -tok zh"),
    Mistake("an option of COMET", f"score {FILES} -m chrf --only_system"),
    Mistake("a test set given as -t, as in sacrebleu", "score -t wmt21 -l de-en -m bleu"),
    Mistake("a misspelled metric", f"score {FILES} -m belu"),
    Mistake("a name of several metrics", f"score {FILES} -m discoscore"),
    Mistake("a view without a metric", f"score {FILES} -m context"),
    Mistake("an argument without its name", f"score {FILES} -m 'slide(6,6):chrf'"),
    Mistake("an argument that does not exist", f"score {FILES} -m 'bleu(tokenizer=13a)'"),
    Mistake("a value that does not exist", f"score {FILES} -m 'bleu(tokenize=moses)'"),
    Mistake("a parenthesis that is not closed", f"score {FILES} -m 'slide(size=2'"),
    Mistake("windows longer than every document", f"score {FILES} -m 'slide(size=50,step=50):chrf'"),
    Mistake("a metric that needs a reference, without one", "score -s src.txt -t sysA.txt -m chrf"),
    Mistake("a model for a metric that has none", f"score {FILES} -m chrf@minilm"),
    Mistake("a model folder that is not there", f"score {FILES} -m 'comet@./my-model'"),
    Mistake("a model chosen by a language that is not known", "score -t sysA.txt -r ref.txt -m bertscore"),
    Mistake("a baseline that is not a system", f"score {FILES} -m chrf --baseline sysa"),
    Mistake("a significance level in per cent", f"score {FILES} -m chrf --alpha 5"),
    Mistake("a run folder that is in use", f"score {FILES} -m chrf --out run"),
    Mistake("a folder that is not a run", "compare outputs"),
    Mistake("a metric that the run does not have", "compare run -m bleu"),
    Mistake("a gate against an unknown system", "gate run --baseline prod"),
    Mistake("a report of an empty folder", "report outputs"),
    Mistake("meta-evaluation of a corpus without human scores", "meta corpus.jsonl -m chrf"),
    Mistake("a glossary that is not there", f"score {FILES} -m 'terms(glossary=terms.tsv)'"),
    Mistake("terms without a glossary", f"score {FILES} -m terms"),
    Mistake("columns that the table does not have", "score table.csv --columns source=Quelle -m chrf"),
    Mistake("a format that cannot be written", "convert corpus.jsonl corpus.docx"),
    Mistake("a choice without candidates", "pick -s src.txt -t sysA.txt -m chrf --mbr -o best.txt"),
    Mistake("a topic that does not exist", "help tokenizers"),
    Mistake("a control that does not exist", f"score {FILES} -m chrf --controls random"),
    Mistake("a tracker that no package provides", f"score {FILES} -m chrf --log tensorboard"),
)


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder with the files that the commands name, as the current one; with a cache of its own."""
    import warnings

    import wholetext as wt

    before, cache, columns = Path.cwd(), os.environ.get("WHOLETEXT_CACHE"), os.environ.get("COLUMNS")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "texts"
        folder.mkdir()
        for file, lines in LINES.items():
            (folder / file).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        (folder / "latin1.txt").write_bytes("Die Kätzin.\n".encode("latin-1") * 4)
        (folder / "outputs").mkdir()
        os.environ |= {"WHOLETEXT_CACHE": str(folder / "cache"), "COLUMNS": "80"}
        os.chdir(folder)
        try:
            loaded = wt.read(wt.LineFiles(src="src.txt", hyps=["sysA.txt", "sysB.txt"], refs=["ref.txt"],
                                          docs="ids.txt"), langs="de-en")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wt.WholetextWarning)
                wt.score(loaded, ["chrf"], options=wt.Options(cache=False), significance=wt.Significance(draws=50), out="run")
            yield folder
        finally:
            os.chdir(before)
            for key, value in (("WHOLETEXT_CACHE", cache), ("COLUMNS", columns)):
                os.environ.pop(key) if value is None else os.environ.update({key: value})


def answer(mistake: Mistake) -> tuple[int, str]:
    """Exit code and what is said on stderr, without notes on the input."""
    from wholetext.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(shlex.split(mistake.command))
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
    said = [line for line in err.getvalue().splitlines() if not line.startswith("warning:")]
    return code, "\n".join(line for line in said if line.strip())


def parts(said: str) -> tuple[str, str]:
    """What and where, and the next step, of an answer."""
    what, _, step = said.partition("\n  → ")
    return what.removeprefix("error: "), step


PLAIN = ("did you mean", "choose one of", "choose from", "check the path", "check that this", "e.g. ", "leave out @", "it has ",
         "loggers: ", "arguments read ", "write slide(", "give a level ", "`wholetext score -h` ")  # the answer says it all


def page() -> str:
    """docs/troubleshooting.md."""
    lines = [
        "# Troubleshooting", "",
        "An answer says what is wrong and where, then the next step (after →); the exit code is 2. Answers "
        "that say all there is to say (a misspelled name, a value that does not exist) are not listed here. A traceback is a bug: please report it (`--debug` shows "
        "where it happened). Made by `make docs` with files as in the [tutorial](tutorial.md).", "",
    ]
    with workplace():
        for mistake in MISTAKES:
            what, step = map(_cell, parts(answer(mistake)[1]))
            if step.startswith(PLAIN):
                continue
            command = f"wholetext {mistake.command}".replace(FILES, "…")
            lines.append(f"- **{mistake.what}**: `{command}`<br>{what} → {step}")
    lines += ["", f"… abbreviates `{FILES}`.", "", MORE]
    return "\n".join(lines)


# ruff: noqa: E501  rows of a table
MORE = """## Not an error, but unexpected
| what you see | why | what to do |
|---|---|---|
| `all 4 segments are taken as one document` | no document ids were given | `-d ids.txt`, one id per line, or a format with documents ([formats](formats.md)) |
| `12 documents only: with fewer than 20 the intervals are too narrow` | intervals are over documents | evaluate on more documents ([significance](significance.md)) |
| another BLEU than sacrebleu's | `-m d-bleu` scores whole documents; `-m bleu` is sacrebleu's | compare the signatures (`--signatures`) |
| another COMET than unbabel-comet's | context, precision, or how long text is cut | [neural metrics](neural.md) |
| nothing happens for a while | a model is read, or sources are encoded; the bars count finished rows | `-q` hides bars; `wholetext score --plan` says how much there is to do |
| a note with `!` below the table | something was cut, dropped or guessed | [notes](notes.md) lists all |
"""


def _cell(text: str) -> str:
    """An answer on one line of a table; what stands under a caret keeps its place."""
    text = re.sub(r"\n  (.*)\n  ( *)\^", lambda found: f" `{found[1]}` at column {len(found[2]) + 1}", text)
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")
