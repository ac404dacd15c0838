"""The command line, called in this process."""

from __future__ import annotations

import pytest

from wholetext.cli.main import main

Capture = pytest.CaptureFixture[str]


def call(capsys: Capture, *argv: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``wholetext ARGV…``."""
    code = 0
    try:
        main(list(map(str, argv)))
    except SystemExit as done:
        code = int(done.code or 0)
    return code, *capsys.readouterr()
