"""Write a stress test: the run of the systems, the figures, and the items as a contrastive set."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import count
from wholetext.scoring.results import write_run
from wholetext.stress.evaluate import Margins, Stress
from wholetext.stress.perturbation import Changed, Perturbed
from wholetext.types import Corpus

FIGURES, ITEMS = "stress.json", "stress.jsonl"


def write_stress(stress: Stress, folder: Path | str, *, overwrite: bool = True) -> Stress:
    """Write a run folder with the figures in stress.json and every item in stress.jsonl.

    `wholetext contrast` reads stress.jsonl; `wholetext report` shows stress.json. Returns the
    stress test, with a note if some items cannot be written.
    """
    items, left = contrastive(stress.perturbed, stress.results.corpus, stress.margins)
    if left:
        note = (
            f"{ITEMS}: {count(left, 'item')} left out, where only the last segment was changed and "
            "nothing is left of it, or where the source has other segments"
        )
        stress = replace(stress, notes=(*stress.notes, note))
    lines = "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items)
    figures = json.dumps(stress.as_json(), ensure_ascii=False, indent=1)
    write_run(stress.results, folder, {FIGURES: figures, ITEMS: lines}, overwrite=overwrite)
    return stress


def contrastive(
    made: Perturbed, corpus: Corpus, margins: Margins | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Items of original and changed text, and the number of those that cannot be written.

    The current sentence is the last segment that was changed, so that all changes are in it or in
    its context. If nothing is left of it, it is the next one, or else the last one with text.
    """
    sources = {doc.id: doc.src for doc in corpus.docs}
    lines = [_item(item, made, sources[item.doc], margins) for item in made.items]
    written = [line for line in lines if line]
    return written, len(lines) - len(written)


def _item(
    item: Changed, made: Perturbed, source: tuple[str, ...] | None, margins: Margins | None
) -> dict[str, Any] | None:
    original = tuple(made.original.docs[item.doc])
    at = _current(item, original)
    if at is None or (source is not None and len(source) != len(original)):
        return None
    source = source or ("",) * len(original)
    line: dict[str, Any] = {
        "id": f"{item.doc}/{item.change}/{item.dose}",
        "langs": "-".join(made.langs) if all(made.langs) else "",
        "type": item.change,
        "src": source[at],
        "src_context": source[:at],
        "target": original[at],
        "ref_context": original[:at],
        "contrastive": [item.segments[at]],
        "contrastive_ref_context": [item.segments[:at]],
        "kind": item.kind,
        "doc": item.doc,
        "dose": item.dose,
        "made": item.made,
        "sites": item.sites,
        "edits": [edit._asdict() for edit in item.edits],
    }
    if margins is not None:
        line["loss"] = {
            spec: None if loss != loss else loss
            for spec, loss in margins[item.change, item.dose, item.doc].items()
        }
    return line


def _current(item: Changed, original: tuple[str, ...]) -> int | None:
    """The first segment with text from the last edit on, else the last changed one with text."""
    last = max(edit.segment for edit in item.edits)
    with_text = [at for at, text in enumerate(item.segments) if text.strip()]
    after = [at for at in with_text if at >= last]
    before = [at for at in with_text if item.segments[: at + 1] != original[: at + 1]]
    return after[0] if after else before[-1] if before else None
