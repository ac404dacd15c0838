"""`wholetext list`: every metric, view and alias on one screen."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from wholetext.cli import options as inputs


def list(
    no_ref: Annotated[bool, typer.Option("--no-ref", help="List only reference-free metrics.")] = False,
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
) -> None:
    """List metrics, aliases and views."""
    import json

    known = catalogue()
    if no_ref:
        known["metrics"] = {name: one for name, one in known["metrics"].items() if "ref" not in one["needs"]}
    if json_ or format == "json":
        print(json.dumps(known, indent=1, ensure_ascii=False))
        return
    print("metrics (↑ higher is better, ↓ lower)")
    for name, one in known["metrics"].items():
        needs = "+".join(side for side in ("src", "hyp", "ref") if side in one["needs"])
        needs += "".join(f"({side})" for side in one["wants"])
        print(f"  {name:<14} {'↑' if one['higher_is_better'] else '↓'} {needs:<14} {one['summary']}")
    if not no_ref:
        print("\naliases")
        for alias, spec in sorted(known["aliases"].items()):
            print(f"  {alias:<14} = {spec}")
    print("\nviews (write view:metric)")
    for view, summary in known["views"].items():
        print(f"  {view:<14} {summary}")
    for name, why in known["broken"].items():
        print(f"warning: the plug-in {name} cannot be used: {why}", file=sys.stderr)
    print("\n`wholetext show NAME` explains one: its parameters, direction, range and paper.")


def catalogue() -> dict[str, Any]:
    """What can be listed. Built-ins come from a generated page (`make docs`), so that nothing heavy is imported."""
    import json
    from importlib.metadata import entry_points
    from importlib.resources import files

    known: dict[str, Any] = json.loads(files("wholetext.metrics").joinpath("catalogue.json").read_text("utf-8"))
    known["broken"] = {}
    for point in entry_points(group="wholetext.metrics"):
        if point.name not in known["metrics"]:
            try:
                known["metrics"][point.name] = _entry(point.name)
            except Exception as fault:  # somebody else's code: whatever it does, the others are still listed
                known["broken"][point.name] = str(fault)
    return known


def built_in() -> dict[str, Any]:
    """The generated page: every built-in metric, alias and view, from the code itself."""
    from wholetext.registry import ALIASES, BUILTIN
    from wholetext.views import VIEWS

    return {
        "metrics": {name: _entry(name) for name in BUILTIN},
        "aliases": dict(ALIASES),
        "views": {name: (kind.__doc__ or "").splitlines()[0].replace("``", "") for name, kind in VIEWS.items()},
    }


def _entry(name: str) -> dict[str, Any]:
    from wholetext.registry import metric_class

    one = metric_class(name)()
    return {
        "summary": one.summary, "needs": sorted(one.needs), "wants": sorted(one.wants - one.needs),
        "higher_is_better": one.higher_is_better, "range": [str(bound) for bound in one.range], "view": one.view,
        "outputs": [*one.outputs],
    }
