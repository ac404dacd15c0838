"""Plug-ins: entry points of other packages, loaded when first used (docs/plugins.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import cache, partial
from typing import TYPE_CHECKING

from wholetext.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

INTERFACE = 3  # a plug-in declares the interface it was made for
METRICS, VIEWS = "wholetext.metrics", "wholetext.views"
FORMATS, VERBS, LOGGERS = "wholetext.formats", "wholetext.verbs", "wholetext.loggers"


def load(group: str, builtin: Collection[str] = ()) -> dict[str, Callable[[], object]]:
    """Name → a function that imports the plug-in; nothing is imported before it is called.

    It raises ``PluginError`` where the plug-in is broken, is made for another interface, or has the
    name of another plug-in or of something in ``builtin``. Built-ins always win: look there first.
    """
    points: dict[str, list[EntryPoint]] = {}
    for point in installed(group, tuple(sys.path)):
        points.setdefault(point.name, []).append(point)
    return {name: partial(_load, some, name in builtin) for name, some in sorted(points.items())}


def origin(group: str, name: str) -> str:
    """The package and version that a plug-in is from, ``""`` where there is none of this name."""
    return " and ".join(map(_package, installed(group, tuple(sys.path)).select(name=name)))


@cache
def installed(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Entry points of the packages on a path; reading them takes tens of milliseconds."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.module


def _load(points: list[EntryPoint], taken: bool) -> object:
    point, package = points[0], " and ".join(map(_package, points))
    if taken:
        raise PluginError(
            f"{point.name!r} is the name of a built-in, so that of {package} cannot be used",
            next="ask its authors for another name, or uninstall it",
        )
    if len(points) > 1:
        raise PluginError(f"{package} both provide {point.name!r}", next="uninstall one of them")
    try:
        loaded: object = point.load()
    except Exception as fault:  # code of another package may raise anything
        raise PluginError(
            f"{point.name!r} of {package} cannot be loaded from {point.value} "
            f"({type(fault).__name__}: {fault})",
            next="reinstall or update that package",
        ) from fault
    interface = getattr(loaded, "interface", getattr(sys.modules[point.module], "interface", None))
    if interface != INTERFACE:
        raise PluginError(
            f"{point.name!r} of {package} is made for interface {interface}, and this version of "
            f"wholetext has {INTERFACE}",
            next="update the older of the two; `wholetext help plugins` describes the interface",
        )
    return loaded
