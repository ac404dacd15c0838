"""Tokenizers without model weights: text to ids, special ids, maximum length."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from wholetext.errors import MetricError, ModelError, optional
from wholetext.files.parsing import file_bytes, read_json
from wholetext.models.hub.locate import SAFE, gguf, guarded
from wholetext.models.layout import Ids, Layout, Markers, Parts, Truncation, lay_out
from wholetext.models.tokenizer_file import BROKEN, check_loaded, check_tokenizer_files
from wholetext.types import Excerpt

FILES = ("*.json", "*.txt", "*.model", "*.spm")  # what a tokenizer needs, without the weights
# models of embeddings and uniform layers, whose tokenizers are their files alone
FAMILY = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
# position ids begin after the padding id in these
OFFSET = frozenset(
    {
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "camembert",
        "longformer",
        "mpnet",
        "xmod",
        "data2vec-text",
        "roberta-prelayernorm",
    }
)
# a space before a word changes its id
BYTE_LEVEL = frozenset({"roberta", "gpt2", "bart", "deberta", "longformer"})
# what a configuration may say: others would make modules without end
_SIZES = {
    "num_hidden_layers": range(1, 1_000),
    "num_attention_heads": range(1, 10_000),
    "hidden_size": range(1, 100_000),
    "intermediate_size": range(1, 1_000_000),
    "vocab_size": range(1, 100_000_000),
    "type_vocab_size": range(100_000),
    "max_position_embeddings": range(-1, 1 << 31),
    "n_positions": range(-1, 1 << 31),
}
_NAMES = ("model_type", "hidden_act", "dtype", "torch_dtype")
AGAIN = "fetch the model again, or check it with `wholetext models verify`"
UNREADABLE = "its tokenizer fails on a text"
NO_LIMIT = 1_000_000  # tokenizers without a limit report a larger number
_MEMO = 200_000  # texts whose ids are cached
_LAYOUTS = 5000  # cached sequences: more than in a block of requests


@dataclass(frozen=True)
class TokenizedText:
    """How a text becomes ids: maximum length (0: the model's), truncation, stripping."""

    limit: int = 0
    truncation: Truncation = "context"
    strip: bool = False  # surrounding blanks; byte-level vocabularies then start with a space


class Tokenizer:
    """Text to ids by the model's own ``tokenizer.json``, in every version of transformers."""

    def __init__(
        self, folder: Path, kind: str = "AutoTokenizer", vocabulary: Path | None = None
    ) -> None:
        self.folder = folder
        self.config = read_config(folder)
        self._full = load_tokenizer(vocabulary or folder, kind)
        self._core = _core(vocabulary or folder, self._full)
        self._encoded = lru_cache(_MEMO)(self._encode)
        self.layout = lru_cache(_LAYOUTS)(self._layout)  # fitting, batching and running need it
        self.pad: int = self._full.pad_token_id or 0
        with guarded(vocabulary or folder, BROKEN):
            self.markers = self._markers()
            self.positions = self._positions()
            self.limit = self._limit()
        self.spaced = self.config.get("model_type") in BYTE_LEVEL

    def ids(self, text: str, strip: bool = False) -> Ids:
        """The ids of a text alone, without markers."""
        return self._encoded(self._stripped(text) if strip else text)

    def _stripped(self, text: str) -> str:
        """Remove surrounding blanks, but for the one with which byte-level texts begin."""
        text = text.strip()
        return f" {text}" if text and self.spaced else text

    def _encode(self, text: str) -> Ids:
        with guarded(self.folder, UNREADABLE):
            if self._core is not None:
                return tuple(self._core.encode(text, add_special_tokens=False).ids)
            return tuple(self._full(text, add_special_tokens=False, verbose=False)["input_ids"])

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each id of a text comes from, as character positions."""
        if self._core is None:
            raise ModelError(
                "this tokenizer does not return character offsets",
                where=str(self.folder),
                next="add a tokenizer.json to the model folder",
            )
        with guarded(self.folder, UNREADABLE):
            return list(self._core.encode(text, add_special_tokens=False).offsets)

    def decode(self, ids: Ids) -> str:
        return str(self._full.decode(list(ids)))

    def tokens(self, ids: Ids) -> list[str]:
        """Ids as printable word pieces."""
        return [str(token) for token in self._full.convert_ids_to_tokens(list(ids))]

    def parts(self, view: Excerpt, strip: bool = False) -> Parts:
        return Parts.of(view, lambda text: self.ids(text, strip))

    def limited(self, limit: int | None, model: str = "") -> int:
        """The requested number of ids (0: no limit); an error if it exceeds the model's."""
        if limit is None:
            return 0
        minimum = len(self.markers.opening) + len(self.markers.closing) + 1
        check_limit(limit, minimum, self.positions, model or str(self.folder))
        return limit

    def _layout(self, view: Excerpt, reading: TokenizedText) -> Layout:
        """The token sequence of a view."""
        limit = reading.limit or self.limit
        return lay_out(self.parts(view, reading.strip), self.markers, limit, reading.truncation)

    def seen(self, view: Excerpt, reading: TokenizedText) -> int | None:
        """How many characters of the scored text the sequence holds; None: not known."""
        if self._core is None:
            return None
        text = self._stripped(view.text) if reading.strip else view.text
        lead = len(view.text) - len(view.text.lstrip()) - (len(text) - len(text.lstrip()))
        ends = [end for _, end in self.offsets(text)]
        remaining = len(ends) - self.layout(view, reading).fit.lost_focus
        return max(0, ends[remaining - 1] + lead) if remaining > 0 else 0

    def _positions(self) -> int:
        """Ids, markers included, for which the model has positions (0: no such bound)."""
        bound = int(
            self.config.get("max_position_embeddings") or self.config.get("n_positions") or 0
        )
        padding = self.config.get("pad_token_id")
        first = 1 + (padding if isinstance(padding, int) else 1)
        return bound - first if bound and self.config.get("model_type") in OFFSET else bound

    def _limit(self) -> int:
        """Ids the model takes, markers included."""
        stated = int(min(self._full.model_max_length, NO_LIMIT))
        return min(stated, self.positions or (stated if stated < NO_LIMIT else 512))

    def _markers(self) -> Markers:
        empty = tuple(self._full("")["input_ids"])
        full = self._full
        closing = [i for i in (full.sep_token_id, full.eos_token_id) if i is not None]
        ending = len(list(takewhile(closing.__contains__, reversed(empty))))
        opening, closed = empty[: len(empty) - ending], empty[len(empty) - ending :]
        if not closing:
            raise ModelError(
                "its tokenizer has no separator token",
                where=str(self.folder),
                next="use an encoder such as BERT, RoBERTa or XLM-R",
            )
        # separators between two texts: RoBERTa has two
        pair = len(full("a", "a")["input_ids"]) - 2 * len(full("a")["input_ids"]) + len(empty)
        return Markers(opening, closed, (closing[0],), (closing[0],) * pair)


def check_limit(limit: int, minimum: int, most: int, model: str) -> None:
    """An error where a limit leaves no room for text, or exceeds ``most`` positions (0: any)."""
    if limit < minimum or (most and limit > most):
        raise MetricError(
            f"limit={limit} leaves no room for text, or is more than the model takes",
            where=model,
            next=f"from {minimum} to {most or 'any number'}; "
            "without limit= it is the model's maximum",
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Read and check the ``config.json`` of a model folder."""
    path = folder / "config.json"
    if not path.is_file():
        raise ModelError(
            "there is no config.json",
            where=str(folder),
            next="give the folder of a Hugging Face model, with config.json and its tokenizer",
        )
    config = read_table(path)
    numbers = ((key, config.get(key), sizes) for key, sizes in _SIZES.items())
    wrong = [
        key
        for key, size, sizes in numbers
        if size is not None and not (type(size) is int and size in sizes)
    ]
    wrong += [key for key in _NAMES if not isinstance(config.get(key, ""), str | None)]
    if wrong:
        stated = str(config[wrong[0]])[:40]
        raise ModelError(f"{wrong[0]} is {stated!r}, as in no model", where=str(path), next=AGAIN)
    return config


def read_table(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file of a model folder."""
    table = read_json(
        file_bytes(path, next=AGAIN, error=ModelError),
        where=str(path),
        next=AGAIN,
        error=ModelError,
        constants=True,
    )
    if not isinstance(table, dict):
        raise ModelError(f"{path.name} is not a JSON object", where=str(path), next=AGAIN)
    return table


def sentence_pieces(path: Path) -> Any:
    """The SentencePiece model of a file."""
    sentencepiece = optional("sentencepiece", "models")
    with guarded(path.parent, f"its {path.name} cannot be read"):
        return sentencepiece.SentencePieceProcessor(model_file=str(path))


@contextmanager
def reading(folder: Path, what: str = "the model cannot be loaded") -> Iterator[Any]:
    """Yield transformers with its logging off; its errors name the folder."""
    transformers = optional("transformers", "models")
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with guarded(folder, what), warnings.catch_warnings():
            # Marian's tokenizer recommends it for a method that is not called here
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            yield transformers
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def load_tokenizer(folder: Path, kind: str = "AutoTokenizer", lower: bool = True) -> Any:
    """Load a tokenizer whose steps are bounded in time and memory.

    Those of the BERT family are read without transformers if their files name the special tokens.
    ``lower=False`` keeps the case of letters, whatever the files say.
    """
    check_tokenizer_files(folder)
    if kind == "AutoTokenizer" and (folder / "tokenizer.json").is_file():
        stated = _stated(folder)
        if stated.keys() >= {"cls_token", "sep_token", "pad_token", "unk_token"}:
            with guarded(folder, BROKEN):
                return FileTokenizer(folder, stated, lower)
    options = {**({} if lower else {"do_lower_case": False}), **gguf(folder)}
    with reading(folder, BROKEN) as transformers:
        tokenizer = getattr(transformers, kind).from_pretrained(str(folder), **SAFE, **options)
    check_loaded(tokenizer, folder)
    return tokenizer


def _stated(folder: Path) -> dict[str, Any]:
    """What the files of a tokenizer of the family state beside its ``tokenizer.json``."""
    if read_config(folder).get("model_type") not in FAMILY:
        return {}
    paths = (folder / name for name in ("special_tokens_map.json", "tokenizer_config.json"))
    tables = [read_table(path) for path in paths if path.is_file()]
    return {key: value for table in tables for key, value in table.items() if value is not None}


class FileTokenizer:
    """A ``tokenizer.json``, with the names by which transformers' tokenizers are called."""

    is_fast = True

    def __init__(self, folder: Path, stated: Mapping[str, Any], lower: bool = True) -> None:
        self.backend_tokenizer = core = read_core(folder / "tokenizer.json")
        if not lower and hasattr(core.normalizer, "lowercase"):
            core.normalizer.lowercase = False
        self.model_max_length = int(min(stated.get("model_max_length", NO_LIMIT), NO_LIMIT))
        tokens = {
            kind: token["content"] if isinstance(token, dict) else token
            for kind, token in stated.items()
            if kind.endswith("_token")
        }
        self.pad_token_id, self.unk_token_id, self.cls_token_id, self.sep_token_id = (
            core.token_to_id(tokens[f"{kind}_token"]) for kind in ("pad", "unk", "cls", "sep")
        )
        self.eos_token_id = core.token_to_id(tokens.get("eos_token", ""))

    def __call__(
        self,
        text: str,
        pair: str | None = None,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        **unread: bool,
    ) -> dict[str, Any]:
        """The ids of a text, or of two."""
        core = self.backend_tokenizer
        core.encode_special_tokens = split_special_tokens
        return {"input_ids": core.encode(text, pair, add_special_tokens=add_special_tokens).ids}

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size())

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.backend_tokenizer.id_to_token(i) for i in ids]

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.backend_tokenizer.decode(ids, skip_special_tokens=False))


def read_core(path: Path) -> Any:
    """A ``tokenizer.json``, with padding and truncation disabled."""
    tokenizers = optional("tokenizers", "minilm")
    with guarded(path.parent, BROKEN):
        return _uncut(tokenizers.Tokenizer.from_file(str(path)))


def _core(folder: Path, full: Any) -> Any:
    """The fast tokenizer of the folder, with padding and truncation disabled; None without one."""
    path = folder / "tokenizer.json"
    if path.is_file() and not isinstance(full, FileTokenizer):
        return read_core(path)
    return _uncut(full.backend_tokenizer) if getattr(full, "is_fast", False) else None


def _uncut(core: Any) -> Any:
    core.no_truncation()
    core.no_padding()
    return core
