"""Training of learned metrics: a recipe in, a folder out that ``learned@FOLDER`` scores with."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.training.recipe import Recipe as Recipe, make_recipe as make_recipe
    from wholetext.training.run import (
        Session as Session,
        Trained as Trained,
        train as train,
        train_runs as train_runs,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "training.recipe": ("Recipe", "make_recipe"),
            "training.run": ("Session", "Trained", "train", "train_runs"),
        },
    )
