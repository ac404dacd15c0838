"""Packages that carry models: every file is the published one, or the package is not used; checked once."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from wholetext.errors import ModelError
from wholetext.files import packages

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package of two files, with hashes of ours."""
    folder = tmp_path / "some_model"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "data" / "weights").write_text("numbers")
    facts = tmp_path / "some_model-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: some-model\nVersion: 1.0\n")
    files = {name: packages.sha256(folder / name) for name in ("__init__.py", "data/weights")}
    known = {"some-model": {"version": "1.0", "folder": "some_model", "files": files}}
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packages, "_known", lambda: known)
    packages.check_package.cache_clear()
    return folder


def check() -> None:
    packages.check_package.cache_clear()  # as in another process
    packages.check_package("some-model")


def test_a_whole_package_is_read_once(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    monkeypatch.setattr(packages, "sha256", lambda path: pytest.fail(f"{path} was read again"))
    check()


@pytest.mark.parametrize(("file", "content", "said"), [
    ("data/weights", "other numbers", "other content"), ("data/weights", None, "is missing"),
    ("extra.py", "import os", "not part of the package"),
])  # fmt: skip
def test_a_changed_package_is_not_used(file: str, content: str | None, said: str, package: Path) -> None:
    check()  # it was whole once
    if content is None:
        (package / file).unlink()
    else:
        (package / file).write_text(content)
    for _ in range(2):  # a bad result is not kept as good
        with pytest.raises(ModelError, match=said) as caught:
            check()
    assert file in str(caught.value) and "pip install --force-reinstall" in caught.value.next


def test_other_versions_and_packages_pass(package: Path) -> None:
    (package.parent / "some_model-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: some-model\n"
                                                                          "Version: 2.0\n")  # fmt: skip
    (package / "data" / "weights").write_text("x")
    check()
    packages.check_package("pytest")
    packages.check_package("not-installed-at-all")


def pinned() -> dict[str, str]:
    """Model packages of the extras, with their pinned versions."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return dict(re.findall(r'"([a-z0-9-]+)==([0-9.]+)', text))


def test_every_pinned_model_package_has_hashes() -> None:
    known = json.loads((ROOT / "src" / "wholetext" / "files" / packages.HASHES).read_text("utf-8"))
    assert {name: each["version"] for name, each in known.items()} == pinned()
    for each in known.values():
        assert each["files"] and all(len(digest) == 64 for digest in each["files"].values())


@pytest.mark.parametrize("name", sorted(pinned()))
def test_the_installed_packages_are_the_published_ones(name: str) -> None:
    try:
        version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    packages.check_package.cache_clear()
    packages.check_package(name)
