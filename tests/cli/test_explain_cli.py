"""`wholetext explain`: from a run folder and straight from files, in a terminal and as JSON; every mistake answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import write_run
from wholetext.types import Corpus, Document, Output

REF = ("She left the house.", "But he stayed.", "It rained.")
HYP = ("He left the house.", "But he stayed.", "So it rained.")
SPEC = "d-blonde(tagger=plain)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two systems and two documents, and the same as line files."""
    folder = tmp_path_factory.mktemp("explain")
    docs = (Document("good", None, {"a": REF}), Document("bad", None, {"a": REF}))
    outputs = [Output("one", {"good": REF, "bad": HYP}), Output("two", {"good": REF, "bad": REF})]
    write_run(
        score(Loaded(Corpus("c", ("de", "en"), docs), outputs), [SPEC], options=Options(cache=False)), folder / "run"
    )
    (folder / "ref.txt").write_text("\n".join(REF) + "\n", "utf-8")
    (folder / "one.txt").write_text("\n".join(HYP) + "\n", "utf-8")
    return folder


def test_from_a_run_side_by_side(folder: Path, capsys: Capture) -> None:
    code, out, _ = call(capsys, "explain", str(folder / "run"), "--doc", "bad", "--system", "one")
    assert code == 0
    assert "[+He+] left the house." in out and "[-She-] left the house." in out and "[+So+] it rained." in out
    assert "But he stayed." not in out and "1 of 3 segments not shown" in out
    assert out.startswith("bad  one  d-blonde(tagger=plain)  f1 0.")


def test_the_lowest_document_by_default_and_all_segments(folder: Path, capsys: Capture) -> None:
    code, out, _ = call(capsys, "explain", str(folder / "run"), "--system", "one", "--all")
    assert code == 0 and out.startswith("bad") and "But he stayed." in out


def test_another_view_and_one_of_two_references(folder: Path, capsys: Capture) -> None:
    """Rows of single segments are put together; spans belong to the references that were used."""
    files = ["-t", str(folder / "one.txt"), "-r", f"first={folder}/one.txt", f"second={folder}/ref.txt", "-l", "de-en"]
    _, out, _ = call(capsys, "explain", *files, "-m", "sentence:d-blonde(tagger=plain)", "--ref", "second", "--json")
    got = json.loads(out)
    assert got["reference"] == "second" and not any(segment["extra"] for segment in got["segments"])
    assert [[span["text"] for span in segment["missing"]] for segment in got["segments"]] == [["She"], [], []]


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (["--doc", "bad"], "which system?"), (["--system", "thre"], "there is no system 'thre'"),
        (["--system", "one", "--doc", "badd"], "did you mean bad?"),
        (["--system", "one", "--ref", "b"], "there is no reference 'b'"),
    ],
)
def test_mistakes(folder: Path, capsys: Capture, more: list[str], fault: str) -> None:
    code, _, err = call(capsys, "explain", str(folder / "run"), *more)
    assert code == 2 and fault in err and "Traceback" not in err


def test_why_the_score_is_what_it_is(folder: Path, capsys: Capture) -> None:
    _, out, _ = call(capsys, "explain", str(folder / "run"), "--doc", "bad", "--system", "one")
    flat = " ".join(out.split())
    assert "The score 0.5858 is the F1 of geometric means of precision and recall." in flat
    assert "The mean F1 of the categories that occur is 0.5833: pronoun 0.5000, marker 0.6667." in flat
    assert "Neither text has any: tense, entity." in flat and "in neither text" in flat
    _, out, _ = call(capsys, "explain", str(folder / "run"), "--doc", "bad", "--system", "one", "--json")
    why = json.loads(out)["why"]
    assert why["occurring"] == pytest.approx(0.5833, abs=5e-5) and why["factors"][1]["matched"] == 1


def test_the_lowest_document_is_that_of_the_categories_that_occur(tmp_path: Path, capsys: Capture) -> None:
    """In the geometric mean one pronoun without a match outweighs everything else."""
    texts = {"floored": ("But he left so then and also later.", "But she left so then and also later."),
             "worse": ("But he left so he and she could.", "But she left when she then also saw she.")}
    docs = tuple(Document(name, None, {"a": (ref,)}) for name, (_, ref) in texts.items())
    output = Output("one", {name: (hyp,) for name, (hyp, _) in texts.items()})
    results = score(Loaded(Corpus("c", ("de", "en"), docs), [output]), [SPEC], options=Options(cache=False))
    assert results.scores[SPEC]["one"].at("doc").argmin() == 0
    write_run(results, tmp_path / "run")
    code, out, _ = call(capsys, "explain", str(tmp_path / "run"))
    assert code == 0 and out.startswith("worse")


def test_a_run_without_blonde_is_not_scored_silently(tmp_path: Path, capsys: Capture) -> None:
    docs = (Document("bad", None, {"a": REF}),)
    results = score(
        Loaded(Corpus("c", ("en", "de"), docs), [Output("one", {"bad": HYP})]), ["chrf"], options=Options(cache=False)
    )
    write_run(results, tmp_path / "run")
    code, _, err = call(capsys, "explain", str(tmp_path / "run"))
    assert code == 2 and "chrf leaves no spans to explain" in err and "use -m blonde" in err
    code, out, err = call(capsys, "explain", str(tmp_path / "run"), "-m", SPEC, "--json")
    assert code == 0 and f"{SPEC} is not in the run: computed now" in err and json.loads(out)["computed"] is True
