"""`wholetext list`: every metric, view and alias on one screen."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from wholetext.cli import options as inputs


def list(
    no_ref: Annotated[bool, typer.Option("--no-ref", help="List only reference-free metrics.")] = False,
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
) -> None:
    """List metrics, aliases and views."""
    import json

    from wholetext.registry import catalogue

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
