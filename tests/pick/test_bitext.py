"""Filtering of bitext: what is kept, and that an interrupted run continues."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.in_process import call
from wholetext.errors import InputError, WriteError
from wholetext.pick import bitext, filter_bitext


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Twenty lines; the score of a line is the number in it."""
    src, hyp = tmp_path / "src.txt", tmp_path / "hyp.txt"
    src.write_text("".join(f"Zeile {i}\n" for i in range(20)), "utf-8")
    hyp.write_text("".join(f"line {i * 7 % 20}\n" for i in range(20)), "utf-8")
    calls = []

    def score(loaded, specs, options):
        texts = [text for doc in loaded.outputs[0].docs.values() for text in doc]
        calls.append(len(texts))
        values = np.array([float(text.split()[1]) for text in texts])
        column = SimpleNamespace(at=lambda level: np.where(values == 3, np.nan, values))
        return SimpleNamespace(scores={"m": {"bitext": column}})

    monkeypatch.setattr(bitext, "score", score)
    monkeypatch.setattr(bitext, "BLOCK", 6)
    return src, hyp, tmp_path / "kept.tsv", calls


def numbers(path):
    return [int(line.split()[-1]) for line in path.read_text("utf-8").splitlines()]


def test_a_share_keeps_the_best_in_their_order(files):
    src, hyp, out, calls = files
    done = filter_bitext(src, hyp, "judge-da@x", out, share=0.25)
    order = [i * 7 % 20 for i in range(20)]
    assert numbers(out) == [number for number in order if number >= 15]
    assert (done.lines, done.kept, done.undefined, done.threshold) == (20, 5, 1, 15)
    assert calls == [6, 6, 6, 2]


def test_a_threshold_keeps_what_reaches_it(files):
    src, hyp, out, _ = files
    done = filter_bitext(src, hyp, "judge-da@x", out, least=18)
    assert sorted(numbers(out)) == [18, 19]
    assert done.kept == 2
    filter_bitext(src, hyp, "judge-da@x", out, share=1)
    assert sorted(numbers(out)) == [number for number in range(20) if number != 3]  # 3 is undefined


@pytest.mark.parametrize("torn", [0, 1, 3])
def test_an_interrupted_run_continues(files, torn):
    src, hyp, out, calls = files
    filter_bitext(src, hyp, "judge-da@x", out, share=0.5)
    whole = out.read_bytes()
    stored = out.with_name("kept.tsv.scores")
    stored.write_bytes(stored.read_bytes()[: 4 * 9 + torn])
    calls.clear()
    done = filter_bitext(src, hyp, "judge-da@x", out, share=0.5)
    assert done.resumed == 9
    assert sum(calls) == 11
    assert out.read_bytes() == whole


def test_other_texts_begin_anew(files):
    src, hyp, out, calls = files
    filter_bitext(src, hyp, "judge-da@x", out, share=0.5)
    hyp.write_text(hyp.read_text("utf-8").replace("line 7", "line 8"), "utf-8")
    calls.clear()
    assert filter_bitext(src, hyp, "judge-da@x", out, share=0.5).resumed == 0
    assert sum(calls) == 20


def test_what_cannot_be_filtered_is_refused(files):
    src, hyp, out, _ = files
    absent, short, stored = src.with_name("absent.txt"), src.with_name("short.txt"), src.with_name("other.tsv.scores")
    short.write_text("one\n", "utf-8")
    stored.write_text("mine", "utf-8")
    for source, metric, target, share, error, what in (
        (src, "chrf", out, 0.5, InputError, "bitext has none"),
        (src, "judge-da@x", out, None, InputError, "a threshold and a share"),
        (short, "judge-da@x", out, 0.5, InputError, "one ends after line 1"),
        (absent, "judge-da@x", out, 0.5, InputError, r"absent\.txt: no such file"),
        (src, "judge-da@x", src / "kept.tsv", 0.5, WriteError, "cannot be written"),
        (src, "judge-da@x", src.with_name("other.tsv"), 0.5, InputError, "did not write it"),
    ):
        with pytest.raises(error, match=what):
            filter_bitext(source, hyp, metric, target, share=share)
    assert stored.read_text("utf-8") == "mine"


def test_the_command(capsys, tmp_path):
    src, hyp = tmp_path / "src.txt", tmp_path / "hyp.txt"
    src.write_text("Ein Hund und eine Katze.\nDer Hund.\n", "utf-8")
    hyp.write_text("A dog met a dog and a cat met a cat.\nThe dog.\n", "utf-8")
    out = tmp_path / "kept.tsv"
    code, said, _ = call(capsys, "pick", "-s", src, "-t", hyp, "-m", "rc", "-l", "de-en", "--share", "0.5", "-o", out)
    assert code == 0
    assert out.read_text("utf-8") == "Ein Hund und eine Katze.\tA dog met a dog and a cat met a cat.\n"
    assert "1 of 2 lines kept" in said
