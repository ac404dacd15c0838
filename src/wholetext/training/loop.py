"""Training from a recipe to a folder: read examples, train or resume, write and verify the metric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wholetext.backends.device import torch_module
from wholetext.backends.learned.config import Config
from wholetext.backends.learned.folder import write_folder
from wholetext.backends.learned.model import open_learned, scaled
from wholetext.errors import ModelError
from wholetext.scoring.engine import Engine
from wholetext.training.card import card
from wholetext.training.checkpoint import Checkpoints
from wholetext.training.examples import read_examples
from wholetext.training.learner import TrainingData, make_learner
from wholetext.training.recipe import Recipe
from wholetext.training.run import TrainingRun
from wholetext.training.session import Moment, Session, Trained

CHECKED = 32  # validation examples that the finished folder scores again
NEAR = 1e-4  # how near to the trained model it must come, in spreads of the human scores


def train(recipe: Recipe, session: Session) -> Trained:
    """Train with a recipe; resumes an interrupted run, and returns the result of a finished one."""
    torch = torch_module()
    checkpoints = Checkpoints(session.out)
    checkpoints.claim(recipe, session.fresh)
    examples, held = read_examples(recipe, session.root)
    resuming = checkpoints.begin(recipe, f"{examples.digest()} {held.digest()}")
    material = TrainingData(examples, held, session.work or checkpoints.folder, session.engine or Engine())
    with torch.random.fork_rng():  # the caller's random numbers stay as they are
        torch.manual_seed(recipe.seed)
        learner = make_learner(recipe, material, lambda n, of: session.tell(Moment("features", n, of)))
        run = TrainingRun(recipe, session, material, learner, checkpoints)
        if resuming:
            run.at = checkpoints.load(learner, run.optimizer)
        run.go()
        return _finish(run, replace(learner.config, output=run.scale()))


def _finish(run: TrainingRun, config: Config) -> Trained:
    """Write the folder, and verify that it reproduces the scores of the trained model."""
    at, learner, held, engine = run.at, run.learner, run.material.held, run.material.engine
    out, tensors = run.session.out, run.checkpoints.best(at.best)
    learner.restore(tensors)
    wanted = scaled(learner.validate(CHECKED), config.output)
    text = card(run.recipe, config, at, run.material)
    writes = getattr(learner.form, "write_model", None)  # a form whose folder is a whole model
    if writes is not None:
        config, tensors = replace(config, base="", content=""), {}
    write_folder(out, config, text, tensors, writes)
    off = float(np.abs(open_learned(engine, str(out), "").scores(held.pairs[:CHECKED], engine) - wanted).max())
    if off > NEAR * max(1.0, abs(config.output.scale)):
        raise ModelError(f"the written metric differs from the trained model by up to {off:.2g}", where=str(out),
                         next="the base model may have changed while training ran; train again")
    sizes = (len(run.material.train), len(held))
    return Trained(out, config, tuple(at.history), at.best, at.verdict(at.best), at.stopped, sizes)
