"""Completion in the shell, asked as shells ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.cli.completion import _joined
from wholetext.cli.main import main
from wholetext.demo import load


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    wt.make_run(wt.Loaded(*load("de-en"), ()), ["chrf"], wt.Options(cache=False), wt.Significance(draws=50), out=folder)
    return folder


def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What bash is offered for the last of these words."""
    monkeypatch.setenv("_WHOLETEXT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["wholetext", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    monkeypatch.setattr(sys, "argv", ["wholetext"])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    return capsys.readouterr().out.split("\n")[:-1]


@pytest.mark.parametrize(("words", "offered"), [
    (["gat"], ["gate"]),
    (["score", "-m", "d-"], ["d-bleu", "d-blonde", "d-chrf"]),
    (["score", "-m", "conte"], ["context:"]),
    (["score", "-m", "chrf", "ble"], ["bleu"]),  # several metrics after one -m
    (["score", "-m", "slide(size=6,step=6):ble"], ["slide(size=6,step=6):bleu"]),
    (["score", "-m", "chrf,ble"], ["chrf,bleu"]),
    (["score", "-m", "context", ":", "bleu"], ["bleu"]),  # as bash cuts words: it completes from the colon on
    (["score", "-m", "kiwi", "@"], ["@Unbabel/wmt22-cometkiwi-da"]),
    (["score", "-m", "kiwi", "@", "Unb"], ["@Unbabel/wmt22-cometkiwi-da"]),
    (["sweep", "-m", "ble"], ["bleu"]), (["show", "paragr"], ["paragraph"]),
    (["models", "fetch", "FacebookAI"], ["FacebookAI/roberta-large"]),
    (["score", "-t", "x/Online-A.txt", "b=c.txt", "--baseline", ""], ["Online-A", "b"]),
    (["compare", "nowhere", "--baseline", ""], [""]),
])
def test_names_are_completed(
    words: list[str], offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch, capsys, *words) == offered


def test_systems_and_documents_are_those_of_the_run(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = ["coherent", "patchwork", "literal", "loopy"]
    for verb in ("compare", "gate", "report"):
        assert asked(monkeypatch, capsys, verb, str(run), "--baseline", "") == systems, verb
        if verb != "report":
            assert asked(monkeypatch, capsys, verb, str(run), "-m", "") == ["chrf"], verb
    assert asked(monkeypatch, capsys, "explain", str(run), "--system", "pa") == ["patchwork"]
    assert asked(monkeypatch, capsys, "explain", str(run), "--doc", "news-") == ["news-ferry"]


def test_systems_of_a_corpus_are_completed_and_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"doc": "d", "src": ["a"], "outputs": {"my system": ["b"], "other": ["c"]}}\n')
    assert asked(monkeypatch, capsys, "score", str(path), "--system", "") == ["'my system'", "other"]
    path.write_text("{")  # not readable: no names, no error
    assert asked(monkeypatch, capsys, "score", str(path), "--system", "") == [""]


def test_other_shells_get_several_metrics_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_WHOLETEXT_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "wholetext score -m chrf ble")
    monkeypatch.setattr(sys, "argv", ["wholetext"])
    with pytest.raises(SystemExit):
        main()
    assert "bleu" in capsys.readouterr().out


def test_words_are_joined_where_bash_cut_them() -> None:
    assert _joined(["score", "-m", "context", ":", "bl"]) == (["score", "-m", "context:bl"], "context:")
    assert _joined(["score", "-m", "context", ":"]) == (["score", "-m", "context:"], "context:")
    assert _joined(["-m", "context", ":", "comet", "@", "Un"]) == (["-m", "context:comet@Un"], "context:comet")
    assert _joined(["--metric", "=", "bl"]) == (["--metric=bl"], "--metric=")


def test_models_of_a_metric_without_any_are_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "@Unbabel/wmt22-comet-da" in asked(monkeypatch, capsys, "score", "-m", "comet", "@")
    assert len(asked(monkeypatch, capsys, "score", "-m", "mine", "@")) > 10


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_for_bash_works() -> None:
    script = """eval "$(_WHOLETEXT_COMPLETE=source_bash wholetext)"
    COMP_WORDS=(wholetext score -m chrf ble) COMP_CWORD=4
    _wholetext_completion wholetext
    printf '%s\\n' "${COMPREPLY[@]}" """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stdout == "bleu\n", done.stderr


def test_commands_are_described_as_in_the_help_and_installing_shows_colours(monkeypatch, capsys) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "wholetext gat")
    monkeypatch.setenv("_WHOLETEXT_COMPLETE", "complete_zsh")
    with pytest.raises(SystemExit):
        main()
    assert "Exit with code 1 if a system got significantly worse" in capsys.readouterr().out
    monkeypatch.delenv("_WHOLETEXT_COMPLETE")
    monkeypatch.setattr("typer.completion.install", lambda **_: ("bash", "~/.bash_completions/wholetext.sh"))
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    with pytest.raises(SystemExit):
        main(["--install-completion"])
    assert "\\x1b" not in capsys.readouterr().out
