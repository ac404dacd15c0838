"""Folders of learned metrics: finding the base model they were trained on, and writing a new one all at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from wholetext.backends import hub
from wholetext.backends.learned.config import CARD, FILE, WEIGHTS, Config, write_config
from wholetext.backends.learned.weights import Array, write_weights
from wholetext.backends.tokenizer import FILES
from wholetext.errors import ModelError


def find_base(config: Config, folder: Path, wanted: str) -> hub.Located:
    """The base model: the one asked for, a folder of its name beside the metric's, or by its name; its content must be
    what the metric was trained on.
    """
    if not config.base:
        return hub.locate(str(folder))
    name = wanted or hub.beside(folder, Path(config.base).name)
    if not wanted and not Path(name).is_dir():
        name = config.base
    path = Path(name)
    if "/" in name and path.is_dir() and not (path / "config.json").is_file():
        raise ModelError(f"its base model {name!r} is no model folder", where=str(folder),
                         next="say where it is: learned(base=FOLDER)@…")
    local = path.is_dir() or name in hub.EMBEDDED
    if path.is_absolute() and not path.is_dir():
        raise ModelError(f"its base model {config.base!r} is not here", where=str(folder),
                         next="put it beside the metric's folder, or say where it is: learned(base=FOLDER)@…")
    found = hub.locate(name, patterns=FILES) if local else hub.locate(name, config.content, patterns=FILES)
    if found.revision != config.content:
        raise ModelError(f"it was trained on {Path(config.base).name} with the content {config.content}; {name} has "
                         f"{found.revision}", where=str(folder / FILE),
                         next="give the base model it was trained on: learned(base=FOLDER)@…")
    return found


def write_folder(
    folder: Path, config: Config, card: str, tensors: Mapping[str, Array], more: Callable[[Path], None] | None = None
) -> None:
    """Write a learned metric; ``more`` adds files of the form's own. Written beside, then moved in: whole or not there.
    """
    made = folder / ".new"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    if tensors:
        write_weights(made / WEIGHTS, tensors)
    if more is not None:
        more(made)
    (made / CARD).write_text(card, "utf-8")
    write_config(made, config)
    names = {path.name for path in made.iterdir()}
    strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".") and path.name not in names)
    if strange and not (folder / FILE).is_file():
        shutil.rmtree(made)
        raise ModelError(f"the folder holds {strange[0]!r}, which is not of a learned metric", where=str(folder),
                         next="give a folder of its own with --out")
    (folder / FILE).unlink(missing_ok=True)  # while files change, the folder is no metric
    for name in strange:
        (folder / name).unlink()
    for name in sorted(names, key=lambda name: name == FILE):  # the configuration last
        (made / name).replace(folder / name)
    made.rmdir()
