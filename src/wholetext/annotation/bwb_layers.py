"""What the layers of BWB say about outputs: names kept, entities named alike, pronouns kept.

Jiang et al. 2023 annotated the reference and the source; outputs are compared with the reference
sentence by sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wholetext.io.detect import read
from wholetext.io.formats.bwb import read_layers
from wholetext.io.formats.bwb_layers import AnnotatedLine
from wholetext.metrics.blonde.categories import load_table

Chapters = Mapping[str, Sequence[AnnotatedLine]]
GENDERS = ("masculine", "feminine", "neuter", "epicene")
MEASURES = ("names", "entities", *GENDERS, "omitted")


@dataclass(frozen=True)
class LayerStatistics:
    """Counts of marks, and what outputs keep of them."""

    sentences: int
    counts: Mapping[str, int]  # entity types, terms, pronouns, omitted pronouns, quotations
    kept: Mapping[str, Mapping[str, float]]  # output → MEASURES → share; NaN: nothing is marked
    slips: tuple[str, ...]  # marks that could not be read in full


def layer_statistics(root: Path) -> LayerStatistics:
    """Count the marks of the reference and what each output, and the reference itself, keeps.

    ``names`` are terms that the same sentence of the output has; ``entities`` those named at least
    twice whose name is the same, and there, each time; pronouns count per sentence and gender, as
    in BlonDe; ``omitted`` are pronouns that the source omits.
    """
    chapters, loaded = read_layers(root), read(root)
    lines = [line for part in chapters.values() for line in part]
    kinds = Counter(mention.type for line in lines for mention in line.mentions)
    counts = {kind: kinds[kind] for kind in ("PER", "FAC", "GPE", "LOC", "VEH", "ORG")}
    counts |= {
        "terms": sum(bool(mention.term) for line in lines for mention in line.mentions),
        "pronouns": kinds["P"] + kinds["O"],
        "omitted in the source": kinds["O"],
        "quotations": sum(len(line.quotations) for line in lines),
    }
    texts = {name: [line.text for line in part] for name, part in chapters.items()}
    outputs = {"reference": texts, **{output.system: output.docs for output in loaded.outputs}}
    kept = {name: _kept(chapters, docs) for name, docs in outputs.items()}
    return LayerStatistics(
        len(lines), counts, kept, tuple(slip for line in lines for slip in line.slips)
    )


def _kept(chapters: Chapters, docs: Mapping[str, Sequence[str]]) -> dict[str, float]:
    kept, marked = Counter[str](), Counter[str]()
    genders = load_table("en").pronouns
    for chapter, part in chapters.items():
        forms: dict[int, list[str]] = {}  # entity → its name in the output, "" where there is none
        for line, text in zip(part, docs[chapter], strict=True):
            for mention in line.mentions:
                if mention.term:
                    present = _has(text, mention.text)
                    forms.setdefault(mention.entity, []).append(mention.text if present else "")
                    kept["names"] += present
                    marked["names"] += 1
            pronouns = [mention for mention in line.mentions if mention.pronoun]
            words = Counter(genders.get(word.lower(), "") for word in re.findall(r"\w+", text))
            of_gender = Counter(
                genders.get(mention.text.strip().lower(), "") for mention in pronouns
            )
            for gender in GENDERS:
                kept[gender] += min(words[gender], of_gender[gender])
            marked.update(of_gender)
            omitted = Counter(m.text.strip().lower() for m in pronouns if m.type == "O")
            kept["omitted"] += (omitted & Counter(re.findall(r"\w+", text.lower()))).total()
            marked["omitted"] += omitted.total()
        repeated = [names for names in forms.values() if len(names) >= 2]
        kept["entities"] += sum(len({*names}) == 1 and "" not in names for names in repeated)
        marked["entities"] += len(repeated)
    return {name: kept[name] / marked[name] if marked[name] else float("nan") for name in MEASURES}


def _has(text: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase.strip())}(?!\w)", text, re.IGNORECASE) is not None
