"""`wholetext list`, `show`, `models` and `cache`: what there is to use, and where it is stored."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wholetext import slices
from wholetext.cli import options
from wholetext.cli.completion import complete_models, complete_names
from wholetext.cli.terminal import columns, entry, paged, print_json
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.spec import Value

APP: dict[str, Any] = {"no_args_is_help": True, "add_completion": False, "rich_markup_mode": None}


def list_(
    no_ref: Annotated[
        bool, typer.Option("--no-ref", help="List only reference-free metrics.")
    ] = False,
    format: options.TableOrJson = "table",
) -> None:
    """List metrics, aliases, views, and the changes of stress tests."""
    from wholetext.registry import catalogue, reference_free

    known = catalogue()
    if described := slices.hook("described-changes"):
        known["changes"], broken = described()
        known["broken"] = {**known["broken"], **broken}
    else:
        known["changes"] = {}
    if no_ref:
        known["metrics"] = {
            name: one for name, one in known["metrics"].items() if "ref" not in one["needs"]
        }
        known["aliases"] = {
            name: spec for name, spec in known["aliases"].items() if reference_free(name)
        }
        known["changes"] = {}  # they need references
    if format == "json":
        print_json(known)
        return
    with paged():
        _print_catalogue(known)
    for name, why in known["broken"].items():
        print(f"warning: the plug-in {name} cannot be used: {why}", file=sys.stderr)


def _print_catalogue(known: Mapping[str, Mapping[str, Any]]) -> None:
    wide = max(
        len(name) for kind in ("metrics", "aliases", "views", "changes") for name in known[kind]
    )
    print("metrics (↑ higher is better, ↓ lower)")
    for name, one in known["metrics"].items():
        needs = "+".join(side for side in ("src", "hyp", "ref") if side in one["needs"])
        needs += "".join(f"({side})" for side in one["wants"])
        entry(
            f"  {name:<{wide}} {'↑' if one['higher_is_better'] else '↓'} {needs:<14} ",
            one["summary"],
        )
    print("\naliases")
    for alias, spec in sorted(known["aliases"].items()):
        head = f"  {alias:<{wide}} = "
        fits = len(head) + len(spec) <= columns()
        print(f"{head}{spec}" if fits else f"{head.rstrip()}\n      {spec}")  # specs stay whole
    print("\nviews (write view:metric)")
    for view, summary in known["views"].items():
        entry(f"  {view:<{wide}} ", summary)
    if known["changes"]:
        print("\nchanges (of `wholetext stress`)")
    for change, one in known["changes"].items():
        entry(f"  {change:<{wide}} {one['kind']:<9} ", one["summary"])
    print()
    entry(
        "",
        "`wholetext show NAME` explains a metric or a view: its parameters, direction, range and paper.",
    )


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Metric, view, alias or full spec string.", autocompletion=complete_names
        ),
    ],
) -> None:
    """Explain a metric, a view or a spec string."""
    from wholetext.registry import ALIASES, arguments, canonical, scorer, view_class
    from wholetext.spec import Call

    with paged():
        if view := view_class(name):
            print(f"view {name}\n")
            _prose(view)
            _print_parameters(view, {})
            return
        found = scorer(name)
        metric = found.metric
        if canonical(name) in ALIASES:
            print(f"{name} stands for {found.spec}\n")
        entry(f"metric {metric.name}: ", f"{metric.summary}\n")
        print()
        _prose(type(metric))
        print(f"needs      {', '.join(sorted(metric.needs))}")
        if metric.wants:
            print(f"wants      {', '.join(sorted(metric.wants))} (used when given)")
        better = "higher is better" if metric.higher_is_better else "lower is better"
        print(f"range      {metric.range[0]:g} … {metric.range[1]:g}, {better}")
        outputs = [output for output in metric.outputs if "." not in output]
        parts = [
            output for output in metric.outputs if "." in output
        ]  # of these, such as tense.recall
        more = f" and {len(parts)} parts of them ({parts[0]} …)" if parts else ""
        entry("outputs    ", ", ".join(outputs) + more)
        usual = Call(found.view.name, arguments(found.view))
        other = "slide(size=6,step=6)" if found.view.name == "context" else "context(prev=2)"
        entry(
            "view       ", f"{usual} (another is written before the metric: {other}:{metric.name})"
        )
        _print_parameters(type(metric), arguments(metric))


def _prose(kind: type) -> None:
    """The docstring, as wide as the terminal."""
    for paragraph in (inspect.getdoc(kind) or "").replace("``", "").split("\n\n"):
        entry("", paragraph)
        print()


def _print_parameters(kind: type, given: Mapping[str, Value]) -> None:
    """Every parameter with its value, what it takes, and what it does."""
    from wholetext.registry import explanations, parameters

    said = explanations(kind)
    print("parameters")
    for key, (hint, default) in parameters(kind).items():
        value = given.get(key, default)
        shown = (
            str(value).lower()
            if value is None or isinstance(value, bool)
            else value
            if value != ""
            else '""'
        )
        entry(f"  {key}={shown}   ", _hint(hint))
        if said[key]:
            entry("      ", said[key])


def _hint(hint: object) -> str:
    """A type as a person reads it: choices, or the plain names."""
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(
            str(one).lower() if isinstance(one, bool) else str(one) for one in typing.get_args(hint)
        )
    parts = typing.get_args(hint) or (hint,)
    words = {
        "NoneType": "none",
        "bool": "true | false",
        "int": "integer",
        "float": "number",
        "str": "text",
    }
    return " | ".join(
        words.get(name := getattr(part, "__name__", str(part)), name) for part in parts
    )


# ---------------------------------------------------------------- models

models = typer.Typer(help="List, download and verify models.", **APP)
Name = Annotated[
    str,
    typer.Argument(
        autocompletion=complete_models,
        help="Model name on the Hugging Face Hub, folder, or metric with one model (kiwi, prism …).",
    ),
]
Revision = Annotated[
    str, typer.Option("--revision", help="Branch, tag or commit (default: the latest).")
]


@models.command("list")
@options.flattened
def list_models(format: options.TableOrJson = "table") -> None:
    """List the default models of metrics: licence, size, access, and whether they are downloaded."""
    from wholetext.models import catalogue

    found = catalogue.list_models()
    if format == "json":
        print(json.dumps(found, indent=1))
        return
    print(f"model\n{'GB':>9}  {'licence':<16} {'here':<13} used by\n")
    for one in found:
        here = one["revision"][:12] if one["path"] else "no (gated)" if one["gated"] else "no"
        print(one["name"])
        entry(
            f"{one['gigabytes']:>9.2f}  {one['licence']:<16} {here:<13} ", ", ".join(one["used_by"])
        )
    print()
    entry(
        "",
        "`wholetext models fetch NAME` downloads one; accept the terms of gated models on the hub first.",
    )


@models.command("show")
@options.flattened
def show_model(name: Name, revision: Revision = "", format: options.TableOrJson = "table") -> None:
    """Show a model's licence, size, revision and path."""
    from wholetext.models import catalogue

    found = catalogue.show_model(name, revision)
    if format == "json":
        print(json.dumps(found, indent=1))
        return
    for key in ("name", "about", "used_by", "licence", "gated", "gigabytes", "revision", "path"):
        value = found[key]
        if value not in (None, "", [], False):
            text = (
                ", ".join(value) if isinstance(value, list) else "yes" if value is True else value
            )
            print(f"{key.replace('_', ' '):<10} {text}")
    if found["path"] is None:
        print(f"{'here':<10} no → wholetext models fetch {found['name']}")
    for other in found["needs"]:
        print(f"{'needs':<10} {other} (tokenizer)")


@models.command()
def fetch(name: Name, revision: Revision = "") -> None:
    """Download a model and its tokenizer from the Hugging Face Hub."""
    from wholetext.models.catalogue import fetch_model

    for one in fetch_model(name, revision):
        print(
            f"{one['name']}  {one['revision']}  {one['gigabytes']:.2f} GB  licence {one['licence']}"
        )
        print(f"  {one['path']}")


@models.command()
@options.flattened
def verify(name: Name, revision: Revision = "", format: options.TableOrJson = "table") -> None:
    """Verify a model's files without loading them: complete, unchanged, safe."""
    from wholetext.metrics.verify import verify_model
    from wholetext.models.catalogue import show_model

    found = verify_model(name, revision)
    if format == "json":
        print(json.dumps([dataclasses.asdict(one) for one in found], indent=1))
    else:
        model = show_model(name, revision)
        print(f"{model['name']}  {model['revision']}  {model['path']}")
        for one in found:
            print(f"  {'ok ' if one.good else 'BAD'} {one.file:<36} {one.what}")
    if not all(one.good for one in found):
        raise typer.Exit(1)


# ---------------------------------------------------------------- cache

cache = typer.Typer(help="Show or clear the cache of scores.", **APP)


@cache.command()
@options.flattened
def info(format: options.TableOrJson = "table") -> None:
    """Show the location, size and contents of the cache."""
    from wholetext.files.cache import Cache

    scores = Cache()
    found = scores.info()
    scores.close()  # the size of the file settles
    if format == "json":
        print(json.dumps(dataclasses.asdict(found), default=str))
        return
    print(f"{found.path}  {found.bytes / 1e6:.1f} MB")
    for kind, number in found.counts.items():
        print(f"  {kind:<24} {number}")


@cache.command()
def clear(
    kind: Annotated[
        str | None, typer.Argument(help="Kind of entries to delete, e.g. rows:bleu (default: all).")
    ] = None,
) -> None:
    """Delete cached scores; they are computed again when needed."""
    from wholetext.errors import CacheError, did_you_mean
    from wholetext.files.cache import Cache

    scores = Cache()
    kinds = list(scores.info().counts)
    if kind is not None and kind not in kinds:
        raise CacheError(
            f"the cache has no entries of kind {kind!r}",
            where=str(scores.path),
            next=did_you_mean(kind, kinds) or f"it holds {', '.join(kinds) or 'nothing'}",
        )
    print(f"dropped {count(scores.clear(kind), 'value')}")
