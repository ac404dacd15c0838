"""Files of ``torch.save``, read as tensors and plain containers: nothing in them is executed."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.models.device import torch_module
from wholetext.models.hub.locate import guarded

_ARCHIVE = b"PK\x03\x04"  # the first bytes of files since torch 1.6
# packages whose objects training tools store beside the weights
_TOOLS = frozenset(
    {
        "pytorch_lightning",
        "lightning",
        "lightning_fabric",
        "lightning_utilities",
        "torchmetrics",
        "comet",
        "fairseq",
        "omegaconf",
        "numpy",
        "argparse",
        "pathlib",
        "collections",
    }
)
_PLAIN = (dict, list, tuple, frozenset)
# in files whose names torch does not list
_BEFORE_ARCHIVES = (
    "argparse.Namespace",
    "collections.defaultdict",
)


class _Leftover:
    """Stands for a class of a training tool.

    Its instances are plain mappings, which take items and attributes.
    """

    def __new__(cls, *args: Any) -> Any:
        return OrderedDict()


class _Number:
    """Stands for a class of numpy."""

    def __init__(self, *args: Any) -> None: ...

    def __setstate__(self, state: Any) -> None: ...


def read_torch_file(path: Path) -> Any:
    """Load a file of ``torch.save``, mapped into memory if torch 1.6 or later wrote it."""
    torch = torch_module()
    with guarded(path, "the checkpoint is damaged, or no file of torch.save"):
        with path.open("rb") as file:
            archive = file.read(4) == _ARCHIVE
        with torch.serialization.safe_globals(list(_PLAIN)):
            names = (
                torch.serialization.get_unsafe_globals_in_checkpoint(path)
                if archive
                else _BEFORE_ARCHIVES
            )
            refused = sorted(name for name in names if name.split(".")[0] not in _TOOLS)
            if refused:
                raise ModelError(
                    f"the checkpoint asks for {refused[0][:160]}, which is neither a tensor nor a "
                    "plain container; it was refused and nothing in it was executed",
                    where=str(path),
                    next="fetch the model again, or convert it to safetensors "
                    "on an isolated machine",
                )
            stubs = [(_Number if name.startswith("numpy.") else _Leftover, name) for name in names]
            with torch.serialization.safe_globals(stubs):
                return torch.load(path, map_location="cpu", weights_only=True, mmap=archive)


def count_tensors(content: Any) -> int:
    """The number of tensors in nested containers."""
    if isinstance(content, dict):
        return sum(map(count_tensors, content.values()))
    if isinstance(content, (list, tuple)):
        return sum(map(count_tensors, content))
    return int(isinstance(content, torch_module().Tensor))
