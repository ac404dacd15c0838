"""Write the expectations of the referee anew, or some of them.

    python -m tests.referee.freeze                     all
    python -m tests.referee.freeze minilm meta 0.2.0   groups of measures.py, cases of commands.py, runs of runs.py

An expectation changes only together with a line of kind **numbers** or **changed** in CHANGELOG.md that says what
differs and why; a commit that moves or rewords code leaves ``expected/`` as it is. Read the difference before you
commit it (``git diff --stat tests/referee/expected``). Values that cannot be computed here, because a package is
missing, stay as they are.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import api, commands, inputs, measures, runs
from .judge import judge

EXPECTED = Path(__file__).parent / "expected"


def expected(name: str) -> Any:
    """The frozen value."""
    return json.loads((EXPECTED / f"{name}.json").read_text("utf-8"))


def written(value: Any, depth: int) -> str:
    """JSON with a line per entry down to a depth: readable differences, small files."""
    if isinstance(value, dict) and depth and value:
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {written(item, depth - 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n}"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def freeze(name: str, value: Any, depth: int = 2) -> None:
    """Write an expectation."""
    path = EXPECTED / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(value, depth) + "\n", "utf-8")


def short(value: Any) -> Any:
    """Neural scores to ten digits: their tolerance is 1e-6."""
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [short(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def main(names: list[str]) -> None:
    """Freeze the named expectations, or all of them."""
    known = [*measures.GROUPS, *commands.CASES, *runs.FOLDERS, "refused"]
    if unknown := set(names) - set(known):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    chosen = names or known
    with tempfile.TemporaryDirectory() as temporary, judge() as endpoint:
        place = Path(temporary) / "place"
        place.mkdir()
        inputs.make(place)
        commands.prepare(place)
        for name in [name for name in chosen if name in measures.GROUPS]:
            group = measures.GROUPS[name]
            if not skipped(name, group.missing):
                value = measures.measure(group, place)
                freeze(f"scores/{name}", value if group.tolerance < measures.NEURAL else short(value))
        for name in [name for name in chosen if name in commands.CASES]:
            case = commands.CASES[name]
            if not skipped(name, case.missing):
                value = commands.outcome(case, place, endpoint)
                if "error" in value:
                    sys.exit(f"{name}: {value['error']}")
                freeze(f"commands/{name}", value)
        for name in [name for name in chosen if name in runs.FOLDERS]:
            freeze(f"runs/{name}", runs.opened(runs.FOLDERS[name], place))
        if "refused" in chosen:
            with api.working_in(place):
                freeze("refused", {spec: api.refusal(spec) for spec in measures.REFUSED})


def skipped(name: str, missing: list[str]) -> bool:
    """Say that packages are missing."""
    if missing:
        print(f"{name}: left as it is, {', '.join(missing)} not installed")
    return bool(missing)


if __name__ == "__main__":
    main(sys.argv[1:])
