"""`make bench-blonde`: BlonDe for 10 systems × 80 documents with the English spaCy pipeline, beside bare ``nlp.pipe``.

Three questions: is each distinct segment analysed once; is the whole run at most 1.3 times one bare ``nlp.pipe`` of the
same components over the distinct segments, in one process; is a second run from the cache at least 20 times faster?
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from wholetext.demo import load
from wholetext.io import Loaded, read
from wholetext.scoring.evaluate import Options, score
from wholetext.text.taggers.analysis import Analysis, Layer, analyser_for
from wholetext.text.taggers.spacy_pipeline import SpacyAnalyser
from wholetext.types import Corpus, Document, Output

SYSTEMS, DOCUMENTS = 10, 80
LAYERS: frozenset[Layer] = frozenset({"tag", "entity"})
DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def real_texts() -> tuple[Corpus, list[Output]] | None:
    """The first documents of WMT21 zh-en news, and ten of its systems."""
    root = DATA / "evalsets" / "wmt21.news"
    if not root.is_dir():
        return None
    loaded = read(str(root), langs="zh-en", refs=["refB"])
    corpus = Corpus(loaded.corpus.id, loaded.corpus.langs, loaded.corpus.docs[:DOCUMENTS])
    return corpus, sorted(loaded.outputs, key=lambda output: output.system)[:SYSTEMS]


def made_texts() -> tuple[Corpus, list[Output]]:
    """The bundled documents over and over, outputs altered at random."""
    chance = random.Random(0)
    bundled = load("de-en")[0].docs
    docs = []
    for i in range(DOCUMENTS):
        one = bundled[i % len(bundled)]
        docs.append(Document(f"{one.id}-{i}", one.src, {"human": tuple(f"{s} {i}" for s in one.refs["human"])}))

    def altered(segment: str) -> str:
        return " ".join(word for word in segment.split() if chance.random() > 0.1)

    outputs = [Output(f"s{k}", {doc.id: tuple(map(altered, doc.refs["human"])) for doc in docs})
               for k in range(SYSTEMS)]
    return Corpus("made", ("de", "en"), tuple(docs)), outputs


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    corpus, outputs = real_texts() or made_texts()
    texts = [doc.refs[name] for doc in corpus.docs for name in doc.refs]
    texts += [output.docs[doc.id] for output in outputs for doc in corpus.docs]
    distinct = list(dict.fromkeys(segment for text in texts for segment in text))
    print(f"{len(outputs)} systems × {len(corpus)} documents ({corpus.id}), {sum(map(len, texts))} segments, "
          f"{len(distinct)} distinct, {sum(len(s.split()) for s in distinct)} words")

    asked: list[str] = []
    run = SpacyAnalyser.run

    def counted(self: SpacyAnalyser, batch: Sequence[str]) -> list[Analysis]:
        asked.extend(batch)
        return run(self, batch)

    SpacyAnalyser.run = counted  # type: ignore[method-assign]
    analyser = analyser_for("en", "spacy", LAYERS)
    pipeline = analyser._pipeline  # type: ignore[attr-defined]
    list(pipeline.pipe(distinct[:50]))  # warm
    with tempfile.TemporaryDirectory() as folder:
        options = Options(cache=Path(folder) / "cache.sqlite")
        bare = timed(lambda: list(pipeline.pipe(distinct)))
        first = timed(lambda: score(Loaded(corpus, outputs), ["blonde"], options=options))
        assert sorted(asked) == sorted(distinct), "each distinct segment is analysed once"
        again = timed(lambda: score(Loaded(corpus, outputs), ["blonde"], options=options))
        other = timed(lambda: score(Loaded(corpus, outputs), ["blonde(profile=fixed)"], options=options))
        assert len(asked) == len(distinct), "nothing is analysed again"
        size = (Path(folder) / "cache.sqlite").stat().st_size / 1e6
    print(f"  bare nlp.pipe, one process     {bare:7.2f} s   ({', '.join(pipeline.pipe_names)})")
    print(f"  first run (loading included)   {first:7.2f} s   {first / bare:5.2f} × bare   (wanted: ≤ 1.3)")
    print(f"  second run, rows from cache    {again:7.2f} s   {first / again:5.0f} × faster (wanted: ≥ 20)")
    print(f"  another profile, analyses kept {other:7.2f} s   {first / other:5.0f} × faster")
    print(f"  analysed {len(asked)} segments, each once; the cache takes {size:.1f} MB; {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
