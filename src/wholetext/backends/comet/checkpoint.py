"""COMET checkpoints are untrusted files: tensors are read from them, and nothing is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wholetext.backends.hub.pickled import Stored
from wholetext.backends.hub.torch_file import TorchFile

WANTED = ("encoder.model.", "layerwise_attention.", "estimator.", "hidden2tag.")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The tensors of a checkpoint's ``state_dict`` that COMET models use, by name; their numbers stay in the file."""
    file = TorchFile(path)
    weights = file.content.get("state_dict") if isinstance(file.content, dict) else None
    if not isinstance(weights, dict):
        raise file.fault("the checkpoint has no state_dict")
    return {
        key: file.tensor(key, stored)
        for key, stored in weights.items()
        if isinstance(stored, Stored) and key.startswith(WANTED)
    }
