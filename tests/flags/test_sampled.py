"""Which documents of a corpus larger than memory are looked at."""

import pytest

from wholetext.files.text_store import StoredTexts
from wholetext.flags import sampled as module
from wholetext.flags.sampled import sampled
from wholetext.io.stored import Spool
from wholetext.types import Corpus, Output


def test_a_sample_is_stretches_from_all_over_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEGMENTS", 40)
    monkeypatch.setattr(module, "STRETCHES", 4)
    spool = Spool()
    for i in range(200):
        spool.add(f"d{i}", ("src", ""), ("a", "b"))
        spool.add(f"d{i}", ("hyp", "s"), ("c", "d"))
    corpus, output = Corpus("c", ("", ""), spool.documents()), Output("s", StoredTexts(spool, ("hyp", "s")))
    some, outputs, note = sampled(corpus, [output])
    assert len(some) == 20 and some.ids[:5] == ("d0", "d1", "d2", "d3", "d4") and some.ids[-1] == "d199"
    assert list(outputs[0].docs) == list(some.ids) and "20 of 200 documents" in note
    assert isinstance(some.docs, tuple)
    assert sampled(some, outputs) == (some, outputs, "")  # in memory: all of it
