"""Print the size of the package by folder: statements, lines and ``raise``, core and slices apart.

    python tools/statements.py [FOLDER]    FOLDER is src/wholetext unless another tree is named

Statements are ``ast.stmt`` nodes, so that formatting does not count. The longest prefix in PARTS decides where a file
belongs; a folder that has none is core. Files that later work added (LATER) have a column of their own: the budget is
that of the redesign. Only whole files are told apart: what later work added to others counts as redesign.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "wholetext"

# part → statements it may have, folders and files of it in today's tree and in the tree to come
CORE = {
    "root": (900, ()),
    "io": (1700, ("io",)),
    "text": (1000, ("text", "languages", "taggers")),
    "metrics": (2000, ("metrics",)),
    "models": (1500, ("models", "backends")),
    "scoring": (2600, ("scoring", "significance", "files", "executors", "tracking")),
    "report": (850, ("report", "reporting")),
    "cli": (1000, ("cli",)),
    "notebook, demo": (150, ("notebook", "demo")),
    "flags": (550, ("flags",)),
}
SLICES = {
    "align": (900, ("align", "alignment")),
    "meta": (3600, ("meta", "cli/meta.py", "cli/meta_tables.py", "cli/contrast.py")),
    "judges": (1200, ("judges", "metrics/judges", "backends/chat", "meta/judge_check.py", "meta/judge_statistics.py",
                      "reporting/judge_panels.py")),
    "training": (1600, ("training", "findings", "backends/learned", "metrics/learned.py", "metrics/wt_doc.py",
                        "cli/train.py")),
    "stress": (1200, ("stress", "perturbation", "reporting/stress_panels.py", "cli/studies")),
    "annotation": (450, ("annotation", "cli/annotation.py")),
    "ranking": (300, ("ranking", "reporting/rankings.py", "cli/rank.py")),
    "serving": (750, ("serving", "cli/web")),
    "findings": (0, ("findings",)),
    "integrations": (0, ("integrations",)),
    "terms": (0, ("terms",)),
    "pick": (0, ("pick",)),
    "reproduce": (0, ("reproduce",)),
}  # fmt: skip
PARTS = {prefix: part for table in (CORE, SLICES) for part, (_, prefixes) in table.items() for prefix in prefixes}
BUDGET = 23_000  # of the redesign, all parts

# files and folders that were added by later work; `git log --diff-filter=A -- FILE` names the commit
LATER = (
    # tables and figures of the papers: their metrics, judgments and tests
    "reproduce", "annotation/relative_ranking.py", "annotation/bwb_layers.py", "io/formats/bwb.py",
    "io/formats/bwb_layers.py", "io/formats/summaries.py", "meta/grid.py", "meta/raters.py", "meta/token_lengths.py",
    "meta/direct_assessments.py", "metrics/bleurt.py", "metrics/cider.py", "metrics/meteor.py", "metrics/moverscore.py",
    "metrics/word_vectors.py", "models/fairseq.py", "models/token_counter.py", "scoring/kappa.py",
    "scoring/significance/paired.py",
    # log-probabilities under causal language models
    "metrics/llm_prob.py",
    # people: their files, answers in words, commands, models without torch
    "cli/convert.py", "cli/renamed.py", "cli/studies.py", "cli/topics.py", "io/columns.py", "io/conversion.py",
    "io/formats/judged.py", "io/formats/table.py", "io/outputs.py", "models/array_encoder.py", "scoring/controls.py",
    "scoring/finding.py", "scoring/significance/verdicts.py", "serving/preview.py",
    # reach: harnesses, rewards, glossaries, WMT26, choices among candidates
    "integrations/eole.py", "integrations/evaluate.py", "integrations/inspect_ai.py", "integrations/lm_eval.py",
    "integrations/lm_eval_logs.py", "integrations/rewards.py", "integrations/texts.py", "integrations/trainer.py",
    "integrations/wandb_store.py", "io/formats/wmt26.py", "pick", "scoring/single.py", "scoring/submission.py",
    "serving/batches.py", "terms", "text/answers.py",
    # evidence: rules in place of a learned metric, checks of devices
    "findings", "scoring/verify_device.py",
)  # fmt: skip


def part_of(file: str) -> str:
    """Name the part that a file belongs to, by its path inside the package."""
    pieces = file.split("/")
    prefixes = ("/".join(pieces[:n]) for n in range(len(pieces), 0, -1))
    return next((PARTS[prefix] for prefix in prefixes if prefix in PARTS), "root" if len(pieces) == 1 else pieces[0])


def is_later(file: str) -> bool:
    """Tell whether later work added a file."""
    return any(file == prefix or file.startswith(f"{prefix}/") for prefix in LATER)


def size(text: str) -> tuple[int, int, int]:
    """Count statements, lines and ``raise``."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return len(nodes), text.count("\n"), sum(isinstance(node, ast.Raise) for node in nodes)


def main(root: Path) -> None:
    """Print the table."""
    sizes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # redesign, later, lines, raise
    for file in root.rglob("*.py"):
        name = file.relative_to(root).as_posix()
        statements, lines, raises = size(file.read_text("utf-8"))
        split = (0, statements) if is_later(name) else (statements, 0)
        part = part_of(name)
        sizes[part] = [total + count for total, count in zip(sizes[part], (*split, lines, raises))]
    unknown = dict.fromkeys(sorted(sizes.keys() - CORE.keys() - SLICES.keys()), (0, ()))
    print(f"{'statements':20}{'redesign':>11}{'budget':>9}{'later':>9}{'all':>9}{'lines':>9}{'raise':>7}")
    for name, table in (("core", {**CORE, **unknown}), ("slices", SLICES)):
        for part, (budget, _) in table.items():
            if part in sizes:
                row(part, sizes[part], budget)
        parts = [sizes[part] for part in table if part in sizes]
        row(name.upper(), [sum(column) for column in zip(*parts)], sum(budget for budget, _ in table.values()))
    total = [sum(column) for column in zip(*sizes.values())]
    row("ALL", total, BUDGET)
    print(f"{1000 * total[3] / total[2]:.1f} raise per 1,000 lines")
    for prefix in LATER if root == PACKAGE else ():
        if not (root / prefix).exists():
            print(f"LATER names {prefix}, which does not exist", file=sys.stderr)


def row(name: str, counts: list[int], budget: int) -> None:
    """Print a line of the table."""
    redesign, later, lines, raises = counts
    print(f"{name:20}{redesign:>11,}{budget:>9,}{later:>9,}{redesign + later:>9,}{lines:>9,}{raises:>7,}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
