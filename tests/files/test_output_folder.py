"""Every --out: files that wholetext did not write survive, and a killed or late writer loses nothing."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wholetext.errors import WholetextError, WriteError
from wholetext.files.output_folder import (
    LIST,
    OwnFolder,
    SharedFolder,
    changing,
    check,
    check_folder,
    replacing_folder,
    restore,
)


def written(folder: Path) -> dict[str, str] | None:
    """The manifest of the folders below: a file with the names of the others."""
    try:
        return dict.fromkeys(["manifest", *json.loads((folder / "manifest").read_text())], "")
    except (OSError, ValueError):
        return None


OWN = OwnFolder("folder of tests", re.compile("manifest|own.*"), written, WriteError)
SHARED = SharedFolder("folder of tests", WriteError)
HIDDEN = (LIST, "manifest")  # and temporary ones, which a killed process leaves


def replace(folder: Path, files: dict[str, str], *, overwrite: bool = True) -> None:
    with replacing_folder(folder, OWN, overwrite=overwrite) as staged:
        for name, text in files.items():
            (staged / name).write_text(text)
        (staged / "manifest").write_text(json.dumps([*files]))


def put(folder: Path, files: dict[str, str]) -> None:
    with changing(folder, SHARED) as staged:
        for name, text in files.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_text(text)


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace")
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in HIDDEN and "/.wholetext-" not in str(path)}  # fmt: skip


# ---------------------------------------------------------------- folders that are replaced


def test_files_of_others_are_carried_over(tmp_path: Path) -> None:
    out = tmp_path / "out"
    replace(out, {"own1": "old", "own2": "old"})
    (out / "notes").mkdir()
    (out / "notes" / "own1").write_text("mine")
    (out / "thesis.tex").write_text("mine")
    out.chmod(0o750)
    replace(out, {"own1": "new"})
    assert tree(out) == {"own1": "new", "notes/own1": "mine", "thesis.tex": "mine"}
    assert out.stat().st_mode & 0o777 == 0o750 and [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("taken", ["own9", "own9/", "thesis.tex"])
def test_a_file_of_others_in_the_way_is_an_error(tmp_path: Path, taken: str) -> None:
    out = tmp_path / "out"
    if taken.startswith("own"):
        replace(out, {"own1": "old"})
    out.mkdir(exist_ok=True)
    (out / taken).mkdir() if taken.endswith("/") else (out / taken).write_text("mine")
    before = tree(tmp_path)
    for act in (lambda: check_folder(out, OWN), lambda: replace(out, {"own1": "new"})):
        with pytest.raises(WriteError, match=str(out)):
            act()
    assert tree(tmp_path) == before


def test_a_failing_writer_leaves_the_older_folder(tmp_path: Path) -> None:
    replace(tmp_path / "out", {"own1": "old"})
    for folder in (tmp_path / "out", tmp_path / "new" / "out"):
        with pytest.raises(RuntimeError), replacing_folder(folder, OWN) as staged:
            (staged / "own1").write_text("half")
            raise RuntimeError
    assert tree(tmp_path) == {"out/own1": "old"} and not list(tmp_path.glob(".wholetext-*"))


def test_one_of_several_writers_succeeds(tmp_path: Path) -> None:
    out, go = tmp_path / "deep" / "out", os.pipe()
    children = []
    for number in range(20):
        if (child := os.fork()) == 0:
            os.close(go[1])
            code = 1
            try:
                with replacing_folder(out, OWN, overwrite=False) as staged:
                    (staged / f"own{number}").write_text(str(number))
                    (staged / "manifest").write_text(json.dumps([f"own{number}"]))
                    (tmp_path / f"ready{number}").touch()
                    os.read(go[0], 1)  # until all have written
                code = 0
            except WriteError as fault:
                code = 2 if "there is a run here already" in str(fault) else 3
            finally:
                os._exit(code)
        children.append(child)
    while len([*tmp_path.glob("ready*")]) < len(children):
        pass
    os.close(go[1])
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    os.close(go[0])
    assert codes == [0] + [2] * 19 and len(tree(out)) == 1
    assert [path.name for path in out.parent.iterdir()] == ["out"]  # nothing is left behind


# ---------------------------------------------------------------- kill -9


def killed_at_every_change(action: Callable[[], object], check: Callable[[], object]) -> int:
    """Kill a child before its first, second … change of the disk, and check each time; returns how many there were."""
    changes = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
    for number in range(1000):
        if (child := os.fork()) == 0:
            left = [number]

            def hook(event: str, _: object, left: list[int] = left) -> None:
                if event in changes:
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(hook)
            try:
                action()
            finally:
                os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            return number
        check()
    raise AssertionError


def test_a_killed_writer_leaves_the_old_folder_or_the_new_one(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def whole() -> None:
        restore(out, WriteError)
        found = tree(tmp_path)
        assert found["out/own1"] in ("old", "new") and (written(out) or {}).keys() <= {"manifest", "own1", "own2"}
        assert all((out / name).is_file() for name in written(out) or ["none"])
        assert "mine" in found.values()  # here, or still aside
        replace(out, {"own1": "old", "own2": "old"})  # the next writer finishes what is left
        assert tree(tmp_path) == {"out/own1": "old", "out/own2": "old", "out/thesis.tex": "mine"}

    replace(out, {"own1": "old", "own2": "old"})
    (out / "thesis.tex").write_text("mine")
    assert killed_at_every_change(lambda: replace(out, {"own1": "new"}), whole) > 5
    assert tree(tmp_path) == {"out/own1": "new", "out/thesis.tex": "mine"}


def test_a_killed_writer_of_a_shared_folder_leaves_whole_files(tmp_path: Path) -> None:
    def whole() -> None:
        assert {(tmp_path / name).read_text() for name in "ab"} <= {"old", "new"}
        put(tmp_path, {"a": "new", "b": "new"})  # the same command again
        put(tmp_path, {"a": "old", "b": "old"})

    put(tmp_path, {"a": "old", "b": "old"})
    assert killed_at_every_change(lambda: put(tmp_path, {"a": "new", "b": "new"}), whole) > 4
    assert tree(tmp_path) == {"a": "new", "b": "new"}


# ---------------------------------------------------------------- shared folders


def test_files_of_others_stay_beside_ours(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    put(tmp_path, {"a": "1", "deep/er/b": "2"})
    put(tmp_path, {"a": "3", ".hidden": "4"})
    assert tree(tmp_path) == {"thesis.tex": "mine", "a": "3", "deep/er/b": "2", ".hidden": "4"}
    put(tmp_path, {"deep/er/b": "5"})  # listed since the first writing
    assert tree(tmp_path)["deep/er/b"] == "5"


@pytest.mark.parametrize("name", ["thesis.tex", "changed", "file/below", "folder", "link"])
def test_nothing_is_replaced_that_is_not_ours(tmp_path: Path, name: str) -> None:
    put(tmp_path, {"changed": "ours"})
    for taken in ("thesis.tex", "changed", "file"):
        (tmp_path / taken).write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("thesis.tex")
    before = tree(tmp_path)
    with pytest.raises(WriteError):
        check(tmp_path, SHARED, (name,))
    with pytest.raises(WriteError):
        put(tmp_path, {"a": "new", name: "new"})
    assert tree(tmp_path) == before and not list(tmp_path.glob(".wholetext-?*/staged"))


def test_files_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="wholetext would replace this"):
        put(tmp_path / "out", {"deep/er/b": "1"})
    assert not tree(tmp_path / "elsewhere") and [path.name for path in (tmp_path / "out").iterdir()] == ["deep"]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")  # a link that was asked for is followed
    put(tmp_path / "link", {"deep/er/b": "1"})
    assert tree(tmp_path / "elsewhere") == {"deep/er/b": "1"}


# ---------------------------------------------------------------- commands


def meta(out: Path) -> None:
    from wholetext.meta.store import Meta, write_meta

    write_meta(out, Meta((), ()))


def contrast(out: Path) -> None:
    from wholetext.meta.contrastive.decisions import write

    write(out, {"kind": "contrast", "mcnemar": []})


def page(out: Path) -> None:
    pytest.importorskip("jinja2")
    from wholetext.reporting.page import write_report

    write_report(None, [], out / "report.html")


@pytest.mark.parametrize(("write", "name"), [(meta, "meta.json"), (contrast, "contrast.json"), (page, "report.html")])
def test_a_file_of_others_under_our_name_stays(tmp_path: Path, write: Callable[[Path], None], name: str) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / name).write_text("mine" if name.endswith("html") else '{"mine": 1}')
    before = tree(tmp_path)
    with pytest.raises(WholetextError, match=name):
        write(tmp_path)
    assert tree(tmp_path) == before
    (tmp_path / name).unlink()
    write(tmp_path)
    first = tree(tmp_path)
    write(tmp_path)
    assert tree(tmp_path) == first and first["thesis.tex"] == "mine"
    if name.endswith("json"):
        assert json.loads(first[name])["kind"] == name.removesuffix(".json")


def run(out: Path) -> None:
    import wholetext as wt

    wt.score(["one"], "chrf", refs=["one"], options=wt.Options(cache=False)).save(out, overwrite=True)


@pytest.mark.parametrize("write", [run, meta, contrast, page], ids=lambda write: write.__name__)
def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "out")
    before, limits = tree(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 20):
        for out in ("out", "new"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
            try:
                with pytest.raises(WholetextError, match="too large") as caught:
                    write(tmp_path / out)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert "staged" not in str(caught.value) and caught.value.next
    assert tree(tmp_path) == before
