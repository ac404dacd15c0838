"""Changes by kind of error; ``words.toml`` has the words and patterns by which they are made."""

from importlib.resources import files

from wholetext.files.parsing import read_toml

WORDS = read_toml((files(__name__) / "words.toml").read_bytes())
