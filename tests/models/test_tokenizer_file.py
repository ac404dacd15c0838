"""A ``tokenizer.json`` from anybody: what would run away with time or memory is refused before it is loaded."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")

from tokenizers import normalizers

from wholetext.errors import ModelError
from wholetext.models.hub.locate import guarded
from wholetext.models.tokenizer import Tokenizer, load_tokenizer
from wholetext.models.tokenizer_file import check_loaded, check_steps
from wholetext.scoring.engine import Engine

MODELS = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models"
STEPS = ("normalizer", "pre_tokenizer", "decoder")
# regular expressions of published tokenizers: GPT-2, Llama 3, o200k, BLOOM, CLIP, DBRX, XLM-R
PUBLISHED = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\s++$",
    r"\d{1,3}(?=(?:\d{3})*\b)",
    " {2,}",
)
BOMBS = (
    r"(a+)+$", r"(a|aa)+$", r"(?:a?){300}a{300}", r"((a{1,9}b)c){9}", r"(.*)\1", r"(?<x>a\g<x>?b)", r"(?~a)b",
    r"(?(1)a|b)", r"a*a*a*a*b", "a" * 1001, r"([a(]+)*",
)  # fmt: skip


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replacing(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


def charsmap(*strings: str) -> dict[str, Any]:
    table = (8).to_bytes(4, "little") + b"\x01" * 8 + b"".join(text.encode() + b"\0" for text in strings)
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}


def model_with(folder: Path, **steps: Any) -> Path:
    """A copy of a small model whose tokenizer has other steps."""
    shutil.copytree(MODELS / "tiny-bert", folder)
    table = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(table | steps), "utf-8")
    return folder


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_expressions_of_published_tokenizers_are_accepted(pattern: str) -> None:
    for part in STEPS:
        check_steps({part: split(pattern)}, Path("tokenizer.json"))


@pytest.mark.parametrize("pattern", BOMBS)
@pytest.mark.parametrize("part", STEPS)
def test_expressions_that_may_not_end_are_refused(part: str, pattern: str) -> None:
    with pytest.raises(ModelError, match=f"its {part} has a regular expression that may not end") as caught:
        check_steps({part: sequence(split(" "), sequence(split(pattern)))}, Path("tokenizer.json"))
    assert caught.value.where == "tokenizer.json" and "fetch the model again" in caught.value.next


A_TO_TEN = replacing({"String": "a"}, "a" * 10)
LOOK = replacing({"Regex": "(?=a)"}, "a")  # matches nothing, and inserts a letter each time


@pytest.mark.parametrize(
    "steps",
    [
        sequence(*[A_TO_TEN] * 4), sequence(*[LOOK] * 10), charsmap("x" * 1001), sequence(*[charsmap("x" * 18)] * 3),
        sequence(*[{"type": "ByteLevel"}] * 6), {"type": "Prepend", "prepend": "x" * 1000},
        {"type": "Sequence", "pretokenizers": [{"type": "Metaspace"}] * 11},
    ],
    ids=["strings", "empty matches", "long string", "charsmaps", "bytes", "prefix", "metaspace"],
)  # fmt: skip
def test_steps_that_multiply_text_are_refused(steps: dict[str, Any]) -> None:
    for part in STEPS:
        with pytest.raises(ModelError, match=f"its {part} could multiply the length of a text by"):
            check_steps({part: steps}, Path("tokenizer.json"))


def test_the_longest_normalizer_of_a_published_model_is_accepted() -> None:
    albert = sequence(
        replacing({"String": "``"}, '"'), replacing({"String": "''"}, '"'), {"type": "NFKD"}, {"type": "StripAccents"},
        {"type": "Lowercase"}, charsmap("x" * 18), replacing({"Regex": " {2,}"}, " "),
    )  # fmt: skip
    check_steps({"normalizer": albert}, Path("tokenizer.json"))


def test_a_template_of_many_special_tokens_is_refused() -> None:
    step = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}] * 11, "pair": [],
            "special_tokens": {"x": {"id": "x", "ids": [1] * 10, "tokens": ["x"] * 10}}}  # fmt: skip
    with pytest.raises(ModelError, match="110 special tokens around a text"):
        check_steps({"post_processor": {"type": "Sequence", "processors": [step]}}, Path("tokenizer.json"))


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-xlmr", "tiny-mbart50", "tiny-mt5"])
def test_small_models_of_published_formats_are_accepted(model: str) -> None:
    assert load_tokenizer(MODELS / model)("a text")["input_ids"]


def test_every_loader_refuses(tmp_path: Path) -> None:
    folder = model_with(tmp_path / "model", normalizer=sequence(*[A_TO_TEN] * 8))
    from wholetext.metrics.discoscore.word_encoder import WordEncoder
    from wholetext.metrics.verify import verify
    from wholetext.models.encoder import open_encoder
    from wholetext.models.regressor import encoder_of

    for load in (
        Tokenizer, load_tokenizer, encoder_of, lambda path: open_encoder(Engine(), str(path), ""),
        lambda path: WordEncoder(open_encoder(Engine(), str(path), "")),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=r"its normalizer could multiply the length of a text by 1e\+08"):
            load(folder)
    assert [finding.what for finding in verify(folder) if not finding.good] == [
        "its normalizer could multiply the length of a text by 1e+08"
    ]


def test_a_file_of_another_version_is_checked(tmp_path: Path) -> None:
    """transformers reads ``tokenizer.4.0.json`` where tokenizer_config.json lists it."""
    folder = model_with(tmp_path / "model", pre_tokenizer=split("(a+)+$"))
    (folder / "tokenizer.json").rename(folder / "tokenizer.4.0.json")
    with pytest.raises(ModelError, match="may not end"):
        load_tokenizer(folder)


def test_steps_that_the_library_made_are_checked(tmp_path: Path) -> None:
    """A tokenizer converted from another file, such as a sentencepiece model, never was a tokenizer.json."""
    tokenizer = load_tokenizer(MODELS / "tiny-bert")
    check_loaded(tokenizer, tmp_path)
    ten = normalizers.Replace("a", "a" * 10)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence([ten] * 4)
    with pytest.raises(ModelError, match=r"could multiply the length of a text by 1e\+04"):
        check_loaded(tokenizer, tmp_path)


def test_a_panic_while_a_text_is_read_is_one_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Expressions of polynomial time pass, and the library panics at its own limit on long texts."""
    tokenizer = Tokenizer(model_with(tmp_path / "model", normalizer=None, pre_tokenizer=split("a*a*a*[^a]?(?<=b)")))
    assert tokenizer.ids("a text")
    for read in (tokenizer.ids, tokenizer.offsets):
        with pytest.raises(ModelError, match=r"fails on a text \(PanicException: .*retry-limit") as caught:
            read("a" * 3000)
        assert caught.value.where == str(tmp_path / "model")


def test_interruptions_are_no_faults_of_a_model() -> None:
    for interruption in (KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(interruption), guarded(Path("model")):
            raise interruption
