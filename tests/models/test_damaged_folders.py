"""Model folders with damaged files: scores or an error that names the place, never a traceback."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext import score
from wholetext.errors import WholetextError
from wholetext.metrics import verify as verifying
from wholetext.models.hub.locate import content_hash
from wholetext.scoring.evaluate import Options

MODELS = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models"
# metric → the folder that is damaged, and those beside it
SPECS = {
    "bertscore(layer=1)@D": ("tiny-bert",), "sbert@D": ("tiny-bert",), "ds-sent(tagger=plain)@D": ("tiny-bert",),
    "prism@D": ("tiny-mbart50",), "metricx@D": ("tiny-mt5",), "comet@comet-reg-mix": ("tiny-xlmr", "comet-reg-mix"),
    "comet@D": ("comet-reg-mix", "tiny-xlmr"), "learned@D": ("learned", "tiny-bert"),
}  # fmt: skip
BYTES = (b"", b"[]", b"null", b"3", b'"x"', b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000,
         b"9" * 6000, b"{}", b"a: &a [*a, *a]", b"\x00" * 64)  # fmt: skip
VALUES = (None, True, -1, 0, 1.5, float("nan"), "x", "", [], {}, ["x"], {"x": 1}, "../../etc", "/")


def made(folder: Path, spec: str) -> Path:
    """The folder to damage, with what belongs to it beside."""
    for name in SPECS[spec]:
        if name != "learned":
            shutil.copytree(MODELS / name, folder / name)
    if SPECS[spec][0] != "learned":
        if spec.startswith("sbert"):
            (folder / "tiny-bert" / "modules.json").write_text(json.dumps([
                {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]))
            (folder / "tiny-bert" / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
        return folder / SPECS[spec][0]
    (folder / "learned").mkdir()
    told = {"form": "aligned", "base": "tiny-bert", "content": content_hash(folder / "tiny-bert"), "targets": ["en"],
            "settings": {"layers": [1, -1], "limit": 64}, "head": {"hidden": [4]},
            "output": {"low": 0.0, "high": 1.0}, "adapter": {"kind": "frozen"}}  # fmt: skip
    (folder / "learned" / "wholetext.json").write_text(json.dumps(told))
    return folder / "learned"


def damages(path: Path, chance: random.Random) -> Iterator[bytes]:
    """The file replaced by others, cut, changed at random; each value of a table replaced by others."""
    whole = path.read_bytes()
    yield from BYTES
    yield whole[: len(whole) // 2]
    for _ in range(3):
        changed = bytearray(whole)
        for _ in range(4):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        yield bytes(changed)
    if path.suffix == ".yaml":
        lines = whole.decode().splitlines()
        for i, line in enumerate(lines):
            for value in ("", "-1", "99", "1e999", "[]", "{}", "x", "/", "!!python/none"):
                yield "\n".join([*lines[:i], f"{line.split(':')[0]}: {value}", *lines[i + 1 :]]).encode()
    elif path.suffix == ".json" and len(whole) < 20_000:
        table = json.loads(whole)
        for key, value in itertools.product(table if isinstance(table, dict) else (), VALUES):
            yield json.dumps({**table, key: value}).encode()


def cases(folder: Path, chance: random.Random, share: float) -> Iterator[tuple[str, Path, bytes]]:
    for spec in SPECS:
        target = made(folder / spec.replace("@", "-").replace("(", "-"), spec)
        for path in sorted(path for path in target.rglob("*") if path.is_file()):
            whole = path.read_bytes()
            for data in damages(path, chance):
                if chance.random() < share:
                    path.write_bytes(data)
                    at = target.parent / "comet-reg-mix" if spec.endswith("-mix") else target
                    yield f"{spec.split('@')[0]}@{at}", path, data
            path.write_bytes(whole)


def run(spec: str) -> str:
    try:
        score(
            ["A text.", "Two of them."],
            spec,
            srcs=["Ein Text.", "Zwei."],
            refs=["The text.", "Two."],
            langs="de-en",
            options=Options(device="cpu", cache=False),
        )
    except WholetextError as fault:
        return str(fault)
    return ""


def check(folder: Path, chance: random.Random, share: float) -> tuple[int, int]:
    scored = refused = 0
    for spec, path, data in cases(folder, chance, share):
        try:
            said = run(spec)
            verifying.verify(path.parent)
        except Exception as fault:
            fault.add_note(f"{spec}, {path.name}: {data[:300]!r}") if hasattr(fault, "add_note") else None
            raise
        refused, scored = refused + bool(said), scored + (not said)
    return scored, refused


def test_damaged_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scored, refused = check(tmp_path, random.Random(1), 0.004)
    assert scored >= 1 and refused >= 5


@pytest.mark.slow
def test_all_kinds_of_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scored, refused = check(tmp_path, random.Random(2), 0.2)
    assert scored > 50 and refused > 100

