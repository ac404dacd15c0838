"""From a corpus and spec strings to scores: the pipeline, its engine and its run folders."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.executor import Executor as Executor
    from wholetext.files.cache import Cache as Cache
    from wholetext.scoring.explain import Explained as Explained
    from wholetext.scoring.gate import GateCheck as GateCheck, GateResult as GateResult
    from wholetext.scoring.plan import Plan as Plan, write_prompts as write_prompts
    from wholetext.scoring.results import write_run as write_run
    from wholetext.scoring.submission import write_submission as write_submission
    from wholetext.scoring.sweep import Axes as Axes, Sweep as Sweep, write_sweep as write_sweep
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "executor": ("Executor",),
            "files.cache": ("Cache",),
            "scoring.explain": ("Explained",),
            "scoring.gate": ("GateCheck", "GateResult"),
            "scoring.plan": ("Plan", "write_prompts"),
            "scoring.results": ("write_run",),
            "scoring.submission": ("write_submission",),
            "scoring.sweep": ("Axes", "Sweep", "write_sweep"),
        },
    )
