"""Compute the entries of papers whose data and models are here: obtained, published, difference.

    python -m studies.papers P B --data ../shared/data

writes studies/papers/P.json and B.json, a list of {entry, row, column, obtained, published,
difference} with the status and notes of each entry; entries that cannot be computed have a reason.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from wholetext.errors import WholetextError
from wholetext.reproduce import papers, reproduce


def computed(letter: str, name: str, data: Path) -> dict[str, Any]:
    """Compute one entry; what cannot be computed says why."""
    try:
        result = reproduce(letter, name, data=data)
    except WholetextError as fault:
        return {"entry": name, "status": "not computed", "reason": f"{fault.what}; {fault.next}", "cells": []}
    differences, cells = result.differences(), []
    for row, values in result.obtained.items():
        for column, ours, theirs, gap in zip(result.columns, values, result.published(row), differences[row]):
            cells.append({"entry": name, "row": row, "column": column, "obtained": _short(ours),
                          "published": theirs, "difference": _short(gap)})
    notes = [note for note in result.notes if "is left out" in note or "outperformed" in note]
    return {"entry": name, "status": result.status, "notes": notes, "cells": cells}


def _short(value: float | None) -> float | None:
    return None if value is None or value != value else round(float(value), 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("letters", nargs="+")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--skip", action="append", default=[], help="leave this entry out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for letter in options.letters:
        path = Path(__file__).parent / "papers" / f"{letter}.json"
        parts = [{"entry": name, "status": "not run", "cells": []} if name in options.skip
                 else computed(letter, name, options.data) for name in papers()[letter].entries]
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(parts, ensure_ascii=False, indent=1) + "\n", "utf-8")
        for part in parts:
            print(letter, part["entry"], part["status"], part.get("reason", ""))


if __name__ == "__main__":
    main()
