"""Changes by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholetext import slices
from wholetext.errors import InputError, did_you_mean
from wholetext.stress.change import Change

# name → module and class in ``changes``: errors of documents, errors of sentences, harmless changes
BUILTIN = {
    "pronoun": "consistency:Pronoun",
    "tense": "consistency:Tense",
    "name": "consistency:Name",
    "term": "consistency:Term",
    "connective": "relations:ConnectiveSwap",
    "no-connective": "relations:ConnectiveDrop",
    "swap": "structure:Swap",
    "shuffle": "structure:Shuffle",
    "drop": "structure:Drop",
    "double": "structure:Double",
    "foreign": "structure:Foreign",
    "number": "controls:Number",
    "negation": "controls:Negation",
    "paraphrase": "controls:Paraphrase",
    "contraction": "controls:Contraction",
    "typography": "controls:Typography",
    "resegment": "controls:Resegment",
}


def list_changes() -> dict[str, type[Change]]:
    """Every change by name."""
    return {
        name: slices.load(f"wholetext.stress.changes.{place}") for name, place in BUILTIN.items()
    }


def described() -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Summary, kind and languages of every change; none can be broken."""
    changes = {
        name: {
            "kind": change.kind,
            "summary": change.summary,
            "languages": None if change.languages is None else sorted(change.languages),
        }
        for name, change in list_changes().items()
    }
    return changes, {}


def chosen(requested: Sequence[str] | None) -> list[Change]:
    """Instances of the requested changes, of all of them by default."""
    changes = list_changes()
    names = dict.fromkeys(changes if requested is None else requested)
    for name in names:
        if name not in changes:
            raise InputError(
                f"there is no change {name!r}",
                next=did_you_mean(name, list(changes)) or f"the changes are {', '.join(changes)}",
            )
    return [changes[name]() for name in names]
