"""Killing a run and going on gives the weights of a run that nobody killed, byte for byte."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.training_data import TINY, make, recipe
from wholetext.errors import InputError, RunError
from wholetext.training.learned.folder import plain
from wholetext.training.recipe import Recipe, read_recipe
from wholetext.training.run import Moment, Session, train

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")
ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import json, sys, time, torch
from pathlib import Path
from wholetext.training.recipe import read_recipe
from wholetext.training.run import Session, train
torch.set_num_threads(1)
def tell(moment):
    if moment.stage == "training":
        print(moment.done, flush=True)
        time.sleep(0.02)  # so that the kill comes before the end
train(read_recipe(None, json.loads(sys.argv[1])), Session(Path(sys.argv[2]), save_seconds=0, tell=tell))
"""


def killed(plan: Recipe, out: Path, step: int) -> None:
    """Start a run in a process of its own, and kill it when it tells that it is at a step."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(plain(plan)), str(out)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if int(line) >= step:
                break
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert process.returncode == -signal.SIGKILL, "it was still running"
    assert not (out / "wholetext.json").exists()


@pytest.mark.slow
def test_kill_and_go_on(root: Path, tmp_path: Path) -> None:
    plan = recipe(root, form="t5", base=str(TINY / "tiny-mt5"), epochs=3, most=6,
                 validation_most=2, k=[1], batch=4, patience=0, evaluate=7)
    whole = train(plan, Session(tmp_path / "whole"))
    killed(plan, tmp_path / "killed", random.randint(2, 14))
    first: list[Moment] = []
    again = train(plan, Session(tmp_path / "killed", tell=first.append))
    steps = [moment.done for moment in first if moment.stage == "training"]
    assert steps and steps[0] > 1, "it went on, it did not begin again"
    assert repr(again.history) == repr(whole.history)  # NaN is not equal to itself
    for name in ("model.safetensors", "wholetext.json", "README.md"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    done: list[Moment] = []
    assert train(plan, Session(tmp_path / "killed", tell=done.append)).best == whole.best
    assert not any(moment.stage == "training" for moment in done), "a finished run is handed back"


def test_every_step_can_be_the_last(root: Path, tmp_path: Path) -> None:
    """A run that stops after each step by an exception, and goes on."""
    plan = recipe(root, form="aligned", epochs=2, batch=64, k=[1, 2], within=0.3)
    train(plan, Session(tmp_path / "whole"))

    class Stop(Exception):
        pass

    stops = 0
    for _ in range(40):
        steps = 0

        def tell(moment: Moment) -> None:
            nonlocal steps
            steps += moment.stage == "training"
            if steps > 2:
                raise Stop

        try:
            train(plan, Session(tmp_path / "cut", tell=tell, save_seconds=0))
            break
        except Stop:
            stops += 1
    assert stops >= 2
    assert (tmp_path / "cut/weights.safetensors").read_bytes() == (tmp_path / "whole/weights.safetensors").read_bytes()


def test_other_data_and_a_damaged_state_are_said(tmp_path: Path) -> None:
    root = make(tmp_path)
    chosen = recipe(root, epochs=1)
    train(chosen, Session(tmp_path / "m"))
    path, state = root / "system-outputs/de-en/a.txt", tmp_path / "m/.train/state.pt"
    path.write_text(path.read_text().replace("the", "a"))
    with pytest.raises(InputError, match="another run"):
        train(chosen, Session(tmp_path / "m"))
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(RunError, match="cannot be read"):
        train(chosen, Session(tmp_path / "m"))
    assert train(chosen, Session(tmp_path / "m", fresh=True)).stopped == "end"


@pytest.mark.slow
@pytest.mark.data
def test_the_smoke_recipe(data: Path, tmp_path: Path) -> None:
    whole = train(read_recipe(ROOT / "recipes/smoke.toml", {}), Session(tmp_path / "whole", root=data))
    losses = [row["verdict"]["loss"] for row in whole.history]
    assert losses[-1] < losses[0]
