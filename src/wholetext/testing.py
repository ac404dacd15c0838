"""The conformance kit that authors of metrics and backends run in their own tests."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from wholetext.io import Loaded
from wholetext.registry import Scorer, scorer
from wholetext.scoring.engine import Engine, run_or_halve
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Backend, Corpus, Document, Output

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y")

_REFERENCE = (
    (
        "The bridge was closed on Monday.",
        "Engineers had found a crack.",
        "It will open again in May.",
    ),
    ("She sold the boat.", "Nobody missed it."),
    ("Rain fell all night long over the valley.",),
)
_CHANGES = {"the": "a", "was": "is", "had": "have", "It": "He", "She": "He"}


def sample() -> tuple[Corpus, tuple[Output, ...]]:
    """A small German–English corpus with three systems: the reference, an altered one, an empty one."""
    docs = tuple(
        Document(
            f"doc{i}", tuple(f"Satz {j} von Dokument {i}." for j in range(len(text))), {"ref": text}
        )
        for i, text in enumerate(_REFERENCE)
    )

    def altered(segment: str) -> str:
        return " ".join(_CHANGES.get(word, word) for word in segment.split())

    outputs = (
        Output("same", {doc.id: doc.refs["ref"] for doc in docs}),
        Output("altered", {doc.id: tuple(map(altered, doc.refs["ref"])) for doc in docs}),
        Output("empty", {doc.id: ("",) * len(doc) for doc in docs}),
    )
    return Corpus("sample", ("de", "en"), docs), outputs


def check_metric(spec: str, *, tolerance: float = 1e-6) -> None:
    """Assert that a metric keeps the contract: values, shapes, independence of order and batches.

    ``tolerance`` is relative to a score, and absolute for scores below 1.
    """
    one = scorer(spec)
    _check_declaration(one)
    corpus, outputs = sample()
    options = Options(cache=False)
    together = score(Loaded(corpus, outputs), [spec], options=options).scores[one.spec]
    for output in outputs:
        scores = together[output.system]
        assert scores.stats.ndim == 2, "measure returns (n, k) statistics"
        assert np.isfinite(scores.stats).all(), "statistics are finite; use mean_stats for NaN"
        for level in ("row", "segment", "doc", "corpus"):
            table = scores.table(level)
            assert table.shape[1] == len(scores.outputs), (
                f"reduce gives one column per output at level {level}"
            )
        low, high = scores.range
        rows = scores.at("row")[~np.isnan(scores.at("row"))]
        assert ((rows >= low - tolerance) & (rows <= high + tolerance)).all(), (
            f"row scores stay in {scores.range}"
        )
        alone = score(Loaded(corpus, [output]), [spec], options=options).scores[one.spec][
            output.system
        ]
        _close(
            alone.at("row"),
            scores.at("row"),
            tolerance,
            "scores do not depend on the other systems in the run",
        )
    turned = Corpus(corpus.id, corpus.langs, corpus.docs[::-1])
    back = score(
        Loaded(turned, outputs[::-1]), [spec], options=Options(cache=False, block=1)
    ).scores[one.spec]
    for system, scores in together.items():
        _close(
            scores.at("doc"),
            back[system].at("doc")[::-1],
            tolerance,
            "scores do not depend on order or batches",
        )
    stats = together["altered"].stats
    both = one.metric.reduce(np.stack([stats, 2 * stats]))  # (2, rows, outputs)
    assert both.shape == (2, len(stats), len(one.metric.outputs)), (
        "reduce is vectorised over leading axes"
    )
    _close(
        both[0],
        np.stack([one.metric.reduce(row) for row in stats]),
        1e-9,
        "reduce gives the same one by one and all at once",
    )


def _check_declaration(one: Scorer) -> None:
    metric = one.metric
    assert metric.name and metric.summary, "a metric has a name and a one-line summary"
    assert metric.needs <= {"src", "hyp", "ref"} and "hyp" in metric.needs, (
        "needs holds hyp, and src or ref"
    )
    assert metric.outputs and metric.range[0] < metric.range[1]
    copy = replace(metric)  # type: ignore[type-var]
    assert hash(metric) == hash(copy), "a metric is a frozen, hashable dataclass"
    assert scorer(one.spec) == one, "its spec string reads back as the same metric"


def check_backend(backend: Backend[X, Y], inputs: Sequence[X], *, tolerance: float = 1e-6) -> None:
    """Assert that a backend gives the same output for an input whatever batch it comes in."""
    assert backend.id
    assert all(backend.fit(x).tokens >= 0 for x in inputs)
    alone = [run_or_halve(backend, [x])[0] for x in inputs]
    shuffled = list(range(len(inputs)))
    random.Random(0).shuffle(shuffled)
    together = Engine(batch_tokens=10**9).map(backend, [inputs[i] for i in shuffled])
    for i, found in zip(shuffled, together):
        _close(
            np.asarray(found), np.asarray(alone[i]), tolerance, "outputs do not depend on the batch"
        )


def _close(a: np.ndarray, b: np.ndarray, tolerance: float, claim: str) -> None:
    assert a.shape == b.shape and np.allclose(
        a, b, rtol=tolerance, atol=tolerance, equal_nan=True
    ), f"broken: {claim}"
