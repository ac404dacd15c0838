"""Loading transformers models from untrusted folders: tensors only, nothing missing, nothing printed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from wholetext.backends.device import choose_device, prepared, torch, transformers
from wholetext.backends.hub import Located, loading, locate
from wholetext.errors import ModelError

# what a tokenizer and its limits need, without the weights
TOKENIZER = ("config.json", "tokenizer*", "*.model", "*.spm", "vocab*", "merges.txt", "special_tokens_map.json",
             "added_tokens.json", "generation_config.json")  # fmt: skip
_SAFE = {"trust_remote_code": False, "local_files_only": True}


class Checkpoint:
    """A transformers model: what it is at once, its tokenizer and weights only when they are used."""

    def __init__(self, kind: str, model: str, revision: str, where: tuple[str, str]) -> None:
        self.kind, self.model, self.revision = kind, model, revision
        self.device, self.dtype = choose_device(where[0]), where[1]
        self.located: Located = locate(model, revision, patterns=TOKENIZER)

    @cached_property
    def config(self) -> Any:
        return load_config(self.located.path)

    @cached_property
    def weights(self) -> Any:
        """The model itself, ready to run."""
        return load_model(self.kind, locate(self.model, self.revision).path, self.device, self.dtype)


def load_config(folder: Path) -> Any:
    """The model's configuration."""
    with quiet(), _named(folder):
        return transformers().AutoConfig.from_pretrained(folder, **_SAFE)


def load_tokenizer(folder: Path, **options: Any) -> Any:
    """The model's tokenizer."""
    with quiet(), _named(folder):
        return transformers().AutoTokenizer.from_pretrained(folder, **_SAFE, **options)


def load_model(kind: str, folder: Path, device: str, dtype: str) -> Any:
    """A model of the class ``kind`` (``AutoModel`` …), ready to run; every weight must come from the folder."""
    # transformers keeps in fp32 what overflows in fp16, so the precision is asked for at loading
    name = {"bf16": "bfloat16", "fp16": "float16"}.get(dtype, "float32")
    options = {**loading(folder), _dtype_option(): getattr(torch(), name)}
    with quiet(), _named(folder):
        model, facts = getattr(transformers(), kind).from_pretrained(folder, output_loading_info=True, **options)
    missing = sorted(map(str, facts["missing_keys"]))
    if missing:
        raise ModelError(f"the checkpoint has no weights for {missing[0]} and {len(missing) - 1} others",
                         where=str(folder), next="the file is damaged, or belongs to another kind of model")
    return prepared(model, device, dtype, cast=False)


def _dtype_option() -> str:
    major, minor = transformers().__version__.split(".")[:2]
    return "dtype" if (int(major), int(minor)) >= (4, 56) else "torch_dtype"


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no warnings of transformers while a model loads; everything as it was afterwards."""
    talk = transformers().utils.logging
    level, bars = talk.get_verbosity(), talk.is_progress_bar_enabled()
    talk.set_verbosity(logging.CRITICAL)
    talk.disable_progress_bar()
    try:
        yield
    finally:
        talk.set_verbosity(level)
        if bars:
            talk.enable_progress_bar()


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Whatever transformers says about a folder it cannot read becomes an error that names the folder."""
    try:
        yield
    except Exception as fault:  # by file and version: OSError, ValueError, SafetensorError, UnpicklingError …
        first = next((line.strip() for line in str(fault).splitlines() if line.strip()), type(fault).__name__)
        raise ModelError(f"the model cannot be loaded ({type(fault).__name__}: {first[:300]})", where=str(folder),
                         next="wholetext models verify shows what is wrong with a model folder") from fault
