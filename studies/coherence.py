"""Writes studies/coherence.md: do the discourse metrics agree with human judgments of coherence?

    WHOLETEXT_DATA=../shared/data python studies/coherence.py [shuffling] [ner18] [summeval] [translation]
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from wholetext.io import Loaded, read
from wholetext.io.formats.evalset import EvalSet
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, FloatArray, IntArray, Output, Scores

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "studies" / "coherence.md"
DRAWS, SEED = 1000, 4
MODEL = "minilm"

# what the paper reports with its own BERTs, |τ| × 100 (Tables 2 and 7)
PAPER_SUMMEVAL = {
    "ds-focus": (75.76, 63.64, 78.79, 81.82), "ds-focus(focus=entity)": (69.70, 57.58, 72.73, 75.76),
    "ds-sent": (48.48, 54.55, 63.64, 60.61), "ds-sent(focus=entity,threshold=0.8)": (54.55, 60.61, 75.76, 66.67),
    "ds-sent(weighting=w)": (51.52, 51.52, 66.67, 63.64),
    "ds-sent(focus=entity,threshold=0.8,weighting=w)": (51.52, 57.58, 66.67, 63.64),
    "rc": (45.45, 51.52, 54.55, 57.58), "lc": (51.52, 45.45, 48.48, 57.58),
    "entity-graph": (42.42, 12.12, 15.15, 18.18), "lexical-graph": (48.48, 6.06, 15.15, 18.18),
    "lexical-chain": (42.42, 6.06, 9.09, 18.18),
}
PAPER_NER18 = {"ds-focus": (61.90, 61.90, 42.86, 52.38), "ds-focus:f": (80.95, 80.95, 100.0, 90.47)}
SPECS = (
    "ds-focus", "ds-focus(focus=entity)", "ds-focus(focus_match=lemma)", "ds-focus(distance=l2)",
    "ds-focus(words=spaces)", "ds-focus(no_overlap=nan)", "ds-focus(no_overlap=max)",
    "ds-sent", "ds-sent(weighting=w)", "ds-sent(focus=entity,threshold=0.8)",
    "ds-sent(focus=entity,threshold=0.8,weighting=w)", "ds-sent(use_graph=false)", "ds-sent(match=greedy)",
    "ds-sent(match=optimal)", "rc", "rc(definition=wong-kit)", "lc", "lc(definition=wong-kit)", "entity-graph",
    "lexical-graph", "lexical-chain", "freq(focus=entity)", "conn",
)
TRANSLATION = (
    "entity-graph", "lexical-graph", "lexical-chain", "rc", "lc", "lc(definition=wong-kit)", "bleu",
    f"ds-sent@{MODEL}", f"ds-focus@{MODEL}", f"ds-focus(no_overlap=nan,min_mentions=2)@{MODEL}",
)


# ---------------------------------------------------------------- data


def rows_of(name: str) -> Iterator[dict[str, object]]:
    with (DATA / "summarization" / name).open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def summaries(name: str, aspects: Sequence[str]) -> tuple[Corpus, list[Output], FloatArray]:
    """Lower-cased, as the paper's authors fed them; and (systems, documents, aspects) human ratings."""
    docs = []
    for row in rows_of(f"{name}.docs.jsonl"):
        refs = row.get("references") or [row["reference"]]
        docs.append(Document(str(row["id"]), None, {f"r{at}": (text.lower(),) for at, text in enumerate(refs)}))  # type: ignore[arg-type, attr-defined]
    texts: dict[str, dict[str, tuple[str, ...]]] = {}
    human: dict[tuple[str, str], list[float]] = {}
    for row in rows_of(f"{name}.summaries.jsonl"):
        system, doc = str(row["system"]), str(row["id"])
        texts.setdefault(system, {})[doc] = (str(row["summary"]).lower(),)
        rated = row.get("expert") or [row["scores"]]
        human[system, doc] = [float(np.mean([one[aspect] for one in rated])) for aspect in aspects]  # type: ignore[attr-defined]
    systems = sorted(texts)
    ratings = np.array([[human[system, doc.id] for doc in docs] for system in systems])
    return Corpus(name, ("en", "en"), tuple(docs)), [Output(s, texts[s]) for s in systems], ratings


# ---------------------------------------------------------------- agreement


def kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    """(...,) tau-b of (..., systems) against (..., systems)."""
    upper = np.triu_indices(x.shape[-1], 1)
    dx, dy = (np.sign(z[..., :, None] - z[..., None, :])[..., upper[0], upper[1]] for z in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (dx * dy).sum(-1) / np.sqrt((dx**2).sum(-1) * (dy**2).sum(-1))


def agreement(
    scores: Mapping[str, Scores], output: str | None, human: FloatArray, systems: Sequence[str]
) -> FloatArray:
    """(aspects, 3): τ of system means, oriented so that more is better, and its 95 % interval over documents."""
    values = np.array([scores[system].at("doc", output) for system in systems])  # (systems, docs)
    sign = 1.0 if scores[systems[0]].higher_is_better else -1.0
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0) * sign
    docs = values.shape[1]
    draws = np.random.default_rng(SEED).multinomial(docs, np.full(docs, 1 / docs), size=DRAWS)
    weights = np.concatenate([np.ones((1, docs)), draws])  # (1 + draws, docs); the first is the corpus itself
    means = (weights @ filled.T) / (weights @ known.T)  # (1 + draws, systems)
    rows = []
    for aspect in range(human.shape[2]):
        tau = kendall(means, weights @ human[:, :, aspect].T / docs)
        rows.append([tau[0], *np.nanpercentile(tau[1:], [2.5, 97.5])])
    return np.array(rows)


def table(name: str, aspects: Sequence[str], paper: Mapping[str, tuple[float, ...]]) -> list[str]:
    corpus, outputs, human = summaries(name, aspects)
    systems = [output.system for output in outputs]
    lines = ["| metric | " + " | ".join(aspects) + " | interval (coherence) | paper |",
             "|---|" + "---:|" * len(aspects) + "---|---|"]
    for spec in SPECS:
        model = f"@{MODEL}" if spec.startswith("ds-") else ""
        scores = next(
            iter(score(Loaded(corpus, outputs), [spec + model], options=Options(block=100_000)).scores.values())
        )
        variants = [("", None)] if "ds-focus" not in spec else [("", "precision"), (":recall", "recall"), (":f", "f")]
        for suffix, output in variants:
            found = 100 * agreement(scores, output, human, systems)
            shown = " | ".join(f"{row[0]:.2f}" for row in found)
            beside = " ".join(f"{x:.2f}" for x in paper.get(spec + suffix, ()))
            lines.append(f"| `{spec}`{suffix} | {shown} | {found[0, 1]:.0f} … {found[0, 2]:.0f} | {beside} |")
        print(time.strftime("%H:%M:%S"), name, spec, lines[-1], flush=True)
    return lines


# ---------------------------------------------------------------- shuffled sentences


def documents(many: int) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """(id, output, reference) of the first documents of five segments or more of wmt21 news into English."""
    left = many
    for pair in ("zh-en", "de-en", "cs-en"):
        loaded = read(str(DATA / "evalsets" / "wmt21.news"), langs=pair)
        machine = next(output for output in loaded.outputs if output.system == "Online-W")
        for doc in loaded.corpus.docs:
            if len(doc) >= 5 and left:
                left -= 1
                yield f"{pair}/{doc.id}", machine.docs[doc.id], doc.refs[loaded.corpus.references[0]]


def shuffling(many: int = 200) -> list[str]:
    found = list(documents(many))
    rng = random.Random(SEED)
    corpus = Corpus("wmt21.news", ("xx", "en"), tuple(Document(name, None, {"ref": ref}) for name, _, ref in found))
    as_is = Output("as it is", {name: hyp for name, hyp, _ in found})
    mixed = Output("shuffled", {name: tuple(rng.sample(hyp, len(hyp))) for name, hyp, _ in found})
    lines = ["| metric | as it is | shuffled | lower in | mean difference | 95 % interval |",
             "|---|---:|---:|---:|---:|---|"]
    specs = ("entity-graph", "entity-graph(weighting=w)", "lexical-graph", f"ds-sent@{MODEL}",
             f"ds-sent(weighting=w)@{MODEL}", f"ds-sent(focus=entity)@{MODEL}", f"ds-sent(use_graph=false)@{MODEL}",
             "lexical-chain")
    for spec in specs:
        scores = next(
            iter(score(Loaded(corpus, [as_is, mixed]), [spec], options=Options(block=100_000)).scores.values())
        )
        before, after = (scores[output.system].at("doc") for output in (as_is, mixed))
        change = after - before
        draws = np.random.default_rng(SEED).choice(change, (DRAWS, len(change))).mean(axis=1)
        low, high = np.percentile(draws, [2.5, 97.5])
        lines.append(f"| `{spec}` | {before.mean():.4f} | {after.mean():.4f} | {100 * (change < 0).mean():.1f} % | "
                     f"{change.mean():+.4f} | {low:+.4f} … {high:+.4f} |")
        print(time.strftime("%H:%M:%S"), lines[-1], flush=True)
    return lines


# ---------------------------------------------------------------- translation


def translation() -> list[str]:
    """System-level Pearson with MQM on wmt21 zh-en, human systems left out, as the Doc-metrics paper has it."""
    lines = ["| metric | news | interval | TED | interval |", "|---|---:|---|---:|---|"]
    cells: dict[str, list[str]] = {}
    for name in ("wmt21.news.mqm", "wmt21.tedtalks"):
        folder = str(DATA / "evalsets" / name)
        human = EvalSet.open(folder, "zh-en").human("mqm", "seg")
        systems = [system for system in human.systems if not system.startswith("ref")]
        loaded = read(folder, langs="zh-en", systems=systems, refs=["refB"])
        sizes = np.array([len(doc) for doc in loaded.corpus.docs])
        gold = human.values[[human.systems.index(system) for system in systems]]  # (systems, segments)
        for spec in TRANSLATION:
            scores = next(iter(score(loaded, [spec]).scores.values()))
            r, low, high = pearson([scores[system] for system in systems], gold, sizes)
            cells.setdefault(spec, []).append(f"{r:.3f} | {low:.2f} … {high:.2f}")
            print(time.strftime("%H:%M:%S"), name, spec, cells[spec][-1], flush=True)
        print(name, len(systems), "systems", len(sizes), "documents", sizes.sum(), "segments", flush=True)
    return lines + [f"| `{spec}` | {' | '.join(row)} |" for spec, row in cells.items()]


def pearson(scores: Sequence[Scores], gold: FloatArray, sizes: IntArray) -> tuple[float, float, float]:
    """r of corpus scores and mean MQM, oriented so that more is better; 95 % interval over resampled documents."""
    docs = len(sizes)
    draws = np.random.default_rng(SEED).multinomial(docs, np.full(docs, 1 / docs), size=DRAWS)
    weights = np.concatenate([np.ones((1, docs)), draws])  # (1 + draws, docs)
    sign = 1.0 if scores[0].higher_is_better else -1.0
    metric = sign * np.stack([one.reduce(weights @ one.totals())[:, 0] for one in scores], axis=1)  # (draws, systems)
    known = (~np.isnan(gold)).astype(float)
    starts = np.cumsum(sizes) - sizes
    by_doc = [np.add.reduceat(part, starts, axis=1) for part in (np.where(known > 0, gold, 0.0), known)]
    human = (weights @ by_doc[0].T) / (weights @ by_doc[1].T)
    x, y = (z - z.mean(axis=1, keepdims=True) for z in (metric, human))
    r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    low, high = np.percentile(r[1:], [2.5, 97.5])
    return float(r[0]), float(low), float(high)


PARTS = {
    "summeval": lambda: table("summeval", ("coherence", "consistency", "fluency", "relevance"), PAPER_SUMMEVAL),
    "ner18": lambda: table("ner18.newsroom", ("coherence", "fluency", "informativeness", "relevance"), PAPER_NER18),
    "translation": translation,
    "shuffling": shuffling,
}


def main() -> None:
    began = time.time()
    for name in sys.argv[1:] or PARTS:
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        block = "\n".join([begin, *PARTS[name](), end])
        text = PAGE.read_text("utf-8")
        text = text[: text.index(begin)] + block + text[text.index(end) + len(end) :]
        PAGE.write_text(text, "utf-8")
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
