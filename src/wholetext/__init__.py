"""wholetext judges translations and other generated text as whole documents."""

from wholetext.version import __version__

__all__ = ["__version__"]
