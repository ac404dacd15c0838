"""`wholetext serve`: the web page and the JSON interface."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    data: Annotated[
        Path,
        typer.Option(
            "--data", help="Data folder for uploads and results; unfinished jobs in it are resumed."
        ),
    ] = Path("wholetext-data"),
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on; other than loopback it requires --token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 = any free port.")
    ] = 8765,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="WHOLETEXT_TOKEN",
            show_envvar=True,
            help="Secret that every request must present (16 characters or more).",
        ),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", help="Additional host name that requests may use (repeatable)."
        ),
    ] = None,
    allow_model: Annotated[
        list[str] | None,
        typer.Option("--allow-model", help="Additional model that requests may use (repeatable)."),
    ] = None,
    max_upload: Annotated[
        int, typer.Option("--max-upload", min=1, help="Maximum size of a request in MB.")
    ] = 200,
    max_waiting: Annotated[
        int, typer.Option("--max-waiting", min=1, help="Maximum number of queued jobs.")
    ] = 20,
    max_jobs: Annotated[
        int,
        typer.Option(
            "--max-jobs", min=1, help="Maximum number of jobs kept, finished ones included."
        ),
    ] = 200,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Maximum number of seconds per job.")
    ] = 3600,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Number of jobs run in parallel.")
    ] = 1,
) -> None:
    """Run a local web page for scoring, with a JSON interface."""
    from wholetext.serving.server import serve as run
    from wholetext.serving.settings import ServeOptions

    options = ServeOptions(
        data,
        host,
        port,
        token,
        tuple(allow_host or ()),
        tuple(allow_model or ()),
        max_upload * 1_000_000,
        max_waiting,
        max_jobs,
        timeout,
        workers,
    )
    run(
        options,
        ready=lambda address: print(
            f"{address}   (data: {options.folder}; end with Ctrl-C)", flush=True
        ),
    )
