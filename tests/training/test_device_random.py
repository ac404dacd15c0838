"""Random numbers of a GPU, which dropout draws there, are part of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.training.training_data import recipe
from wholetext.errors import RunError
from wholetext.training.run import Progress, TrainingCheckpoint

torch = pytest.importorskip("torch")


class Device:
    """A device whose generator is a number, as torch.cuda and torch.mps have one."""

    def __init__(self) -> None:
        self.state = torch.tensor([7])

    def get_rng_state(self, device: Any) -> Any:
        assert device == torch.device("cuda:1")
        return self.state

    def set_rng_state(self, state: Any, device: Any) -> None:
        assert device == torch.device("cuda:1")
        self.state = state


def test_a_resumed_run_goes_on_with_the_random_numbers_of_its_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device()
    monkeypatch.setattr(torch, "get_device_module", lambda _: device)
    there = SimpleNamespace(parameters=lambda: iter([SimpleNamespace(device=torch.device("cuda:1"))]),
                            state_dict=dict, load_state_dict=lambda state: None)
    plan = recipe(tmp_path)
    begun = TrainingCheckpoint(tmp_path / "out", plan, fresh=False)
    begun.resume("the data", there, there)
    begun.save(Progress(), there, there)
    device.state = torch.tensor([8])
    TrainingCheckpoint(tmp_path / "out", plan, fresh=False).resume("the data", there, there)
    assert device.state.item() == 7


@pytest.mark.parametrize(
    "state", [{}, [1], {"recipe": "{", "data": ""}, {"recipe": "[1]", "data": ""}, {"recipe": "{}"}]
)
def test_a_state_of_another_shape_is_said(tmp_path: Path, state: Any) -> None:
    (tmp_path / "out" / ".train").mkdir(parents=True)
    torch.save(state, tmp_path / "out" / ".train" / "state.pt")
    with pytest.raises(RunError, match=r"state\.pt"):
        TrainingCheckpoint(tmp_path / "out", recipe(tmp_path), fresh=False)
