"""Numbers of the papers as obtained here: python -m studies.reproduced V S --data DATA.

Writes studies/papers/LETTER.json: per entry its status, notes, and a list of cells with row, column,
obtained, published and difference. An entry that cannot be computed has the reason instead.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from wholetext.errors import WholetextError
from wholetext.reproduce import papers, reproduce

FOLDER = Path(__file__).parent / "papers"


def record(letter: str, name: str, data: Path) -> dict[str, Any]:
    """One entry, computed with the data and models that are here."""
    entry = papers()[letter][name]
    head = {"entry": name, "title": entry.title, "command": entry.command, "note": entry.note}
    try:
        result = reproduce(letter, name, data=data)
    except WholetextError as fault:
        return {**head, "status": "not computed", "reason": f"{fault.what}; {fault.next}", "cells": []}
    cells = [
        {"row": row, "column": column, "obtained": ours, "published": theirs, "difference": difference}
        for row, values in result.obtained.items()
        for column, ours, theirs, difference in zip(
            result.columns, values, result.published(row), result.differences()[row])
        if ours is not None
    ]
    notes = [note.replace(str(data), "DATA") for note in result.notes]
    return {**head, "status": result.status, "notes": notes, "cells": cells}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="+", choices=list(papers()))
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for letter in arguments.papers:
        records = [record(letter, name, arguments.data) for name in papers()[letter].entries]
        text = json.dumps({"paper": letter, "entries": records}, ensure_ascii=False, indent=1)
        (FOLDER / f"{letter}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
