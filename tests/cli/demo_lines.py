"""The arguments that name the demo corpus as parallel files (the fixture ``files``)."""

from __future__ import annotations

from pathlib import Path


def demo_files(folder: Path, *systems: str) -> list[str]:
    """Options of sources, outputs (of all systems unless some are named), references, ids and languages."""

    def path(name: str) -> str:
        return str(folder / f"{name}.txt")

    outputs = map(path, systems or ("coherent", "patchwork", "literal", "loopy"))
    return ["-s", path("src"), "-t", *outputs, "-r", path("ref"), "-d", path("docs"), "-l", "de-en"]
