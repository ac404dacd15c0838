"""``weights.safetensors``: tensors by name, each expected by name and shape; whatever else is there is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MissingExtra, ModelError

Array = NDArray[np.float32]
AGAIN = "the file is damaged, or belongs to another wholetext.json: train or copy it again"


class WeightsFile:
    """The trained tensors of a folder, read when first asked for; ``None``: nothing was trained yet."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def __bool__(self) -> bool:
        return self.path is not None

    @cached_property
    def tensors(self) -> dict[str, Array]:
        if self.path is None:
            return {}
        try:
            from safetensors.numpy import load_file
        except ImportError:
            raise MissingExtra("safetensors", "models") from None
        try:
            found: dict[str, Any] = load_file(str(self.path))
        except FileNotFoundError:
            raise ModelError(f"there is no {self.path.name}", where=str(self.path.parent), next=AGAIN) from None
        except Exception as fault:  # SafetensorError, KeyError (a dtype numpy lacks), OSError
            raise ModelError(f"it cannot be read ({fault})", where=str(self.path), next=AGAIN) from None
        for name, tensor in found.items():
            if tensor.dtype.kind != "f" or not np.isfinite(tensor).all():
                raise ModelError(f"{name} contains values that are not finite numbers", where=str(self.path),
                                 next=AGAIN)
        return {name: tensor.astype(np.float32) for name, tensor in found.items()}

    def group(self, prefix: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
        """Every tensor ``prefix``name, of the shape it must have: no other may be there."""
        found = {name[len(prefix) :]: tensor for name, tensor in self.tensors.items() if name.startswith(prefix)}
        for name, shape in shapes.items():
            if name not in found:
                raise ModelError(f"it has no {prefix}{name}", where=str(self.path), next=AGAIN)
            if found[name].shape != shape:
                raise ModelError(f"{prefix}{name} has the shape {found[name].shape}, not {shape}",
                                 where=str(self.path), next=AGAIN)
        self._refuse({f"{prefix}{name}" for name in found} - {f"{prefix}{name}" for name in shapes})
        return found

    def only(self, *prefixes: str) -> None:
        """An error where there are tensors under other prefixes."""
        self._refuse({name for name in self.tensors if not name.startswith(prefixes)})

    def _refuse(self, extra: set[str]) -> None:
        if extra:
            raise ModelError(f"unexpected tensor {min(extra)}", where=str(self.path), next=AGAIN)


def write_weights(path: Path, tensors: Mapping[str, Array]) -> None:
    from safetensors.numpy import save_file

    with safetensors_faults():
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in sorted(tensors.items())}, str(path))


@contextmanager
def safetensors_faults() -> Iterator[None]:
    """Convert errors of safetensors while writing to the underlying OSError."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as fault:
        code = re.search(r"\(os error (\d+)\)|code: (\d+)", str(fault))
        if code is None:
            raise OSError(str(fault)) from fault
        number = int(code[1] or code[2])
        raise OSError(number, os.strerror(number)) from fault
