"""Guarded parsing: what is not a number, JSON, TOML or YAML of sane size is an error with its place, never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.errors import InputError, ModelError, RunError, SpecError
from wholetext.files.parsing import file_bytes, integer, number, read_json, read_toml, read_yaml


@pytest.mark.parametrize("text", ["1_0", "", "1.0", "٣", "²", "0x10", "1e3", "+-1", "9" * 5000, "--1", "1 2"])
def test_what_is_not_an_integer(text: str) -> None:
    with pytest.raises(InputError, match="file:3"):
        integer(text, where="file:3")


def test_integers() -> None:
    assert [integer(text) for text in ("0", " -12 ", "+7", "007")] == [0, -12, 7, 7]
    assert integer("9" * 300) == 10**300 - 1
    with pytest.raises(SpecError, match="-1"):
        integer("-1", low=0, error=SpecError)
    with pytest.raises(InputError, match="between 1 and 9"):
        integer("12", low=1, high=9)


@pytest.mark.parametrize("text", ["1_0.0", "nan", "inf", "-Infinity", "1e999", "1,5", "", "٣.٥", "0x1p3", "1e", "."])
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(InputError):
        number(text)


def test_numbers() -> None:
    assert [number(text) for text in ("1", "-1.5e3", ".5", "5.", "1e-400")] == [1, -1500, 0.5, 5, 0]
    assert number("-inf", finite=False) == float("-inf") and number("NaN", finite=False) != 0


@pytest.mark.parametrize("text", [
    "[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "9" * 5000, "[1e999]", "[NaN]", "[-Infinity]", '"\\ud800"',
    '{"\\udc00": 1}', '{"a": 1, "a": 2}', "{", '"unclosed', '"\\', "", "nul", b"\xff", '[1]\n]', "9" * 400,
])
def test_json_that_is_refused(text: str | bytes) -> None:
    with pytest.raises(ModelError, match="file"):
        read_json(text, where="file", error=ModelError)


def test_json() -> None:
    assert read_json('{"a": [1, 2.5, "\\ud83d\\ude00", "' + "9" * 5000 + '"]}')["a"][2] == "😀"
    assert read_json('{"a": 1, "a": 2}', unique=False) == {"a": 2}
    assert read_json("[NaN, Infinity, 1e999]", constants=True)[1:] == [float("inf")] * 2
    deep = read_json('[' * 100 + '"]]]{{{\\"["' + "]" * 100)
    assert isinstance(deep, list)
    with pytest.raises(InputError, match=r"^file:3: "):
        read_json('{"a": 1,\n"b": 2,\n}', where="file")


def test_json_takes_linear_time() -> None:  # where the time grew with the square of the size, this would not end
    for text in ('"\\"' * 200_000, '"' * 300_001, '["' + '\\"[' * 200_000):
        with pytest.raises(InputError):
            read_json(text)


@pytest.mark.parametrize("text", [
    "a = " + "[" * 5000, ".".join(["a"] * 900) + " = 1", "a = " + "9" * 5000, "a = 1\na = 2", "a = 2001-99-99",
    b"\xff", "a = " + "9" * 400, "x" * 2_000_000, ".".join(["a"] * 90_000) + " = 1",
])
def test_toml_that_is_refused(text: str | bytes) -> None:
    with pytest.raises(InputError, match="recipe"):
        read_toml(text, where="recipe")


def test_toml() -> None:
    assert read_toml(b"a = [1, 2]\n[b]\nc = 'd'") == {"a": [1, 2], "b": {"c": "d"}}


@pytest.mark.parametrize("text", [
    "[" * 500, "a: " + "9" * 5000, "!!python/object/apply:os.system ['true']", "a: &x [*x]", "a: *nothing",
    "d: 2001-99-99", "- " * 300, '"\\ud800"', b"\xff", "a: [", "x" * 2_000_000, "? {a: 1}\n: 1",
])
def test_yaml_that_is_refused(text: str | bytes) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(ModelError):
        read_yaml(text, error=ModelError)


def test_yaml_aliases_are_bounded() -> None:
    pytest.importorskip("yaml")
    assert read_yaml("a: &x [1, 2]\nb: *x\nc: {d: *x}") == {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}}
    lists = "a0: &a0 [1, 2]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    merged = "a0: &a0 {k: 1}\n" + "".join(
        f"a{i}: &a{i}\n  <<: [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    for bomb in (lists, merged):
        with pytest.raises(InputError, match="expand to more than"):
            read_yaml(bomb)


def test_file_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert file_bytes(tmp_path / "a", most=3) == b"abc"
    for path, most in ((tmp_path / "a", 2), (tmp_path / "endless", 9), (tmp_path, 9), (tmp_path / "no\0", 9)):
        with pytest.raises(InputError):
            file_bytes(path, most=most)


@pytest.mark.parametrize(("text", "remedy"), [
    ('{"a": "\\ud83d z"}', "both halves of its pair"), ('{"a": ' + "9" * 6000 + "}", "at most 300 digits"),
    ('{"a": 1e999}', "at most 300 digits"), ("[" * 200 + "]" * 200, "flatten"), ('{"a": NaN}', "write null"),
])  # fmt: skip
def test_json_that_people_wrote_has_its_own_remedy(text: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        read_json(text, where="a.jsonl:1", next="write one JSON object per line")
    assert remedy in caught.value.next
    with pytest.raises(RunError) as made:  # a file of ours is made again
        read_json(text, next="score again", error=RunError)
    assert made.value.next == "score again"


def test_a_bound_is_told_without_a_stray_comma() -> None:
    with pytest.raises(InputError, match=r"^--seed: '-1' is not an integer between 0 and 9$"):
        integer("-1", low=0, high=9, where="--seed")
