"""`wholetext serve`: the web page and the JSON interface."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

from wholetext.cli.options import option, several


def serve(
    *,
    data: Annotated[
        Path,
        option(
            "--data", help="`FOLDER` for uploads and results; unfinished jobs in it are resumed."
        ),
    ] = Path("wholetext-data"),
    host: Annotated[
        str,
        option("--host", help="`ADDRESS` to listen on; other than loopback it requires --token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, option("--port", low=0, high=65535, help="`PORT` to listen on; 0 = any free port.")
    ] = 8765,
    token: Annotated[
        str,
        option(
            "--token",
            env_var="WHOLETEXT_TOKEN",
            help="`SECRET` that every request must present (16 characters or more).",
        ),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        several("--allow-host", help="Additional `HOST` name that requests may use."),
    ] = None,
    allow_model: Annotated[
        list[str] | None,
        several("--allow-model", help="Additional `MODEL` that requests may use."),
    ] = None,
    max_upload: Annotated[
        int, option("--max-upload", low=1, help="Maximum size of a request in `MB`.")
    ] = 200,
    max_waiting: Annotated[
        int, option("--max-waiting", low=1, help="Maximum number of queued jobs.")
    ] = 20,
    max_jobs: Annotated[
        int,
        option("--max-jobs", low=1, help="Maximum number of jobs kept, finished ones included."),
    ] = 200,
    timeout: Annotated[
        float, option("--timeout", help="Maximum number of `SECONDS` per job.")
    ] = 3600,
    workers: Annotated[
        int,
        option(
            "--workers", low=1, help="Number of jobs, and of batches of texts, run in parallel."
        ),
    ] = 1,
) -> None:
    """Run a local web page for scoring, with a JSON interface.

    Examples:
        wholetext serve
        wholetext serve --port 8000 --data scores
        WHOLETEXT_TOKEN=… wholetext serve --host 0.0.0.0 --allow-host eval.example.org
    """
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the start-up at once
    try:
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
        line = f"   (data: {options.folder}; end with Ctrl-C)"
        run(options, ready=lambda address: print(address + line, flush=True))
    finally:
        signal.signal(signal.SIGINT, previous)
