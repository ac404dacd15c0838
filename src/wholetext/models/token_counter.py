"""Numbers of tokens of texts, by any tokenizer that can be named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wholetext.errors import InputError
from wholetext.models.hub.locate import locate
from wholetext.models.tokenizer import read_core, sentence_pieces

FILES = ("tokenizer*", "*.model", "*.txt", "config.json", "special_tokens_map.json")


def token_counter(name: str) -> Callable[[str], int]:
    """Return a function that counts tokens, without markers.

    ``name`` is a SentencePiece file (``spiece.model``), a ``tokenizer.json``, or a model by folder,
    short name or hub name, of which the tokenizer alone is downloaded.
    """
    path = Path(name)
    if path.suffix == ".model":
        return _sentencepiece(path)
    if path.suffix != ".json":
        folder = locate(name, patterns=FILES).path
        path = folder / "tokenizer.json"
        if not path.is_file():
            return _sentencepiece(
                next(iter(sorted(folder.glob("*.model"))), folder / "spiece.model")
            )
    _exists(path)
    tokenizer = read_core(path)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _sentencepiece(path: Path) -> Callable[[str], int]:
    _exists(path)
    pieces = sentence_pieces(path)
    return lambda text: len(pieces.encode(text))


def _exists(path: Path) -> None:
    if not path.is_file():
        raise InputError(
            "there is no such tokenizer",
            where=str(path),
            next="name a SentencePiece file, a tokenizer.json, or a model, e.g. google/mt5-small",
        )
