"""Training from a recipe to a folder: read examples, train or resume, write and verify the metric.

A run makes the same steps in the same order for a recipe and a seed, however often it is interrupted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import ModelError
from wholetext.models.device import torch_module
from wholetext.notebook.display import brief
from wholetext.scoring.engine import Engine
from wholetext.training.card import card
from wholetext.training.checkpoint import Checkpoints, Progressed
from wholetext.training.examples import Verdict, draw, judge, read_examples
from wholetext.training.learned.config import Config, Scale
from wholetext.training.learned.folder import write_folder
from wholetext.training.learned.forms import open_learned, scaled
from wholetext.training.learner import Learner, TrainingData, make_learner, scale_ends
from wholetext.training.negatives import add_negatives
from wholetext.training.recipe import Recipe
from wholetext.types import IntArray

BUCKET = 16  # batches among which examples are sorted by length
CHECKED = 32  # validation examples that the finished folder scores again
NEAR = 1e-4  # how near to the trained model it must come, in spreads of the human scores


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
    """Settings of a training run that do not change its result, except for the time limit."""

    out: Path
    root: Path | None = None  # where EvalSets are looked up by name
    work: Path | None = None  # where features are kept; many runs may share it
    fresh: bool = False  # start from scratch
    minutes: float = 0.0  # stop training after this long; 0: never
    save_seconds: float = 30.0
    threads: int = 0  # of PyTorch, in this process; 0: as they are
    engine: Engine | None = None
    tell: Callable[[Moment], None] | None = None  # called while training runs

    def say(self, moment: Moment) -> None:
        if self.tell is not None:
            self.tell(moment)


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
    __repr__ = brief


def train(recipe: Recipe, session: Session) -> Trained:
    """Train with a recipe; resumes an interrupted run, and returns the result of a finished one."""
    torch = torch_module()
    if session.threads:
        torch.set_num_threads(session.threads)
    checkpoints = Checkpoints(session.out)
    checkpoints.claim(recipe, session.fresh)
    examples, held = read_examples(recipe, session.root)
    if recipe.negatives:
        examples = add_negatives(examples, recipe.negatives, recipe.split_seed)
    resuming = checkpoints.begin(recipe, f"{examples.digest()} {held.digest()}")
    material = TrainingData(
        examples, held, session.work or checkpoints.folder, session.engine or Engine()
    )
    with torch.random.fork_rng():  # the caller's random numbers stay as they are
        torch.manual_seed(recipe.seed)
        learner = make_learner(
            recipe, material, lambda n, of: session.say(Moment("features", n, of))
        )
        run = TrainingRun(session, learner, checkpoints)
        if resuming:
            run.at = checkpoints.load(learner, run.optimizer)
        run.go()
        return _finish(
            run,
            replace(
                learner.config, output=run.scale(), penalty=recipe.penalty, version=recipe.version
            ),
        )


def _finish(run: TrainingRun, config: Config) -> Trained:
    """Write the folder, and verify that it reproduces the scores of the trained model."""
    at, learner, held, engine = run.at, run.learner, run.material.held, run.material.engine
    out, tensors = run.session.out, run.checkpoints.best(at.best)
    learner.restore(tensors)
    expected = scaled(learner.validate(CHECKED), config.output)
    text = card(run.recipe, config, at, run.material)
    writes = getattr(learner.form, "write_model", None)  # a form whose folder is a whole model
    if writes is not None:
        config, tensors = replace(config, base="", content=""), {}
    write_folder(out, config, text, tensors, writes)
    scores = open_learned(engine, str(out), "").scores(held.pairs[:CHECKED], engine)
    off = float(np.abs(scores - expected).max())
    if off > NEAR * max(1.0, abs(config.output.scale)):
        raise ModelError(
            f"the written metric differs from the trained model by up to {off:.2g}",
            where=str(out),
            next="the base model may have changed while training ran; train again",
        )
    sizes = (len(run.material.train), len(held))
    return Trained(out, config, tuple(at.history), at.best, at.verdict(at.best), at.stopped, sizes)


class TrainingRun:
    """One run: its optimiser, its place in the data, its evaluations."""

    def __init__(self, session: Session, learner: Learner, checkpoints: Checkpoints) -> None:
        torch = torch_module()
        self.session, self.learner, self.checkpoints, self.at = (
            session,
            learner,
            checkpoints,
            Progressed(),
        )
        self.recipe, self.material = recipe, material = learner.recipe, learner.material
        says = learner.config.head is None  # then the model's number is the score itself
        self.mean = 0.0 if says else float(material.train.gold.mean())
        self.spread = 1.0 if says else float(material.train.gold.std())
        targets = (material.train.gold - self.mean) / self.spread
        if recipe.anchor:
            targets = targets + recipe.anchor * learner.untrained()
        self.gold = torch.from_numpy(targets.astype(np.float32))
        groups = [
            {"params": parameters, "lr": rate, "size": rate}
            for parameters, rate in learner.groups()
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=recipe.decay, foreach=False)
        self.k, self.item = material.train.k, material.train.item
        self.lengths = learner.lengths()
        self.by_item = bool(
            recipe.rank or recipe.within
        )  # outputs of one text have to be in one batch
        # when, and after how many examples and steps, this process took over
        self.began = (time.monotonic(), 0, 0)
        self.per_epoch = len(self.batches(0))
        self.total = self.per_epoch * recipe.epochs

    def batches(self, epoch: int) -> list[IntArray]:
        """The batches of an epoch: decided by the seed and the epoch alone."""
        recipe, rng = self.recipe, np.random.default_rng([self.recipe.seed, epoch])
        order = draw(self.k, recipe.sampling, recipe.fill, rng, self.item if self.by_item else None)
        size = recipe.batch
        if self.lengths is None or self.by_item:
            return [order[i : i + size] for i in range(0, len(order), size)]
        batches = []
        for begin in range(0, len(order), size * BUCKET):
            bucket = order[begin : begin + size * BUCKET]
            bucket = bucket[np.argsort(self.lengths[bucket], kind="stable")]
            batches += [bucket[i : i + size] for i in range(0, len(bucket), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def go(self) -> None:
        """Steps until the end, patience or time runs out."""
        at, started, saved = self.at, time.monotonic(), time.monotonic()
        before = at.seconds
        if not at.history:
            self.evaluate()
        self.began = (time.monotonic(), at.pairs, at.step)
        if self.recipe.ridge and not at.stopped:
            self.solve()
        while not at.stopped:
            batches = self.batches(at.epoch)
            while at.batch < len(batches) and not at.stopped:
                self.step(batches[at.batch])
                at.seconds = before + time.monotonic() - started
                over = at.step >= self.total
                if over or at.step % (self.recipe.evaluate or self.per_epoch) == 0:
                    self.evaluate()
                    since = sum(row["step"] > at.best for row in at.history)  # evaluations
                    patient = not self.recipe.patience or since < self.recipe.patience
                    at.stopped = "end" if over else "" if patient else "patience"
                    saved = 0.0
                elif self.session.minutes and at.seconds > 60 * self.session.minutes:
                    self.evaluate()
                    at.stopped = "minutes"
                if at.batch == len(batches):
                    at.epoch, at.batch = at.epoch + 1, 0
                    batches = [] if at.stopped else self.batches(at.epoch)
                if at.stopped or time.monotonic() - saved >= self.session.save_seconds:
                    self.checkpoints.save(at, self.learner, self.optimizer)
                    self.checkpoints.tidy(at.best)
                    saved = time.monotonic()

    def solve(self) -> None:
        """A linear head in one step."""
        at, recipe = self.at, self.recipe
        self.learner.solve(
            self.gold.numpy().astype(np.float64), self.item, (recipe.ridge, recipe.within)
        )
        at.step, at.pairs, at.stopped = 1, len(self.material.train), "end"
        self.evaluate()
        self.checkpoints.save(at, self.learner, self.optimizer)

    def step(self, chosen: IntArray) -> None:
        torch, at = torch_module(), self.at
        loss = self.loss(self.learner.predict(chosen), chosen)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(
                f"the loss is {value} after {at.step} steps",
                next="use a lower learning rate (rate, head_rate)",
            )
        self.optimizer.zero_grad()
        loss.backward()
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=False)
        for group in self.optimizer.param_groups:
            group["lr"] = group["size"] * self.rate(at.step)
        self.optimizer.step()
        at.step, at.batch, at.pairs = at.step + 1, at.batch + 1, at.pairs + len(chosen)
        at.loss, at.losses = at.loss + value, at.losses + 1
        since = max(1e-9, time.monotonic() - self.began[0])  # of this process
        pace = (at.pairs - self.began[1]) / since
        left = since / (at.step - self.began[2]) * (self.total - at.step)
        self.session.say(Moment("training", at.step, self.total, pace, left, at.loss / at.losses))

    def rate(self, step: int) -> float:
        """The factor of the learning rate: linear warm-up, then decay to 0."""
        rising = self.recipe.warmup * self.total
        if step < rising:
            return min(1.0, (step + 1) / rising)
        return (self.total - step) / max(1.0, self.total - rising)

    def loss(self, predicted: Any, chosen: IntArray) -> Any:
        """Squared error, and the logistic loss of pairs within an item (RankNet: Burges et al. 2005, eq. 3)."""
        torch = torch_module()
        gold = self.gold[torch.from_numpy(chosen)].to(predicted.device)
        item = self.item[chosen]
        squared = self.squared(predicted - gold, item)
        if not self.recipe.rank:
            return squared
        first, second = np.nonzero(np.triu(item[:, None] == item[None, :], 1))  # pairs of one item
        sign = torch.sign(gold[first] - gold[second])
        untied = sign != 0
        if not bool(untied.any()):
            return squared
        pairs = torch.nn.functional.softplus(
            -(predicted[first] - predicted[second])[untied] * sign[untied]
        )
        return (1 - self.recipe.rank) * squared + self.recipe.rank * pairs.mean()

    def squared(self, error: Any, item: IntArray) -> Any:
        """Squared error; with ``within``, that of items' means and the weighted rest."""
        torch = torch_module()
        if not self.recipe.within:
            return (error**2).mean()
        known, which = np.unique(item, return_inverse=True)
        at = torch.from_numpy(which).to(error.device)
        zeros = torch.zeros(len(known), device=error.device)
        means = zeros.index_add(0, at, error) / zeros.index_add(
            0, at, torch.ones_like(error)
        )  # (items,)
        return (means**2).mean() + self.recipe.within * ((error - means[at]) ** 2).mean()

    def evaluate(self) -> None:
        """Judge the model as it is now on the validation examples."""
        at = self.at
        predicted = self.mean + self.spread * self.learner.validate()
        verdict = judge(self.material.held, predicted, float(self.material.train.gold.std()))
        loss = at.loss / at.losses if at.losses else float("nan")
        at.history.append(
            {"step": at.step, "loss": loss, "verdict": json.loads(json.dumps(asdict(verdict)))}
        )
        at.loss, at.losses = 0.0, 0
        if at.step and (at.best < 0 or verdict.score > at.verdict(at.best).score):
            self.checkpoints.keep_best(at.step, self.learner.tensors())
            at.best = at.step
        self.session.say(Moment("evaluation", at.step, self.total, loss=loss, verdict=verdict))

    def scale(self) -> Scale:
        """From predictions to human scores, and to 0 … 100 where the recipe asks for that."""
        recipe = self.recipe
        names = sorted({place.part.split(" ")[-1] for place in self.material.train.places})
        meaning = (
            recipe.meaning
            or f"the human score ({', '.join(names)}) that people are expected to give"
        )
        better = recipe.target == "score"
        if recipe.ends:
            other, same, ends = scale_ends(self.learner)
            factor = 100.0 / (same - other)
            return Scale(recipe.meaning or ends, -factor * other, factor, 0.0, 100.0)
        if recipe.zero is None or recipe.hundred is None:
            return Scale(meaning, self.mean, self.spread, higher_is_better=better)
        factor = 100.0 / (recipe.hundred - recipe.zero)
        return Scale(
            meaning, factor * (self.mean - recipe.zero), factor * self.spread, 0.0, 100.0, better
        )
