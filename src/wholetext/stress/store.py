"""A stress test in a folder: the run of the systems, the figures, and the items as a contrastive set."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import count
from wholetext.scoring.results import write_run
from wholetext.stress.evaluate import Margins, Stress
from wholetext.stress.perturb import Changed, Perturbed
from wholetext.types import Corpus

FIGURES, ITEMS = "stress.json", "stress.jsonl"


def write_stress(found: Stress, folder: Path | str, *, overwrite: bool = True) -> Stress:
    """Write a run folder like any other, with the figures in stress.json and every item in stress.jsonl.

    `wholetext contrast` reads stress.jsonl; `wholetext report` shows stress.json. Returned with a note on items that
    cannot be written, if there are any.
    """
    items, left = contrastive(found.perturbed, found.results.corpus, found.margins)
    if left:
        note = (
            f"{ITEMS}: {count(left, 'item')} left out, where only the last segment was changed and nothing is left "
            "of it, or where the source has other segments"
        )
        found = replace(found, notes=(*found.notes, note))
    lines = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in items)
    figures = json.dumps(found.as_json(), ensure_ascii=False, indent=1)
    write_run(found.results, folder, {FIGURES: figures, ITEMS: lines}, overwrite=overwrite)
    return found


def contrastive(
    made: Perturbed, corpus: Corpus, margins: Margins | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Items with one right text and one changed one, and how many there are that cannot be written so.

    The current sentence is the last segment that was changed, so that all changes are in it or in its context. Where
    nothing is left of it, it is the one after it; at the end of a document, the last one that has text.
    """
    sources = {doc.id: doc.src for doc in corpus.docs}
    found = [line for one in made.items if (line := _item(one, made, sources[one.doc], margins))]
    return found, len(made.items) - len(found)


def _item(
    one: Changed, made: Perturbed, source: tuple[str, ...] | None, margins: Margins | None
) -> dict[str, Any] | None:
    original = tuple(made.original.docs[one.doc])
    at = _current(one, original)
    if at is None or (source is not None and len(source) != len(original)):
        return None
    given = source or ("",) * len(original)
    item: dict[str, Any] = {
        "id": f"{one.doc}/{one.change}/{one.dose}",
        "langs": "-".join(made.langs) if all(made.langs) else "",
        "type": one.change,
        "src": given[at],
        "src_context": given[:at],
        "target": original[at],
        "ref_context": original[:at],
        "contrastive": [one.segments[at]],
        "contrastive_ref_context": [one.segments[:at]],
        "kind": one.kind,
        "doc": one.doc,
        "dose": one.dose,
        "made": one.made,
        "sites": one.sites,
        "edits": [edit._asdict() for edit in one.edits],
    }
    if margins is not None:
        item["loss"] = {
            spec: None if loss != loss else loss
            for spec, loss in margins[one.change, one.dose, one.doc].items()
        }
    return item


def _current(one: Changed, original: tuple[str, ...]) -> int | None:
    """The first segment with text from the last edit on; if there is none, the last one with text and an edit."""
    last = max(edit.segment for edit in one.edits)
    with_text = [at for at, text in enumerate(one.segments) if text.strip()]
    after = [at for at in with_text if at >= last]
    before = [at for at in with_text if one.segments[: at + 1] != original[: at + 1]]
    return after[0] if after else before[-1] if before else None
