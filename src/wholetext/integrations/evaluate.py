"""Hugging Face evaluate: a module for each metric, loaded from this file.

    evaluate.load(wholetext.integrations.evaluate.__file__, "chrf")

or made here: ``Wholetext("doc-comet", langs="de-en")``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from wholetext.errors import InputError
from wholetext.integrations.texts import scored
from wholetext.registry import scorer

_DESCRIPTION = "A metric of wholetext, which scores translations as whole documents."
_INPUTS = """
Args:
    predictions: outputs, one per segment.
    references: a reference, or a list of references, for each; where the metric reads them.
    sources: the sources, where the metric reads them.
    documents: the document id of each segment (``compute`` only); one document in all without it.
Returns:
    score: of the corpus; scores: of segments; metric, signature and notes of the score.
"""


class Wholetext(evaluate.Metric):  # type: ignore[misc]
    """A metric of wholetext as an evaluation module."""

    def __init__(
        self, config_name: str | None = None, *, langs: str | None = None, **options: Any
    ) -> None:
        """``config_name`` is the spec of the metric, ``langs`` a language pair (``"de-en"``)."""
        parsed = scorer(config_name or "chrf")
        self.spec, self.langs, self.needs = parsed.spec, langs, parsed.metric.needs
        options.setdefault("keep_in_memory", options.get("num_process", 1) == 1)
        super().__init__(re.sub(r"\W+", "-", self.spec), **options)  # it becomes a folder

    def _info(self) -> Any:
        text = datasets.Value("string")
        columns = {"predictions": text}
        columns |= {"sources": text} if "src" in self.needs else {}
        forms = [
            {**columns, "references": text},
            {**columns, "references": datasets.Sequence(text)},
        ]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features(form) for form in (forms if "ref" in self.needs else [columns])
            ],
        )

    def compute(self, *, predictions: Any = None, references: Any = None, **more: Any) -> Any:
        """Compute the score of these texts, or of those added before."""
        if predictions is not None:
            self._check({"predictions": predictions, "references": references, **more})
        return evaluate.Metric.compute(self, predictions=predictions, references=references, **more)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **more: Any) -> None:
        """Add texts; ``compute`` scores all of them."""
        self._check({"predictions": predictions, "references": references, **more})
        evaluate.Metric.add_batch(self, predictions=predictions, references=references, **more)

    def _check(self, columns: dict[str, Any]) -> None:
        """Refuse texts that lack a side or are not parallel."""
        size = len(columns["predictions"])
        for name in self._feature_names():
            if columns.get(name) is None or len(columns[name]) != size:
                number = "no" if columns.get(name) is None else len(columns[name])
                raise InputError(
                    f"there are {number} {name} for {size} predictions",
                    where=self.spec,
                    next=f"{self.spec} needs {', '.join(self._feature_names())}, one for each segment",
                )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any] | None = None,
        sources: Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        results = scored(
            list(predictions),
            self.spec,
            refs=None if references is None else list(references),
            srcs=None if sources is None else list(sources),
            docs=documents,
            langs=self.langs,
        )
        scores = next(iter(results[self.spec].values()))
        return {
            "score": scores.score,
            "scores": scores.at("segment").tolist(),
            "metric": self.spec,
            "signature": str(scores.signature),
            "notes": [str(note) for note in results.notes],
        }
