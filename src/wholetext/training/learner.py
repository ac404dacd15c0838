"""Trainable models: a head over frozen features, or a head together with its base model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from wholetext.backends.device import Precision, torch_module
from wholetext.backends.hub.locate import Located, locate
from wholetext.backends.learned import adapters
from wholetext.backends.learned.config import Config, HeadShape
from wholetext.backends.learned.forms import Form, Learnable, Opening, check, form_class
from wholetext.backends.learned.head import PREFIX, Head, head_module, head_tensors, make_head, standardise
from wholetext.backends.learned.weights import Array, WeightsFile
from wholetext.errors import InputError
from wholetext.scoring.engine import Engine
from wholetext.training.examples import Examples
from wholetext.training.features import Tell, features_of
from wholetext.training.recipe import Recipe
from wholetext.types import FloatArray, IntArray, Request

FIRST = 256  # examples by which features of a base model that will change are standardised


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What there is to learn from, and where intermediate results go."""

    train: Examples
    held: Examples
    work: Path
    engine: Engine


class Learner(Protocol):
    """A model in training."""

    config: Config
    form: Form

    def groups(self) -> list[tuple[dict[str, Any], float]]:
        """Parameters by name, and the learning rate of each group."""
        ...

    def predict(self, chosen: IntArray) -> Any:
        """(n,) predictions for training examples, with gradients."""
        ...

    def validate(self, first: int | None = None) -> FloatArray:
        """(n,) predictions for the (first) validation examples, as the finished metric makes them before scaling."""
        ...

    def score(self, pairs: Sequence[Request]) -> FloatArray:
        """(n,) predictions for any pairs, as ``validate`` makes them."""
        ...

    def lengths(self) -> IntArray | None:
        """(n,) tokens of the training examples where batches of similar length are faster."""
        ...

    def tensors(self) -> dict[str, Array]:
        """All trained parameters, as in ``weights.safetensors``."""
        ...

    def restore(self, tensors: Mapping[str, Array]) -> None:
        """Load trained parameters."""
        ...


def make_learner(recipe: Recipe, material: TrainingData, tell: Tell) -> Learner:
    """The learner of a recipe, its new parameters drawn from torch's generator."""
    base = locate(recipe.base, recipe.revision)
    kind = form_class(recipe.form)
    direct = bool(getattr(kind, "predicts_directly", False))
    config = Config(
        recipe.form, _name(base), base.revision, recipe.reads, dict(recipe.settings), recipe.adapter,
        None if direct else recipe.head, targets=material.train.targets, joiner=recipe.joiner,
    )  # fmt: skip
    check(config, "recipe")
    engine = material.engine
    form = kind(Opening(config, base, WeightsFile(None), Precision(engine.device, engine.dtype), engine))
    if recipe.adapter.kind == "frozen":
        if direct:
            raise InputError(f"the form {recipe.form} has no head, so a frozen base leaves no parameters to train",
                             next="use adapter.kind = \"lora\" or \"full\"")
        return _Frozen(recipe, material, config, form, tell)
    if not isinstance(form, Learnable):
        raise InputError(f"the form {recipe.form} cannot train its base model", next='use adapter.kind = "frozen"')
    return _Whole(recipe, material, config, form)


class _Frozen:
    """Trains only the head; the features of the frozen base model are computed once."""

    def __init__(self, recipe: Recipe, material: TrainingData, config: Config, form: Form, tell: Tell) -> None:
        torch = torch_module()
        self.recipe, self.material = recipe, material
        self.config, self.form, self.shape = config, form, config.head or HeadShape()
        every = (*material.train.pairs, *material.held.pairs)
        both = features_of(form, every, material.work, material.engine, tell)
        train, self.held = both[: len(material.train)], both[len(material.train) :]
        self.module = head_module(form.width, self.shape, recipe.dropout)
        standardise(self.module, train)
        self.module.train()
        self.inputs = torch.from_numpy(train)

    def groups(self) -> list[tuple[dict[str, Any], float]]:
        return [({f"{PREFIX}{name}": p for name, p in self.module.named_parameters()}, self.recipe.head_rate)]

    def predict(self, chosen: IntArray) -> Any:
        return self.module(self.inputs[torch_module().from_numpy(chosen)])

    def validate(self, first: int | None = None) -> FloatArray:
        return self.head(self.held[:first])

    def score(self, pairs: Sequence[Request]) -> FloatArray:
        return self.head(self.form.features(pairs, self.material.engine))

    @property
    def head(self) -> Head:
        return make_head({n[len(PREFIX) :]: t for n, t in self.tensors().items()}, self.shape)

    def lengths(self) -> None:
        return None

    def tensors(self) -> dict[str, Array]:
        return head_tensors(self.module)

    def restore(self, tensors: Mapping[str, Array]) -> None:
        _load_head(self.module, tensors)


class _Whole:
    """Trains the base model (fully or through an adapter), together with the head if there is one."""

    def __init__(self, recipe: Recipe, material: TrainingData, config: Config, form: Any) -> None:
        self.recipe, self.material, self.config, self.form = recipe, material, config, form
        self.base = adapters.trained(form.module, config.adapter)
        self.head: Any = None
        if config.head is not None:
            self.head = head_module(form.width, config.head, recipe.dropout).to(next(form.module.parameters()).device)
            some = np.random.default_rng(recipe.split_seed).permutation(len(material.train))[:FIRST]
            standardise(self.head, form.features([material.train.pairs[i] for i in some], material.engine))
            self.head.train()
        form.module.train()

    def groups(self) -> list[tuple[dict[str, Any], float]]:
        found = [(self.base, self.recipe.learning_rate)]
        if self.head is not None:
            named = {f"{PREFIX}{name}": p for name, p in self.head.named_parameters()}
            found.append((named, self.recipe.head_rate))
        return found

    def predict(self, chosen: IntArray) -> Any:
        features = self.form.learn([self.material.train.pairs[i] for i in chosen])  # (n, width)
        return features[:, 0] if self.head is None else self.head(features)

    def validate(self, first: int | None = None) -> FloatArray:
        return self.score(self.material.held.pairs[:first])

    def score(self, pairs: Sequence[Request]) -> FloatArray:
        self.form.module.eval()
        features = self.form.features(pairs, self.material.engine)
        self.form.module.train()
        if self.config.head is None:
            return np.asarray(features[:, 0])
        tensors = head_tensors(self.head)
        return make_head({n[len(PREFIX) :]: t for n, t in tensors.items()}, self.config.head)(features)

    def lengths(self) -> IntArray:
        return np.array([self.form.fit(pair).tokens for pair in self.material.train.pairs], dtype=np.int64)

    def tensors(self) -> dict[str, Array]:
        return {**adapters.tensors_of(self.base), **(head_tensors(self.head) if self.head is not None else {})}

    def restore(self, tensors: Mapping[str, Array]) -> None:
        torch = torch_module()
        with torch.no_grad():
            for name, parameter in self.base.items():
                parameter.copy_(torch.from_numpy(tensors[name]))
        if self.head is not None:
            _load_head(self.head, tensors)


def _load_head(module: Any, tensors: Mapping[str, Array]) -> None:
    torch = torch_module()
    module.load_state_dict({name[len(PREFIX) :]: torch.from_numpy(tensor) for name, tensor in tensors.items()
                            if name.startswith(PREFIX)})  # fmt: skip


def _name(base: Located) -> str:
    """How the folder refers to its base model: by name, or by path."""
    return base.name if base.path.name != base.name else str(base.path.resolve())
