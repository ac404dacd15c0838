"""Transformers trained with fairseq, such as Prism's m39v1, read and run without fairseq.

A folder holds ``checkpoint.pt``, ``spm.model`` and ``dict.src.txt`` or another dictionary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes
from wholetext.models.device import DTYPES, Precision, attend, place, torch_module
from wholetext.models.hub.locate import Located, guarded
from wholetext.models.hub.torch_file import read_torch_file
from wholetext.models.loading import Checkpoint
from wholetext.models.tokenizer import sentence_pieces
from wholetext.types import Runtime

LIMIT = 2000  # ids per text in the published code of Prism
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # ids 0 to 3 of every dictionary
_PAD, _END, _UNKNOWN = 1, 2, 3
_TAG = re.compile(r"<([a-z]{2,3})>")
# settings without weights that change what is computed
_OTHERWISE = ("no_token_positional_embeddings", "cross_self_attention")
_UNREAD = (".version", ".embed_positions._float_tensor")  # not weights


def is_fairseq(folder: Path) -> bool:
    """Tell whether a folder holds a fairseq checkpoint and its SentencePiece model."""
    return (folder / "checkpoint.pt").is_file() and (folder / "spm.model").is_file()


def open_fairseq(run: Runtime, located: Located) -> FairseqCheckpoint:
    """The checkpoint in a folder, shared within the process."""
    precision = Precision(run.device, run.dtype)
    key = ("fairseq", located.path, located.revision, precision)
    return run.resource(key, lambda: FairseqCheckpoint(located, precision))


class FairseqCheckpoint(Checkpoint):
    """A fairseq model; its weights load on first use."""

    def __init__(self, located: Located, precision: Precision) -> None:
        self.located, self.precision = located, precision

    def load_tokenizer(self) -> Any:
        return FairseqTokenizer(self.located.path)

    @cached_property
    def config(self) -> Any:
        return SimpleNamespace(model_type="fairseq", decoder_start_token_id=_END)

    @cached_property
    def weights(self) -> Any:
        torch, device = torch_module(), self.device  # fail before the weights are read
        model = read_fairseq(self.located.path)
        return place(model, device, dtype=getattr(torch, DTYPES[self.precision.dtype]))


class FairseqTokenizer:
    """Text to ids, called as a tokenizer of transformers is.

    A target starts with the tag of its language (``<de>``), a source has none, as in Prism.
    """

    model_max_length = LIMIT
    pad_token_id, eos_token_id, sep_token_id = _PAD, _END, None

    def __init__(self, folder: Path) -> None:
        self.name_or_path = str(folder)
        self._pieces = sentence_pieces(folder / "spm.model")
        self.vocabulary = read_dictionary(folder)
        self._ids = {piece: at for at, piece in enumerate(self.vocabulary)}
        tags = {match[1]: at for piece, at in self._ids.items() if (match := _TAG.fullmatch(piece))}
        self.lang_code_to_id = {code: at for code, at in tags.items() if code not in ("pad", "unk")}
        self.src_lang = self.tgt_lang = ""

    def __call__(
        self,
        text: str = "",
        text_target: str | None = None,
        add_special_tokens: bool = True,
        verbose: bool = True,
    ) -> dict[str, list[int]]:
        pieces = self._pieces.encode(text if text_target is None else text_target, out_type=str)
        ids = [self._ids.get(piece, _UNKNOWN) for piece in pieces]
        tag = [] if text_target is None else [self.lang_code_to_id[self.tgt_lang]]
        return {"input_ids": [*tag, *ids, _END] if add_special_tokens else ids}

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.vocabulary[at] for at in ids]


def read_dictionary(folder: Path) -> list[str]:
    """Pieces by id: four special ones, then a line of the dictionary each, with its count."""
    paths = sorted(folder.glob("dict.*.txt"))
    texts = {file_bytes(path, error=ModelError) for path in paths}
    if len(texts) != 1:
        raise ModelError(
            f"there are {len(texts)} different dictionaries dict.*.txt, not one",
            where=str(folder),
            next="source and target have to share a vocabulary, as in Prism's m39v1",
        )
    with guarded(paths[0], "it is not a dictionary of fairseq"):
        lines = [
            line.removesuffix(" #fairseq:overwrite") for line in texts.pop().decode().split("\n")
        ]
        pieces = [line.rpartition(" ")[0] for line in lines if line]
        return [*_SPECIAL, *pieces]


def read_fairseq(folder: Path) -> Any:
    """The model in a folder, for inference; only tensors and plain values are read from it."""
    path = folder / "checkpoint.pt"
    content = read_torch_file(path)
    with guarded(path, "the checkpoint is not one of fairseq's with `args` and `model`"):
        settings = vars(content["args"])  # a Namespace, read as a mapping with attributes
        tensors = {name: value.float() for name, value in content["model"].items()}
        other = [name for name in _OTHERWISE if settings.get(name)]
    if other or settings.get("activation_fn", "relu") not in ("relu", "gelu"):
        raise ModelError(
            f"its setting {other[0] if other else 'activation_fn'} is not supported",
            where=str(path),
            next="use a plain Transformer of fairseq, such as Prism's m39v1",
        )
    with guarded(path, "its weights do not fit its settings"):
        check_sizes(settings, tensors)
        return build_transformer(SimpleNamespace(**settings), tensors)


def check_sizes(settings: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """Raise an error unless the sizes are those of the weights, before modules of them are made."""
    for side in ("encoder", "decoder"):
        words, inner = (
            tensors[f"{side}.{name}.weight"].shape for name in ("embed_tokens", "layers.0.fc1")
        )
        layers = sum(bool(re.fullmatch(rf"{side}\.layers\.\d+\.fc1\.weight", n)) for n in tensors)
        sizes = {"layers": layers, "embed_dim": words[1], "ffn_embed_dim": inner[0]}
        stated = {name: settings[f"{side}_{name}"] for name in sizes}
        if stated != sizes or settings[f"{side}_attention_heads"] not in range(1, words[1] + 1):
            raise ValueError(f"{side}: {str(stated)[:160]}, but its weights are of {sizes}")


def build_transformer(args: Any, tensors: dict[str, Any]) -> Any:
    """The Transformer of Vaswani et al. 2017 with fairseq's names; every weight must be there."""
    torch = torch_module()
    nn, functional = torch.nn, torch.nn.functional
    activation = getattr(functional, getattr(args, "activation_fn", "relu"))

    class Attention(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                self.add_module(name, nn.Linear(width, width))

        def forward(self, asking: Any, read: Any, mask: Any) -> Any:
            """(batch, asking, width) read from (batch, read, width) where ``mask`` is true."""
            parts = (self.q_proj(asking), self.k_proj(read), self.v_proj(read))
            heads = [part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts]
            mixed = attend(heads, mask)
            return self.out_proj(mixed.transpose(1, 2).flatten(2))

    class Layer(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self, width: int, inner: int, heads: int, first: bool, crossed: bool) -> None:
            super().__init__()
            self.first = first  # whether norms come before a block, or after its sum
            for name in ("self_attn", *(["encoder_attn"] if crossed else [])):
                self.add_module(name, Attention(width, heads))
                self.add_module(f"{name}_layer_norm", nn.LayerNorm(width))
            self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
            self.final_layer_norm = nn.LayerNorm(width)

        def block(self, norm: Any, work: Any, state: Any) -> Any:
            if self.first:
                return state + work(norm(state))
            return norm(state + work(state))

        def forward(self, state: Any, own: Any, read: Any = None, mask: Any = None) -> Any:
            state = self.block(
                self.self_attn_layer_norm, lambda x: self.self_attn(x, x, own), state
            )
            if read is not None:
                state = self.block(
                    self.encoder_attn_layer_norm,
                    lambda x: self.encoder_attn(x, read, mask),
                    state,
                )
            return self.block(
                self.final_layer_norm, lambda x: self.fc2(activation(self.fc1(x))), state
            )

    class Stack(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self, side: str) -> None:
            super().__init__()

            def setting(name: str) -> Any:
                return getattr(args, f"{side}_{name}", None)

            self.width, first = setting("embed_dim"), bool(setting("normalize_before"))
            self.scale = (
                1.0 if getattr(args, "no_scale_embedding", False) else math.sqrt(self.width)
            )
            sizes = (self.width, setting("ffn_embed_dim"), setting("attention_heads"))
            self.layers = nn.ModuleList(
                Layer(*sizes, first, side == "decoder") for _ in range(setting("layers"))
            )
            final = first and not getattr(args, f"no_{side}_final_norm", False)
            self.layer_norm = nn.LayerNorm(self.width) if final else None
            words = tensors[f"{side}.embed_tokens.weight"]
            self.embed_tokens = nn.Embedding(*words.shape)

        def forward(self, ids: Any, own: Any, read: Any = None, mask: Any = None) -> Any:
            words = self.scale * self.embed_tokens(ids)
            state = words + positions(ids.shape[1], self.width).to(words)
            for layer in self.layers:
                state = layer(state, own, read, mask)
            return state if self.layer_norm is None else self.layer_norm(state)

    class Transformer(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = Stack("encoder"), Stack("decoder")
            words = self.decoder.embed_tokens.weight
            self.output = nn.Linear(words.shape[1], words.shape[0], bias=False)
            self.config = SimpleNamespace(vocab_size=words.shape[0])

        def get_output_embeddings(self) -> Any:
            return self.output

        def forward(
            self, input_ids: Any, attention_mask: Any, decoder_input_ids: Any, use_cache: bool
        ) -> Any:
            mask = attention_mask.bool()[:, None, None, :]
            read = self.encoder(input_ids, mask)
            steps = decoder_input_ids.shape[1]
            causal = torch.ones(steps, steps, dtype=torch.bool, device=input_ids.device).tril()
            return self.output(self.decoder(decoder_input_ids, causal, read, mask))

    with torch.device("meta"):  # no memory: weights follow
        model = Transformer()
    names = {name: name for name in model.state_dict()}
    names["output.weight"] = next(
        (
            name
            for name in ("decoder.output_projection.weight", "decoder.embed_out")
            if name in tensors
        ),
        "decoder.embed_tokens.weight",
    )
    unread = [name for name in {*tensors} - {*names.values()} if not name.endswith(_UNREAD)]
    if unread:
        raise ValueError(f"{min(unread)} belongs to another architecture")
    model.load_state_dict({name: tensors[key] for name, key in names.items()}, assign=True)
    return model.requires_grad_(False)


def positions(length: int, width: int) -> Any:
    """(length, width) sine and cosine of positions, which start after the padding id."""
    torch = torch_module()
    half = width // 2
    rates = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(_PAD + 1, _PAD + 1 + length)[:, None] * rates  # (length, half)
    return torch.cat([angles.sin(), angles.cos()], dim=1)
