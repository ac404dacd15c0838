"""A process is killed at every point where it is about to touch the disk; then the old or the new files are whole.

    python tests/kill_points.py ACTION,ACTION FOLDER     prints at how many points each was killed

Points are what Python announces before it happens (audit events: open for writing, rename, remove, make or remove a
folder), each fsync, and the first writes: there a limit on the size of files makes the kernel end the process while a
part of the bytes is written. Nothing in the package knows of this.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
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
    left = [path.name for path in action.folder.rglob(".wholetext-*") if path.name != ".wholetext-files.json"]
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

    return Action(root / "out", lambda: wt.write_run(made, out), check, lambda: wt.open_run(out) and None, step=4)


def files(folder: Path) -> dict[str, bytes]:
    """Every file that a reader of the folder may look at."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)}  # fmt: skip


def one_of(out: Path, older: Callable[[], Any], newer: Callable[[], Any], seen: Callable[[], Any]) -> Action:
    """``newer`` writes over what ``older`` wrote; ``seen`` is what a reader gets of either."""
    kept: dict[str, Any] = {}
    for name, write in {"newer": newer, "older": older}.items():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        write()
        (out / "thesis.tex").write_text("mine")
        kept[name] = seen()
    assert kept["older"] != kept["newer"]

    def check() -> None:
        assert seen() in kept.values()
        assert (out / "thesis.tex").read_text() == "mine"

    def final() -> None:
        assert seen() == kept["newer"]

    return Action(out, newer, check, final)


def sweep(root: Path) -> Action:
    """The grid of a sweep and its run."""
    import wholetext as wt
    from wholetext.scoring.results import run_file

    out = root / "out"
    common = ["sweep", *texts(root), "--no-cache", "-q", "--overwrite", "-m", "chrf", "--out", out / "run"]

    def seen() -> Any:
        grid = json.loads(run_file(out / "run", "grid.json").read_bytes())
        assert {cell["spec"] for cell in grid["cells"]} == set(wt.open_run(out / "run").scores)
        return grid["cells"]

    return one_of(out, lambda: cli(*common, "--window", 1), lambda: cli(*common, "--window", 2), seen)


def report(root: Path) -> Action:
    """A page in a run folder."""
    out, options = root / "out", [*texts(root), "--draws", "10", "--no-cache", "-q", "-m", "chrf"]
    cli("score", *options, "--out", root / "run")
    target = ["--out", out / "report.html"]
    return one_of(out, lambda: cli("report", root / "run", *target, "--title", "older"),
                  lambda: cli("report", root / "run", *target, "--title", "newer"), lambda: files(out))


def meta(root: Path) -> Action:
    """meta.json and the scores beside it."""
    from tests.meta.evalset_folder import make
    from wholetext.files.output_folder import current
    from wholetext.meta.store import read_meta

    out, folder = root / "out", make(root)
    common = ["meta", folder, "-l", "de-en", "--draws", "10", "--no-cache", "--out", out]

    def seen() -> Any:
        computed = current(out, "metric-scores/de-en/chrF-refA.seg.score", Exception)  # type: ignore[arg-type]
        return read_meta(out)["tasks"], computed.read_bytes() if computed.is_file() else b""

    return one_of(out, lambda: cli(*common, "--task", "sys:pearson", "-m", "chrf"),
                  lambda: cli(*common, "--task", "seg:pearson", "-m", "bleu"), seen)


def parquet(root: Path) -> Action:
    """A run folder in Parquet is replaced by one of JSON lines."""
    import wholetext as wt

    out = root / "out"
    common = ["score", *texts(root), "--draws", "10", "--no-cache", "-q", "--overwrite", "--out", out / "run"]

    def seen() -> Any:
        found = wt.open_run(out / "run")
        return {spec: by["hyp"].at("row").tolist() for spec, by in found.scores.items()}, found.outputs[0].docs["a"]

    return one_of(out, lambda: cli(*common, "-m", "chrf", "bleu", "--store", "parquet"),
                  lambda: cli(*common, "-m", "ter", "--store", "jsonl"), seen)


def stress(root: Path) -> Action:
    """A stress test: the run, its figures and its items."""
    import wholetext as wt
    from wholetext.scoring.results import run_file

    out, given = root / "out", texts(root)
    (root / "hyp.txt").write_text("".join(f"The {name} of the house sleeps on the floor.\n" for name in
                                          ("dog", "cat", "old man", "child")))
    common = ["stress", *given, "--draws", "10", "--no-cache", "-q", "--overwrite", "--out", out / "run"]

    def seen() -> Any:
        made, items = (run_file(out / "run", name).read_text() for name in ("stress.json", "stress.jsonl"))
        return list(wt.open_run(out / "run").scores), json.loads(made)["changes"], items

    return one_of(out, lambda: cli(*common, "-m", "chrf", "--change", "swap"),
                  lambda: cli(*common, "-m", "chrf", "bleu", "--change", "drop"), seen)


def rank(root: Path) -> Action:
    """ranking.json in a folder of others' files."""
    from wholetext.files.output_folder import current

    out, common = root / "out", [*texts(root), "--draws", "10", "--no-cache", "-q", "-m", "chrf", "bleu"]
    cli("score", *common, "--out", root / "run")
    words = ["rank", root / "run", "--draws", "10", "--out", out]
    return one_of(out, lambda: cli(*words), lambda: cli(*words, "-m", "bleu"),
                  lambda: current(out, "ranking.json", Exception).read_text())  # type: ignore[arg-type]


def annotations(root: Path) -> Action:
    """An EvalSet with judgments: texts and scores of one campaign, never of two."""
    from wholetext.io.formats import evalset
    from wholetext.io.formats.scores import human_scores

    out = root / "out"

    def log(name: str, score: int) -> Path:
        item = {"doc": "a", "src": name, "tgt": {"s": name}}
        said = [{"s": {"score": score, "error_spans": []}}] * 2
        (root / name).write_text(json.dumps({"item": [{**item, "seg": seg, "item_id": f"a#{seg}"} for seg in (0, 1)],
                                             "annotation": said, "user_id": "u", "item_i": 0}) + "\n")
        return root / name

    def seen() -> Any:
        return evalset.read(out).outputs[0].docs, human_scores(out, "de-en", "esa", "seg").values.tolist()

    words, older, newer = ["-l", "de-en", "--out", out, "--overwrite"], log("older", 10), log("newer", 90)
    return one_of(out, lambda: cli("annotations", older, *words), lambda: cli("annotations", newer, *words), seen)


def sample(root: Path) -> Action:
    """A campaign for Pearmut."""
    out, common = root / "out", [*texts(root), "--draws", "10", "--no-cache", "-q", "-m", "chrf"]
    cli("score", *common, "--out", root / "run")
    words = ["sample", root / "run", "--documents", "2", "-f", "pearmut", "--overwrite", "-o", out / "campaign.json"]
    return one_of(out, lambda: cli(*words), lambda: cli(*words, "--users", "2"), lambda: files(out))


def align(root: Path) -> Action:
    """Aligned outputs as JSONL."""
    out, common = root / "out", texts(root)
    words = ["align", *common, "--overwrite", "--out", out / "aligned.jsonl"]
    return one_of(out, lambda: cli(*words), lambda: cli(*words, "-t", f"b={root}/ref.txt"), lambda: files(out))


def train(root: Path) -> Action:
    """A learned metric is trained anew in its folder."""
    import torch

    from tests.training.training_data import make, recipe
    from wholetext.backends.learned.config import read_config
    from wholetext.backends.learned.folder import verify
    from wholetext.errors import ModelError
    from wholetext.files.output_folder import finish
    from wholetext.training.run import Session
    from wholetext.training.run import train as run

    torch.set_num_threads(1)
    out, data = root / "out", make(root)
    made = {name: recipe(data, form="aligned", adapter__kind="frozen", epochs=epochs, k=[1], settings__layers=[epochs])
            for name, epochs in {"older": 1, "newer": 2}.items()}  # fmt: skip

    def seen() -> Any:
        finish(out, ModelError)
        verify(out)
        read_config(out)
        return {name: data for name, data in files(out).items() if name != "README.md"}  # which has a date

    def go(name: str) -> None:
        run(made[name], Session(out, fresh=True, work=root / "work"))

    action = one_of(out, lambda: go("older"), lambda: go("newer"), seen)
    return replace(action, step=4)


ACTIONS = {action.__name__: action for action in (
    score, write_run, first, sweep, report, meta, parquet, stress, rank, annotations, sample, align, train)}


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    for name in sys.argv[1].split(","):
        (own := Path(sys.argv[2]) / name).mkdir()
        print(name, kill_everywhere(ACTIONS[name](own)), file=sys.__stdout__)
