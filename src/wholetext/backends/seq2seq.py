"""Encoder-decoder models as judges: the log-probability of one text, word by word, given another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from wholetext.backends import device as devices
from wholetext.backends.framing import Frame, Framed
from wholetext.backends.loading import Checkpoint, load_tokenizer
from wholetext.errors import ModelError
from wholetext.types import Fit, View

NO_LIMIT = 1_000_000  # tokenizers say a number beyond this where they know no limit
DEFAULT_LIMIT = 1024  # for models with relative positions, which have none of their own
LOGITS = 1 << 25  # scores over the vocabulary held at a time: 128 MB
_CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]+|__[a-z]{2,8}__")  # de_DE, deu_Latn, __de__


@dataclass(frozen=True)
class Pair:
    """What is asked of the model: how likely is ``said`` (its scored part) after reading ``given``?"""

    given: View
    said: View


class Said(NamedTuple):
    """Natural log-probabilities of a scored text: the mark before it, the sum over its tokens, the mark after it."""

    before: float  # language tag, beginning of sentence or separator; NaN where the model has none
    total: float
    tokens: int
    after: float


class Seq2Seq:
    """Any transformers encoder-decoder; ``langs`` are the languages of the given and the said text."""

    def __init__(self, checkpoint: Checkpoint, langs: tuple[str, str], limit: int | None = None) -> None:
        self.checkpoint = checkpoint
        self.id = f"{checkpoint.located.id}:{checkpoint.dtype}:{'>'.join(langs)}:{limit or ''}"
        self.tokenizer = load_tokenizer(checkpoint.located.path)
        speak(self.tokenizer, langs)
        most = limit or _limit(self.tokenizer, checkpoint.config)
        self.reads = _frame(self.tokenizer, most, "text")
        self.writes = _frame(self.tokenizer, most, "text_target")
        self.given = lru_cache(1 << 15)(self._given)
        self.said = lru_cache(1 << 15)(self._said)

    def fit(self, x: Pair) -> Fit:
        one, two = self.given(x.given).fit, self.said(x.said).fit
        return Fit(*(a + b for a, b in zip(_numbers(one), _numbers(two))))

    def run(self, batch: Sequence[Pair]) -> list[Said]:
        """Teacher forcing: the decoder reads the text it is asked about, and says what it expected at each step."""
        model, said = self.checkpoint.weights, [self.said(x.said) for x in batch]
        with devices.inference():
            reads, mask = self._tensors([list(self.given(x.given).ids) for x in batch])
            writes, _ = self._tensors([[self._start(), *framed.ids[:-1]] for framed in said])  # causal: needs no mask
            hidden = head_input(model, input_ids=reads, attention_mask=mask, decoder_input_ids=writes)  # (b, steps, d)
            spans = [_span(framed) for framed in said]
            chosen = hidden[
                [row for row, (a, b) in enumerate(spans) for _ in range(a, b)],
                [step for a, b in spans for step in range(a, b)],
            ]  # (scored steps of the batch, d)
            wanted = [token for framed, (a, b) in zip(said, spans) for token in framed.ids[a:b]]
            logs = _log_probabilities(model, chosen, wanted)
        return _gather(said, spans, logs)

    def _given(self, view: View) -> Framed:
        return _framed(self.reads, view, lambda text: _ids(self.tokenizer, text=text))

    def _said(self, view: View) -> Framed:
        # what follows the scored text cannot reach it through a causal decoder, so it takes no room there
        short = View(view.parts[: view.focus[1]], view.focus, view.glue)
        return _framed(self.writes, short, lambda text: _ids(self.tokenizer, text_target=text))

    def _tensors(self, rows: list[list[int]]) -> tuple[Any, Any]:
        return devices.padded(rows, self._pad(), self.checkpoint.device)

    def _start(self) -> int:
        """The id the decoder starts from: mBART rotates its end mark to the front, others have one of their own."""
        config = self.checkpoint.config
        if config.model_type == "mbart":
            return self.writes.suffix[-1]
        start = getattr(config, "decoder_start_token_id", None)
        return int(self._pad() if start is None else start)

    def _pad(self) -> int:
        pad = self.tokenizer.pad_token_id
        return int(self.tokenizer.eos_token_id if pad is None else pad)


def head_input(model: Any, **inputs: Any) -> Any:
    """(batch, steps, d) what reaches the output layer, scaled as the model scales it; the layer itself does not run.

    The output layer over a large vocabulary costs more memory than the whole model, and only scored steps need it.
    """
    caught: list[Any] = []

    def catch(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        caught.append(args[0])
        return (args[0][:1, :1],)

    hook = model.get_output_embeddings().register_forward_pre_hook(catch)
    try:
        model(**inputs, use_cache=False)
    finally:
        hook.remove()
    return caught[0]


def _log_probabilities(model: Any, hidden: Any, wanted: list[int]) -> list[float]:
    """log p of each wanted id from (n, d) hidden states, a bounded number of vocabulary rows at a time."""
    torch, head = devices.torch(), model.get_output_embeddings()
    bias = getattr(model, "final_logits_bias", None)
    targets = torch.tensor(wanted, device=hidden.device)
    many = max(1, LOGITS // int(model.config.vocab_size))
    logs: list[float] = []
    for begin in range(0, len(wanted), many):
        logits = head(hidden[begin : begin + many]).float()  # (many, vocabulary)
        if bias is not None:
            logits = logits + bias.float()
        chosen = logits.gather(1, targets[begin : begin + many, None])[:, 0]
        logs += (chosen - torch.logsumexp(logits, dim=1)).double().tolist()
    return logs


def _span(framed: Framed) -> tuple[int, int]:
    """Label positions asked about: the mark before the scored text (where there is one), the text, the mark after."""
    return max(framed.focus[0] - 1, 0), framed.focus[1] + 1


def _gather(said: Sequence[Framed], spans: Sequence[tuple[int, int]], logs: list[float]) -> list[Said]:
    found, at = [], 0
    for framed, (begin, end) in zip(said, spans):
        mine = logs[at : at + end - begin]
        at += end - begin
        marked = framed.focus[0] > 0
        inner = mine[1:-1] if marked else mine[:-1]
        found.append(Said(mine[0] if marked else float("nan"), sum(inner), len(inner), mine[-1]))
    return found


def _framed(frame: Frame, view: View, ids: Callable[[str], list[int]]) -> Framed:
    return frame.build([ids(part) for part in view.before], ids(view.text), [ids(part) for part in view.after])


def _ids(tokenizer: Any, **text: str) -> list[int]:
    return list(tokenizer(**text, add_special_tokens=False, verbose=False)["input_ids"])


def _frame(tokenizer: Any, limit: int, side: str) -> Frame:
    """What the tokenizer puts around a text, found by looking: the ids beside those of a short word."""
    inner = _ids(tokenizer, **{side: "a"})
    whole = list(tokenizer(**{side: "a"})["input_ids"])
    at = next((i for i in range(len(whole)) if whole[i : i + len(inner)] == inner), -1)
    if at < 0 or not inner or at + len(inner) == len(whole):
        raise ModelError("the tokenizer puts no end mark after a text, which scoring needs",
                         where=str(tokenizer.name_or_path), next="use a model with an ordinary seq2seq tokenizer")
    mark = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    return Frame(tuple(whole[:at]), (int(mark),), tuple(whole[at + len(inner) :]), limit)


def _limit(tokenizer: Any, config: Any) -> int:
    """Ids the model takes: the smaller of what tokenizer and positions say (some tokenizers name a huge number)."""
    said = [int(getattr(config, "max_position_embeddings", None) or NO_LIMIT), int(tokenizer.model_max_length)]
    least = min(said)
    return DEFAULT_LIMIT if least >= NO_LIMIT else least


def _numbers(fit: Fit) -> tuple[int, int, int, int]:
    return fit.tokens, fit.special, fit.lost_context, fit.lost_focus


# ---------------------------------------------------------------- languages


def speak(tokenizer: Any, langs: tuple[str, str]) -> None:
    """Set the languages of a multilingual tokenizer; others have none to set."""
    codes = sorted(code.strip("_") for code in tokenizer.get_added_vocab() if _CODE.fullmatch(code))
    if codes and hasattr(tokenizer, "src_lang"):
        tokenizer.src_lang, tokenizer.tgt_lang = (language_code(lang, codes) for lang in langs)


def language_code(lang: str, codes: Sequence[str]) -> str:
    """The model's code for a language: itself, or the only one whose language part equals it."""
    wanted = lang.replace("-", "_").lower()
    exact = [code for code in codes if code.lower() == wanted]
    found = exact or [code for code in codes if code.lower().split("_")[0] == wanted.split("_")[0]]
    if len(found) == 1:
        return found[0]
    what = "must be told the language of the text" if not lang else f"does not know the language {lang!r}"
    if found:
        what = f"has several codes for the language {lang!r}"
    raise ModelError(f"the model {what}",
                     next=f"give it with -l, or as tgt_lang=CODE (src_lang=CODE): {', '.join(found or codes)}")
