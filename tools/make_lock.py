"""The constraints-hashes.txt of a release: every package of the test environment, with the hashes of its files on PyPI.

`make release-check` writes it in the environment that the tests pass in. torch is special: the CPU build has a version
of its own (2.13.0+cpu) and is not on PyPI. Given the wheel that was tested (``--wheel``), this platform is locked to
it, and others to PyPI's build.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import urllib.request
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = {  # extras that `make test` does not install
    "mutants", "ray", "llm", "inspect-ai", "lm-eval", "evaluate", "trainer", "wandb", "eole",
}  # fmt: skip


def index() -> str:
    """The package index that pip uses here."""
    from pip._internal.models.index import PyPI

    return os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")


def lock(tested: Iterable[Path] = ()) -> str:
    """Pin every package of this environment with its hashes; ``tested`` are wheels that are not on PyPI."""
    wheels: dict[str, list[str]] = {}
    for path in tested:
        wheels.setdefault(canonical(path.name.split("-")[0]), []).append(sha256(path))
    lines = ["# Every package of the test environment with the sha256 of its files.",
             f"# Resolved on Python {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}:",
             "#   pip install --require-hashes -r constraints-hashes.txt && pip install --no-deps wholetext"]
    for name, version in sorted(resolved().items()):
        public = version.partition("+")[0]
        if name not in wheels:
            lines.append(entry(name, public, "", on_index(name, public)))
            continue
        # pip prefers files whose hash the index states, so PyPI's build must not be among the choices on this platform
        here = f'sys_platform == "{sys.platform}"'
        lines.append("# not on PyPI: the wheel that was tested")
        lines.append(entry(name, version, f" ; {here}", wheels[name]))
        lines.append(entry(name, public, f" ; {here.replace('==', '!=')}", on_index(name, public)))
    return "\n".join(lines) + "\n"


def entry(name: str, version: str, marker: str, hashes: list[str]) -> str:
    return " \\\n".join([f"{name}=={version}{marker}", *(f"    --hash=sha256:{each}" for each in sorted({*hashes}))])


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def asked() -> list[str]:
    """The requirements of the project and of the extras that the tests use."""
    from wholetext.files.parsing import read_toml

    project = read_toml((ROOT / "pyproject.toml").read_bytes())["project"]
    return [*project["dependencies"], *(need for extra, needs in project["optional-dependencies"].items()
                                        if extra not in LEFT_OUT for need in needs)]


def resolved() -> dict[str, str]:
    """Name → installed version of all that the project needs, directly or not."""
    from packaging.requirements import Requirement

    found: dict[str, str] = {}
    waiting = [(Requirement(text), "") for text in asked()]
    seen: set[tuple[str, str]] = set()
    while waiting:
        need, inside = waiting.pop()
        name = canonical(need.name)
        if name == "wholetext" or (need.marker is not None and not need.marker.evaluate({"extra": inside})):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is needed and not installed: run this in the test environment") from None
        found[name] = package.version
        for extra in {"", *need.extras}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [(Requirement(text), extra) for text in package.requires or ()]
    return found


def on_index(name: str, version: str) -> list[str]:
    """The sha256 of every file of a version, from the index's page of the package (PEP 503)."""
    from packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )
    from packaging.version import InvalidVersion, Version

    with urllib.request.urlopen(f"{index()}/{name}/", timeout=60) as answer:
        page = answer.read().decode("utf-8")
    found = []
    for file, digest in re.findall(r'href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"', page):
        try:
            there = parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
        except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
            continue
        if there == Version(version):
            found.append(digest)
    return found


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

