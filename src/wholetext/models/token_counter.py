"""Numbers of tokens of texts, by any tokenizer that can be named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wholetext.errors import InputError
from wholetext.models.hub.locate import locate
from wholetext.models.tokenizer import FILES, read_core, sentence_pieces


def token_counter(name: str) -> Callable[[str], int]:
    """Return a function that counts tokens, without markers.

    ``name`` is a SentencePiece file (``spiece.model``), a ``tokenizer.json``, or a model by folder,
    short name or hub name, of which the tokenizer alone is downloaded.
    """
    path = Path(name)
    if path.suffix not in (".model", ".json"):
        folder = locate(name, patterns=FILES).path
        pieces = sorted(folder.glob("*.model"))
        path = next(
            filter(Path.is_file, (folder / "tokenizer.json", *pieces)), folder / "spiece.model"
        )
    if not path.is_file():
        raise InputError(
            "there is no such tokenizer",
            where=str(path),
            next="name a SentencePiece file, a tokenizer.json, or a model, e.g. google/mt5-small",
        )
    if path.suffix == ".model":
        model = sentence_pieces(path)
        return lambda text: len(model.encode(text))
    core = read_core(path)
    return lambda text: len(core.encode(text, add_special_tokens=False).ids)
