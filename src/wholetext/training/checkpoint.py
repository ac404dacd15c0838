"""Checkpoints of a training run: an interrupted run resumes with identical results."""

from __future__ import annotations

import io
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, RunError
from wholetext.files.output_folder import check_folder
from wholetext.files.parsing import file_bytes, read_json
from wholetext.files.storage import refusing, replacing, write_file
from wholetext.models.device import torch_module
from wholetext.training.examples import Verdict
from wholetext.training.learned.config import plain
from wholetext.training.learned.folder import MODEL, Array, read_weights, write_weights
from wholetext.training.recipe import Recipe

RUN, STATE = "run.json", "state.pt"
_OWN = re.compile(
    r"run\.json|state\.pt|best-\d+\.(safetensors|new)|(run\.json|state\.pt)\.new"
    r"|features\.sqlite(-wal|-shm)?"
)


@dataclass
class Progressed:
    """Progress of a run: all the state that decides the next step, except for tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # of the epoch
    loss: float = 0.0  # sum since the last evaluation
    losses: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)  # step, training loss, verdict
    best: int = -1  # step of the best evaluation
    stopped: str = ""  # why no more steps are made: end, patience, minutes
    seconds: float = 0.0
    pairs: int = 0

    def verdict(self, at: int) -> Verdict:
        values = next(row for row in self.history if row["step"] == at)["verdict"]
        return Verdict(**{**values, "parts": tuple(tuple(part) for part in values["parts"])})


class Checkpoints:
    """The hidden folder of a run inside the folder it will write."""

    def __init__(self, out: Path) -> None:
        self.folder = out / ".train"

    def claim(self, recipe: Recipe, fresh: bool) -> None:
        """Raise, before any work, if the folder contains a run of another recipe or foreign files."""
        check_folder(self.folder.parent, MODEL)
        if fresh:
            self._remove()
        current, stored = json.loads(json.dumps(plain(recipe))), self._record().get("recipe")
        if stored is None or stored == current:
            return
        other = sorted(
            name for name in {*stored, *current} if stored.get(name) != current.get(name)
        )
        shown = "; ".join(
            f"{name} was {stored.get(name)!r}, is {current.get(name)!r}"[:160] for name in other[:3]
        )
        raise InputError(
            f"the folder contains a run of another recipe ({shown})",
            where=str(self.folder.parent),
            next="give another --out, or --fresh to start from scratch",
        )

    def begin(self, recipe: Recipe, data: str) -> bool:
        """Register a run on this data; returns whether there is a checkpoint to resume from."""
        stored = self._record()
        if stored:
            if stored.get("data") != data:
                raise InputError(
                    "the folder contains a run on other data with the same names",
                    where=str(self.folder.parent),
                    next="give another --out, or --fresh to start from scratch",
                )
            return (self.folder / STATE).is_file()
        record = {"recipe": plain(recipe), "data": data}
        write_file(self.folder / RUN, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        return False

    def _remove(self) -> None:
        """Remove the files of a run, and nothing else."""
        with refusing(str(self.folder), what="a new run"):
            for path in self.folder.iterdir() if self.folder.is_dir() else ():
                if _OWN.fullmatch(path.name):
                    path.unlink()

    def _record(self) -> dict[str, Any]:
        """Recipe and data of the run in the folder; empty without a run."""
        path = self.folder / RUN
        if not path.is_file():
            return {}
        again = "start from scratch with --fresh"
        record = read_json(
            file_bytes(path, error=RunError, next=again),
            where=str(path),
            error=RunError,
            next=again,
        )
        if not isinstance(record, dict) or not isinstance(record.get("recipe"), dict):
            raise RunError("not a description of a training run", where=str(path), next=again)
        return record

    def save(self, progressed: Progressed, learner: Any, optimizer: Any) -> None:
        """Write progress, trained tensors, optimizer and random state to one file."""
        torch = torch_module()
        buffer = io.BytesIO()
        torch.save(
            {
                "progressed": json.dumps(asdict(progressed)),
                "optimizer": optimizer.state_dict(),
                "tensors": {
                    name: torch.from_numpy(tensor) for name, tensor in learner.tensors().items()
                },
                "random": torch.get_rng_state(),
            },
            buffer,
        )
        write_file(self.folder / STATE, buffer.getvalue())

    def load(self, learner: Any, optimizer: Any) -> Progressed:
        """Restore learner, optimizer and random state; returns the progress."""
        torch = torch_module()
        try:
            state = torch.load(self.folder / STATE, weights_only=True, map_location="cpu")
            progressed = Progressed(**json.loads(state["progressed"]))
            learner.restore({name: tensor.numpy() for name, tensor in state["tensors"].items()})
            optimizer.load_state_dict(state["optimizer"])
            torch.set_rng_state(state["random"])
        except Exception as fault:  # unpickling and torch raise whatever the broken file caused
            raise RunError(
                f"the checkpoint cannot be read ({type(fault).__name__}: {fault})"[:300],
                where=str(self.folder),
                next="start from scratch with --fresh",
            ) from fault
        return progressed

    def keep_best(self, step: int, tensors: dict[str, Array]) -> None:
        """Save the tensors of the best evaluation so far."""
        with replacing(self.folder / f"best-{step}.safetensors") as beside:
            write_weights(beside, tensors)

    def best(self, step: int) -> dict[str, Array]:
        return read_weights(self.folder / f"best-{step}.safetensors")

    def tidy(self, step: int) -> None:
        for path in self.folder.glob("best-*"):
            if path.name != f"best-{step}.safetensors" and _OWN.fullmatch(path.name):
                path.unlink(missing_ok=True)
