"""eole: validation metrics and criteria of early stopping, by ``scorer_modules`` of its configuration.

    scorer_modules: [wholetext.integrations.eole]
    valid_metrics: [wholetext/chrf]
    scorer_configs: {wholetext: {langs: de-en, docs: valid.docids}}
    training: {early_stopping: 2, early_stopping_criteria: [wholetext/chrf]}

Every metric and alias is registered under its name. A module of your own adds others:
``register("slide(size=6,step=6):chrf")``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from eole.scorers import AVAILABLE_SCORERS, register_scorer
from eole.scorers.scorer import Scorer

from wholetext.errors import WholetextError, known
from wholetext.integrations.texts import scored
from wholetext.io.text import read_lines
from wholetext.registry import names, scorer

_OPTIONS = ("langs", "docs")  # language pair; file with the document id of each segment


class WholetextScorer(Scorer):  # type: ignore[misc]
    """A metric of wholetext; ``register`` makes a class for each."""

    metric = ""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        options = (getattr(config, "scorer_configs", None) or {}).get("wholetext") or {}
        for name in options:
            known("option", name, _OPTIONS, where="scorer_configs, wholetext")
        self.langs = options.get("langs")
        self.docs = read_lines(options["docs"]) if options.get("docs") else None

    def compute_score(
        self, preds: Sequence[str], texts_refs: Sequence[str] | None, texts_srcs: Any = None
    ) -> float:
        """Score the outputs of a validation set; NaN where there are none."""
        if not len(preds):
            return math.nan
        return scored(
            list(preds),
            self.metric,
            refs=texts_refs,
            srcs=texts_srcs,
            docs=self.docs,
            langs=self.langs,
        ).score


def register(metric: str) -> None:
    """Register a metric as ``wholetext/SPEC``, with its direction."""
    parsed, name = scorer(metric), f"wholetext/{metric}"
    if name not in AVAILABLE_SCORERS:
        facts = {
            "__doc__": parsed.metric.summary,
            "metric": parsed.spec,
            "higher_is_better": parsed.metric.higher_is_better,
            "uses_gpu": hasattr(parsed.metric, "model"),  # eole moves its own model away meanwhile
        }
        register_scorer(metric=name)(type("WholetextScorer", (WholetextScorer,), facts))


for _name in names():
    try:
        register(_name)
    except WholetextError:
        continue  # needs a parameter or a package: its own error is raised by `register`
