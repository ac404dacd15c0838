"""Trainable models: a head over frozen features, or a head together with its base model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError
from wholetext.files.cache import Cache, content_key
from wholetext.models.device import Precision, torch_module
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine, request_key
from wholetext.training.examples import Examples
from wholetext.training.learned.adapters import trained
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import Config
from wholetext.training.learned.folder import PREFIX, Array
from wholetext.training.learned.forms import (
    Form,
    check,
    form_class,
    head_module,
    predictions,
    predicts_directly,
    standardise,
)
from wholetext.training.linear import signed_ridge
from wholetext.training.recipe import Recipe
from wholetext.types import Excerpt, FloatArray, IntArray, Request

FEATURES = "features.sqlite"
CHUNK = 1024  # examples whose features are kept at a time, all or none
ENDS = "0 for the text of another document, 100 for the reference itself"
BLIND_ENDS = "0 for the translation of another document, 100 for the best in a hundred outputs"
BEST = 99.0  # percentile
ITEMS = 400  # validation items by which these ends are found
Tell = Callable[[int, int], None]  # examples done, examples in all


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What there is to learn from, and where intermediate results go."""

    train: Examples
    held: Examples
    work: Path
    engine: Engine


def make_learner(recipe: Recipe, material: TrainingData, tell: Tell) -> Learner:
    """The learner of a recipe, its new parameters drawn from torch's generator."""
    base = locate(recipe.base, recipe.revision)
    kind = form_class(recipe.form)
    direct = predicts_directly(kind)
    config = Config(
        recipe.form,
        base.name if base.path.name != base.name else str(base.path.resolve()),
        base.revision,
        recipe.reads,
        dict(recipe.settings),
        recipe.adapter,
        None if direct else recipe.head,
        targets=material.train.targets,
        joiner=recipe.joiner,
    )
    check(config, "recipe")
    engine = material.engine
    form = kind(Opening(config, base, Precision(engine.device, engine.dtype), engine))
    if recipe.adapter.kind == "frozen" and direct:
        raise InputError(
            f"the form {recipe.form} has no head, so a frozen base leaves no parameters to train",
            next='use adapter.kind = "lora" or "full"',
        )
    if recipe.adapter.kind != "frozen" and not direct:
        raise InputError(
            f"the form {recipe.form} cannot train its base model",
            next='use adapter.kind = "frozen"',
        )
    return Learner(recipe, material, config, form, tell)


class Learner:
    """A model in training: a head over the features of a frozen base model, which are computed once; or a base model
    that predicts the score itself, trained fully or through an adapter.
    """

    def __init__(
        self, recipe: Recipe, material: TrainingData, config: Config, form: Any, tell: Tell
    ) -> None:
        self.recipe, self.material, self.config, self.form = recipe, material, config, form
        self.frozen = recipe.adapter.kind == "frozen"
        self.head: Any = None
        size = len(material.train)
        if config.head is not None:
            every = (*material.train.pairs, *material.held.pairs)
            features = features_of(form, every, material.work, material.engine, tell)
            self.inputs, self.held = torch_module().from_numpy(features[:size]), features[size:]
            self.base: dict[str, Any] = {}  # name → parameter
            self.head = head_module(form.width, config.head, recipe.dropout)
            standardise(self.head, features[:size])
        else:
            self.base = trained(form.module, config.adapter)
            form.module.train()

    def groups(self) -> list[tuple[list[Any], float]]:
        """Parameters, and the learning rate of each group."""
        groups = [(list(self.base.values()), self.recipe.learning_rate)] if self.base else []
        if self.head is not None:
            groups.append((list(self.head.parameters()), self.recipe.head_rate))
        return groups

    def predict(self, chosen: IntArray) -> Any:
        """(n,) predictions for training examples, with gradients."""
        if self.frozen:
            features = self.inputs[torch_module().from_numpy(chosen)]  # (n, width)
        else:
            features = self.form.learn([self.material.train.pairs[i] for i in chosen])
        return features[:, 0] if self.head is None else self.head(features)

    def validate(self, first: int | None = None) -> FloatArray:
        """(n,) predictions for the (first) validation examples, before scaling."""
        pairs = self.material.held.pairs[:first]
        return self._predictions(self.held[:first]) if self.frozen else self.score(pairs)

    def score(self, pairs: Sequence[Request]) -> FloatArray:
        """(n,) predictions for any pairs, as ``validate`` makes them."""
        return self._predictions(self._features(pairs))

    def _features(self, pairs: Sequence[Request]) -> FloatArray:
        if not self.frozen:
            self.form.module.eval()
        features: FloatArray = self.form.features(pairs, self.material.engine)
        if not self.frozen:
            self.form.module.train()
        return features

    def _predictions(self, features: FloatArray | Array) -> FloatArray:
        state = {} if self.head is None else self.head.state_dict()
        return predictions(
            features,
            self.config.head,
            {name: tensor.cpu().numpy() for name, tensor in state.items()},
        )

    def untrained(self) -> FloatArray:
        """(n,) standardised scores of the training examples by a form that has one without a head."""
        if not self.frozen or not hasattr(self.form, "untrained"):
            raise InputError(
                "anchor needs a form that scores without a head, and a frozen base",
                next='use a form such as "aligned" or "bitext" and adapter.kind = "frozen", or anchor = 0',
            )
        plain: FloatArray = self.form.untrained(self.inputs.numpy().astype(np.float64))
        return np.asarray((plain - plain.mean()) / plain.std())

    def solve(self, targets: FloatArray, item: IntArray, penalties: tuple[float, float]) -> None:
        """Set a linear head over frozen features to the best weights of the signs that the form gives."""
        if not hasattr(self.form, "signs"):
            raise InputError(
                f"ridge needs the signs of features, and the form {self.recipe.form} has none",
                next='use form = "matched", or ridge = 0',
            )
        torch, head = torch_module(), self.head
        inputs = ((self.inputs - head.mean) / head.spread).numpy()  # (n, width)
        weights = signed_ridge(inputs, targets, item, self.form.signs, penalties)
        with torch.no_grad():
            head.get_parameter("0.weight").copy_(torch.from_numpy(weights)[None])
            head.get_parameter("0.bias").fill_(float(targets.mean()))

    def lengths(self) -> IntArray | None:
        """(n,) tokens of the training examples where batches of similar length are faster."""
        if self.frozen:
            return None
        return np.array(
            [self.form.fit(pair).tokens for pair in self.material.train.pairs], dtype=np.int64
        )

    def tensors(self) -> dict[str, Array]:
        """All trained parameters, as in ``weights.safetensors``."""
        head = (
            {}
            if self.head is None
            else {f"{PREFIX}{name}": t for name, t in self.head.state_dict().items()}
        )
        return {
            name: tensor.detach().cpu().float().numpy().copy()
            for name, tensor in {**self.base, **head}.items()
        }

    def restore(self, tensors: Mapping[str, Array]) -> None:
        """Load trained parameters."""
        torch = torch_module()
        with torch.no_grad():
            for name, parameter in self.base.items():
                parameter.copy_(torch.from_numpy(tensors[name]))
        if self.head is not None:
            self.head.load_state_dict(
                {
                    name: torch.from_numpy(tensors[f"{PREFIX}{name}"])
                    for name in self.head.state_dict()
                }
            )


def features_of(
    form: Form, pairs: Sequence[Request], folder: Path, engine: Engine, tell: Tell
) -> NDArray[np.float32]:
    """(n, width) features of a frozen base model; a store in the folder keeps them by content."""
    store = Cache(folder / FEATURES)
    distinct = list(dict.fromkeys(pairs))
    keys = {
        pair: content_key(form.id, engine.dtype, request_key("", pair).hex()) for pair in distinct
    }
    size = 4 * form.width
    stored = {
        key: value for key, value in store.get(list(keys.values())).items() if len(value) == size
    }
    missing = [pair for pair in distinct if keys[pair] not in stored]
    for begin in range(0, len(missing), CHUNK):
        tell(len(distinct) - len(missing) + begin, len(distinct))
        chunk = missing[begin : begin + CHUNK]
        rows = form.features(chunk, engine).astype("<f4")  # (chunk, width)
        fresh = {keys[pair]: row.tobytes() for pair, row in zip(chunk, rows)}
        store.put("features", fresh.items())
        stored.update(fresh)
    tell(len(distinct), len(distinct))
    store.close()
    whole = np.frombuffer(b"".join(stored[keys[pair]] for pair in pairs), dtype="<f4")
    return whole.reshape(len(pairs), form.width).astype(np.float32)


def scale_ends(learner: Learner) -> tuple[float, float, str]:
    """Mean predictions for texts of other documents, and for the references themselves; what the ends mean.

    Where no reference is read, the upper end is what the best in a hundred outputs get.
    """
    held = learner.material.held
    if "ref" not in learner.recipe.reads:
        other = list(range(len(held)))[len(held) // 2 :] + list(range(len(held)))[: len(held) // 2]
        strange = [
            Request(held.pairs[j].hyp, held.pairs[i].src)
            for i, j in enumerate(other)
            if held.places[i].doc != held.places[j].doc
        ][:: max(1, len(held) // ITEMS)]
        _enough(strange)
        return (
            float(learner.score(strange).mean()),
            float(np.percentile(learner.validate(), BEST)),
            BLIND_ENDS,
        )
    seen: dict[Excerpt, str] = {}  # reference → its document
    for pair, place in zip(held.pairs, held.places):
        if pair.refs:
            seen.setdefault(pair.refs[0], place.doc)
    refs, docs = list(seen)[:ITEMS], list(seen.values())[:ITEMS]
    half = len(refs) // 2
    others = [
        (i, (i + half) % len(refs))
        for i in range(len(refs))
        if docs[i] != docs[(i + half) % len(refs)]
    ]
    _enough(others)
    wrong = [Request((refs[other],), None, (refs[i],)) for i, other in others]
    right = [Request((ref,), None, (ref,)) for ref in refs]
    scores = learner.score((*wrong, *right))
    return float(scores[: len(wrong)].mean()), float(scores[len(wrong) :].mean()), ENDS


def _enough(pairs: Sequence[object]) -> None:
    if not pairs:
        raise InputError(
            "the ends of the scale need texts of two documents", next="use more documents"
        )
