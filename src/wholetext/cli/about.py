"""`wholetext list`, `models` and `cache`: metrics, models and stored scores."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from wholetext import slices
from wholetext.cli import options
from wholetext.cli.options import option
from wholetext.cli.terminal import entry, print_json
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.spec import Value

QUOTES = '""'  # an empty value
_TYPES = {
    "NoneType": "none",
    "bool": "true | false",
    "int": "integer",
    "float": "number",
    "str": "text",
    "True": "true",
    "False": "false",
}


def list_(
    name: Annotated[
        str, Parameter(help="Metric, view, alias or full spec string to explain (default: all).")
    ] = "",
    /,
    *,
    no_ref: Annotated[bool, option("--no-ref", help="List only reference-free metrics.")] = False,
    format: options.TableOrJson = "table",
) -> None:
    """List metrics, aliases, views and changes of stress tests, or explain one of them.

    Examples:
        wholetext list
        wholetext list --no-ref
        wholetext list blonde
        wholetext list 'context(prev=2):comet'
    """
    from wholetext.registry import catalogue, reference_free

    if name:
        options.refuse_beside("NAME", {"--no-ref": no_ref})
        explain(name, format)
        return
    listing = {**catalogue(), "changes": {}}
    if describe_changes := slices.hook("described-changes"):
        listing["changes"] = describe_changes()
    if no_ref:
        metrics, aliases = listing["metrics"], listing["aliases"]
        listing["metrics"] = {k: v for k, v in metrics.items() if "ref" not in v["needs"]}
        listing["aliases"] = {k: v for k, v in aliases.items() if reference_free(k)}
        listing["changes"] = {}  # they need references
    if format == "json":
        print_json(listing)
        return
    _print_listing(listing)
    for name, why in listing["broken"].items():
        print(f"warning: the plug-in {name} cannot be used: {why}", file=sys.stderr)


def _print_listing(listing: Mapping[str, Mapping[str, Any]]) -> None:
    metrics, changes = listing["metrics"].items(), listing["changes"].items()
    sections = {  # title → name → what is beside it, its summary
        "metrics (↑ higher is better, ↓ lower)": {
            name: (f"{_sides(metric):<16} ", metric["summary"]) for name, metric in metrics
        },
        "aliases": {name: ("= ", spec) for name, spec in sorted(listing["aliases"].items())},
        "views (write view:metric)": {name: ("", text) for name, text in listing["views"].items()},
        "changes (of `wholetext meta stress`)": {
            name: (f"{change['kind']:<9} ", change["summary"]) for name, change in changes
        },
    }
    width = max(len(name) for section in sections.values() for name in section)
    for title, section in sections.items():
        if section:
            print(title)
            for name, (beside, text) in section.items():
                entry(f"  {name:<{width}} {beside}", text)
            print()
    entry("", "`wholetext list NAME` explains a metric or a view: parameters, range and paper.")


def _sides(metric: Mapping[str, Any]) -> str:
    """The direction of a metric, and what it needs and reads."""
    needs = "+".join(side for side in ("src", "hyp", "ref") if side in metric["needs"])
    wants = "".join(f"({side})" for side in metric["wants"])
    return f"{'↑' if metric['higher_is_better'] else '↓'} {needs}{wants}"


def explain(name: str, format: str = "table") -> None:
    """Print what a metric, a view or a spec string is, with its parameters."""
    from wholetext.registry import ALIASES, arguments, canonical, names, scorer, view_class
    from wholetext.spec import Call

    changes = hook() if (hook := slices.hook("described-changes")) else {}
    if name in changes and canonical(name) not in names():
        change = {"change": name, **changes[name]}
        print_json(change) if format == "json" else entry(
            f"change {name} ({change['kind']}): ", change["summary"]
        )
        return
    described = describe(name)
    if format == "json":
        print_json(described)
        return
    if view := view_class(name):
        print(f"view {name}\n")
        _prose(view)
        _print_parameters(described)
        return
    parsed = scorer(name)
    metric, view_name = parsed.metric, parsed.view.name
    if canonical(name) in ALIASES:
        print(f"{name} stands for {parsed.spec}\n")
    entry(f"metric {metric.name}: ", f"{metric.summary}\n")
    print()
    _prose(type(metric))
    better = "higher is better" if metric.higher_is_better else "lower is better"
    parts = [output for output in metric.outputs if "." in output]  # such as tense.recall
    outputs = ", ".join(output for output in metric.outputs if output not in parts)
    other = "slide(size=6,step=6)" if view_name == "context" else "context(prev=2)"
    usual = Call(view_name, arguments(parsed.view))
    facts = {
        "needs": ", ".join(sorted(metric.needs)),
        "wants": f"{', '.join(sorted(metric.wants))} (used when given)" if metric.wants else "",
        "range": f"{metric.range[0]:g} … {metric.range[1]:g}, {better}",
        "outputs": f"{outputs} and {len(parts)} parts of them ({parts[0]} …)" if parts else outputs,
        "view": f"{usual} (another is written before the metric: {other}:{metric.name})",
    }
    for label, text in facts.items():
        if text:
            entry(f"{label:<11}", text)
    _print_parameters(described)


def describe(name: str) -> dict[str, Any]:
    """A metric, view or spec as plain values."""
    from wholetext.registry import (
        arguments,
        explanations,
        metric_entry,
        parameters,
        scorer,
        view_class,
    )

    def described(kind: type, values: Mapping[str, Value]) -> dict[str, Any]:
        texts = explanations(kind)
        return {
            key: {"value": values.get(key, default), "type": _hint(hint), "help": texts[key]}
            for key, (hint, default) in parameters(kind).items()
        }

    if view := view_class(name):
        return {"view": view.name, "parameters": described(view, {})}
    parsed = scorer(name)
    metric = parsed.metric
    entry = {**metric_entry(metric.name), "needs": sorted(metric.needs)}
    own = described(type(metric), arguments(metric))
    return {"metric": metric.name, "spec": parsed.spec, **entry, "parameters": own}


def _prose(kind: type) -> None:
    """Print a docstring, wrapped to the terminal."""
    for paragraph in (inspect.getdoc(kind) or "").replace("``", "").split("\n\n"):
        entry("", paragraph)
        print()


def _print_parameters(described: Mapping[str, Any]) -> None:
    """Print every parameter with its value, its type and its explanation."""
    print("parameters")
    for name, parameter in described["parameters"].items():
        value = parameter["value"]
        text = str(value).lower() if value is None or isinstance(value, bool) else str(value)
        entry(f"  {name}={text or QUOTES}   ", parameter["type"])
        if parameter["help"]:
            entry("      ", parameter["help"])


def _hint(hint: object) -> str:
    """Describe a type to users: choices, or plain names."""
    names = [getattr(part, "__name__", str(part)) for part in typing.get_args(hint) or (hint,)]
    return " | ".join(_TYPES.get(name, name) for name in names)


# ---------------------------------------------------------------- models

models = App("models", help="List, download and verify models.", help_flags=())
Name = Annotated[
    str,
    Parameter(
        help="Model name on the Hugging Face Hub, folder, or metric with one model (kiwi, prism …).",
    ),
]
Revision = Annotated[
    str, option("--revision", help="`BRANCH`, tag or commit (default: the latest).")
]


@models.command(name="list")
def list_models(*, format: options.TableOrJson = "table") -> None:
    """List the default models of metrics: licence, size, whether downloaded.

    Examples:
        wholetext models list
        wholetext models list -f json
    """
    from wholetext.models import catalogue

    listing = catalogue.list_models()
    if format == "json":
        print_json(listing)
        return
    print(f"model\n{'GB':>9}  {'licence':<16} {'here':<13} used by\n")
    for model in listing:
        here = model["revision"][:12] if model["path"] else "no (gated)" if model["gated"] else "no"
        head = f"{model['gigabytes']:>9.2f}  {model['licence']:<16} {here:<13} "
        print(model["name"])
        entry(head, ", ".join(model["used_by"]))
    print()
    entry(
        "",
        "`wholetext models fetch NAME` downloads a model; accept the terms of gated models "
        "on the hub first.",
    )


@models.command(name="show")
def show_model(
    name: Name, /, *, revision: Revision = "", format: options.TableOrJson = "table"
) -> None:
    """Show a model's licence, size, revision and path.

    Examples:
        wholetext models show minilm
        wholetext models show doc-comet
    """
    from wholetext.models import catalogue

    model = catalogue.show_model(name, revision)
    if format == "json":
        print_json(model)
        return
    for key, value in model.items():
        if value:
            text = ", ".join(value) if isinstance(value, list) else value
            print(f"{key.replace('_', ' '):<10} {'yes' if value is True else text}")
    if model["path"] is None:
        print(f"{'here':<10} no → wholetext models fetch {model['name']}")


@models.command
def fetch(name: Name, /, *, revision: Revision = "") -> None:
    """Download a model and its tokenizer from the Hugging Face Hub.

    Examples:
        wholetext models fetch comet
        wholetext models fetch Unbabel/wmt22-comet-da --revision main
    """
    from wholetext.models.catalogue import fetch_model

    for model in fetch_model(name, revision):
        size, licence = f"{model['gigabytes']:.2f} GB", f"licence {model['licence']}"
        print(f"{model['name']}  {model['revision']}  {size}  {licence}\n  {model['path']}")


@models.command
def verify(
    name: Name = "",
    /,
    *,
    revision: Revision = "",
    device: Annotated[
        str,
        option(
            "--device",
            help="Verify this `DEVICE` instead (cuda, mps, cpu): score frozen texts with the small "
            "bundled models in fp32, fp16 and bf16, and compare with frozen scores of a CPU.",
        ),
    ] = "",
    format: options.TableOrJson = "table",
) -> None:
    """Verify the files of a model, or the scores of a device.

    Files must be complete, unchanged and safe to load; they are not loaded.

    Examples:
        wholetext models verify minilm
        wholetext models verify --device cuda
    """
    from wholetext.metrics.verify import verify_model
    from wholetext.models.catalogue import show_model

    if device:
        from wholetext.scoring.verify_device import verify_device

        findings = verify_device(device)
    else:
        findings = verify_model(name, revision)
    if format == "json":
        print_json([dataclasses.asdict(finding) for finding in findings])
    else:
        if not device:
            model = show_model(name, revision)
            print(f"{model['name']}  {model['revision']}  {model['path']}")
        for finding in findings:
            print(f"  {'ok ' if finding.good else 'BAD'} {finding.file:<36} {finding.what}")
    if not all(finding.good for finding in findings):
        raise SystemExit(1)


# ---------------------------------------------------------------- cache

cache = App("cache", help="Show or clear the cache of scores.", help_flags=())


@cache.command
def info(*, format: options.TableOrJson = "table") -> None:
    """Show the location, size and contents of the cache.

    Examples:
        wholetext cache info
        wholetext cache info -f json
    """
    from wholetext.files.cache import Cache

    with closing(Cache()) as scores:
        contents = scores.info()
    if format == "json":
        print_json({**dataclasses.asdict(contents), "path": str(contents.path)})
        return
    print(f"{contents.path}  {contents.bytes / 1e6:.1f} MB")
    for kind, number in contents.counts.items():
        print(f"  {kind:<24} {number}")


@cache.command
def clear(
    kind: Annotated[
        str | None, Parameter(help="Kind of entries to delete, e.g. rows:bleu (default: all).")
    ] = None,
    /,
) -> None:
    """Delete cached scores; they are computed again when needed.

    Examples:
        wholetext cache clear
        wholetext cache clear rows:bleu
    """
    from wholetext.files.cache import Cache

    with closing(Cache()) as scores:
        print(f"dropped {count(scores.clear(kind), 'value')}")
