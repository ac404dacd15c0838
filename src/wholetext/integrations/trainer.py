"""Hugging Face Trainer: a function for ``compute_metrics`` of ``Seq2SeqTrainer``.

With ``metric_for_best_model="chrf"`` it chooses the best checkpoint and stops early; a metric of
which less is better, such as TER, also needs ``greater_is_better=False``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wholetext.errors import InputError
from wholetext.integrations.texts import outcome, scored
from wholetext.registry import scorer


def compute_metrics(
    tokenizer: Any,
    *metrics: str,
    refs: Sequence[Any] | None = None,
    srcs: Sequence[str] | None = None,
    docs: Sequence[str] | None = None,
    langs: str | None = None,
) -> Callable[[Any], dict[str, float]]:
    """Return a function of an ``EvalPrediction`` that maps each metric to its score.

    Args:
        tokenizer: decodes generated and label ids.
        metrics: spec strings; ``chrf`` by default.
        refs: references of the evaluation set; by default its labels, which a collator may have cut.
        srcs: sources; by default the inputs, if ``include_for_metrics=["inputs"]`` passes them.
        docs: the document id of each segment.
        langs: the language pair (``"de-en"``).
    """
    names = metrics or ("chrf",)
    for name in names:
        scorer(name)  # a mistake in it is an error before training

    def compute(evaluated: Any) -> dict[str, float]:
        predictions = evaluated.predictions
        ids = np.asarray(predictions[0] if isinstance(predictions, tuple) else predictions)
        if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
            raise InputError(
                f"the predictions are not generated text but an array of shape {ids.shape}",
                where="compute_metrics",
                next="use Seq2SeqTrainer with predict_with_generate=True",
            )
        labels, inputs = evaluated.label_ids, getattr(evaluated, "inputs", None)
        results = scored(
            _decoded(tokenizer, ids),
            names,
            refs=_decoded(tokenizer, labels) if refs is None and labels is not None else refs,
            srcs=_decoded(tokenizer, inputs) if srcs is None and inputs is not None else srcs,
            docs=docs,
            langs=langs,
        )
        return outcome(results, *names)

    return compute


def _decoded(tokenizer: Any, ids: Any) -> list[str]:
    """Decode rows of ids; -100, which marks what is no label, is padding."""
    padded = np.asarray(ids)
    padded = np.where(padded < 0, tokenizer.pad_token_id, padded)
    return [text.strip() for text in tokenizer.batch_decode(padded, skip_special_tokens=True)]
