"""Every --out and -o: files that wholetext did not write survive, and its own are replaced all at once."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import RunError, WholetextError, WriteError
from wholetext.files.output_folder import JOURNAL, LIST, Kind, changing, check, finish, shared_kind
from wholetext.files.storage import sha256

KIND = shared_kind("folder of tests", WriteError)


def put(folder: Path, files: dict[str, str], kind: Kind = KIND) -> None:
    with changing(folder, kind) as staged:
        for name, text in files.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_text(text)


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != LIST}  # fmt: skip


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
        check(tmp_path, KIND, (name,))
    with pytest.raises(WriteError):
        put(tmp_path, {"a": "new", name: "new"})
    assert tree(tmp_path) == before and not list(tmp_path.glob(".wholetext-*d"))


@pytest.mark.parametrize("text", ["[]", "{", "1", '{"a": 1}', "[" * 9000])
def test_a_damaged_list_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / LIST).write_text(text)
    with pytest.raises(WriteError, match=r"files\.json"):
        put(tmp_path, {"a": "1"})


def test_a_journal_of_one_kind_is_finished_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.files import output_folder
    from wholetext.scoring.results import refuse_unwritable, run_file

    def stop(folder: Path, error: Any) -> None:
        if (folder / JOURNAL).exists():
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(output_folder, "_roll_forward", stop)
        put(tmp_path, {"deep/a": "1", "meta.json": "2"})
    assert run_file(tmp_path, "meta.json").read_text() == "2" and not (tmp_path / "meta.json").exists()
    with pytest.raises(RunError):
        refuse_unwritable(tmp_path)
    assert tree(tmp_path) == {"deep/a": "1", "meta.json": "2"}


@pytest.mark.parametrize("way", ["into a link", "out of a link", "remove"])
def test_a_journal_that_came_with_a_folder_reaches_nothing_outside(tmp_path: Path, way: str) -> None:
    """Run and model folders come from other people; opening or writing one finishes what its journal says."""
    home, folder = tmp_path / "home", tmp_path / "download"
    staged = folder / ".wholetext-aaaaaa-1-aaaaaaaa-0.staged"
    for part in (home, folder):
        part.mkdir()
    (home / "thesis.tex").write_text("mine")
    if way == "out of a link":
        staged.symlink_to(home)
    else:
        (staged / "sub").mkdir(parents=True)
        (staged / "sub" / "thesis.tex").write_text("theirs")
        (folder / "sub").symlink_to(home)
    name = "thesis.tex" if way == "out of a link" else "sub/thesis.tex"
    remove = {name: sha256(home / "thesis.tex")} if way == "remove" else {}
    (folder / JOURNAL).write_text(json.dumps({
        "staged": staged.name, "files": [] if remove else [name], "remove": remove}))
    for act in (lambda: finish(folder, WriteError), lambda: put(folder, {"a": "1"})):
        with pytest.raises(WriteError, match="leads through a link"):
            act()
    assert tree(home) == {"thesis.tex": "mine"}


@pytest.mark.parametrize("shared", [True, False])
def test_files_are_not_written_through_a_link(tmp_path: Path, shared: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path / "elsewhere")
    own = Kind("folder of tests", re.compile("deep/.*"), lambda folder: {}, WriteError)
    with pytest.raises(WriteError, match="a link to another place"):
        put(tmp_path / "out", {"deep/er/b": "1"}, KIND if shared else own)
    assert not tree(tmp_path / "elsewhere") and [path.name for path in (tmp_path / "out").iterdir()] == ["deep"]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")  # a link that was asked for is followed
    put(tmp_path / "link", {"deep/er/b": "1"})
    assert tree(tmp_path / "elsewhere") == {"deep/er/b": "1"}

def meta(out: Path) -> None:
    from wholetext.meta.ranking import TaskTable
    from wholetext.meta.store import Meta, write_meta

    write_meta(out, Meta((), TaskTable((), None)))


def contrast(out: Path) -> None:
    from wholetext.meta.contrast.accuracy import write

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
    (tmp_path / LIST).unlink(missing_ok=True)  # as 0.1.0 left it
    write(tmp_path)
    assert tree(tmp_path) == first and first["thesis.tex"] == "mine"
    if name.endswith("json"):
        assert json.loads(first[name])["kind"] == name.removesuffix(".json")


def run(out: Path) -> None:
    import wholetext as wt

    doc = wt.Document("a", ("eins",), {"ref": ("one",)})
    wt.write_run(wt.evaluate(wt.Corpus("c", ("de", "en"), (doc,)), [wt.Output("s", {"a": ("one",)})], ["chrf"],
                             wt.Options(cache=False)), out)  # fmt: skip


@pytest.mark.parametrize("write", [run, meta, contrast, page], ids=lambda write: write.__name__)
def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "out")
    before, limits = tree_of_bytes(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 20):
        for out in ("out", "new"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
            try:
                with pytest.raises(WholetextError, match="larger than is allowed") as caught:
                    write(tmp_path / out)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert "staged" not in str(caught.value) and caught.value.next
    assert tree_of_bytes(tmp_path) == before


def tree_of_bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
