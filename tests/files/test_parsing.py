"""Parsing: what is not a number, JSON, TOML or YAML is an error with its place, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wholetext.errors import InputError, ModelError, SpecError
from wholetext.files.parsing import (
    file_bytes,
    integer,
    number,
    read_json,
    read_toml,
    read_yaml,
    reader,
)


@pytest.mark.parametrize("text", ["1_0", "", "1.0", "٣", "²", "0x10", "1e3", "+-1", "9" * 5000, "--1", "1 2"])
def test_what_is_not_an_integer(text: str) -> None:
    with pytest.raises(InputError, match="file:3"):
        integer(text, where="file:3")


def test_integers() -> None:
    assert [integer(text) for text in ("0", " -12 ", "+7", "007")] == [0, -12, 7, 7]
    assert integer("9" * 300) == 10**300 - 1
    with pytest.raises(SpecError, match="-1"):
        integer("-1", low=0, error=SpecError)
    with pytest.raises(InputError, match=r"^--seed: '-1' is not an integer from 0 to 9$"):
        integer("-1", low=0, high=9, where="--seed")


@pytest.mark.parametrize("text", ["1_0.0", "nan", "inf", "-Infinity", "1e999", "1,5", "", "٣.٥", "0x1p3", "1e", "."])
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(InputError):
        number(text)


def test_numbers() -> None:
    assert [number(text) for text in ("1", "-1.5e3", ".5", "5.", "1e-400")] == [1, -1500, 0.5, 5, 0]
    assert number("-inf", finite=False) == float("-inf") and number("NaN", finite=False) != 0


REFUSED: dict[Callable[..., object], list[str | bytes]] = {
    read_json: ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "[NaN]", "[-Infinity]", '"\\ud800"', '{"\\udc00": 1}',
                "{", '"unclosed', '"\\', "", "nul", b"\xff", '[1]\n]'],
    read_toml: ["a = " + "[" * 5000, "a = " + "9" * 5000, "a = 1\na = 2", "a = 2001-99-99", b"\xff"],
    read_yaml: ["[" * 5000, "a: " + "9" * 5000, "!!python/object/apply:os.system ['true']", "a: *nothing",
                "d: 2001-99-99", b"\xff", "a: [", "? {a: 1}\n: 1"],
}  # fmt: skip


@pytest.mark.parametrize(("read", "text"), [(read, text) for read, texts in REFUSED.items() for text in texts])
def test_what_is_refused_names_the_file(read: Callable[..., object], text: str | bytes) -> None:
    if read is read_yaml:
        pytest.importorskip("yaml")
    with pytest.raises(InputError, match="file") as caught:
        read(text, where="file")
    assert len(str(caught.value)) < 400


def test_json() -> None:
    assert read_json('{"a": [1, 2.5, "\\ud83d\\ude00", "' + "9" * 5000 + '"]}')["a"][2] == "😀"
    assert read_json("[NaN, Infinity, 1e999]", constants=True)[1:] == [float("inf")] * 2
    with pytest.raises(ModelError, match=r"^file:3: "):
        read_json('{"a": 1,\n"b": 2,\n}', where="file", error=ModelError)


def test_file_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert file_bytes(tmp_path / "a") == b"abc"
    for path in (tmp_path / "endless", tmp_path, tmp_path / "no\0"):
        with pytest.raises(InputError):
            file_bytes(path)


@pytest.mark.parametrize("fault", [KeyError("x"), RecursionError("too deep"), MemoryError()])
def test_what_a_reader_does_not_foresee_names_the_file(tmp_path: Path, fault: Exception) -> None:
    @reader
    def broken(path: Path) -> None:
        raise fault

    with pytest.raises(InputError, match=r"corpus\.txt: it cannot be read") as caught:
        broken(tmp_path / "corpus.txt")
    assert caught.value.__cause__ is fault
