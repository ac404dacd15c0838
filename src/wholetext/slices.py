"""Slices: capabilities beside the core, and what each of them adds to it.

A slice is a folder of this package that uses the core and is never imported by it. The core finds what a slice adds in
the table below, by name, and imports it when it is first used. A folder that is absent adds nothing, so deleting one
removes the capability and breaks nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

Kind = Literal["commands", "metrics", "aliases", "formats", "studies", "hooks"]

# slice → kind → name → "module:attribute" inside the slice (of an alias: the spec it stands for).
# commands: `group command` is a subcommand; several slices may add to one group
# studies: kind in a JSON file, or its name without .json → function that makes it a page of the report
# formats: a module with `recognise` and `read`; folders and names are not offered to it
# hooks: points at which the core calls a capability if it is there
SLICES: Mapping[str, Mapping[Kind, Mapping[str, str]]] = {
    "alignment": {
        "commands": {"align": "commands:align"},
        "hooks": {
            "align": "realign:align",
            "align-options": "realign:AlignOptions",
            "unrelated": "unrelated:unrelated",
        },
    },
    "ranking": {
        "commands": {"rank": "commands:rank"},
        "studies": {"rank": "panels:ranking", "ranking": "panels:ranking"},
        "hooks": {"run-ranking": "panels:run_ranking"},
    },
    "meta": {
        "commands": {
            "meta agreement": "commands:agreement",
            "meta contrast": "commands:contrast",
            "meta spans": "commands:spans",
            "meta paragraphs": "commands:paragraphs",
        },
        "studies": {"meta": "panels:meta", "contrast": "panels:contrast"},
        "hooks": {
            "features": "commands:features",
            "standard-references": "conventions:standard_references",
        },
    },
    "stress": {
        "commands": {"meta stress": "commands:stress"},
        "studies": {"stress": "panels:stress"},
        "hooks": {"described-changes": "change:described"},
    },
    "judges": {
        "commands": {"meta judges": "commands:judge_check"},
        "metrics": {
            "judge-da": "judge:JudgeDa",
            "judge-sqm": "judge:JudgeSqm",
            "judge-mqm": "judge:JudgeMqm",
            "judge-esa": "judge:JudgeEsa",
            "judge-pairwise": "judge:JudgePairwise",
            "judge-coherence": "judge:JudgeCoherence",
        },
        "studies": {"judge-check": "panels:judge_check"},
        "hooks": {"calls": "chat:Calls"},
    },
    "annotation": {
        "commands": {"annotate sample": "commands:sample", "annotate read": "commands:read"}
    },
    "training": {
        "commands": {"train": "commands:train"},
        "metrics": {"learned": "metric:Learned"},
        "aliases": {
            "wt-mini": "learned@wt-mini",
            "doc-wt-mini": "context(prev=2):learned@wt-mini",
            "wt-mini-penalty": "learned(output=penalty)@wt-mini",
        },
        "hooks": {
            "checked-config": "learned.forms:checked_config",
            "bundled-models": "bundled:FOLDERS",
            "catalogue": "bundled:ENTRIES",
        },
    },
    "reproduce": {
        "commands": {"reproduce": "commands:reproduce"},
        "studies": {"reproduce": "panels:reproduce"},
    },
    "terms": {"metrics": {"terms": "metric:Terms", "term-consistency": "metric:TermConsistency"}},
    "pick": {"commands": {"pick": "commands:pick"}},
    "findings": {"hooks": {"findings": "findings:findings"}},
    "serving": {"commands": {"serve": "commands:serve"}},
    "integrations": {
        "formats": {"lm_eval": "lm_eval_logs"},
        "hooks": {"find-logger": "loggers:find_logger", "log-run": "loggers:log_run"},
    },
}


load = resolve_name  # import what "module:attribute" names


@cache
def added(kind: Kind) -> dict[str, str]:
    """Everything of a kind that the slices add: name → "package.module:attribute", or the spec of an alias."""
    entries: dict[str, str] = {}
    for slice_name, kinds in SLICES.items():
        if (Path(__file__).parent / slice_name / "__init__.py").is_file():
            prefix = "" if kind == "aliases" else f"wholetext.{slice_name}."
            entries |= {name: prefix + place for name, place in kinds.get(kind, {}).items()}
    return entries


def hook(name: str) -> Any | None:
    """Import what a slice provides at a hook; None where the slice is absent."""
    place = added("hooks").get(name)
    return None if place is None else load(place)


def required(name: str, feature: str) -> Any:
    """Like ``hook``, but raise an error that names the feature if the slice is missing."""
    from wholetext.errors import InputError

    loaded = hook(name)
    if loaded is None:
        raise InputError(f"{feature} is not part of this installation", next="reinstall wholetext")
    return loaded
