"""What a run is asked to do beside its recipe, what it tells meanwhile, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.backends.learned.config import Config
from wholetext.scoring.engine import Engine
from wholetext.training.validation import Verdict


@dataclass(frozen=True)
class Moment:
    """What training tells while it runs."""

    stage: str  # features, training, evaluation
    done: int
    total: int
    pace: float = 0.0  # examples per second
    left: float = 0.0  # seconds
    loss: float = float("nan")
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Session:
    """How a run goes about its work; none of it changes what it gives, save the limit on time."""

    out: Path
    root: Path | None = None  # where EvalSets are looked up by name
    work: Path | None = None  # where features are kept; many runs may share it
    fresh: bool = False  # start from scratch
    minutes: float = 0.0  # stop training after this long; 0: never
    save_seconds: float = 30.0
    engine: Engine | None = None
    tell: Callable[[Moment], None] = lambda moment: None


@dataclass(frozen=True)
class Trained:
    """A finished run."""

    out: Path
    config: Config
    history: tuple[dict[str, Any], ...]
    best: int
    verdict: Verdict
    stopped: str
    examples: tuple[int, int]  # training, validation
