"""Real segments and tiny models for tests of neural metrics: where they lie, and how they become requests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.scored import scored
from wholetext.scoring.evaluate import Options
from wholetext.types import Corpus, Document, Excerpt, Output, Request, Scores
from wholetext.views import Context, Sentence, Sides

ORACLE = Path(__file__).resolve().parent.parent / "oracle" / "neural"
TINY = ORACLE / "models"
CPU = Options(cache=False, device="cpu")


def oracle(name: str) -> dict[str, Any]:
    """A frozen output of the original tools."""
    found: dict[str, Any] = json.loads((ORACLE / name).read_text("utf-8"))
    return found


def texts() -> dict[str, dict[str, Any]]:
    """en-de, zh-en (sentences) and long (paragraphs): src, hyp, ref and doc, line by line."""
    found = oracle("inputs.json")
    return {**found["lps"], "long": found["long"]}


TEXTS = texts()


def one(text: str) -> Excerpt:
    """A segment without context."""
    return Excerpt((text,), (0, 1))


def corpus(lines: dict[str, Any], langs: str = "en-de") -> tuple[Corpus, Output]:
    """The lines by document, and the one system that translated them."""
    names = list(dict.fromkeys(lines["doc"]))

    def of(name: str, side: str) -> tuple[str, ...]:
        return tuple(text for text, doc in zip(lines[side], lines["doc"]) if doc == name)

    docs = tuple(Document(name, of(name, "src"), {"ref": of(name, "ref")}) for name in names)
    src, tgt = langs.split("-")
    return Corpus("oracle", (src, tgt), docs), Output("system", {name: of(name, "hyp") for name in names})


def scored_lines(lines: dict[str, Any], spec: str, langs: str = "en-de") -> Scores:
    made, output = corpus(lines, langs)
    return scored(made, [output], spec, CPU)["system"]


def cut(lines: dict[str, Any], prev: int = 0, src: bool = True, ref: bool = True, **options: Any) -> list[Request]:
    """One request per segment, in order, with ``prev`` segments of context; document ids are contiguous."""
    view = Context(prev=prev, **options) if prev else Sentence()
    sides = Sides(src=src, refs=("ref",) if ref else (), context_refs=("ref",))
    found: list[Request] = []
    for name in dict.fromkeys(lines["doc"]):
        mine = [i for i, other in enumerate(lines["doc"]) if other == name]
        side = {each: tuple(lines[each][i] for i in mine) for each in ("src", "ref", "hyp")}
        found += view.cut(Document(name, side["src"], {"ref": side["ref"]}), side["hyp"], sides)[1]
    return found


def with_tokenizers(folder: Path) -> Path:
    """The tiny models in a folder of the test's own, the config-only encoders completed with tiny-xlmr's tokenizer."""
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    for name in ("tiny-xlmr-short-cfg", "tiny-xlmr-xl-cfg"):
        for file in (TINY / "tiny-xlmr").glob("*token*.json"):
            shutil.copy(file, folder / name / file.name)
    return folder
