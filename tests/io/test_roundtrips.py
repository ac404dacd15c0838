"""Write → read gives the same back, for every format that is written, on generated corpora."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from wholetext.io import Loaded, read
from wholetext.io.formats import evalset, jsonl
from wholetext.types import Corpus, Document, Output

ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t\ufeff"), max_size=12)
STRIPPED = LINE.map(str.rstrip).filter(lambda text: text != evalset.MISSING)
NAME = st.text(string.ascii_letters + string.digits + "_.é中", min_size=1, max_size=8).filter(
    lambda name: name[0] != "."
)


@st.composite
def corpora(draw: st.DrawFn, text: st.SearchStrategy[str], resegmented: bool = False) -> Loaded:
    ids = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    refs = sorted(draw(st.lists(NAME, max_size=2, unique=True)))  # folders list their files by name
    systems = sorted(draw(st.lists(NAME, min_size=1, max_size=3, unique=True)))
    docs, outputs = [], {system: dict[str, tuple[str, ...]]() for system in systems}
    for doc in ids:
        size = draw(st.integers(1, 4))
        segments = st.lists(text, min_size=size, max_size=size).map(tuple)
        docs.append(Document(doc, draw(segments), {ref: draw(segments) for ref in refs}, {"domain": draw(NAME)}))
        for system in systems:
            free = st.lists(text, min_size=1, max_size=5).map(tuple)
            outputs[system][doc] = draw(free if resegmented else segments)
    corpus = Corpus(draw(NAME), ("de", "en"), tuple(docs))
    return Loaded(corpus, tuple(Output(system, docs) for system, docs in outputs.items()))


quick = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@quick
@given(corpora(ANY, resegmented=True))
def test_jsonl(tmp_path: Path, loaded: Loaded) -> None:
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        jsonl.write(tmp_path / name, loaded)
        back = read(tmp_path / name, systems=[output.system for output in loaded.outputs])
        assert back.corpus == loaded.corpus and back.outputs == loaded.outputs


@quick
@given(corpora(STRIPPED))
def test_evalset(tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> None:
    folder = tmp_path_factory.mktemp("evalset")
    evalset.write(folder, loaded)
    back = evalset.read(folder, "de-en")
    assert (back.corpus.docs, back.outputs) == (loaded.corpus.docs, loaded.outputs)
