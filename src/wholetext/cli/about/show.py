"""`wholetext show NAME`: one metric or view with its parameters."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wholetext.spec import Value


def show(name: Annotated[str, typer.Argument(help="Metric, view, alias or full spec string.")]) -> None:
    """Explain a metric, a view or a spec string."""
    from wholetext.registry import ALIASES, arguments, parameters, scorer, view_class
    from wholetext.spec import Call

    if view := view_class(name):
        kind: type = view
        given: Mapping[str, Value] = {}
        print(f"view {name}\n\n{_clean(kind)}")
    else:
        found = scorer(name)
        metric = found.metric
        kind = type(metric)
        if name in ALIASES:
            print(f"{name} stands for {found.spec}\n")
        print(f"metric {metric.name}: {metric.summary}\n\n{_clean(kind)}\n")
        print(f"needs      {', '.join(sorted(metric.needs))}")
        if metric.wants:
            print(f"wants      {', '.join(sorted(metric.wants))} (used when given)")
        better = "higher is better" if metric.higher_is_better else "lower is better"
        print(f"range      {metric.range[0]:g} … {metric.range[1]:g}, {better}")
        print(f"outputs    {', '.join(metric.outputs)}")
        usual = Call(found.view.name, arguments(found.view))
        print(f"view       {usual} (put another before it: context(prev=2):{metric.name})")
        given = arguments(metric)
    print("parameters")
    for key, (hint, default) in parameters(kind).items():
        print(f"  {key:<16} {given.get(key, default)!s:<10} {_hint(hint)}")


def _clean(kind: type) -> str:
    import inspect

    return inspect.getdoc(kind) or ""


def _hint(hint: object) -> str:
    """A type as a person reads it: choices, or the plain names."""
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(str(choice) for choice in typing.get_args(hint))
    parts = typing.get_args(hint) or (hint,)
    return " | ".join("none" if part is type(None) else getattr(part, "__name__", str(part)) for part in parts)
