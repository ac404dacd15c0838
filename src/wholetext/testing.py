"""The conformance kit that authors of metrics and backends run in their own tests."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
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
    checked = scorer(spec)
    _check_declaration(checked)
    same = partial(np.testing.assert_allclose, rtol=tolerance, atol=tolerance)
    corpus, outputs = sample()
    options = Options(cache=False)
    together = score(Loaded(corpus, outputs), [spec], options=options).scores[checked.spec]
    for output in outputs:
        scores = together[output.system]
        assert scores.stats.ndim == 2, "measure returns (n, k) statistics"
        assert np.isfinite(scores.stats).all(), "statistics are finite; use mean_stats for NaN"
        for level in ("row", "segment", "doc", "corpus"):
            assert scores.table(level).shape[1] == len(scores.outputs), (
                f"reduce gives a column per output at level {level}"
            )
        low, high = scores.range
        rows = scores.at("row")[~np.isnan(scores.at("row"))]
        inside = (rows >= low - tolerance) & (rows <= high + tolerance)
        assert inside.all(), f"row scores stay in {scores.range}"
        alone = score(Loaded(corpus, [output]), [spec], options=options).scores[checked.spec]
        same(
            alone[output.system].at("row"),
            scores.at("row"),
            err_msg="broken: scores do not depend on the other systems in the run",
        )
    turned = Loaded(Corpus(corpus.id, corpus.langs, corpus.docs[::-1]), outputs[::-1])
    back = score(turned, [spec], options=Options(cache=False, block=1)).scores[checked.spec]
    for system, scores in together.items():
        same(
            back[system].at("doc")[::-1],
            scores.at("doc"),
            err_msg="broken: scores do not depend on order or batches",
        )
    stats, reduce = together["altered"].stats, checked.metric.reduce
    both = reduce(np.stack([stats, 2 * stats]))  # (2, rows, outputs)
    shape = (2, len(stats), len(checked.metric.outputs))
    assert both.shape == shape, "reduce is vectorised over leading axes"
    single = np.stack([reduce(row) for row in stats])
    np.testing.assert_allclose(
        both[0],
        single,
        1e-9,
        1e-9,
        err_msg="broken: reduce gives the same one by one and all at once",
    )


def _check_declaration(checked: Scorer) -> None:
    metric = checked.metric
    assert metric.name and metric.summary, "a metric has a name and a one-line summary"
    assert metric.needs <= {"src", "hyp", "ref"} and "hyp" in metric.needs, (
        "needs holds hyp, and src or ref"
    )
    assert metric.outputs and metric.range[0] < metric.range[1]
    copy = replace(metric)  # type: ignore[type-var]
    assert hash(metric) == hash(copy), "a metric is a frozen, hashable dataclass"
    assert scorer(checked.spec) == checked, "its spec string reads back as the same metric"


def check_backend(backend: Backend[X, Y], inputs: Sequence[X], *, tolerance: float = 1e-6) -> None:
    """Assert that a backend gives the same output for an input whatever batch it comes in."""
    assert backend.id
    assert all(backend.fit(x).tokens >= 0 for x in inputs)
    alone = [run_or_halve(backend, [x])[0] for x in inputs]
    shuffled = list(range(len(inputs)))
    random.Random(0).shuffle(shuffled)
    together = Engine(batch_tokens=10**9).map(backend, [inputs[i] for i in shuffled])
    for i, output in zip(shuffled, together):
        np.testing.assert_allclose(
            output,
            alone[i],
            tolerance,
            tolerance,
            err_msg="broken: outputs do not depend on the batch",
        )  # type: ignore[call-overload]
