"""Help in sections: commands by what they are for, options by what they are about."""

from __future__ import annotations

import re

import pytest

from tests.in_process import call
from wholetext.cli.help import COMMANDS
from wholetext.cli.main import VERBS


def test_help_names_every_verb_on_one_line_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0 and "..." not in out.partition("ARGS]...")[2] and max(map(len, out.splitlines())) <= 80
    listed = {verb: text for verbs in COMMANDS.values() for verb, text in verbs.items()}
    assert sorted(listed) == sorted(VERBS) and sum(map(len, COMMANDS.values())) == len(VERBS)
    for verb, text in listed.items():
        assert re.search(rf"^  {verb} +{re.escape(text)}$", out, re.M), verb


def test_help_lists_options_by_section(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "score", "--help")
    parts = dict(re.findall(r"^([A-Z].+):\n((?:  .*\n)+)", out, re.M))
    assert list(parts) == ["Input", "Options", "Alignment", "Significance tests", "Models and processors", "LLM judges"]
    for title, option in (("Input", "--docs"), ("Options", "--out"), ("LLM judges", "--budget")):
        assert [name for name in parts if option in parts[name]] == [title]
