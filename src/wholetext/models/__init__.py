"""The models behind metrics; the only home of torch, which is imported only when a model runs."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.metrics.verify import ModelFinding as ModelFinding, verify_model as verify_model
    from wholetext.models.catalogue import (
        fetch_model as fetch_model,
        list_models as list_models,
        show_model as show_model,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "metrics.verify": ("ModelFinding", "verify_model"),
            "models.catalogue": ("fetch_model", "list_models", "show_model"),
        },
    )
