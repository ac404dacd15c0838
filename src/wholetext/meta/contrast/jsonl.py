"""Contrastive items as JSONL: src, src_context, target, ref_context, contrastive, and what is known of each."""

from __future__ import annotations

from pathlib import Path

from wholetext.files.parsing import read_json
from wholetext.io.text import opened
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Item, Wanted


def read(path: Path, wanted: Wanted) -> ContrastSet:
    """One item per line; ``contrastive_ref_context`` gives variants a context of their own."""
    items: list[Item] = []
    langs = wanted.langs
    with opened(path) as file:
        for number, line in enumerate(file.lines(), 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            fields = Fields(read_json(line, where=where), where)
            items.append(_item(fields, f"{path.stem}-{number}"))
            if langs is None and "-" in (pair := fields.text("langs", "")):
                source, _, target = pair.partition("-")
                langs = (source, target)
    return ContrastSet(path.stem, langs or ("", ""), tuple(items))


def _item(fields: Fields, name: str) -> Item:
    source, target = fields.texts("src_context", ()), fields.texts("ref_context", ())
    texts = fields.texts("contrastive")
    own = fields.value.get("contrastive_ref_context") or [list(target)] * len(texts)
    if not isinstance(own, list) or len(own) != len(texts) or not all(isinstance(one, list) for one in own):
        raise fields.fault("contrastive_ref_context", "one list of sentences for each contrastive translation")
    wrong = [Candidate(text, tuple(map(str, context))) for text, context in zip(texts, own)]
    pronouns = [fields.text(key, "") for key in ("src_pronoun", "ref_pronoun")]
    return fields.item(
        id=fields.text("id", name), src=fields.text("src"), src_context=source,
        candidates=(Candidate(fields.text("target"), target), *wrong), type=fields.text("type", ""),
        category=":".join(part for part in pronouns if part), distance=fields.number("antecedent_distance"),
        intra=fields.flag("intrasegmental"), block=fields.text("block", ""),
    )
