"""Runs the cells of docs/tutorial.ipynb and stores what they show: ``python tools/run_tutorial.py``.

The notebook is edited by hand; only its outputs are made. Cells run in this process, so that nothing of Jupyter is
needed; a cell shows its last line if that is an expression, as in Jupyter.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "tutorial.ipynb"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with new outputs; an error names the cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = {**cell, "execution_count": number, "outputs": _run("".join(cell["source"]), names, number)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree, value, said = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes: the tutorial shows them by name
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": said.getvalue().splitlines(keepends=True)})
    if value is not None:
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {},
                        "data": {name: text.splitlines(keepends=True) for name, text in _shown(value).items()}})
    return outputs


def _shown(value: Any) -> dict[str, str]:
    if type(value).__module__.startswith("altair."):
        import vl_convert

        return {"image/svg+xml": vl_convert.vegalite_to_svg(value.to_dict(), allowed_base_urls=[]),
                "text/plain": f"{type(value).__name__}(…)"}
    html = getattr(value, "_repr_html_", None)
    return {**({"text/html": html()} if html else {}), "text/plain": repr(value)}


def main() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = executed(notebook)
    NOTEBOOK.write_text(json.dumps(done, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
