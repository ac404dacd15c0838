"""lm-evaluation-harness: metrics by name, computed over all samples of a task.

In the folder of a task, ``utils.py`` registers metrics::

    from wholetext.integrations.lm_eval import register

    process_results = register("chrf", "doc-comet", langs="de-en")

and the YAML of the task names them::

    process_results: !function utils.process_results
    metric_list:
      - metric: wholetext/chrf

A task without ``process_results`` passes outputs and one reference each, which is all that metrics
without a source need.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_REGISTRY, register_metric

from wholetext.errors import InputError, WholetextWarning, choices
from wholetext.integrations.texts import outcome, scored
from wholetext.registry import scorer

# output, references, source, document, language pair
Item = tuple[str, tuple[str, ...], str | None, str | None, str | None]
ProcessResults = Callable[[Mapping[str, Any], Sequence[str]], dict[str, Item]]


def register(
    *metrics: str,
    langs: str | None = None,
    src: str | None = "source",
    ref: str | None = "target",
    doc: str | None = "document_id",
) -> ProcessResults:
    """Register metrics as ``wholetext/SPEC``; return the function for ``process_results``.

    ``src``, ``ref`` and ``doc`` are columns of the data set, or None where there is no such column;
    a column of references may hold a list of them.
    """
    names = [f"wholetext/{metric}" for metric in metrics]
    for metric, name in zip(metrics, names):
        parsed = scorer(metric)  # a mistake in it is an error before anything is generated
        if name not in METRIC_REGISTRY:
            total = partial(_aggregate, parsed.spec)
            AGGREGATION_REGISTRY.register(name, target=total)
            how = {"aggregation": name, "higher_is_better": parsed.metric.higher_is_better}
            register_metric(metric=name, **how)(_item)

    def process_results(row: Mapping[str, Any], results: Sequence[str]) -> dict[str, Item]:
        refs = _column(row, ref)
        several = tuple(refs) if isinstance(refs, (list, tuple)) else (refs,)
        document = _column(row, doc)
        item = (
            results[0],
            several if ref else (),
            _column(row, src),
            None if document is None else str(document),
            langs,
        )
        return dict.fromkeys(names, item)

    return process_results


def _column(row: Mapping[str, Any], name: str | None) -> Any:
    if name is not None and name not in row:
        raise InputError(
            f"the data set has no column {name!r}",
            where="process_results",
            next=f"{choices(name, row)}: register(…, src=…, ref=…, doc=…); None: there is none",
        )
    return None if name is None else row[name]


def _item(references: Sequence[str], predictions: Sequence[str], **_: Any) -> Item:
    """Keep the texts of a sample for the aggregation, as a task without ``process_results`` calls it."""
    return predictions[0], (references[0],), None, None, None


def _aggregate(spec: str, items: Sequence[Item]) -> float:
    if not all(isinstance(item, (list, tuple)) for item in items):
        raise InputError(
            "the harness passes no texts of samples that have several targets",
            where=spec,
            next="set process_results in the YAML (`wholetext help integrations`)",
        )
    hyps, refs, srcs, docs, langs = zip(*items)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1 and docs[0] is not None:
        text = "samples of several processes are not in order, so context is wrong: score the log"
        warnings.warn(text, WholetextWarning, stacklevel=2)
    results = scored(
        list(hyps),
        spec,
        refs=list(refs) if refs[0] else None,
        srcs=None if srcs[0] is None else list(srcs),
        docs=None if docs[0] is None else list(docs),
        langs=langs[0],
    )
    return outcome(results, spec)[spec]
