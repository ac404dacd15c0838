"""Loggers by name, built-in and of packages."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call
from wholetext import plugins
from wholetext.demo import load
from wholetext.integrations import loggers


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with the loggers `notebook` and `number`."""
    info = tmp_path / "loggers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loggers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[wholetext.loggers]\nnotebook = loggers_code:log\nnumber = loggers_code:number\n")
    (tmp_path / "loggers_code.py").write_text(
        "interface = 3\nnumber = 3\n"
        "def log(results, compared, folder):\n"
        "    return f'{sorted(compared)} of {len(results.systems)} systems, {folder and folder.name}'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    plugins.installed.cache_clear()
    yield tmp_path
    sys.modules.pop("loggers_code", None)
    plugins.installed.cache_clear()


def test_a_package_adds_a_logger(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = wt.score(wt.Loaded(*load("de-en")), ["chrf"], options=wt.Options(cache=False))
    assert wt.integrations.log_run(results, "notebook") == "['chrf'] of 4 systems, None"
    assert wt.integrations.log_run(results, "notebook", "some/run") == "['chrf'] of 4 systems, run"
    (package / "a.txt").write_text("one two three four\n")
    words = ("-t", "a.txt", "-r", "a.txt", "-m", "chrf", "--log", "notebook", "-q", "--out", "run")
    code, _, err = call(capsys, "score", *words)
    assert code == 0 and "['chrf'] of 1 systems, run" in err


def test_what_is_no_logger_is_an_error_before_anything_is_scored(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(wt.errors.InputError, match="there is no logger 'clearml'") as caught:
        loggers.find_logger("clearml")
    assert "loggers: mlflow, wandb, notebook, number" in caught.value.next
    with pytest.raises(wt.errors.PluginError, match=r"'number' of loggers 1\.0 is not a function"):
        loggers.find_logger("number")
    code, _, err = call(capsys, "score", "-t", "missing.txt", "-m", "chrf", "--log", "MLFlow")
    assert code == 2 and "did you mean mlflow?" in err


@pytest.mark.parametrize("package", [None, ModuleSpec("wandb", None, origin=None)])
def test_a_tracker_that_is_not_installed_is_named_with_its_extra(
    package: ModuleSpec | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the folder `wandb`, to which it writes and which Python takes for a package without code."""
    monkeypatch.setattr(loggers, "find_spec", lambda name: package)
    with pytest.raises(wt.errors.MissingExtra) as caught:
        loggers.find_logger("wandb")
    assert "wholetext[wandb]" in caught.value.next
