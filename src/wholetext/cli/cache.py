"""`wholetext cache info|clear`: what is kept between runs, and how to be rid of it."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="See or clear what is kept between runs.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Say where the cache lies, how large it is, and what it holds."""
    import json

    from wholetext.cache import Cache

    found = Cache().info()
    if json_:
        print(json.dumps({"path": str(found.path), "bytes": found.bytes, "counts": dict(found.counts)}))
        return
    print(f"{found.path}  {found.bytes / 1e6:.1f} MB")
    for kind, count in found.counts.items():
        print(f"  {kind:<24} {count}")


@app.command()
def clear(
    kind: Annotated[str | None, typer.Argument(help="Only this kind, e.g. rows:bleu. Everything by default.")] = None,
) -> None:
    """Drop what the cache holds; scores are simply computed again."""
    from wholetext.cache import Cache

    print(f"dropped {Cache().clear(kind)} values")
