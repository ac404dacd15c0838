"""Signatures: short ones fit a line, hashes follow what matters, texts and models are named by content."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call
from wholetext import Corpus, Document, Options, Output, Signature
from wholetext.io import Loaded
from wholetext.io.formats import jsonl
from wholetext.scoring.results import write_run

SRC = ("Ein Satz.", "Noch ein Satz.", "Der letzte.")
TEXT = ("A sentence.", "One more sentence.", "The last one.")
OPTIONS = Options(cache=False, flags=False)


def corpus(*names: str, texts: tuple[tuple[str, ...], ...] = (TEXT, SRC)) -> Corpus:
    return Corpus("c", ("de", "en"), (Document("d", SRC, dict(zip(names, texts))),))


def signature(made: Corpus, spec: str = "chrf", text: tuple[str, ...] = TEXT) -> Signature:
    return wt.score(wt.Loaded(made, [Output("s", {"d": text})]), spec, options=OPTIONS)[spec]["s"].signature


def test_equal_texts_have_equal_hashes_whatever_references_are_called() -> None:
    one, other = signature(corpus("ref")), signature(corpus("reference.en"))
    assert one["corpus"] == other["corpus"] and one.hash == other.hash and one.short == other.short
    both, turned = signature(corpus("a", "b")), signature(corpus("b", "a", texts=(SRC, TEXT)))
    assert both["corpus"] == turned["corpus"] and both.hash == turned.hash
    assert both["corpus"] != one["corpus"] and both.hash != one.hash
    changed = signature(corpus("ref", texts=((*TEXT[:2], "The end."),)))
    assert changed["corpus"] != one["corpus"] and changed.hash != one.hash


@pytest.mark.parametrize("spec", ["bleu", "chrf", "slide(size=2,step=1,partial=include):chrf", "whole:ter",
                                  "context(prev=9,next=9,hyp=own,source=shuffled,seed=7):bleu(tokenize=char)"])
def test_a_short_signature_is_one_short_line(spec: str) -> None:
    short = signature(corpus("ref"), spec).short
    assert len(short) <= 100 and "\n" not in short
    metric, view, *rest = short.split("|")
    assert (metric, view) == (spec.rpartition(":")[2].partition("(")[0], spec.partition("(")[0].split(":")[0]
                              if ":" in spec else "sentence")
    assert rest[0] == "refs:1" and rest[-2] == f"v:{wt.__version__}" and rest[-1][0] == "#"


def test_long_names_are_cut_and_the_hash_stays() -> None:
    full = Signature({"metric": "m" * 80, "view": "v" * 80, "model": "x/" + "y" * 80, "revision": "f" * 40,
                      "refs": "a,b", "wholetext": "1.0"})
    assert len(full.short) <= 100 and full.short.endswith(f"…|v:1.0|#{full.hash}")


def test_the_hash_follows_settings_and_not_what_happened_to_one_output() -> None:
    base = {"metric": "m", "view": "v", "limit": "5", "refs": "a", "rows": "3", "lost_focus": "0", "wholetext": "1"}
    hashes = {name: Signature({**base, name: "9"}).hash for name in base}
    mine = Signature(base).hash
    assert {name for name, value in hashes.items() if value == mine} == {"rows", "lost_focus", "refs"}


def test_realigned_output_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "in.jsonl"
    whole = Output("free", {"d": (" ".join(TEXT),)})
    jsonl.write(lines, Loaded(corpus("ref"), (whole, Output("good", {"d": TEXT})), ()))
    assert call(capsys, "align", lines, "--out", tmp_path / "out.jsonl")[0] == 0
    loaded = wt.read(tmp_path / "out.jsonl")
    assert not loaded.corpus.docs[0].meta
    results = wt.score(loaded, ["chrf"], options=OPTIONS)
    free, good = (results["chrf"][name].signature for name in ("free", "good"))
    named = r"1/1 to=ref,split=rules,similarity=[\w.-]+,nulls=count omitted=0 added=0"
    assert re.fullmatch(named, str(free["realigned"])) and "realigned" not in good
    assert free.hash != good.hash and "|realigned|" in free.short
    assert any("free" in note and "wholetext align" in note for note in results.warnings)
    jsonl.write(tmp_path / "again.jsonl", loaded)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


def test_output_with_other_segments_is_named() -> None:
    outputs = [Output("joined", {"d": (" ".join(TEXT),)}), Output("good", {"d": TEXT})]
    scores = wt.score(wt.Loaded(corpus("ref"), outputs), "whole:chrf", options=OPTIONS)["whole:chrf"]
    joined, good = (scores[name].signature for name in ("joined", "good"))
    assert joined["resegmented"] == "1/1" and "resegmented" not in good
    assert joined.hash == good.hash and joined.short == good.short  # the text is compared as a whole


GIVEN = "context(prev=9,next=9,hyp=ref,source=shuffled,seed=123456789):bleu(tokenize=char)"


def test_parameters_that_were_given_come_before_defaults_and_version() -> None:
    short = signature(corpus("ref"), "context(prev=3):chrf(word_order=2,lowercase=true)").short.split("|")
    assert short[3:6] == ["prev:3", "word_order:2", "lowercase:true"] and short[-3] == "…"
    full = signature(corpus("ref"), GIVEN)
    assert len(full.short) <= 100 and full.short.endswith(f"|…|#{full.hash}"), "parameters need the room of the version"
    shown = {part.partition(":")[0] for part in full.short.split("|")}
    assert {"prev", "next", "hyp", "source", "seed", "tokenize"} <= shown


def test_what_is_left_out_is_told() -> None:
    items = {"metric": "m", "view": "v", **{f"given{i}": "x" * 20 for i in range(9)}, "usual": "y", "wholetext": "1"}
    full = Signature(items, [key for key in items if key.startswith("given")])
    assert "|given0:" in full.short and "usual" not in full.short and f"|…|#{full.hash}" in full.short
    assert len(full.short) <= 100 and Signature(items).hash == full.hash


def test_a_run_folder_gives_the_same_short_signature_back(tmp_path: Path) -> None:
    results = wt.score(wt.Loaded(corpus("ref"), [Output("s", {"d": TEXT})]), [GIVEN], options=OPTIONS)
    write_run(results, tmp_path / "run")
    (spec,) = results.scores
    assert wt.open_run(tmp_path / "run")[spec]["s"].signature.short == results[spec]["s"].signature.short
