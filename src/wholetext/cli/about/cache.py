"""`wholetext cache info|clear`: what is cached, and how to delete it."""

from __future__ import annotations

from typing import Annotated

import typer

from wholetext.cli import options as inputs

app = typer.Typer(help="Show or clear the cache of scores.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(format: inputs.TableOrJson = "table", json_: inputs.Json = False) -> None:
    """Show the location, size and contents of the cache."""
    import json

    from wholetext.files.cache import Cache

    cache = Cache()
    found = cache.info()
    inputs.warn(cache.notes)
    if json_ or format == "json":
        print(json.dumps({"path": str(found.path), "bytes": found.bytes, "counts": dict(found.counts),
                          "unused": found.unused}))  # fmt: skip
        return
    print(f"{found.path}  {found.bytes / 1e6:.1f} MB")
    for kind, count in found.counts.items():
        print(f"  {kind:<24} {count}")
    if found.unused:
        print(f"  {found.unused} values of wholetext 0.1.0, which have no checksums and are not used; "
              "`wholetext cache clear` removes them")


@app.command()
def clear(
    kind: Annotated[
        str | None, typer.Argument(help="Kind of entries to delete, e.g. rows:bleu (default: all).")
    ] = None,
) -> None:
    """Delete cached scores; they are computed again when needed."""
    from wholetext.errors import CacheError, did_you_mean
    from wholetext.files.cache import Cache

    cache = Cache()
    kinds = list(cache.info().counts)
    if kind is not None and kind not in kinds:
        raise CacheError(f"the cache holds nothing of kind {kind!r}", where=str(cache.path),
                         next=did_you_mean(kind, kinds) or f"it holds {', '.join(kinds) or 'nothing'}")
    print(f"dropped {cache.clear(kind)} values")
    inputs.warn(cache.notes)
