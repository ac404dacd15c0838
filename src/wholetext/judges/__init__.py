"""LLM judges: prompts and parsers; scores, error lists and rubrics; pairs of systems."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.judges.chat import Calls as Calls
    from wholetext.judges.check import (
        JudgeCheck as JudgeCheck,
        JudgeCheckOptions as JudgeCheckOptions,
        JudgeMeasure as JudgeMeasure,
        judge_check as judge_check,
        write_judge_check as write_judge_check,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "judges.chat": ("Calls",),
            "judges.check": (
                "JudgeCheck",
                "JudgeCheckOptions",
                "JudgeMeasure",
                "judge_check",
                "write_judge_check",
            ),
        },
    )
