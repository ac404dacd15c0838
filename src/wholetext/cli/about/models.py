"""`wholetext models list|show|fetch|verify`: the models of metrics, their licences, and where they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wholetext.cli import options as inputs

if TYPE_CHECKING:
    from wholetext.backends.hub.catalogue import Entry
    from wholetext.backends.hub.locate import Located

app = typer.Typer(help="List, download and verify models.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[
    str, typer.Argument(help="Model name on the Hugging Face Hub, folder, or metric with one model (kiwi, prism …).")
]
Revision = Annotated[str, typer.Option("--revision", help="Branch, tag or commit (default: the latest).")]


@app.command("list")
def list_(format: inputs.TableOrJson = "table", json_: inputs.Json = False) -> None:
    """List the default models of metrics: licence, size, access, and whether they are downloaded."""
    import json

    from wholetext.backends.hub.catalogue import CATALOGUE, present

    rows = [(one, present(one.name)) for one in CATALOGUE]
    if json_ or format == "json":
        print(json.dumps([facts(one, at) for one, at in rows], indent=1))
        return
    width = max(len(one.name) for one, _ in rows)
    print(f"{'model':<{width}} {'GB':>5}  {'licence':<16} {'here':<13} used by")
    for one, at in rows:
        here = at.revision[:12] if at else "no (gated)" if one.gated else "no"
        print(f"{one.name:<{width}} {one.gigabytes:>5.2f}  {one.licence:<16} {here:<13} {', '.join(one.used_by)}")
    print("\n`wholetext models fetch NAME` downloads one; accept the terms of gated models on the hub first.")


@app.command()
def show(name: Name, revision: Revision = "", format: inputs.TableOrJson = "table", json_: inputs.Json = False) -> None:
    """Show a model's licence, size, revision and path."""
    import json

    from wholetext.backends.hub.catalogue import companions, entry, named, present

    model = named(name)
    known, at = entry(model), present(model, revision)
    if json_ or format == "json":
        print(json.dumps(facts(known, at, model), indent=1))
        return
    known_facts = facts(known, at, model)
    for key in ("name", "about", "used_by", "licence", "gated", "gigabytes", "revision", "path"):
        value = known_facts[key]
        if value not in (None, "", [], False):
            text = ", ".join(value) if isinstance(value, list) else "yes" if value is True else value
            print(f"{key.replace('_', ' '):<10} {text}")
    if at is None:
        print(f"{'here':<10} no → wholetext models fetch {model}")
        return
    for other, _ in companions(at.path):
        print(f"{'needs':<10} {other} (tokenizer)")


@app.command()
def fetch(name: Name, revision: Revision = "") -> None:
    """Download a model and its tokenizer from the Hugging Face Hub."""
    from wholetext.backends.hub.catalogue import entry, licence, named, size
    from wholetext.backends.hub.catalogue import fetch as bring

    model = named(name)
    known = entry(model)
    for at in bring(model, revision):
        print(f"{at.name}  {at.revision}  {size(at.path) / 1e9:.2f} GB  licence {licence(at.path, known)}")
        print(f"  {at.path}")
        known = None


@app.command()
def verify(
    name: Name, revision: Revision = "", format: inputs.TableOrJson = "table", json_: inputs.Json = False
) -> None:
    """Verify a model's files without loading them: complete, unchanged, safe."""
    import dataclasses
    import json

    from wholetext.backends.hub.catalogue import named, present
    from wholetext.backends.hub.verify import verify as look
    from wholetext.errors import ModelError

    model = named(name)
    at = present(model, revision)
    if at is None:
        raise ModelError(f"model {model!r} is incomplete or not downloaded", next=f"wholetext models fetch {model}")
    found = look(at.path)
    if json_ or format == "json":
        print(json.dumps([dataclasses.asdict(one) for one in found], indent=1))
    else:
        print(f"{at.name}  {at.revision}  {at.path}")
        for one in found:
            print(f"  {'ok ' if one.good else 'BAD'} {one.file:<36} {one.what}")
    if not all(one.good for one in found):
        raise typer.Exit(1)


def facts(known: Entry | None, at: Located | None, model: str = "") -> dict[str, Any]:
    """A model as plain values."""
    from wholetext.backends.hub.catalogue import licence, size

    return {
        "name": model or (known.name if known else ""),
        "used_by": [*known.used_by] if known else [],
        "about": known.about if known else "",
        "licence": licence(at.path, known) if at else known.licence if known else None,
        "gated": known.gated if known else None,
        "gigabytes": round(size(at.path) / 1e9, 2) if at else known.gigabytes if known else None,
        "revision": at.revision if at else None,
        "path": str(at.path) if at else None,
    }
