"""Checkpoints of a training run: an interrupted run resumes with identical results."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, RunError
from wholetext.files.output_folder import check_folder
from wholetext.files.parsing import reading
from wholetext.files.storage import replacing
from wholetext.models.device import torch_module
from wholetext.training.examples import HeldOutAgreement
from wholetext.training.learned.folder import MODEL, plain
from wholetext.training.recipe import Recipe


@dataclass
class Progress:
    """The state that decides the next step, except for tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # of the epoch
    loss: float = 0.0  # sum since the last evaluation
    losses: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)  # step, training loss, verdict
    best: int = -1  # step of the best evaluation
    stopped: str = ""  # why no more steps are made: end, patience

    def verdict(self, at: int) -> HeldOutAgreement:
        return HeldOutAgreement(**next(row["verdict"] for row in self.history if row["step"] == at))


class TrainingCheckpoint:
    """The state of a run, in a hidden folder inside the folder it will write."""

    def __init__(self, out: Path, recipe: Recipe, fresh: bool) -> None:
        """Raise, before any work, if the folder contains another recipe's run or foreign files."""
        self.folder, self.state = out / ".train", dict[str, Any]()
        self.recipe = json.dumps(plain(recipe))
        path = self.folder / "state.pt"
        check_folder(out, MODEL)
        if fresh:
            path.unlink(missing_ok=True)
        elif path.is_file():
            with reading(str(path), "start from scratch with --fresh", RunError):
                self.state = torch_module().load(path, weights_only=True, map_location="cpu")
            self._same(json.loads(self.recipe), json.loads(self.state["recipe"]))

    def _same(self, current: dict[str, Any], stored: dict[str, Any]) -> None:
        changes = [
            f"{name} was {stored.get(name)!r}, is {current.get(name)!r}"[:160]
            for name in sorted({*stored, *current})
            if stored.get(name) != current.get(name)
        ]
        if changes:
            raise InputError(
                f"the folder contains another run ({'; '.join(changes[:3])})",
                where=str(self.folder.parent),
                next="give another --out, or --fresh to start from scratch",
            )

    def resume(self, data: str, module: Any, optimizer: Any) -> Progress:
        """Restore a run on the same data, or begin one; ``data`` is a hash of the examples."""
        if not self.state:
            self.state = {"recipe": self.recipe, "data": data}
            return Progress()
        self._same({"data": data}, {"data": self.state["data"]})
        with reading(str(self.folder), "start from scratch with --fresh", RunError):
            module.load_state_dict(self.state["tensors"])
            optimizer.load_state_dict(self.state["optimizer"])
            torch_module().set_rng_state(self.state["random"])
            return Progress(**self.state["progress"])

    def keep_best(self, module: Any) -> None:
        """Hold the tensors of the best evaluation so far; the next ``save`` writes them."""
        tensors = module.state_dict().items()
        self.state["best"] = {name: tensor.detach().cpu().clone() for name, tensor in tensors}

    def save(self, progress: Progress, module: Any, optimizer: Any) -> None:
        """Write everything to one file."""
        torch = torch_module()
        self.state |= {
            "progress": asdict(progress),
            "tensors": module.state_dict(),
            "optimizer": optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }
        with replacing(self.folder / "state.pt") as beside:
            torch.save(self.state, beside)
