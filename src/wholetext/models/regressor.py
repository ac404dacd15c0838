"""Encoder-decoder models that predict a number in one decoder step (MetricX), and their prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.models.device import memory, padded, torch_module
from wholetext.models.hub.locate import Located, beside, guarded, locate
from wholetext.models.layout import Ids
from wholetext.models.loading import Checkpoint, CheckpointBackend
from wholetext.models.tokenizer import FILES, UNREADABLE, load_tokenizer, sentence_pieces
from wholetext.types import Excerpt, Fit

RESERVED = "<extra_id_10>"  # the word whose score is the prediction (Juraska et al. 2023)
MT5_VOCABULARY, MT5_RESERVED = 250_112, 250_089  # its place in every published mT5
MT5_TOKENIZER = "google/mt5-xl"  # tokenizer of published checkpoints that include none
# (version, whether a reference is read) → prompt (Juraska et al. 2023, 2024)
PROMPTS = {
    ("23", "ref"): "candidate: {hyp} reference: {ref}",
    ("23", "qe"): "candidate: {hyp} source: {src}",
    ("24", "ref"): "source: {src} candidate: {hyp} reference: {ref}",
    ("24", "qe"): "source: {src} candidate: {hyp}",
}


@dataclass(frozen=True)
class Prompt:
    """A prompt and shorter forms of it: the first that fits is used, or the last, truncated."""

    forms: tuple[str, ...]


def prompt(form: str, sides: Mapping[str, Excerpt | None]) -> Prompt:
    """The prompt with all context, then with less and less of it."""
    shown = {
        side: view for side, view in sides.items() if view is not None and f"{{{side}}}" in form
    }
    most = max(len(view.before) + len(view.after) for view in shown.values())
    texts = (
        form.format(**{side: narrowed(view, keep) for side, view in shown.items()})
        for keep in range(most, -1, -1)
    )
    return Prompt(tuple(dict.fromkeys(texts)))


def narrowed(view: Excerpt, keep: int) -> str:
    """The scored text with its ``keep`` nearest context segments, of two equally near the later."""
    begin, end = view.focus
    for _ in range(min(keep, len(view.before) + len(view.after))):
        later = end - view.focus[1] <= view.focus[0] - begin
        if end < len(view.parts) and (later or begin == 0):
            end += 1
        else:
            begin -= 1
    return view.glue.join(view.parts[begin:end])


class Regressor(CheckpointBackend):
    """A T5-like regression model (Deutsch et al. 2023, §4; MetricX)."""

    def __init__(self, checkpoint: Checkpoint, tokenizer: str, limit: int) -> None:
        self.checkpoint, self.tokenizer, self.limit = checkpoint, tokenizer, limit
        vocabulary = locate_tokenizer(checkpoint.located, tokenizer)
        self.encode, self.words, self.pieces = encoder_of(vocabulary.path)
        self.id = f"{checkpoint.id}:{vocabulary.id}:{limit}"
        self.read = lru_cache(1 << 15)(self._read)

    def fit(self, x: Prompt) -> Fit:
        return self.read(x)[1]

    def shown(self, x: Prompt) -> str:
        """The exact tokens of the input, marked; all of it is scored."""
        return f"«{' '.join(self.pieces(list(self.read(x)[0])))}»"

    def run(self, batch: Sequence[Prompt]) -> list[float]:
        """Predictions as the model makes them, not clamped."""
        weight, scale = self.head
        with torch_module().inference_mode(), memory():
            answers = (self.hidden(batch) * scale) @ weight.float()
        return [float(answer) for answer in answers.tolist()]  # MPS has no float64

    def learn(self, batch: Sequence[Prompt]) -> Any:
        """(batch,) predictions through which gradients flow."""
        weight, scale = self.output_row()
        return (self.hidden(batch) * scale) @ weight.float()

    def hidden(self, batch: Sequence[Prompt]) -> Any:
        """(batch, width) inputs of the output layer after one decoder step."""
        torch, model, device = torch_module(), self.checkpoint.weights, self.checkpoint.device
        rows = [self.read(x)[0] or (0,) for x in batch]  # no text at all: attend to one padding id
        ids, real = padded(rows, 0, device)  # (batch, ids)
        mask = real.long()
        states = model.get_encoder()(
            input_ids=ids, attention_mask=mask
        ).last_hidden_state  # (batch, ids, width)
        step = torch.zeros((len(rows), 1), dtype=torch.long, device=device)
        return (
            model.get_decoder()(
                input_ids=step,
                encoder_hidden_states=states,
                encoder_attention_mask=mask,
                use_cache=False,
            )
            .last_hidden_state[:, 0]
            .float()
        )

    @cached_property
    def head(self) -> tuple[Any, float]:
        """``output_row``, for a model that does not change."""
        return self.output_row()

    def output_row(self) -> tuple[Any, float]:
        """(d,) the reserved word's row of the output layer, and the factor of tied embeddings."""
        model = self.checkpoint.weights
        layer, inputs = model.get_output_embeddings(), model.get_input_embeddings().weight
        # by the weights, not the configuration: transformers 5 reports every mT5 as tied
        tied = layer.weight.data_ptr() == inputs.data_ptr()
        return layer.weight[self.index], float(model.config.d_model) ** -0.5 if tied else 1.0

    @property
    def index(self) -> int:
        size = int(self.checkpoint.config.vocab_size)
        index = MT5_RESERVED if size == MT5_VOCABULARY else self.words(RESERVED)
        if not 0 <= index < size:
            raise ModelError(
                f"the tokenizer has no word {RESERVED}, where the prediction is read",
                where=str(self.checkpoint.located.path),
                next="give its own tokenizer with tokenizer=…",
            )
        return index

    def _read(self, prompt: Prompt) -> tuple[Ids, Fit]:
        """Ids without end mark, as in training; its place still counts: at most ``limit - 1``."""
        most, whole = self.limit - 1, 0
        ids: Sequence[int] = []
        for form in prompt.forms:
            ids = self.encode(form)
            whole = whole or len(ids)
            if len(ids) <= most:
                break
        read = tuple(ids[:most])
        return read, Fit(
            len(read), 0, lost_context=whole - len(ids), lost_focus=len(ids) - len(read)
        )


def locate_tokenizer(model: Located, tokenizer: str) -> Located:
    """Locate the tokenizer: the one given, else the model's own, else mT5's."""
    if tokenizer != "auto":
        return locate(beside(model.path, tokenizer), patterns=FILES)
    if any((model.path / name).is_file() for name in ("spiece.model", "tokenizer.json")):
        return model
    return locate(MT5_TOKENIZER, patterns=FILES)


def encoder_of(
    folder: Path,
) -> tuple[Callable[[str], Sequence[int]], Callable[[str], int], Callable[[Any], list[str]]]:
    """Text → ids without markers, word → id, and ids → printable pieces.

    Uses sentencepiece itself if its model is in the folder: the tokenizers that some versions of
    transformers convert drop its byte fallback, and rare characters become unknown.
    """
    tokenizer = load_tokenizer(folder)

    def word(text: str) -> int:
        index = tokenizer.convert_tokens_to_ids(text)
        return -1 if index is None or index == tokenizer.unk_token_id else int(index)

    if (folder / "spiece.model").is_file():
        model = sentence_pieces(folder / "spiece.model")
        return model.encode, word, lambda ids: [str(piece) for piece in model.id_to_piece(ids)]

    def ids(text: str) -> list[int]:
        with guarded(folder, UNREADABLE):
            return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    return ids, word, lambda index: [str(piece) for piece in tokenizer.convert_ids_to_tokens(index)]
