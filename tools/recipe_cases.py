"""Thirteen tasks of everyday evaluation, run one by one: docs/recipes.md is made of their commands and outputs."""

# ruff: noqa: E501  lines of a page
from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILES = "-s src.txt -r ref.txt -d docids.txt -l de-en"
RATINGS = {"coherent": 90, "patchwork": 70, "literal": 40}  # invented, for a column of human scores


class Task(NamedTuple):
    """A question, the command, the first and last line of its output that are shown, what it means, where to read on."""

    what: str
    command: str
    first: str
    last: str
    means: str
    more: str
    code: int = 0


TASKS = (
    Task("Score two systems", f"score {FILES} -t coherent.txt patchwork.txt -m chrf d-blonde --out run", "", "coherent  ",
         "The finding comes first, then one row per system. `docids.txt` has one document id per line; without it "
         "nothing is tested.", "tutorial"),
    Task("Score what an LLM wrote, with its own sentence breaks",
         f"score {FILES} -t llm.jsonl -m chrf --align", "             chrf", "llm ",
         "Each line of `llm.jsonl` has a document's `id` and `response`. Notes say what was guessed and how it was aligned.",
         "align"),
    Task("Score a spreadsheet", "score study.csv -l de-en -m chrf", "patchwork leads", "literal ",
         "Columns are guessed from the header, and the guess is printed; `--columns source=…,system=…` names them.", "formats"),
    Task("Convert a corpus", "convert study.csv corpus.jsonl -l de-en", "written", "written",
         "The format is told by the name of the file: .jsonl, .csv, .tsv, .xlsx, or a folder.", "formats"),
    Task("Compare with a baseline", "compare run --baseline coherent", "chrf ↑  against", "patchwork",
         "Δ with its interval, p and corrected p; nothing is scored again.", "significance"),
    Task("See why a document scores low", "explain run --system patchwork --doc news-ferry", "   patchwork", "   large",
         "`[+ +]` is extra, `[- -]` is missing: a ferry became *she*.", "blonde"),
    Task("Make a report", "report run -o report.html", "report", "report",
         "One HTML file that works offline; `--open` opens it.", "report"),
    Task("Stop a release that got worse", "gate run --baseline coherent --metric d-blonde", "failed", "failed",
         "The exit code is 1, so a pipeline stops.", "gate", 1),
    Task("Rank by several metrics", "rank run", "#   system", "#1  coherent",
         "One value per system, its interval and range of ranks. Two metrics that disagree leave both in one cluster.", "ranking"),
    Task("Check a glossary", f"score {FILES} -t coherent.txt literal.txt -m 'terms(glossary=glossary.tsv)'",
         "          terms", "literal", "Per cent of the required terms that an output uses.", "terms"),
    Task("Choose the best of several outputs",
         f"pick {FILES} -t coherent.txt patchwork.txt literal.txt -m chrf --mbr -o best.txt", "112 segments", "    ",
         "MBR without looking at the reference gets 60 % of what a perfect choice would gain.", "pick"),
    Task("See what a metric gives to nonsense",
         f"score {FILES} -t coherent.txt literal.txt -m chrf --controls copy,shuffled", "control", "coherent (seed",
         "Rows outside ranks and tests: what you get for copying the source.", "limits"),
    Task("Ask whether a metric agrees with people", "meta study.csv -l de-en -m chrf bleu", "By ", "chance",
         "The table has a column of human scores (invented here). Read each value against its chance level.", "meta"),
)  # fmt: skip


def write_files(folder: Path) -> None:
    """The bundled documents as plain files, LLM responses, a spreadsheet and a glossary."""
    from wholetext.demo import load

    corpus, outputs = load("de-en")
    texts = {output.system: output.docs for output in outputs}
    lines = {"src": [line for doc in corpus.docs for line in doc.src or ()],
             "ref": [line for doc in corpus.docs for line in doc.refs["human"]],
             "docids": [doc.id for doc in corpus.docs for _ in range(len(doc))],
             **{name: [line for doc in corpus.docs for line in docs[doc.id]] for name, docs in texts.items()}}  # fmt: skip
    for name, written in lines.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in written), "utf-8")
    with (folder / "llm.jsonl").open("w", encoding="utf-8") as out:
        for doc in corpus.docs:
            said = texts["coherent"][doc.id]
            response = "\n\n".join(" ".join(said[i : i + 3]) for i in range(0, len(said), 3))
            out.write(json.dumps({"id": doc.id, "response": response}, ensure_ascii=False) + "\n")
    with (folder / "study.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["File", "Source text", "Human translation", "Model", "Response", "Rating"])
        for name, rating in RATINGS.items():
            for doc in corpus.docs:
                rows = zip(doc.src or (), doc.refs["human"], texts[name][doc.id])
                table.writerows([doc.id, src, ref, name, text, rating + i % 5] for i, (src, ref, text) in enumerate(rows))
    (folder / "glossary.tsv").write_text("Fähre\tferry\nBürgermeisterin\tmayor\nAkku\tbattery\n", "utf-8")


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder with the files, as the current one."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        os.chdir(name)
        os.environ["COLUMNS"] = "80"
        try:
            yield Path(name)
        finally:
            os.chdir(before)
            os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def run(task: Task) -> tuple[int, str]:
    """Exit code of a task's command, and what it prints."""
    from wholetext.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(shlex.split(task.command))
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
    return code, out.getvalue() + ("" if code in (0, task.code) else err.getvalue())


def shown(task: Task, printed: str) -> str:
    """The lines of the output that the page has."""
    lines = [line.rstrip() for line in printed.splitlines()]
    start = next(place for place, line in enumerate(lines) if line.startswith(task.first))
    end = next(place for place, line in enumerate(lines[start:], start) if line.startswith(task.last))
    return "\n".join(lines[start : end + 1])


def page() -> str:
    """docs/recipes.md."""
    parts = [HEAD]
    with workplace():
        for task in TASKS:
            printed = shown(task, run(task)[1])
            command = f"wholetext {task.command}".replace(FILES, "…")
            parts.append(f"## {task.what}\n```text\n$ {command}\n{printed}\n```\n{task.means} [More]({task.more}.md)\n")
    return "\n".join(parts)


HEAD = f"""# Thirteen tasks

Made by `make docs`, which runs the commands on the bundled documents as plain files. … abbreviates
`{FILES}`: source, reference, one document id per line, languages. Errors are in [troubleshooting](troubleshooting.md).
"""


if __name__ == "__main__":
    (Path(__file__).resolve().parent.parent / "docs" / "recipes.md").write_text(page(), "utf-8")
