"""Training from a recipe to a folder: read examples, train or resume, write and verify the metric.

A run makes the same steps in the same order for a recipe and a seed, however often it is
interrupted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from wholetext.errors import InputError, ModelError, RunError
from wholetext.files.output_folder import check_folder
from wholetext.files.parsing import reading
from wholetext.files.storage import replacing
from wholetext.models.device import torch_module
from wholetext.notebook.display import brief
from wholetext.scoring.engine import Engine
from wholetext.training.card import card
from wholetext.training.examples import HeldOutAgreement, draw, judge, read_examples
from wholetext.training.learned.folder import MODEL, PREFIX, Config, Scale, plain, write_folder
from wholetext.training.learned.forms import open_learned, scaled
from wholetext.training.learner import ENDS, Learner, Progress, TrainingData, scale_ends
from wholetext.training.recipe import Recipe
from wholetext.types import IntArray

CHECKED = 32  # validation examples that the finished folder scores again
NEAR = 1e-4  # how near to the trained model it must come, in spreads of the human scores


@dataclass(frozen=True)
class Moment:
    """A report of progress."""

    stage: str  # features, training, evaluation
    done: int
    total: int
    verdict: HeldOutAgreement | None = None


@dataclass(frozen=True)
class Session:
    """Settings of a training run that do not change its result."""

    out: Path
    root: Path | None = None  # where EvalSets are looked up by name
    work: Path | None = None  # where features are stored; many runs may share it
    fresh: bool = False  # start from scratch
    save_seconds: float = 30.0  # between checkpoints; also after each evaluation
    engine: Engine | None = None
    tell: Callable[[Moment], object] = lambda moment: None  # called while training runs


@dataclass(frozen=True)
class Trained:
    """A finished run."""

    out: Path
    config: Config
    history: tuple[dict[str, Any], ...]
    best: int
    verdict: HeldOutAgreement
    stopped: str
    examples: tuple[int, int]  # training, validation
    __repr__ = brief


def train_runs(recipe: Recipe, session: Session) -> list[Trained]:
    """Train as often as the recipe says; several runs (``run-1`` …) share features."""
    if recipe.runs == 1:
        return [train(recipe, session)]
    work = session.work or session.out / ".train"
    return [
        train(
            replace(recipe, seed=recipe.seed + i, runs=1),
            replace(session, out=session.out / f"run-{i + 1}", work=work),
        )
        for i in range(recipe.runs)
    ]


def train(recipe: Recipe, session: Session) -> Trained:
    """Train once; resumes an interrupted run, and returns the result of a finished one."""
    torch = torch_module()
    checkpoint = TrainingCheckpoint(session.out, recipe, session.fresh)
    examples, held = read_examples(recipe, session.root)
    work = session.work or checkpoint.folder
    data = TrainingData(examples, held, work, session.engine or Engine())
    with torch.random.fork_rng():  # the caller's random numbers stay as they are
        torch.manual_seed(recipe.seed)
        learner = Learner(recipe, data, lambda n, of: session.tell(Moment("features", n, of)))
        run = TrainingRun(session, learner, checkpoint)
        run.go()
        return _finish(run)


def _finish(run: TrainingRun) -> Trained:
    """Write the folder, and verify that it reproduces the scores of the trained model."""
    at, learner, recipe, data = run.at, run.learner, run.recipe, run.learner.data
    # ends of the scale are those of the last step, not of the best: so is the bundled metric's
    config = replace(
        learner.config, output=run.scale(), penalty=recipe.penalty, version=recipe.version
    )
    learner.module.load_state_dict(run.checkpoint.state["best"])
    expected = scaled(learner.validate(CHECKED), config.output)
    text, out = card(recipe, config, at, data), run.session.out
    if learner.direct:  # the folder is the whole model
        config = replace(config, base="", content="")
        write_folder(out, config, text, {}, learner.form.write_model)
    else:
        tensors = {f"{PREFIX}{name}": tensor for name, tensor in learner.tensors().items()}
        write_folder(out, config, text, tensors)
    written = open_learned(data.engine, str(out), "")
    off = float(np.abs(written.scores(data.held.pairs[:CHECKED], data.engine) - expected).max())
    if off > NEAR * max(1.0, abs(config.output.scale)):
        raise ModelError(
            f"the written metric differs from the trained model by up to {off:.2g}",
            where=str(out),
            next="the base model may have changed while training ran; train again",
        )
    sizes = len(data.train), len(data.held)
    return Trained(out, config, tuple(at.history), at.best, at.verdict(at.best), at.stopped, sizes)


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
                stored, _ = dict(json.loads(self.state["recipe"])), self.state["data"]
            self._same(json.loads(self.recipe), stored)

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
            device = next(module.parameters()).device
            if device.type != "cpu" and "device random" in self.state:  # dropout draws there
                generator = torch_module().get_device_module(device)
                generator.set_rng_state(self.state["device random"], device)
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
        device = next(module.parameters()).device
        if device.type != "cpu":
            self.state["device random"] = torch.get_device_module(device).get_rng_state(device)
        with replacing(self.folder / "state.pt") as beside:
            torch.save(self.state, beside)


class TrainingRun:
    """One run: its optimiser, its place in the data, its evaluations."""

    def __init__(self, session: Session, learner: Learner, checkpoint: TrainingCheckpoint) -> None:
        torch = torch_module()
        self.session, self.learner, self.checkpoint = session, learner, checkpoint
        self.recipe, self.examples = recipe, examples = learner.recipe, learner.data.train
        # a base model that predicts the score itself learns human scores as they are
        self.mean = 0.0 if learner.direct else float(examples.gold.mean())
        self.spread = 1.0 if learner.direct else float(examples.gold.std())
        targets = (examples.gold - self.mean) / self.spread
        if recipe.anchor:
            plain_scores = learner.form.untrained(learner.inputs.numpy().astype(np.float64))
            targets += recipe.anchor * (plain_scores - plain_scores.mean()) / plain_scores.std()
        self.gold = torch.from_numpy(targets.astype(np.float32))
        adafactor = recipe.optimizer == "adafactor"  # Shazeer & Stern 2018, with relative steps
        self.optimizer = (torch.optim.Adafactor if adafactor else torch.optim.AdamW)(
            learner.module.parameters(),
            lr=recipe.learning_rate,
            weight_decay=recipe.decay,
            foreach=False,
        )
        self.k, self.item = examples.k, examples.item
        tokens = (learner.form.fit(pair).tokens for pair in examples.pairs)
        self.lengths = np.array(list(tokens)) if learner.direct else None
        self.per_epoch = len(self.batches(0))
        self.total = recipe.steps or self.per_epoch * recipe.epochs
        digest = f"{examples.digest()} {learner.data.held.digest()}"
        self.at: Progress = checkpoint.resume(digest, learner.module, self.optimizer)

    def batches(self, epoch: int) -> list[IntArray]:
        """Draw the batches of an epoch, which the seed and the epoch alone decide."""
        recipe, rng = self.recipe, np.random.default_rng([self.recipe.seed, epoch])
        by_item = bool(recipe.within)  # outputs of one text have to be in one batch
        order = draw(self.k, recipe.sampling, recipe.fill, rng, self.item if by_item else None)
        return np.split(order, range(recipe.batch, len(order), recipe.batch))

    def go(self) -> None:
        """Make steps until the end, or until patience runs out."""
        at, saved = self.at, time.monotonic()
        if not at.history:
            self.evaluate()
        while not at.stopped:
            batches = self.batches(at.epoch)
            while at.batch < len(batches) and not at.stopped:
                self.step(batches[at.batch])
                over = at.step >= self.total
                if over or at.step % (self.recipe.evaluate or self.per_epoch) == 0:
                    self.evaluate()
                    since = sum(row["step"] > at.best for row in at.history)  # evaluations
                    patient = not self.recipe.patience or since < self.recipe.patience
                    at.stopped = "end" if over else "" if patient else "patience"
                    saved = float("-inf")
                if time.monotonic() - saved >= self.session.save_seconds:
                    self.checkpoint.save(at, self.learner.module, self.optimizer)
                    saved = time.monotonic()
            at.epoch, at.batch = at.epoch + 1, 0

    def step(self, batch: IntArray) -> None:
        """Change the parameters by the gradient of a batch, computed in parts that fit memory."""
        torch, at, size = torch_module(), self.at, self.recipe.micro_batch or len(batch)
        if self.lengths is not None:  # parts of similar length have little padding
            batch = batch[np.argsort(self.lengths[batch], kind="stable")]
        self.optimizer.zero_grad()
        value = 0.0
        for part in np.split(batch, range(size, len(batch), size)):
            loss = self.loss(self.learner.predict(part), part) * (len(part) / len(batch))
            loss.backward()
            value += float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(
                f"the loss is {value} after {at.step} steps",
                next="use a lower learning rate (rate)",
            )
        torch.nn.utils.clip_grad_norm_(self.learner.module.parameters(), 1.0, foreach=False)
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate * self.rate(at.step)
        self.optimizer.step()
        at.step, at.batch = at.step + 1, at.batch + 1
        at.losses.append(value)
        self.session.tell(Moment("training", at.step, self.total))

    def rate(self, step: int) -> float:
        """Compute the factor of the learning rate: linear warm-up, then decay to 0, or constant."""
        rising = self.recipe.warmup * self.total
        if step < rising:
            return min(1.0, (step + 1) / rising)
        if self.recipe.schedule == "constant":
            return 1.0
        return (self.total - step) / max(1.0, self.total - rising)

    def loss(self, predicted: Any, chosen: IntArray) -> Any:
        """Compute the squared error; with ``within``, that of items' means and the weighted rest."""
        torch = torch_module()
        error = predicted - self.gold[torch.from_numpy(chosen)].to(predicted.device)
        if not self.recipe.within:
            return (error**2).mean()
        known, which = np.unique(self.item[chosen], return_inverse=True)
        at = torch.from_numpy(which).to(error.device)
        zeros = torch.zeros(len(known), device=error.device)
        counts = zeros.index_add(0, at, torch.ones_like(error))  # (items,)
        means = zeros.index_add(0, at, error) / counts
        return (means**2).mean() + self.recipe.within * ((error - means[at]) ** 2).mean()

    def evaluate(self) -> None:
        """Judge the model as it is now on the validation examples."""
        at = self.at
        predicted = self.mean + self.spread * self.learner.validate()
        verdict = judge(self.learner.data.held, predicted, float(self.examples.gold.std()))
        loss = fmean(at.losses) if at.losses else float("nan")
        at.history.append({"step": at.step, "loss": loss, "verdict": asdict(verdict)})
        at.losses.clear()
        if at.step and (at.best < 0 or verdict.score > at.verdict(at.best).score):
            self.checkpoint.keep_best(self.learner.module)
            at.best = at.step
        self.session.tell(Moment("evaluation", at.step, self.total, verdict))

    def scale(self) -> Scale:
        """Map predictions to human scores, or to 0 … 100 where the recipe asks for that."""
        if self.recipe.ends:
            other, same = scale_ends(self.learner)
            factor = 100.0 / (same - other)
            return Scale(ENDS, -factor * other, factor, 0.0, 100.0)
        meaning = f"the human score ({self.examples.humans[0]}) that people are expected to give"
        return Scale(meaning, self.mean, self.spread)
