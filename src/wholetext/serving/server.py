"""`wholetext serve`: the socket and the event loop around the application."""

from __future__ import annotations

import socket
from collections.abc import Callable

from wholetext.errors import InputError, optional
from wholetext.serving.settings import ServeOptions

BACKLOG = 100  # connections accepted at a time, below the budget of connections.py


def serve(
    options: ServeOptions | None = None, *, ready: Callable[[str], None] | None = None
) -> None:
    """Run the web server until interrupted; ``ready`` is called with its address once it listens.

    Unfinished jobs of the data folder are resumed.
    """
    options = options or ServeOptions()
    for name in ("starlette", "python_multipart", "jinja2"):
        optional(name, "serve", name.replace("_", "-"))
    uvicorn = optional("uvicorn", "serve")

    from wholetext.serving.app import make_app
    from wholetext.serving.connections import Connection
    from wholetext.serving.jobs import Jobs
    from wholetext.serving.scheduler import Scheduler

    listening = _listen(options)
    jobs = Jobs(options.folder)
    app = make_app(jobs, Scheduler(jobs, options), options)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=False,
        http=Connection,
        backlog=BACKLOG,
        timeout_graceful_shutdown=5,
    )
    if ready is not None:
        name = f"[{options.host}]" if ":" in options.host else options.host
        ready(f"http://{name}:{listening.getsockname()[1]}/")
    uvicorn.Server(config).run(sockets=[listening])


def _listen(options: ServeOptions) -> socket.socket:
    try:
        family = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((options.host, options.port), family=family, backlog=BACKLOG)
    except OSError as fault:
        raise InputError(
            f"the server cannot listen there ({fault.strerror or fault})",
            where=f"{options.host}:{options.port}",
            next="choose another --port (0: any free one), or an address of this machine",
        ) from None
