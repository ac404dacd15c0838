"""Files of studies, written by the commands themselves: meta-evaluation, sweeps, a contrastive set."""

from __future__ import annotations

import json
from pathlib import Path

from tests.meta import evalset_folder
from wholetext.cli.main import main

DEMO = Path(__file__).parents[2] / "src" / "wholetext" / "demo" / "de-en.jsonl"


def command(*argv: str | Path) -> None:
    try:
        main([str(one) for one in argv])
    except SystemExit as end:
        assert not end.code, argv


def make(folder: Path) -> dict[str, Path]:
    """Name → folder of each study."""
    found = {name: folder / name for name in ("meta", "windows", "contexts", "contrast")}
    evalset = evalset_folder.make(folder)
    asked = ["-m", "chrf", "--stored", "--level", "sys", "--level", "seg", "--interval", "documents", "--between"]
    command("meta", evalset, "-l", "de-en", *asked, "--draws", "20", "--k", "1..2", "-q", "--out", found["meta"])
    command("score", DEMO, "-l", "de-en", "-m", "chrf", "--sweep", "window=3", "-q", "--out", found["windows"])
    command("score", DEMO, "-l", "de-en", "-m", "chrf", "--sweep", "context=2", "-q", "--out", found["contexts"])
    contrastive(folder)
    command("meta", "contrast", folder / "set.jsonl", "--scores", f"one={folder / 'one.txt'}", "--scores",
            f"two={folder / 'two.txt'}", "-l", "en-fr", "--out", found["contrast"])  # fmt: skip
    return found


def contrastive(folder: Path) -> None:
    """Twelve items of two types at distances 0 to 3, and the scores of two metrics."""
    items = [
        {"src": f"It is red {i}.", "src_context": ["The house stands there."], "target": f"Elle est rouge {i}.",
         "ref_context": ["La maison est là."], "contrastive": [f"Il est rouge {i}."], "type": "f" if i % 2 else "m",
         "antecedent_distance": i % 4}
        for i in range(12)
    ]
    (folder / "set.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    for name, wrong in (("one", 3), ("two", 2)):
        lines = [f"{0.5}\n{0.9 if i % wrong == 0 else 0.1}\n" for i in range(12)]
        (folder / f"{name}.txt").write_text("".join(lines), "utf-8")
