"""`wholetext list`: every metric, view and alias on one screen."""

from __future__ import annotations

from typing import Annotated

import typer


def list(
    no_ref: Annotated[bool, typer.Option("--no-ref", help="Only metrics that need no reference.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List metrics, aliases and views."""
    import json

    from wholetext.registry import ALIASES, metric_class, metric_names
    from wholetext.views import VIEWS

    metrics = {name: metric_class(name)() for name in metric_names()}
    if no_ref:
        metrics = {name: metric for name, metric in metrics.items() if "ref" not in metric.needs}
    if json_:
        print(json.dumps({
            "metrics": {
                name: {"summary": one.summary, "needs": sorted(one.needs), "higher_is_better": one.higher_is_better,
                       "range": [str(b) for b in one.range], "view": one.view, "outputs": one.outputs}
                for name, one in metrics.items()
            },
            "aliases": dict(ALIASES), "views": sorted(VIEWS),
        }, indent=1, default=str))
        return
    print("metrics (↑ higher is better, ↓ lower)")
    for name, one in metrics.items():
        needs = "+".join(side for side in ("src", "hyp", "ref") if side in one.needs)
        needs += "".join(f"({side})" for side in sorted(one.wants - one.needs))
        print(f"  {name:<14} {'↑' if one.higher_is_better else '↓'} {needs:<14} {one.summary}")
    if not no_ref:
        print("\naliases")
        for alias, spec in sorted(ALIASES.items()):
            print(f"  {alias:<14} = {spec}")
    print("\nviews (write view:metric)")
    for view, kind_of_view in VIEWS.items():
        print(f"  {view:<14} {(kind_of_view.__doc__ or '').splitlines()[0]}")
    print("\n`wholetext show NAME` explains one: its parameters, direction, range and paper.")
