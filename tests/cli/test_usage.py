"""Mistakes in options and arguments are answered like all others: what, where, the next step."""

from __future__ import annotations

import pytest

from tests.in_process import call
from wholetext.cli.usage import usage_error


@pytest.mark.parametrize(("typed", "what", "step"), [
    ("score --metic chrf", "wholetext score: there is no option --metic", "did you mean --metric"),
    ("score -z", "wholetext score: there is no option -z", "`wholetext score -h` lists the options"),
    ("score a.txt b.txt", "wholetext score: unexpected argument b.txt", "-t FILE …, references with -r FILE"),
    ("gate run --baseline A --system B C", "wholetext gate: unexpected argument C", "--system A --system B"),
    ("compare run other", "wholetext compare: unexpected argument other", "`wholetext compare -h`"),
    ("score -f text", "wholetext score: invalid value for '-f' / '--format': 'text'", "`wholetext score -h`"),
    ("score --out", "wholetext score: option '--out' requires an argument", "`wholetext score -h`"),
    ("compare", "wholetext compare: missing argument", "`wholetext compare -h`"),
    ("models fetsh", "wholetext models: no such command 'fetsh'", "`wholetext models -h`|did you mean"),
    ("cache show", "wholetext cache: no such command 'show'", "`wholetext cache -h` lists the commands"),
])  # fmt: skip
def test_what_where_and_the_next_step(typed: str, what: str, step: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *typed.split())
    said, _, following = err.strip().partition("\n  → ")
    assert code == 2 and out == ""
    assert said.startswith(f"error: {what}") and any(part in following for part in step.split("|")), err


@pytest.mark.parametrize("typed", ["", "models", "cache"])
def test_a_group_alone_shows_its_help(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *typed.split())
    assert code == 2 and err.startswith("Usage: wholetext") and "error:" not in err and out == ""


def test_other_exceptions_are_not_mistakes_of_the_user() -> None:
    assert usage_error(ValueError("x"), ["score"]) is None
