"""Trainable models: a head over features of a frozen base, or a base that predicts the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError
from wholetext.files.cache import Cache, content_key
from wholetext.models.device import Precision, torch_module
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine, request_key
from wholetext.training.examples import HeldOutAgreement, TrainingExamples
from wholetext.training.learned.folder import Config
from wholetext.training.learned.forms import (
    check,
    form_class,
    head_module,
    predictions,
)
from wholetext.training.recipe import Recipe
from wholetext.types import Excerpt, FloatArray, IntArray, Request

FEATURES = "features.sqlite"
CHUNK = 1024  # examples whose features are stored at a time
ENDS = "0 for the text of another document, 100 for the reference itself"
ITEMS = 400  # validation items by which these ends are found
Tell = Callable[[int, int], object]  # examples done, examples in all


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Examples, and where features are stored."""

    train: TrainingExamples
    held: TrainingExamples
    work: Path
    engine: Engine


@dataclass
class Progress:
    """The state that decides the next step, except for tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # of the epoch
    losses: list[float] = field(default_factory=list)  # since the last evaluation
    history: list[dict[str, Any]] = field(default_factory=list)  # step, training loss, verdict
    best: int = -1  # step of the best evaluation
    stopped: str = ""  # why no more steps are made: end, patience

    def verdict(self, at: int) -> HeldOutAgreement:
        return HeldOutAgreement(**next(row["verdict"] for row in self.history if row["step"] == at))


class Learner:
    """A model in training.

    A head over the features of a frozen base model, which are computed once; or a base model that
    predicts the score itself. New parameters are drawn from torch's generator.
    """

    def __init__(self, recipe: Recipe, data: TrainingData, tell: Tell) -> None:
        base, engine = locate(recipe.base, recipe.revision), data.engine
        kind = form_class(recipe.form)
        self.recipe, self.data, self.direct = recipe, data, bool(kind.predicts_directly)
        self.config = Config(
            recipe.form,
            base.name if base.path.name != base.name else str(base.path.resolve()),
            base.revision,
            recipe.reads,
            dict(recipe.settings),
            head=None if self.direct else recipe.head,
            targets=data.train.targets,
            joiner=recipe.joiner,
        )
        check(self.config, "recipe")
        self.form = kind(self.config, base, Precision(engine.device, engine.dtype), engine)
        if self.direct:
            self.module = self.form.module.requires_grad_(True).train()
        else:
            pairs, size = (*data.train.pairs, *data.held.pairs), len(data.train)
            features = features_of(self.form, pairs, data.work, engine, tell)
            self.inputs, self.held = torch_module().from_numpy(features[:size]), features[size:]
            self.module = head_module(features[:size], recipe.head, recipe.dropout)

    def predict(self, chosen: IntArray) -> Any:
        """Predict (n,) training examples, with gradients."""
        if self.direct:
            return self.form.learn([self.data.train.pairs[i] for i in chosen])[:, 0]
        return self.module(self.inputs[torch_module().from_numpy(chosen)])

    def validate(self, first: int | None = None) -> FloatArray:
        """Predict the (first) validation examples, before scaling: (n,)."""
        if self.direct:
            return self.score(self.data.held.pairs[:first])
        return predictions(self.held[:first], self.config.head, self.tensors())

    def score(self, pairs: Sequence[Request]) -> FloatArray:
        """Predict any pairs: (n,)."""
        training = self.module.training
        self.module.eval()
        features: FloatArray = self.form.features(pairs, self.data.engine)
        self.module.train(training)
        return predictions(features, self.config.head, {} if self.direct else self.tensors())

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return the tensors of the head."""
        return {name: value.cpu().numpy() for name, value in self.module.state_dict().items()}


def features_of(
    form: Any, pairs: Sequence[Request], folder: Path, engine: Engine, tell: Tell
) -> NDArray[np.float32]:
    """Compute (n, width) features of a frozen base model, stored in the folder by content."""
    store = Cache(folder / FEATURES)
    keys = {
        pair: content_key(form.id, engine.dtype, request_key("", pair).hex())
        for pair in dict.fromkeys(pairs)
    }
    stored = dict(store.get(list(keys.values())))
    missing = [pair for pair, key in keys.items() if key not in stored]
    for begin in range(0, len(missing), CHUNK):
        tell(len(keys) - len(missing) + begin, len(keys))
        chunk = missing[begin : begin + CHUNK]
        rows = form.features(chunk, engine).astype("<f4")  # (chunk, width)
        fresh = {keys[pair]: row.tobytes() for pair, row in zip(chunk, rows)}
        store.put("features", fresh.items())
        stored.update(fresh)
    tell(len(keys), len(keys))
    store.close()
    whole = np.frombuffer(b"".join(stored[keys[pair]] for pair in pairs), dtype="<f4")
    return whole.reshape(len(pairs), form.width).astype(np.float32)


def scale_ends(learner: Learner) -> tuple[float, float]:
    """Compute mean predictions for texts of other documents, and for the references themselves."""
    held = learner.data.held
    documents: Mapping[Excerpt, str] = {
        pair.refs[0]: place.doc for pair, place in reversed([*zip(held.pairs, held.places)])
    }
    refs = list(dict.fromkeys(pair.refs[0] for pair in held.pairs))[:ITEMS]
    halves = zip(refs, refs[len(refs) // 2 :] + refs[: len(refs) // 2])
    wrong = [
        Request((other,), None, (ref,))
        for ref, other in halves
        if documents[ref] != documents[other]
    ]
    if not wrong:
        raise InputError(
            "the ends of the scale need texts of two documents", next="use more documents"
        )
    scores = learner.score([*wrong, *(Request((ref,), None, (ref,)) for ref in refs)])
    return float(scores[: len(wrong)].mean()), float(scores[len(wrong) :].mean())
