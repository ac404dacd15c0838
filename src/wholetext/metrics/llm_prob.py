"""How likely a decoder-only language model finds a translation after its source."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from wholetext.errors import MetricError, ModelError
from wholetext.metrics.model_metric import ModelMetric
from wholetext.models.device import memory, padded, torch_module
from wholetext.models.hub.locate import locate
from wholetext.models.layout import Ids, pad
from wholetext.models.loading import Checkpoint, CheckpointBackend, open_checkpoint
from wholetext.models.seq2seq import LOGITS, Pair
from wholetext.models.tokenizer import FILES, check_limit
from wholetext.text.codes import language_name
from wholetext.types import Fit, FloatArray, Request, Runtime, Side, mean_stats

Context = tuple[Sequence[str], Sequence[str]]  # of the source, of the target
LIMIT = 8192  # tokens of a prompt with its translation, where the model takes more


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
            lang if code == "auto" else code
            for lang, code in zip(langs, (self.src_lang, self.tgt_lang))
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


# ---------------------------------------------------------------- the model


class Prompt(NamedTuple):
    """A text whose tokens after the first ``prefix`` are scored."""

    ids: Ids
    prefix: int
    fit: Fit


class CausalLM(CheckpointBackend):
    """Any transformers decoder that takes position ids; ``names`` are the names of the languages."""

    def __init__(self, checkpoint: Checkpoint, names: tuple[str, str], limit: int = 0) -> None:
        self.checkpoint, self.names = checkpoint, names
        self.id = f"{checkpoint.id}:{'>'.join(names)}:{limit}/causal/1"
        self.tokenizer = checkpoint.load_tokenizer()
        if not self.tokenizer.is_fast:
            raise ModelError(
                "the tokenizer does not tell where tokens begin",
                where=checkpoint.located.name,
                next="use a model with a fast tokenizer (tokenizer.json)",
            )
        config = checkpoint.config
        most = int(getattr(config, "max_position_embeddings", None) or LIMIT)
        if getattr(config, "use_sliding_window", True):  # beyond the window a cache forgets
            most = min(most, int(getattr(config, "sliding_window", None) or most))
        if limit:
            check_limit(limit, 8, most, checkpoint.located.name)
        self.limit = limit or min(most, LIMIT)
        self.prompt = lru_cache(1 << 15)(self._prompt)

    def fit(self, x: Pair) -> Fit:
        return self.prompt(x).fit

    def shown(self, x: Pair) -> str:
        ids, prefix, _ = self.prompt(x)
        return f"{self.tokenizer.decode(ids[:prefix])}«{self.tokenizer.decode(ids[prefix:])}»"

    def run(self, batch: Sequence[Pair]) -> list[tuple[float, int]]:
        """Log-probability of the scored tokens, and their number; equal prompts are read once."""
        torch, model, device = torch_module(), self.checkpoint.weights, self.checkpoint.device
        prompts = [self.prompt(x) for x in batch]
        # the last token of a prompt predicts the first that is scored, so it is read with these
        heads = [prompt.ids[: prompt.prefix - 1] for prompt in prompts]
        tails = [prompt.ids[prompt.prefix - 1 :] for prompt in prompts]
        places = {head: at for at, head in enumerate(dict.fromkeys(heads))}
        sums = []
        with torch.inference_mode(), memory():
            ids, mask = padded(list(places), 0, device)
            context = model.base_model(input_ids=ids, attention_mask=mask.long(), use_cache=True)
            for at in _parts([len(tail) for tail in tails], int(model.config.vocab_size)):
                rows = torch.tensor([places[heads[i]] for i in at], device=device)
                cache = copy.deepcopy(context.past_key_values)
                cache.batch_select_indices(rows)
                read = torch.tensor(pad([tails[i][:-1] for i in at], 0, 1), device=device)
                steps = torch.arange(read.shape[1], device=device)[None]
                reads = torch.cat([mask[rows], torch.ones_like(read, dtype=torch.bool)], dim=1)
                logits = model(
                    input_ids=read,
                    attention_mask=reads.long(),
                    position_ids=steps + mask[rows].sum(1, keepdim=True),
                    past_key_values=cache,
                    use_cache=True,
                ).logits.float()
                for i, table in zip(at, logits):  # (steps, vocabulary)
                    scored = torch.tensor(tails[i][1:], device=device)
                    table = table[: len(scored)]
                    logs = table.gather(1, scored[:, None])[:, 0] - table.logsumexp(1)
                    sums.append((float(logs.sum()), len(scored)))
        return sums

    def _prompt(self, x: Pair) -> Prompt:
        """Fit both sides into the limit: drop the farthest context first, then cut the end."""
        src, hyp, after = x.source.before, x.target.before, x.source.after
        full = ids, prefix = self._ids((src, hyp), after, x)
        while len(ids) > self.limit and (src or hyp or after):
            most = max(len(src), len(hyp))
            after = after if most else after[:-1]
            src, hyp = src[1:] if len(src) == most else src, hyp[1:] if len(hyp) == most else hyp
            ids, prefix = self._ids((src, hyp), after, x)
        cut = max(0, len(ids) - self.limit)
        fit = Fit(len(ids) - cut, 0, len(full[0]) - len(ids), cut)
        return Prompt(ids[: self.limit], min(prefix, self.limit), fit)

    def _ids(self, before: Context, after: Sequence[str], x: Pair) -> tuple[Ids, int]:
        prefix, scored = lines(self.names, x, before, after)
        coded = self.tokenizer(prefix + scored, return_offsets_mapping=True)
        ends = [end for _, end in coded["offset_mapping"]]
        first = next(i for i, end in enumerate(ends) if end > len(prefix))
        stop = len(ends) - ends[::-1].index(max(ends))  # without a mark of the end
        return tuple(coded["input_ids"][:stop]), first


def lines(
    names: tuple[str, str], x: Pair, before: Context, after: Sequence[str]
) -> tuple[str, str]:
    """The prompt, each side on a line after the name of its language, and the text that is scored."""
    source = x.source.glue.join([*before[0], x.source.text, *after])
    context, glue = x.target.glue.join(before[1]), x.target.glue
    prefix = f"{names[0]}: {source}\n{names[1]}:{' ' if context else ''}{context}"
    return prefix, f"{glue if context else ' '}{x.target.text}\n"


def _parts(sizes: Sequence[int], vocabulary: int) -> list[range]:
    """Ranges of rows whose logits fit in memory together."""
    parts, begin = [], 0
    for end in range(1, len(sizes) + 1):
        if (
            end == len(sizes)
            or (end + 1 - begin) * max(sizes[begin : end + 1]) * vocabulary > LOGITS
        ):
            parts.append(range(begin, end))
            begin = end
    return parts
