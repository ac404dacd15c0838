"""A process is killed at every point where it is about to touch the disk; then the old or the new files are whole.

    python tests/kill_points.py ACTION,ACTION FOLDER     prints at how many points each was killed

Points are what Python announces before it happens (audit events: open for writing, rename, remove, make or remove a
folder), each fsync, and the first writes: there a limit on the size of files makes the kernel end the process while a
part of the bytes is written. Nothing in the package knows of this.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVENTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")
SIZES = (0, 10, 1000)  # bytes after which the first write ends


@dataclass(frozen=True)
class Action:
    """Something that writes into ``folder``; ``check`` fails unless what is there now is whole, old or new."""

    folder: Path
    act: Callable[[], Any]
    check: Callable[[], None]
    final: Callable[[], None]  # what must hold once the action was carried out to its end
    step: int = 1  # try every so many points


def kill_everywhere(action: Action) -> int:
    """Carry the action out again and again from the same start, killed at another point each time."""
    start = action.folder.with_name("start")
    shutil.copytree(action.folder, start, symlinks=True)
    killed = 0
    for size in SIZES:
        _restore(action.folder, start)
        killed += _forked(lambda size=size: _limited(size), action)  # type: ignore[misc]
    point = 0
    while True:
        _restore(action.folder, start)
        if not _forked(lambda point=point: _armed(point), action):  # type: ignore[misc]
            return killed
        killed, point = killed + 1, point + action.step


def _restore(folder: Path, start: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(start, folder, symlinks=True)


def _forked(prepare: Callable[[], None], action: Action) -> bool:
    """Whether the action was killed; what it left is checked, and carrying it out again must succeed."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 1
        try:
            prepare()
            action.act()
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        action.check()
        quiet(action.act)
    else:
        assert os.WEXITSTATUS(status) == 0, "the action failed by itself"
    action.check()
    action.final()
    left = [path.name for path in action.folder.rglob(".wholetext-*")]
    assert not left, left
    return os.WIFSIGNALED(status)


def quiet(act: Callable[[], Any]) -> None:
    """Carry out in a process of its own: a killed one and this one must not share memory."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "the action failed after a kill"


def _armed(point: int) -> None:
    """Kill this process before the ``point``-th thing it does to the disk."""
    count = 0

    def tick() -> None:
        nonlocal count
        if count == point:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1

    def hook(event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or event in EVENTS:
            tick()

    sync = os.fsync

    def fsync(number: int) -> None:
        tick()
        sync(number)

    os.fsync = fsync
    sys.addaudithook(hook)


def _limited(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


# ---------------------------------------------------------------- actions

SRC = ["Der Hund schläft.", "Er träumt.", "Die Katze wacht.", "Sie wartet."]
REF = ["The dog sleeps.", "He dreams.", "The cat is awake.", "She waits."]
HYP = ["The dog is asleep.", "It dreams.", "The cat wakes.", "She is waiting."]


def texts(root: Path) -> list[str]:
    """Files of lines to score, as options."""
    for name, lines in {"src": SRC, "ref": REF, "hyp": HYP, "docs": ["a", "a", "b", "b"]}.items():
        (root / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return ["-s", f"{root}/src.txt", "-t", f"{root}/hyp.txt", "-r", f"{root}/ref.txt", "-d", f"{root}/docs.txt",
            "-l", "de-en"]  # fmt: skip


def cli(*words: str) -> None:
    from wholetext.cli.main import main

    try:
        main([*map(str, words)])
    except SystemExit as leaving:
        assert not leaving.code, leaving.code


def score(root: Path, command: bool = True) -> Action:
    """A run is replaced by another one: by the command, or by ``write_run`` alone."""
    import wholetext as wt

    out, options = root / "out" / "run", [*texts(root), "--draws", "10", "--no-cache", "-q", "--overwrite"]
    corpus, outputs, _ = wt.read(wt.LineFiles(hyps=[root / "hyp.txt"], src=root / "src.txt", refs=[root / "ref.txt"],
                                              docs=root / "docs.txt"), langs="de-en")  # fmt: skip
    older, newer = ["chrf", "whole:bleu", "ter"], ["chrf(beta=1)"]
    made = {name: wt.evaluate(corpus, outputs, specs, wt.Options(cache=False))
            for name, specs in {"older": older, "newer": newer}.items()}  # fmt: skip
    wt.write_run(made["older"], out)
    (out / "notes.md").write_text("mine")
    (out / "report").mkdir()
    (out / "report" / "thesis.tex").write_text("mine")

    def check() -> None:
        found = wt.open_run(out)
        wanted = made["older" if list(found.scores) == older else "newer"]
        assert {spec: by["hyp"].score for spec, by in found.scores.items()} == {
            spec: by["hyp"].score for spec, by in wanted.scores.items()}
        assert (out / "notes.md").read_text() == (out / "report" / "thesis.tex").read_text() == "mine"

    def final() -> None:
        assert list(wt.open_run(out).scores) == newer
        names = {path.name for path in out.iterdir()}
        assert names == {"notes.md", "report", "run.json", "texts.jsonl", "results.jsonl", "stats0.npz"}, names

    def act() -> None:
        if command:
            cli("score", *options, "-m", newer[0], "--out", out, "--overwrite")
        else:
            wt.write_run(made["newer"], out)

    return Action(root / "out", act, check, final)


def write_run(root: Path) -> Action:
    return score(root, command=False)


def first(root: Path) -> Action:
    """A run is written where none is."""
    import wholetext as wt

    texts(root)
    (root / "out").mkdir()
    out = root / "out" / "deep" / "run"
    corpus, outputs, _ = wt.read(wt.LineFiles(hyps=[root / "hyp.txt"], refs=[root / "ref.txt"]), langs="de-en")
    made = wt.evaluate(corpus, outputs, ["chrf"], wt.Options(cache=False))

    def check() -> None:
        try:
            assert list(wt.open_run(out).scores) == ["chrf"]
        except wt.WholetextError as fault:
            assert "no such folder" in str(fault) or "run.json is missing" in str(fault), fault

    return Action(root / "out", lambda: wt.write_run(made, out), check, lambda: wt.open_run(out) and None)


ACTIONS = {"score": score, "write_run": write_run, "first": first}


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        (own := Path(sys.argv[2]) / name).mkdir()
        print(name, kill_everywhere(ACTIONS[name](own)))
