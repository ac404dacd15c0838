"""The model card: base model, training data, and agreement with human scores."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wholetext.models import catalogue
from wholetext.models.hub.locate import locate
from wholetext.training.examples import Examples
from wholetext.training.learned.config import Config, plain
from wholetext.training.recipe import Recipe
from wholetext.version import __version__

if TYPE_CHECKING:
    from wholetext.training.checkpoint import Progressed
    from wholetext.training.learner import TrainingData

PACKAGES = ("torch", "transformers", "tokenizers", "numpy")


def card(recipe: Recipe, config: Config, at: Progressed, material: TrainingData) -> str:
    """Markdown. No times and no paths: the same run gives the same card."""
    base = locate(recipe.base, recipe.revision)
    licence = catalogue.licence(base.path, catalogue.entry(recipe.base))
    output, chosen = config.output, at.verdict(at.best)
    clamp = (
        ""
        if output.low is None or output.high is None
        else f", kept within {output.low:g} … {output.high:g}"
    )
    better = "higher" if output.higher_is_better else "lower"
    criterion = (
        "calibrated segment accuracy (acc_eq*)"
        if chosen.acc_eq == chosen.acc_eq
        else "validation loss"
    )
    made_with = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return "\n".join(
        [
            "---",
            f"license: {licence}",
            f"base_model: {base.name}",
            "library_name: wholetext",
            "---",
            "",
            f"# A learned metric ({recipe.form}, {recipe.adapter.kind}) on {base.name}",
            "",
            *([f"Version {config.version}.", ""] if config.version else []),
            f"Reads {', '.join(config.reads)}. A score is {output.meaning}{clamp}; {better} is better.",
            "",
            "    wholetext score … -m 'paragraph(size=5):learned@FOLDER'",
            "",
            "## Data",
            "",
            *_table(
                _described("training", material.train) + _described("validation", material.held)
            ),
            "",
            f"Sampling: {recipe.sampling}. Training and validation share no document.",
            "",
            "## Agreement on the validation examples",
            "",
            f"Chosen after {at.best} of {at.step} steps by {criterion}; training ended by {at.stopped}.",
            "",
            *_table(
                [
                    {"part": part, "pairs": pairs, "acc_eq*": f"{acc:.4f}", "Pearson": f"{r:.4f}"}
                    for part, pairs, acc, r in chosen.parts
                ]
            ),
            "",
            *_table([_evaluation(row) for row in at.history]),
            "",
            "## Settings",
            "",
            *(
                f"    {name} = {json.dumps(value, ensure_ascii=False)}"
                for name, value in _settings(recipe).items()
            ),
            "",
            "## Made with",
            "",
            f"Base model {base.name}, content {base.revision}, licence {licence}. Seed {recipe.seed}. "
            f"wholetext {__version__}, Python {platform.python_version()}, {made_with}.",
            "",
        ]
    )


def _described(use: str, examples: Examples) -> list[dict[str, object]]:
    """What the examples are, by part."""
    rows: list[dict[str, object]] = []
    for part in dict.fromkeys(place.part for place in examples.places):
        places = [place for place in examples.places if place.part == part]
        lengths = {
            k: sum(place.k == k for place in places) for k in sorted({place.k for place in places})
        }
        rows.append(
            {
                "use": use,
                "part": part,
                "documents": len({p.doc for p in places}),
                "systems": len({p.system for p in places}),
                "references": ", ".join(sorted({p.ref for p in places if p.ref})) or "none",
                "examples": len(places),
                "by length": json.dumps(lengths),
            }
        )
    return rows


def _evaluation(row: dict[str, Any]) -> dict[str, object]:
    verdict = row["verdict"]
    before = f"{row['loss']:.4f}" if row["step"] else "–"
    return {
        "step": row["step"],
        "training loss": before,
        "validation loss": f"{verdict['loss']:.4f}",
        "acc_eq*": f"{verdict['acc_eq']:.4f}",
        "Pearson": f"{verdict['pearson']:.4f}",
    }


def _settings(recipe: Recipe) -> Any:
    """The recipe, with folders by their names."""
    settings = plain(recipe)
    settings["base"] = (
        Path(settings["base"]).name if Path(settings["base"]).is_dir() else settings["base"]
    )
    for data in (*settings["data"], *settings["validation"]):
        data["evalset"] = Path(data["evalset"]).name
    return settings


def _table(rows: list[dict[str, object]]) -> list[str]:
    head = list(rows[0])
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(str(row[name]) for name in head)} |" for row in rows]
