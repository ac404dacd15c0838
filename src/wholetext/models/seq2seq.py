"""Encoder-decoder models: token log-probabilities of a target text given a source text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock, get_ident
from typing import Any, NamedTuple

from wholetext.errors import ModelError
from wholetext.models.device import memory, padded, torch_module
from wholetext.models.hub.locate import guarded
from wholetext.models.layout import (
    Ids,
    Layout,
    Markers,
    Parts,
    Truncation,
    assemble,
    lay_out,
    pad,
    together,
)
from wholetext.models.loading import Checkpoint, CheckpointBackend
from wholetext.models.tokenizer import NO_LIMIT, UNREADABLE, check_limit, load_tokenizer
from wholetext.types import Excerpt, Fit

DEFAULT_LIMIT = 1024  # for models with relative positions, which have no limit
LOGITS = 1 << 25  # scores over the vocabulary held at a time: 128 MB
_CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]+")  # de_DE, deu_Latn
_TOKENIZING = Lock()  # tokenizers are switched between source and target


@dataclass(frozen=True)
class Pair:
    """A target, whose scored part gets log-probabilities, and the source it is conditioned on."""

    source: Excerpt
    target: Excerpt


class TokenLogProbs(NamedTuple):
    """Natural log-probabilities of a scored text: marker before it, sum of tokens, marker after."""

    before: float  # language tag, beginning of sentence or separator; NaN where the model has none
    total: float
    tokens: int
    after: float


class Seq2Seq(CheckpointBackend):
    """Any transformers encoder-decoder; ``langs`` are the languages of source and target."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        langs: tuple[str, str],
        limit: int = 0,
        truncation: Truncation = "context",
    ) -> None:
        self.checkpoint, self.truncation = checkpoint, truncation
        self.id = f"{checkpoint.id}:{'>'.join(langs)}:{limit}:{truncation}"
        self.tokenizer = checkpoint.load_tokenizer()
        with guarded(checkpoint.located.path, "its tokenizer cannot be used"):
            speak(self.tokenizer, langs)
            self.limit = limit or _limit(self.tokenizer, checkpoint.config)
            self.reads = _markers(self.tokenizer, "text")
            self.writes = _markers(self.tokenizer, "text_target")
        if limit:
            marks = max(len(side.opening) + len(side.closing) for side in (self.reads, self.writes))
            most = int(getattr(checkpoint.config, "max_position_embeddings", None) or 0)
            check_limit(limit, marks + 1, most, checkpoint.located.name)
        self.source = lru_cache(1 << 15)(self._source)
        self.target = lru_cache(1 << 15)(self._target)

    def fit(self, x: Pair) -> Fit:
        return together((self.source(x.source).fit, self.target(x.target).fit))

    def run(self, batch: Sequence[Pair]) -> list[TokenLogProbs]:
        """Teacher forcing: the decoder reads the text to score; log-probability of each token."""
        torch, model, device = torch_module(), self.checkpoint.weights, self.checkpoint.device
        sources, targets = (
            [self.source(x.source).ids for x in batch],
            [self.target(x.target) for x in batch],
        )
        with torch.inference_mode(), memory():
            reads, mask = padded(sources, self._pad, device)  # (batch, ids)
            # the decoder is causal, so what pads the end is never seen and needs no mask
            shifted = [(self._start, *layout.ids[:-1]) for layout in targets]
            writes = torch.tensor(pad(shifted, self._pad), device=device)
            hidden = head_input(
                model, input_ids=reads, attention_mask=mask.long(), decoder_input_ids=writes
            )
            # with special tokens
            spans = [
                range(max(layout.start - 1, 0), min(layout.stop + 1, len(layout.ids)))
                for layout in targets
            ]
            rows = [row for row, span in enumerate(spans) for _ in span]
            # (steps of all spans, width)
            chosen = hidden[rows, [step for span in spans for step in span]]
            next_ids = [layout.ids[step] for layout, span in zip(targets, spans) for step in span]
            logs = iter(_log_probabilities(model, chosen, next_ids))
        per_text = [{step: next(logs) for step in span} for span in spans]
        # published: a sequence cut on the right counts removed tokens, with log-probability 0
        sizes = [
            len(self.ids(x.target.text)) if self.truncation == "reference" else None for x in batch
        ]
        return [_sums(*text) for text in zip(targets, per_text, sizes)]

    def marked(self, layout: Layout) -> str:
        tokens = self.tokenizer.convert_ids_to_tokens(list(layout.ids))
        return layout.marked([str(token) for token in tokens])

    def ids(self, text: str) -> Ids:
        return _ids(self.tokenizer, text, "text_target")

    def _source(self, view: Excerpt) -> Layout:
        parts = Parts.of(view, lambda text: _ids(self.tokenizer, text, "text"))
        return self._laid_out(parts, self.reads)

    def _target(self, view: Excerpt) -> Layout:
        # a causal decoder never sees what follows the scored text: leave it out
        short = Excerpt(view.parts[: view.focus[1]], view.focus, view.glue)
        return self._laid_out(Parts.of(short, self.ids), self.writes)

    def _laid_out(self, parts: Parts, markers: Markers) -> Layout:
        layout = lay_out(parts, markers, self.limit, self.truncation)
        if self.truncation == "context":
            return layout
        # the scored segment keeps its start in the full sequence
        begin, stop = assemble(parts, markers)[1][len(parts.before)]
        size = len(layout.ids)
        return replace(layout, start=min(begin, size), stop=min(stop, size))

    @property
    def _start(self) -> int:
        """The first id of the decoder: a start token, or mBART's end-of-sequence token."""
        config = self.checkpoint.config
        if config.model_type == "mbart":
            return self.writes.closing[-1]
        start = getattr(config, "decoder_start_token_id", None)
        return self._pad if start is None else int(start)

    @property
    def _pad(self) -> int:
        pad_id = self.tokenizer.pad_token_id
        return int(self.tokenizer.eos_token_id if pad_id is None else pad_id)


def head_input(model: Any, **inputs: Any) -> Any:
    """(batch, steps, d) scaled inputs of the output layer, which itself is skipped.

    Over a large vocabulary it takes more memory than the model, and only scored steps need it.
    """
    caught: list[Any] = []
    thread = get_ident()

    def catch(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if get_ident() != thread:  # of another batch, which has a hook of its own
            return None
        caught.append(args[0])
        return (args[0][:1, :1],)

    hook = model.get_output_embeddings().register_forward_pre_hook(catch)
    try:
        model(**inputs, use_cache=False)
    finally:
        hook.remove()
    return caught[0]


def _log_probabilities(model: Any, hidden: Any, ids: list[int]) -> list[float]:
    """Return log p of each target id from (n, d) hidden states, a bounded number at a time."""
    torch, head = torch_module(), model.get_output_embeddings()
    bias = getattr(model, "final_logits_bias", None)
    targets = torch.tensor(ids, device=hidden.device)
    chunk = max(1, LOGITS // int(model.config.vocab_size))
    logs: list[float] = []
    for begin in range(0, len(ids), chunk):
        logits = head(hidden[begin : begin + chunk]).float()  # (many, vocabulary)
        if bias is not None:
            logits = logits + bias.float()
        chosen = logits.gather(1, targets[begin : begin + chunk, None])[:, 0]
        logs += (chosen - torch.logsumexp(logits, dim=1)).tolist()
    return logs


def _sums(layout: Layout, logs: Mapping[int, float], tokens: int | None) -> TokenLogProbs:
    """Sum log-probabilities by position; ``tokens`` is as laid out unless given."""
    scored = range(layout.start, layout.stop)
    # nothing is written before a text
    before = logs.get(layout.start - 1, 0.0) if layout.start else float("nan")
    total, after = sum(logs[step] for step in scored), logs.get(layout.stop, 0.0)
    return TokenLogProbs(before, total, len(scored) if tokens is None else tokens, after)


def _ids(tokenizer: Any, text: str, side: str) -> Ids:
    with _TOKENIZING, guarded(Path(tokenizer.name_or_path), UNREADABLE):
        return tuple(
            tokenizer(**{side: text}, add_special_tokens=False, verbose=False)["input_ids"]
        )


def _markers(tokenizer: Any, side: str) -> Markers:
    """The special tokens that the tokenizer puts around a text, determined from a short word."""
    inner, whole = _ids(tokenizer, "a", side), tuple(tokenizer(**{side: "a"})["input_ids"])
    at = next((i for i in range(len(whole)) if whole[i : i + len(inner)] == inner), -1)
    if at < 0 or not inner or at + len(inner) == len(whole):
        raise ModelError(
            "the tokenizer does not append an end-of-sequence token, which scoring needs",
            where=str(tokenizer.name_or_path),
            next="use a model with an ordinary seq2seq tokenizer",
        )
    mark = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
    return Markers(whole[:at], whole[at + len(inner) :], (int(mark),), (int(mark),))


def _limit(tokenizer: Any, config: Any) -> int:
    """Maximum input length: the smaller limit of tokenizer and position embeddings."""
    limit = min(
        int(getattr(config, "max_position_embeddings", None) or NO_LIMIT),
        int(tokenizer.model_max_length),
    )
    return DEFAULT_LIMIT if limit >= NO_LIMIT else limit


def speak(tokenizer: Any, langs: tuple[str, str]) -> None:
    """Set the languages of a multilingual tokenizer; others have none to set."""
    codes = _codes(tokenizer)
    if codes:
        tokenizer.src_lang, tokenizer.tgt_lang = (language_code(lang, codes) for lang in langs)


def languages(folder: Path) -> list[str]:
    """List the language codes of a model; most models have none."""
    return _codes(load_tokenizer(folder))


def _codes(tokenizer: Any) -> list[str]:
    """Language codes of a tokenizer, wherever its family and version store them."""
    if not hasattr(tokenizer, "src_lang"):
        return []
    for name in ("lang_code_to_token", "lang_code_to_id"):
        if getattr(tokenizer, name, None):
            return sorted(getattr(tokenizer, name))
    return sorted(code for code in tokenizer.get_added_vocab() if _CODE.fullmatch(code))


def language_code(lang: str, codes: Sequence[str]) -> str:
    """The model's code for a language: itself, or the only one whose language part equals it."""
    normalised = lang.replace("-", "_").lower()
    exact = [code for code in codes if code.lower() == normalised]
    matches = exact or [
        code for code in codes if code.lower().split("_")[0] == normalised.split("_")[0]
    ]
    if len(matches) == 1:
        return matches[0]
    what = f"has {'several codes' if matches else 'no code'} for the language {lang!r}"
    near = matches or [code for code in codes if lang and code.startswith(normalised[:2])]
    raise ModelError(
        f"the model {what}",
        next="give it (-l, in Python langs=), or as tgt_lang=CODE (src_lang=CODE for the source): "
        f"{', '.join(near or codes)}",
    )
