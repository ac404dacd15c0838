"""`convert` and all writers: what is written is read back as the same corpus, or refused with the segment named."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.in_process import call
from wholetext.errors import InputError
from wholetext.io import Loaded, from_texts, read
from wholetext.io.conversion import convert, writable
from wholetext.io.formats import evalset, table
from wholetext.types import Corpus, Document, Output

# what formats of lines and cells can lose
TRAPS = ["a ", " a", "\ufeffa", evalset.MISSING, "a\tb", "a\nb", "a\r", "a\r\nb", "\n\n", "", '"', '"a"', '""', 'a"b',
         "=1+1", "'a", "_x000D_", "<p>a</p>", "&lt;a", "{}", "a,b;c", "\x0b", "\x1c", "\u2028", "\x85", "\0", "\ud800",
         "None", "007", "1.0", "#", "---", "a" * 33_000]  # fmt: skip
TEXT = st.one_of(st.sampled_from(TRAPS), st.text(max_size=8))
NAME = st.one_of(st.sampled_from(["A", "ref", "a b", "x.y", " n", "n ", "é", "a/b", "a:b", "human:a", "sys.txt", "d#2"]),
                 st.text("abcXYZ019_.-", min_size=1, max_size=5))  # fmt: skip
TARGETS = {"c.jsonl": "jsonl", "c.jsonl.gz": "jsonl", "c.json": "jsonl", "c.tsv": "table", "c.csv": "table",
           "c.csv.gz": "table", "c.xlsx": "table", "set": "evalset", "wmt": "wmt"}  # fmt: skip


@st.composite
def corpora(draw: st.DrawFn) -> Loaded:
    names = st.lists(NAME, min_size=1, max_size=2, unique=True)
    ids, systems, refs = draw(names), draw(names), draw(st.lists(NAME, max_size=2, unique=True))
    docs, outputs = [], {system: dict[str, tuple[str, ...]]() for system in systems}
    for doc in ids:
        size = draw(st.integers(1, 3))
        segments = st.lists(TEXT, min_size=size, max_size=size).map(tuple)
        docs.append(Document(doc, draw(segments), {ref: draw(segments) for ref in refs}))
        for system in systems:
            outputs[system][doc] = draw(segments)
    corpus = Corpus("c", ("de", "en"), tuple(docs))
    return Loaded(corpus, tuple(Output(system, docs) for system, docs in outputs.items()))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(loaded=corpora())
def test_every_writer_keeps_or_refuses(name: str, tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    folder = tmp_path_factory.mktemp("out")
    systems = [output.system for output in loaded.outputs]
    try:
        kind, _ = convert(loaded, folder / name, TARGETS[name])
    except InputError as refused:
        assert re.search(r"(document .*(segment)?.*would be|would not be) read back|name|in this text|documents: ", str(refused))
        assert refused.next
        if TARGETS[name] != "evalset" and TARGETS[name] != "wmt":
            assert not any(folder.iterdir())
        return
    assert kind == TARGETS[name]
    back = read(folder / name, langs="de-en", systems=systems)
    assert back.corpus.docs == loaded.corpus.docs and tuple(back.outputs) == tuple(loaded.outputs)
    shutil.rmtree(folder)
