"""`wholetext serve`: a local web page and a JSON interface for scoring, with a queue of jobs that survives restarts."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.serving.server import serve as serve
    from wholetext.serving.settings import ServeOptions as ServeOptions
else:
    __getattr__, __dir__, __all__ = exports(
        __name__, {"serving.server": ("serve",), "serving.settings": ("ServeOptions",)}
    )
