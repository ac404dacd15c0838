"""The model card: base model, training data, and agreement with human scores."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wholetext.models import catalogue
from wholetext.models.hub.locate import locate
from wholetext.training.examples import TrainingExamples
from wholetext.training.learned.folder import Config, plain
from wholetext.training.recipe import Recipe
from wholetext.version import __version__

if TYPE_CHECKING:
    from wholetext.training.learner import Progress, TrainingData

PACKAGES = ("torch", "transformers", "tokenizers", "numpy")
CARD = """\
---
license: {licence}
base_model: {base}
library_name: wholetext
---

# A learned metric ({form}) on {base}

Version {version}. Reads {reads}. A score is {meaning}.

    wholetext score … -m 'paragraph(size=5):learned@FOLDER'

## Data

{data}

Sampling: {sampling}. Training and validation share no document.

## Agreement on the validation examples

Chosen after {best} of {steps} steps; training ended by {stopped}.

{agreement}

{history}

## Settings

{settings}

## Made with

Base model {base}, content {content}, licence {licence}. Seed {seed}. {packages}.
"""


def card(recipe: Recipe, config: Config, at: Progress, data: TrainingData) -> str:
    """Render the card as Markdown, without times and paths: the same run gives the same card."""
    base = locate(recipe.base, recipe.revision)
    parts = at.verdict(at.best).parts
    packages = {"wholetext": __version__, "Python": platform.python_version()}
    packages |= {package: version(package) for package in PACKAGES}
    return CARD.format(
        licence=catalogue.licence(base.path, catalogue.entry(recipe.base)),
        base=base.name,
        form=recipe.form,
        version=config.version or "–",
        reads=", ".join(config.reads),
        meaning=config.output.meaning,
        data=_table([*_described("training", data.train), *_described("validation", data.held)]),
        sampling=recipe.sampling,
        best=at.best,
        steps=at.step,
        stopped=at.stopped,
        agreement=_table(
            [
                {"part": part, "pairs": pairs, "acc_eq*": f"{acc:.4f}", "Pearson": f"{r:.4f}"}
                for part, pairs, acc, r in parts
            ]
        ),
        history=_table(
            [
                {"step": row["step"], "training loss": f"{row['loss']:.4f}"}
                | {name: f"{row['verdict'][name]:.4f}" for name in ("loss", "acc_eq", "pearson")}
                for row in at.history
            ]
        ),
        settings="\n".join(
            f"    {name} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in _settings(recipe).items()
        ),
        content=base.revision,
        seed=recipe.seed,
        packages=", ".join(f"{name} {number}" for name, number in packages.items()),
    )


def _described(use: str, examples: TrainingExamples) -> list[dict[str, object]]:
    """Describe the examples by part."""
    parts = dict.fromkeys(place.part for place in examples.places)
    by_part = {part: [p for p in examples.places if p.part == part] for part in parts}
    return [
        {
            "use": use,
            "part": part,
            "documents": len({place.doc for place in places}),
            "systems": len({place.system for place in places}),
            "references": ", ".join(sorted({place.ref for place in places if place.ref})),
            "examples": len(places),
        }
        for part, places in by_part.items()
    ]


def _settings(recipe: Recipe) -> Any:
    """Return the recipe as plain data, with folders by their names."""
    settings = plain(recipe)
    settings["base"] = Path(recipe.base).name if Path(recipe.base).is_dir() else recipe.base
    for data in (*settings["data"], *settings["validation"]):
        data["evalset"] = Path(data["evalset"]).name
    return settings


def _table(rows: list[dict[str, object]]) -> str:
    head = list(rows[0])
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row.values()))} |" for row in rows)])
