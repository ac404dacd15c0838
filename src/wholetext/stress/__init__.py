"""Stress tests: documents with controlled errors, and what metrics make of them."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.stress.change import Change as Change, list_changes as list_changes
    from wholetext.stress.evaluate import (
        Stress as Stress,
        stress as stress,
        write_stress as write_stress,
    )
    from wholetext.stress.perturbation import (
        Changed as Changed,
        Perturbed as Perturbed,
        StressOptions as StressOptions,
        perturb as perturb,
    )
    from wholetext.stress.statistics import StressCell as StressCell
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "stress.change": ("Change", "list_changes"),
            "stress.evaluate": ("Stress", "stress", "write_stress"),
            "stress.perturbation": ("Changed", "Perturbed", "StressOptions", "perturb"),
            "stress.statistics": ("StressCell",),
        },
    )
