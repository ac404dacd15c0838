"""Model folders with damaged files: a score or an error that names the place, never another exception."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext import score
from wholetext.errors import ModelError, WholetextError
from wholetext.metrics.verify import verify
from wholetext.models.hub.locate import content_hash
from wholetext.scoring.evaluate import Options

MODELS = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models"
# metric → the folder that is damaged, and those beside it
SPECS = {
    "bertscore(layer=1)@tiny-bert": ("tiny-bert",), "sbert@tiny-bert": ("tiny-bert",),
    "ds-sent(tagger=plain)@tiny-bert": ("tiny-bert",), "prism@tiny-mbart50": ("tiny-mbart50",),
    "metricx@tiny-mt5": ("tiny-mt5",), "comet@comet-reg-mix": ("comet-reg-mix", "tiny-xlmr"),
    "comet(limit=64)@comet-reg-mix": ("tiny-xlmr", "comet-reg-mix"), "learned@learned": ("learned", "tiny-bert"),
}  # fmt: skip
BYTES = (b"", b"[]", b"null", b'"x"', b"{", b"\xff\xfe\x00", b"[" * 100_000, b"9" * 6000, b"{}", b"a: &a [*a, *a]")
VALUES = (None, True, -1, 1.5, "x", "", [], {}, ["x"], {"x": 1}, "../../etc")
LEARNED = {"form": "aligned", "base": "tiny-bert", "targets": ["en"], "settings": {"layers": [1, -1], "limit": 64},
           "head": {"hidden": [4]}, "output": {"low": 0.0, "high": 1.0}, "adapter": {"kind": "frozen"}}  # fmt: skip


def damages(path: Path, rng: random.Random) -> Iterator[bytes]:
    """The file replaced, cut, changed at random, or with one value replaced."""
    whole = path.read_bytes()
    yield from (*BYTES, whole[: len(whole) // 2])
    changed = bytearray(whole)
    for _ in range(4):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    yield bytes(changed)
    if path.suffix == ".yaml":
        lines = whole.decode().splitlines()
        for at, line in enumerate(lines):
            for value in ("", "-1", "1e999", "[]", "x", "!!python/none"):
                yield "\n".join([*lines[:at], f"{line.split(':')[0]}: {value}", *lines[at + 1 :]]).encode()
    elif path.suffix == ".json" and len(whole) < 20_000:
        table = json.loads(whole)
        yield from (json.dumps({**table, key: value}).encode() for key in table for value in VALUES)


@pytest.mark.parametrize(("file", "key", "value"), [
    ("config.json", "model_type", {}), ("config.json", "hidden_size", "x"),
    ("tokenizer_config.json", "cls_token", {"x": 1}), ("tokenizer_config.json", "model_max_length", [3]),
])  # fmt: skip
def test_a_value_of_the_wrong_type_is_named(file: str, key: str, value: object, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(MODELS / "tiny-bert", tmp_path / "m"))
    (folder / file).write_text(json.dumps({**json.loads((folder / file).read_bytes()), key: value}))
    assert refused(f"bertscore(layer=1)@{folder}")
    assert [one.file for one in verify(folder) if not one.good][-1] == "tokenizer"


@pytest.mark.long
@pytest.mark.parametrize("share", [0.008, pytest.param(0.3, marks=pytest.mark.slow)])
def test_damaged_folders_are_scored_or_refused(tmp_path: Path, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rng, outcomes = random.Random(1), {True: 0, False: 0}
    for at, (spec, (target, *_)) in enumerate(SPECS.items()):
        folder = tmp_path / str(at)
        for name in SPECS[spec]:
            (folder / name).mkdir(parents=True) if name == "learned" else shutil.copytree(MODELS / name, folder / name)
        if target == "learned":
            config = {**LEARNED, "content": content_hash(folder / "tiny-bert")}
            (folder / target / "wholetext.json").write_text(json.dumps(config))
        for path in sorted(path for path in (folder / target).rglob("*") if path.is_file()):
            whole = path.read_bytes()
            for data in damages(path, rng):
                if rng.random() < share:
                    path.write_bytes(data)
                    outcomes[refused(spec.replace("@", f"@{folder}/"))] += 1
                    verify(path.parent)  # reports the damage, whatever it is
            path.write_bytes(whole)
    assert all(outcomes.values()), outcomes


def refused(spec: str, error: type[WholetextError] = WholetextError) -> bool:
    try:
        score(["A text.", "Two of them."], spec, srcs=["Ein Text.", "Zwei."], refs=["The text.", "Two."], langs="de-en",
              options=Options(device="cpu", cache=False))  # fmt: skip
    except error:
        return True
    return False


# ---------------------------------------------------------------- sizes of no model, before they are allocated

SIZES = ("num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size", "vocab_size")
NAMES = ("model_type", "hidden_act", "dtype")


@pytest.mark.parametrize(("key", "value"), [
    *((key, value) for key in SIZES for value in (0, -1, 10**9, 10**400, True, 32.0, "x", [])),
    *((key, value) for key in NAMES for value in ([], {}, 5)),
    ("layer_norm_eps", 10**400), ("num_attention_heads", 7), ("num_hidden_layers", 999), ("pad_token_id", []),
    ("max_position_embeddings", 10**9),
], ids=lambda value: str(value)[:20])  # fmt: skip
def test_a_hostile_configuration_is_one_error(tmp_path: Path, key: str, value: Any) -> None:
    folder = Path(shutil.copytree(MODELS / "tiny-bert", tmp_path / "model"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, key: value}), "utf-8")
    begin = time.monotonic()
    assert refused(f"bertscore@{folder}", ModelError)
    assert time.monotonic() - begin < 30
