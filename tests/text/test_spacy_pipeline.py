"""spaCy in programs that need no torch: it is not imported, and what is read stays the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("spacy")

from wholetext.text.taggers.spacy_pipeline import NO_TORCH, installed

PROGRAM = """
import json, sys
from wholetext.text.taggers.spacy_pipeline import SpacyAnalyser
found = SpacyAnalyser(sys.argv[1], processes=1).run(["The mills of Rome were old. They stood there."])
later = "torch" in sys.modules
import torch  # whoever needs it has it
print(json.dumps({"torch": later, "found": repr(found)}))
"""


@pytest.mark.long
@pytest.mark.skipif(not installed("en"), reason="no English pipeline is installed")
def test_programs_may_leave_torch_out() -> None:
    pytest.importorskip("torch")
    answers = {}
    for value in ("", "1"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, installed("en")[0]], capture_output=True, text=True,
                              env={**os.environ, NO_TORCH: value}, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        answers[value] = json.loads(done.stdout)
    assert answers[""]["torch"] and not answers["1"]["torch"]
    assert answers[""]["found"] == answers["1"]["found"] and "Rome" in answers["1"]["found"]


def test_the_command_line_does() -> None:
    program = f"import os, sys; sys.argv[1:] = ['--version']\nfrom wholetext.cli.main import main\n" \
              f"try:\n    main()\nfinally:\n    print(os.environ[{NO_TORCH!r}])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={key: value for key, value in os.environ.items() if key != NO_TORCH})  # fmt: skip
    assert done.stdout.split()[-1] == "1", done.stderr
