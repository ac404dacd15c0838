"""A learned metric ready to score: its configuration, its form and its head, shared within the process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.backends import low_precision
from wholetext.backends.device import Precision, pick_device
from wholetext.backends.hub import locate as hub
from wholetext.backends.learned import adapters
from wholetext.backends.learned.config import WEIGHTS, Config, Scale
from wholetext.backends.learned.folder import find_base, verify
from wholetext.backends.learned.forms import Form, Opening, checked_config, form_class
from wholetext.backends.learned.head import PREFIX, Head, make_head, shapes
from wholetext.backends.learned.weights import WeightsFile
from wholetext.types import FloatArray, Request, Runtime


class LearnedModel:
    """Form and head of a folder. Weights load when they are first used; the tokenizer at once."""

    def __init__(self, config: Config, opening: Opening, id: str, folder: Path) -> None:
        self.config, self.weights, self.id, self.folder = config, opening.weights, id, folder
        self.form: Form = form_class(config.form)(opening)

    @cached_property
    def head(self) -> Head | None:
        if self.config.head is None:
            return None
        self.weights.only(PREFIX, *adapters.PREFIXES[self.config.adapter.kind])
        found = self.weights.group(PREFIX, shapes(self.form.width, self.config.head))
        return make_head(found, self.config.head)

    @cached_property
    def verified(self) -> bool:
        verify(self.folder)
        return True

    def scores(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n,) scores of requests with one hypothesis and at most one reference."""
        if not pairs:
            return np.zeros(0)
        head = self.head  # its faults show before any model runs
        self.verified  # noqa: B018 - once
        features = self.form.features(pairs, run)  # (n, width)
        return scaled(features[:, 0] if head is None else head(features), self.config.output)


def scaled(raw: FloatArray, output: Scale) -> FloatArray:
    """Predictions on the scale a metric promises."""
    values = output.shift + output.scale * raw
    low = -np.inf if output.low is None else output.low
    return np.clip(values, low, np.inf if output.high is None else output.high)


def open_learned(run: Runtime, model: str, revision: str, base: str = "") -> LearnedModel:
    """The learned metric in a folder, shared by everything in the process that uses it."""
    located = hub.locate(model, revision)
    precision = Precision(run.device, run.dtype)
    low_precision.warn(run, pick_device)

    def make() -> LearnedModel:
        config = checked_config(located.path)
        weights = WeightsFile(None if config.head is None else located.path / WEIGHTS)
        opening = Opening(config, find_base(config, located.path, base), weights, precision, run)
        return LearnedModel(config, opening, f"{located.id}/{precision.dtype}", located.path)

    key: tuple[Any, ...] = ("learned", str(located.path), located.revision, base, precision)
    return run.resource(key, make)
