"""Training of learned metrics: a recipe in, a folder out that ``learned@FOLDER`` scores with."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.training.recipe import Recipe as Recipe
    from wholetext.training.recipe import make_recipe as make_recipe
    from wholetext.training.run import Session as Session
    from wholetext.training.run import Trained as Trained
    from wholetext.training.run import train as train
    from wholetext.training.run import train_runs as train_runs
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "training.recipe": ("Recipe", "make_recipe"),
            "training.run": ("Session", "Trained", "train", "train_runs"),
        },
    )
