"""Small data sets made of the demo corpus, for entries that are tried without their data."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from wholetext.annotation.relative_ranking import ranking_items, write_items
from wholetext.demo import load
from wholetext.io.assembly import Loaded
from wholetext.io.formats.evalset import write
from wholetext.io.formats.scores import write_table
from wholetext.io.text import write_lines
from wholetext.scoring.evaluate import Options, score

# systems of the demo, by what takes their place in a small BWB
_STANDS_FOR = {"loopy": "smt", "literal": "sent", "patchwork": "ctx", "coherent": "pe"}


@cache
def _made(name: str) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix=f"wholetext-{name}-")


def _folder(name: str) -> Path:
    """Return a temporary folder, which lasts as long as the process."""
    return Path(_made(name).name)


@cache
def stand_in(pair: str = "de-en") -> Path:
    """Write the demo corpus as an EvalSet and return its folder, which lasts as long as the process.

    Its judgments, ``stand-in``, are chrF against the reference: they show that an experiment runs,
    not how a metric agrees with people.
    """
    folder = _folder(f"demo-{pair}") / "demo"
    corpus, outputs = load(pair)
    loaded = Loaded(corpus, outputs)
    write(folder, loaded)
    results = score(loaded, "chrf", options=Options(cache=False))["chrf"]
    rows = np.array([results[output.system].at("row") for output in outputs])
    names = [output.system for output in outputs]
    scores = folder / "human-scores"
    write_table(scores / f"{pair}.stand-in.seg.score", names, rows, gaps=True)
    write_table(scores / f"{pair}.stand-in.sys.score", names, rows.mean(axis=1)[:, None], gaps=True)
    return folder


@cache
def preferences() -> Path:
    """Write the demo's documents as preferences between two of its systems, for the first."""
    corpus, (first, second, *_) = load("de-en")
    lines = []
    for doc in corpus.docs:
        (reference,) = doc.refs.values()
        texts = [doc.src or (), reference, first.docs[doc.id], second.docs[doc.id]]
        keys = ("source", "target", "text1", "text2")
        row = {key: " ".join(text) for key, text in zip(keys, texts)}
        pair = {"source_lang": "de", "target_lang": "en", "choice": "text1"}
        lines.append(json.dumps({**row, **pair}, ensure_ascii=False))
    path = _folder("preferences") / "preferences.jsonl"
    write_lines(path, lines)
    return path


@cache
def small_bwb() -> Path:
    """Write the demo in BWB's layout; errors are what BlonDe's categories miss in ``sent``."""
    root, (corpus, outputs) = _folder("bwb"), load("zh-en")
    by_name = {_STANDS_FOR[output.system]: output.docs for output in outputs}
    marked = score(
        Loaded(corpus, [output for output in outputs if output.system == "literal"]),
        "sentence:blonde(mean=occurring)",
        options=Options(cache=False),
    )
    (scores,) = next(iter(marked.scores.values())).values()
    table = scores.table("row")
    kinds = {"4": "entity", "5": "tense", "2": "pronoun", "6": "ngram1"}
    columns = {digit: scores.outputs.index(kind) for digit, kind in kinds.items()}
    row = 0
    for number, doc in enumerate(corpus.docs, 1):
        lines, place = list[str](), root / "test" / "Book1"
        for text in by_name["sent"][doc.id]:
            digits = [d for d, at in columns.items() if table[row, at] < (0.4 if d == "6" else 1)]
            word = next(iter(doc.refs.values()))[len(lines)].split()[0]
            spans = [f"1,{word}, {word} <n/0,1>"] if row % 5 == 0 else []
            lines.append("\t".join([text, *(digits or ["0"]), *spans]))
            row += 1
        write_lines(place / f"{number}.chs_re.txt", doc.src or ())
        write_lines(place / f"{number}.ref_re.txt", next(iter(doc.refs.values())))
        write_lines(place / f"{number}.an.txt", lines)
        for system, ending in (("sent", "sent_re.txt"), ("ctx", "ctx_re.txt"), ("pe", "pe.txt")):
            write_lines(place / f"{number}.{ending}", by_name[system][doc.id])
        smt = root / "SMT_Hiero" / "Book1" / f"{number}.chs_re.txt.SMT"
        write_lines(smt, by_name["smt"][doc.id])
    return root


@cache
def small_rankings() -> Path:
    """Items of the demo, ranked by two metrics in the place of raters."""
    folder, loaded = _folder("rankings"), Loaded(*load("de-en"))
    results = score(loaded, ["sentence:chrf", "sentence:bleu"], options=Options(cache=False))
    starts = dict(zip(loaded.corpus.ids, np.cumsum([0, *loaded.corpus.sizes.tolist()]).tolist()))
    for unit in ("sentences", "documents"):
        items = ranking_items(results, unit="sentences" if unit == "sentences" else "documents")
        write_items(folder / f"{unit}.items.jsonl", items)
        (folder / f"{unit}.items.key.jsonl").rename(folder / f"{unit}.key.jsonl")
        answers = []
        for item in items:
            doc, start = item.id.rsplit("#", 1)
            at = starts[doc] + int(start)
            for spec, by_system in results.scores.items():
                ranks = {
                    letter: -float(
                        by_system[name].at("row")[at : at + len(item.options[letter])].mean()
                    )
                    for letter, name in item.systems.items()
                }
                answers.append(json.dumps({"item": item.id, "rater": spec, "ranks": ranks}))
        write_lines(folder / f"{unit}.jsonl", answers)
    return folder
