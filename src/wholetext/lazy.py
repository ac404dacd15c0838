"""Public names that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def exports(
    package: str, table: Mapping[str, Sequence[str]], packages: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: the name of the package (``__name__``).
        table: public names by module, the module relative to wholetext.
        packages: packages inside this one that are attributes without being imported first.
    """
    modules = {name: module for module, names in table.items() for name in names}
    public = sorted(modules)

    def load(name: str) -> Any:
        if name in modules:
            return getattr(import_module(f"wholetext.{modules[name]}"), name)
        if name in packages:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: list(public), public
