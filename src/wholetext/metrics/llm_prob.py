"""How likely a language model finds a translation after its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wholetext.errors import MetricError
from wholetext.metrics.model_metric import ModelMetric
from wholetext.models.causal import CausalLM
from wholetext.models.hub.locate import locate
from wholetext.models.loading import open_checkpoint
from wholetext.models.seq2seq import Pair
from wholetext.models.tokenizer import FILES
from wholetext.text.codes import language_name
from wholetext.types import FloatArray, Request, Runtime, Side, mean_stats


@dataclass(frozen=True)
class LlmProb(ModelMetric):
    """Mean log-probability per token of an output, given its source, under a causal language model.

    The prompt is ``English: source`` and, on a line of its own, ``French:``; what is scored is the
    output and the end of its line. A view's context stands before both, as in Vernikos et al.
    (2022). ``llm-prob@FOLDER``: of transformers, or with one GGUF file.
    """

    name = "llm-prob"
    summary = "log-probability of an output given its source under a language model: llm-prob@MODEL"
    needs = frozenset[Side]({"src", "hyp"})
    range = (float("-inf"), 0.0)

    src_lang: str = "auto"
    tgt_lang: str = "auto"
    limit: int | None = None  # tokens of the prompt with the output

    def resolve(self, langs: tuple[str, str]) -> LlmProb:
        src, tgt = (
            lang if given == "auto" else given
            for lang, given in zip(langs, (self.src_lang, self.tgt_lang))
        )
        if not self.model or not (src and tgt):
            raise MetricError(
                f"llm-prob lacks {'the languages' if self.model else 'a model'}",
                next="write llm-prob@MODEL, a hub name or a folder, and give -l, such as -l en-fr",
            )
        located = locate(self.model, self.revision, patterns=FILES)
        return replace(self, revision=located.revision, src_lang=src, tgt_lang=tgt)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        for at, request in enumerate(requests):
            if not request.hyp[0].text.strip():
                run.warn("the output is empty, so only the end of the line is scored", at)
        rows = self.mapped(requests, run)
        return mean_stats(
            [[total / count if count else float("nan")] for ((total, count),) in rows]
        )

    def backend(self, run: Runtime) -> CausalLM:
        checkpoint = open_checkpoint(run, self.model, self.revision, kind="AutoModelForCausalLM")
        names = (language_name(self.src_lang), language_name(self.tgt_lang))
        key = ("causal", checkpoint.id, checkpoint.precision, names, self.limit)
        return run.resource(key, lambda: CausalLM(checkpoint, names, self.limit or 0))

    def inputs(self, request: Request) -> list[tuple[str, Pair]]:
        return [("src+hyp", Pair(request.src, request.hyp[0]))] if request.src else []
