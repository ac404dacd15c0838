"""Changes by name: built-in ones and those of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholetext import plugins, slices
from wholetext.errors import InputError, PluginError, did_you_mean
from wholetext.stress.change import Change

# name → module and class in ``changes``: errors of documents, errors of sentences, harmless changes
BUILTIN = {
    "pronoun": "consistency:Pronoun",
    "tense": "consistency:Tense",
    "name": "consistency:Name",
    "term": "consistency:Term",
    "address": "consistency:Address",
    "connective": "relations:ConnectiveSwap",
    "no-connective": "relations:ConnectiveDrop",
    "ellipsis": "relations:Ellipsis",
    "antecedent": "relations:Antecedent",
    "swap": "structure:Swap",
    "shuffle": "structure:Shuffle",
    "reverse": "structure:Reverse",
    "drop": "structure:Drop",
    "double": "structure:Double",
    "move": "structure:Move",
    "foreign": "structure:Foreign",
    "number": "controls:Number",
    "negation": "controls:Negation",
    "paraphrase": "controls:Paraphrase",
    "contraction": "controls:Contraction",
    "typography": "controls:Typography",
    "resegment": "controls:Resegment",
}


def list_changes() -> dict[str, type[Change]]:
    """Every change by name: built-ins and installed plug-ins."""
    return {name: change_class(name) for name in names()}


def described() -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Summary, kind and languages of every change, and the errors of plug-ins that cannot be used."""
    changes: dict[str, dict[str, Any]] = {}
    broken: dict[str, str] = {}
    for name in names():
        try:
            change = change_class(name)
        except PluginError as fault:
            broken[name] = str(fault)
            continue
        changes[name] = {
            "kind": change.kind,
            "summary": change.summary,
            "languages": None if change.languages is None else sorted(change.languages),
        }
    return changes, broken


def names() -> list[str]:
    return [*BUILTIN, *(name for name in plugins.load(plugins.CHANGES) if name not in BUILTIN)]


def origins(changes: Sequence[str]) -> dict[str, str]:
    """The package and version of each change that is not built in."""
    return {name: plugins.origin(plugins.CHANGES, name) for name in changes if name not in BUILTIN}


def change_class(name: str) -> type[Change]:
    """The class of a change."""
    if name in BUILTIN:
        built_in: type[Change] = slices.load(f"wholetext.stress.changes.{BUILTIN[name]}")
        return built_in
    added = plugins.load(plugins.CHANGES, BUILTIN)
    if name not in added:
        raise InputError(
            f"there is no change {name!r}",
            next=did_you_mean(name, names()) or f"the changes are {', '.join(names())}",
        )
    change, origin = added[name](), plugins.origin(plugins.CHANGES, name)
    if not (isinstance(change, type) and issubclass(change, Change)):
        raise PluginError(
            f"the change {name!r} of {origin} is not a subclass of Change",
            next="derive it from wholetext.Change",
        )
    if getattr(change, "name", "") != name:
        raise PluginError(
            f"the change {name!r} of {origin} has the name {getattr(change, 'name', '')!r}",
            next="its name and that of its entry point are the same",
        )
    return change


def chosen(requested: Sequence[str] | None) -> list[Change]:
    """Instances of the requested changes, of all of them by default."""
    return [
        change_class(name)() for name in dict.fromkeys(names() if requested is None else requested)
    ]
