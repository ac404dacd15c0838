"""The demo corpus: short documents, German→English and Chinese→English, with four made-up systems.

The texts are in ``PAIR.jsonl`` beside this file, one document per line: ``doc_id``, ``domain``,
``src`` (segments), ``refs`` (name → segments), ``outputs`` (system → segments). They were written
for wholetext and are dedicated to the public domain (CC0 1.0).
"""

from __future__ import annotations

import json
from importlib.resources import files

from wholetext.errors import known
from wholetext.types import Corpus, Document, Output

PAIRS = ("de-en", "zh-en")


def load(pair: str) -> tuple[Corpus, tuple[Output, ...]]:
    """Load the corpus of a language pair and the outputs of all systems, in file order."""
    known("language pair", pair, PAIRS, where="the demo corpus")
    text = files(__package__).joinpath(f"{pair}.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.split("\n") if line]
    docs = tuple(
        Document(
            id=record["doc_id"],
            src=tuple(record["src"]),
            refs={name: tuple(segments) for name, segments in record["refs"].items()},
            meta={"domain": record["domain"]},
        )
        for record in records
    )
    outputs = tuple(
        Output(system, {record["doc_id"]: tuple(record["outputs"][system]) for record in records})
        for system in records[0]["outputs"]
    )
    source, target = pair.split("-")
    return Corpus(id=f"demo-{pair}", langs=(source, target), docs=docs), outputs
