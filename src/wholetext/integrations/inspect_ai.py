"""inspect_ai: a scorer with standard errors that are clustered by document.

A sample is a document, or a part of it: its lines are the segments, its targets the references. Its
metadata has the id of its document (``doc``) and, where the metric reads it, the source (``src``).
A sample is scored by itself; ``corpus`` scores all of them together, as `wholetext score` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any

from anyio import to_thread
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric as inspect_metric,
    scorer as inspect_scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from wholetext.errors import AlignmentError, InputError, MetricError
from wholetext.integrations.texts import scored
from wholetext.registry import scorer as parse
from wholetext.scoring.evaluate import Options
from wholetext.scoring.results import Results

_ONE_AT_A_TIME = Lock()  # samples finish side by side; models are shared


@inspect_metric  # type: ignore[untyped-decorator]
def corpus() -> Metric:
    """Score all samples together: those of a document in their order, with its context.

    With several epochs this is the score of the first.
    """

    def compute(scores: list[SampleScore]) -> float:
        samples = [
            {**(sample.score.metadata or {}), "hyp": sample.score.answer} for sample in scores
        ]
        return _score(samples).score if samples else math.nan

    return compute


@inspect_scorer(metrics=[mean(), stderr(cluster="doc"), corpus()])  # type: ignore[untyped-decorator]
def wholetext_scorer(metric: str = "chrf", langs: str | None = None) -> Scorer:
    """Score samples with a metric of wholetext; what cannot be scored is NaN, which is left out.

    Args:
        metric: a spec string, such as ``doc-comet`` or ``slide(size=6,step=6):chrf``.
        langs: the language pair (``"de-en"``), for metrics that read languages.
    """
    spec = parse(metric).spec  # a mistake in it is an error before anything is generated

    async def score(state: TaskState, target: Target) -> Score:
        if state.metadata.get("doc") is None:
            raise InputError(
                "there is no document id, by which standard errors are clustered",
                where=f"sample {state.sample_id}",
                next='give each sample metadata={"doc": …}',
            )
        sample = {
            "metric": spec,
            "langs": langs,
            "doc": str(state.metadata["doc"]),
            "src": state.metadata.get("src"),
            "refs": [text for text in target if text],
        }
        answer = state.output.completion
        try:
            results = await to_thread.run_sync(partial(_score, [{**sample, "hyp": answer}]))
        except (AlignmentError, MetricError) as fault:
            if _lines_differ(answer, [*sample["refs"], sample["src"]]):
                return Score.unscored(
                    reason="invalid_response_format",
                    answer=answer,
                    explanation=str(fault),
                    metadata=sample,
                )
            raise
        value, notes = results.score, "\n".join(results.notes)
        if math.isnan(value):
            return Score.unscored(
                reason="scoring_failed", answer=answer, explanation=notes, metadata=sample
            )
        return Score(value=value, answer=answer, explanation=notes or None, metadata=sample)

    return score


def _score(samples: Sequence[dict[str, Any]]) -> Results:
    """Score samples with the metric of the first; those of a document are joined."""
    docs: dict[str, list[dict[str, Any]]] = {}
    for sample in samples:
        docs.setdefault(sample["doc"], []).append(sample)
    first, sourced = samples[0], all(sample["src"] is not None for sample in samples)
    refs = [
        [_joined(texts) for texts in zip(*(sample["refs"] for sample in some))]
        for some in docs.values()
    ]
    with _ONE_AT_A_TIME:
        return scored(
            [_joined(sample["hyp"] for sample in some) for some in docs.values()],
            first["metric"],
            refs=refs if first["refs"] else None,
            srcs=[_joined(sample["src"] for sample in some) for some in docs.values()]
            if sourced
            else None,
            docs=list(docs),
            langs=first["langs"],
            options=Options(flags=len(samples) > 1),
        )


def _joined(texts: Any) -> list[str]:
    return [line for text in texts for line in _lines(text)]


def _lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")


def _lines_differ(answer: str, others: Sequence[str | None]) -> bool:
    return any(len(_lines(text)) != len(_lines(answer)) for text in others if text is not None)
