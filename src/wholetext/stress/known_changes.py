"""The changes by name: built-in ones, and those that other packages add by entry point."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from wholetext import plugins
from wholetext.errors import InputError, PluginError, did_you_mean
from wholetext.stress.change import Change

# name → module and class below ``changes``; errors of the document first, then those of a sentence, then harmless ones
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
    """Summary, kind and languages of every change that works, and what is wrong with the plug-ins that do not."""
    found: dict[str, dict[str, Any]] = {}
    broken: dict[str, str] = {}
    for name in names():
        try:
            one = change_class(name)
        except PluginError as fault:
            broken[name] = str(fault)
            continue
        found[name] = {
            "kind": one.kind,
            "summary": one.summary,
            "languages": None if one.languages is None else sorted(one.languages),
        }
    return found, broken


def names() -> list[str]:
    return [*BUILTIN, *(name for name in plugins.load(plugins.CHANGES) if name not in BUILTIN)]


def origins(asked: Sequence[str]) -> dict[str, str]:
    """The package and version of each change that is not a built-in."""
    return {name: plugins.origin(plugins.CHANGES, name) for name in asked if name not in BUILTIN}


def change_class(name: str) -> type[Change]:
    """The class of a change."""
    if name in BUILTIN:
        module, _, kind = BUILTIN[name].partition(":")
        found: object = getattr(import_module(f"wholetext.stress.changes.{module}"), kind)
    else:
        added = plugins.load(plugins.CHANGES, BUILTIN)
        if name not in added:
            raise InputError(
                f"there is no change {name!r}",
                next=did_you_mean(name, names()) or f"the changes are {', '.join(names())}",
            )
        found = added[name]()
    if not (isinstance(found, type) and issubclass(found, Change)):
        raise PluginError(
            f"the change {name!r} of {plugins.origin(plugins.CHANGES, name)} is not a subclass of Change",
            next="derive it from wholetext.Change",
        )
    if getattr(found, "name", "") != name:
        raise PluginError(
            f"the change {name!r} of {plugins.origin(plugins.CHANGES, name)} has the name "
            f"{getattr(found, 'name', '')!r}",
            next="its name and that of its entry point are the same",
        )
    return found


def chosen(asked: Sequence[str] | None) -> list[Change]:
    """One of each requested change, all of them by default."""
    given = names() if asked is None else [asked] if isinstance(asked, str) else list(asked)
    return [change_class(name)() for name in dict.fromkeys(given)]
