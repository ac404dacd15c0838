"""Print the size of the tests by folder: lines, statements and test functions, later work apart.

    python tools/test_sizes.py [FOLDER]    FOLDER is tests unless another tree is named

The target of the redesign, 24,000 lines, leaves out the tests of what was added after it (LATER). Only whole files are
told apart, as in ``tools/statements.py``: cases that later work added to other files count as redesign. Statements are
``ast.stmt`` nodes, so that formatting does not count.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
TARGET = 24_000  # lines, of the redesign

# files and folders that were added by later work; `git log --diff-filter=A -- FILE` names the commit
LATER = (
    # tables and figures of the papers: their metrics, judgments and tests
    "reproduce", "annotation/test_relative_ranking.py", "io/test_bwb.py", "io/test_bwb_layers.py",
    "io/test_summaries.py", "meta/test_direct_assessments.py", "meta/test_grid.py",
    "metrics/test_neural_baselines.py", "metrics/test_word_baselines.py",
    "metrics/test_wordnet.py", "models/test_hostile_fairseq.py", "oracle/neural/make_baselines.py",
    # people: their files, answers in words, commands, mistakes, pages that are tried
    "cli/test_printed.py", "io/test_columns.py", "io/test_conversion.py",
    "io/test_outputs.py", "models/test_array_encoder.py", "scoring/test_controls.py", "scoring/test_finding.py",
    "scoring/test_references.py", "serving/test_preview.py", "browser/test_links.py", "test_labels.py",
    "test_python_door.py", "test_recipes.py",
    # reach: harnesses, rewards, glossaries, WMT26, choices among candidates
    "integrations/cases.py", "integrations/test_eole.py", "integrations/test_evaluate.py",
    "integrations/test_inspect_ai.py", "integrations/test_lm_eval.py", "integrations/test_lm_eval_logs.py",
    "integrations/test_rewards.py", "integrations/test_trainer.py", "integrations/test_wandb_store.py",
    "io/test_wmt26.py", "io/wmt26_items.py", "judges/offline/test_domains.py", "pick", "scoring/test_single.py",
    "scoring/test_submission.py", "serving/test_batches.py", "terms", "text/test_answers.py",
    # evidence: rules in place of a learned metric, checks of devices
    "findings", "models/test_gpu.py", "training/test_device_random.py",
    # trust: damaged and hostile input of every door, faults of judges, slow clients
    "cli/test_damaged_runs.py", "judges/test_hostile.py", "serving/test_hostile_requests.py",
    "serving/test_requests_stay_inside.py", "serving/test_slow_clients.py",
)  # fmt: skip


def is_later(file: str) -> bool:
    """Tell whether later work added a file."""
    return any(file == prefix or file.startswith(f"{prefix}/") for prefix in LATER)


def size(text: str) -> tuple[int, int]:
    """Count statements and test functions."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return len(nodes), sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in nodes
    )


def main(root: Path) -> None:
    """Print the table."""
    sizes: dict[str, list[int]] = defaultdict(
        lambda: [0, 0, 0, 0]
    )  # redesign, later, statements, tests
    for file in root.rglob("*.py"):
        name = file.relative_to(root).as_posix()
        text = file.read_text("utf-8")
        lines = text.count("\n")
        split = (0, lines) if is_later(name) else (lines, 0)
        folder = name.split("/")[0] if "/" in name else "root"
        sizes[folder] = [
            total + count for total, count in zip(sizes[folder], (*split, *size(text)))
        ]
    print(f"{'lines':14}{'redesign':>10}{'later':>9}{'all':>9}{'statements':>12}{'tests':>8}")
    for folder in sorted(sizes):
        row(folder, sizes[folder])
    row("ALL", [sum(column) for column in zip(*sizes.values())])
    row("TARGET", [TARGET, 0, 0, 0])
    for prefix in LATER if root == TESTS else ():
        if not (root / prefix).exists():
            print(f"LATER names {prefix}, which does not exist", file=sys.stderr)


def row(name: str, counts: list[int]) -> None:
    """Print a line of the table."""
    redesign, later, statements, tests = counts
    print(f"{name:14}{redesign:>10,}{later:>9,}{redesign + later:>9,}{statements:>12,}{tests:>8,}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TESTS)
