"""Draws the items of studies/stress-reading.tsv and prints the precision of every change.

    WHOLETEXT_DATA=../shared/data python studies/stress_reading.py draw FILE   # items to read, with their context
    python studies/stress_reading.py table                                     # precision from the verdicts

Domains that no rule of the changes was built on: reviews, products and chat (WMT22 from Japanese and Russian), fiction
(published translations and originals of the literary set), articles (sources of SummEval); and for rare changes shops
and social media (WMT22 from Chinese). Subtitles (ContraPro) were read last, with the rules of version 3 as
they are. Items that were read before are taken first, so that only new ones are read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from wholetext.files.storage import write_file
from wholetext.meta.contrastive.decisions import wilson
from wholetext.scoring.evaluate import Options
from wholetext.stress.change import NotApplicable, TaggedText, applied, chosen_changes, units_of
from wholetext.stress.perturbation import _analyser, _texts
from wholetext.types import Corpus, Document, Output

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
READ = ROOT / "studies" / "stress-reading.tsv"
CHANGES = ("pronoun", "tense", "name", "term", "connective", "no-connective", "number", "negation", "paraphrase",
           "contraction", "typography")  # fmt: skip
DOMAINS = ("reviews", "fiction", "articles", "shops", "subtitles")
RARE = ("pronoun", "tense", "name", "term", "connective", "no-connective")
CHANGED = ("tense", "name", "term", "no-connective", "negation", "paraphrase")  # read on subtitles, rules fixed
KEY = ("domain", "change", "doc", "segment", "place", "words")
SEED, ITEMS = 32, 50


def _reviews() -> Iterator[tuple[str, list[str]]]:
    yield from _wmt22("ja-en", ("ecommerce", "social", "conversation"))
    yield from _wmt22("ru-en", ("ecommerce",))


def _shops() -> Iterator[tuple[str, list[str]]]:
    every = _wmt22("zh-en", ("general",))
    return ((doc, text) for doc, text in every if doc.startswith(("zh-en/ecommerce", "zh-en/social")))


def _wmt22(pair: str, domains: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    folder = DATA / "evalsets" / "wmt22.da"
    names = (folder / "documents" / f"{pair}.docs").read_text("utf-8").splitlines()
    texts = (folder / "references" / f"{pair}.refA.txt").read_text("utf-8").splitlines()
    docs: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        domain, doc = name.split("\t")
        if domain in domains:
            docs.setdefault(f"{pair}/{doc}", []).append(text)
    yield from docs.items()


def _fiction() -> Iterator[tuple[str, list[str]]]:
    seen = set()
    for line in (DATA / "pairwise" / "literary-translation.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        text = row["target"] if row["target_lang"] == "en" else row["source"] if row["source_lang"] == "en" else ""
        if text and text not in seen:
            seen.add(text)
            yield f"{row['book']}/{row['id']}", _cut(text)


def _articles() -> Iterator[tuple[str, list[str]]]:
    for line in (DATA / "summarization" / "summeval.docs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["id"][-12:], _cut(row["src"])


def _subtitles() -> Iterator[tuple[str, list[str]]]:
    """4,000 passages of four lines that share no line."""
    lines = (DATA / "contrastive" / "contrapro-large.en-fr.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    random.Random(5).shuffle(rows)
    seen: set[str] = set()
    taken = 0
    for row in rows:
        passage = [*row["src_context"], row["src"]]
        if taken < 4000 and len(passage) == 4 and all(passage) and not seen & set(passage):
            seen |= set(passage)
            taken += 1
            yield row["id"], passage


def _cut(text: str) -> list[str]:
    return [unit.text for unit in units_of(text.split("\n"))]


def texts(domain: str) -> list[TaggedText]:
    """The documents of a domain, tagged."""
    readers = {"reviews": _reviews, "fiction": _fiction, "articles": _articles, "shops": _shops,
               "subtitles": _subtitles}  # fmt: skip
    docs = {doc: tuple(text) for doc, text in readers[domain]()}
    corpus = Corpus(domain, ("", "en"), tuple(Document(doc, None, {"A": text}) for doc, text in docs.items()))
    analyser, missing = _analyser(chosen_changes(CHANGES), "en")
    assert not missing, missing
    return _texts(corpus, Output("A", docs), analyser, Options(cache=False))


def items(domain: str, every: list[TaggedText], known: set[tuple[str, ...]]) -> Iterator[dict[str, str]]:
    """At most fifty items of every change: one place each, of as many documents as there are."""
    for change in chosen_changes({"shops": RARE, "subtitles": CHANGED}.get(domain, CHANGES)):
        rounds: list[list[dict[str, str]]] = []
        for text in every:
            try:
                sites = change.sites(text, random.Random(f"{SEED}/{change.name}/{text.doc}"))
            except NotApplicable:
                continue
            rng = random.Random(f"{SEED}/{change.name}/{text.doc}/order")
            for at, site in enumerate(sorted(sites, key=lambda site: rng.random())):
                changed, edits = applied(text.segments, [site])
                row = {"domain": domain, "change": change.name, "doc": text.doc, "segment": str(edits[0].segment),
                       "words": "; ".join(f"{edit.before or '∅'} → {edit.after.strip() or '∅'}" for edit in edits),
                       "text": changed[edits[-1].segment], "context": " | ".join(text.segments),
                       "place": str(edits[0].was[0])}  # fmt: skip
                rounds += [[] for _ in range(at + 1 - len(rounds))]
                rounds[at].append(row)
        rng = random.Random(f"{SEED}/{change.name}/{domain}")
        drawn = [row for rows in rounds for row in rng.sample(rows, len(rows))]
        drawn.sort(key=lambda row: key(row) not in known)
        having = len(rounds[0]) if rounds else 0
        print(f"{domain} {change.name}: {len(drawn)} places in {having} of {len(every)} documents")
        yield from drawn[: ITEMS // 2 if domain == "subtitles" else ITEMS]


def key(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row[field] for field in KEY)


def readings() -> list[dict[str, str]]:
    with READ.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def draw(file: Path) -> None:
    known = {key(row) for row in readings()} if READ.exists() else set()
    rows = [row for domain in DOMAINS for row in items(domain, texts(domain), known)]
    write_file(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def table() -> None:
    """Print, for every change and domain, right of read items under the rules of version 2 and of version 3."""
    rows = readings()
    for change in CHANGES:
        cells = [f"{_share(rows, change, '2', domain)} → {_share(rows, change, '3', domain)}" for domain in DOMAINS]
        print(f"| {change} | {' | '.join([*cells, *(_precision(rows, change, version) for version in '23')])} |")


def _verdicts(rows: list[dict[str, str]], change: str, version: str) -> list[dict[str, str]]:
    return [row for row in rows if row["change"] == change and version in row["versions"].split(",")]


def _share(rows: list[dict[str, str]], change: str, version: str, domain: str) -> str:
    read = Counter(row["verdict"] for row in _verdicts(rows, change, version) if row["domain"] == domain)
    beside = f" ({read['beside']})" if read["beside"] else ""
    return f"{read.total() - read['invalid']}/{read.total()}{beside}" if read else "–"


def _precision(rows: list[dict[str, str]], change: str, version: str) -> str:
    read = Counter(row["verdict"] for row in _verdicts(rows, change, version))
    right = read.total() - read["invalid"]
    low, high = wilson(right, read.total())
    return f"{100 * right / read.total():.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("draw", "table"))
    parser.add_argument("file", type=Path, nargs="?", help="the drawn items, as JSON lines")
    args = parser.parse_args()
    if args.do == "table":
        table()
    else:
        draw(args.file)


if __name__ == "__main__":
    main()
