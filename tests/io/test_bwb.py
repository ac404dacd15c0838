"""Folders of BWB (Jiang et al. 2022): chapters, systems, annotations, error types; pipes and devices are never read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import Capture, call
from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats.bwb import error_types

REF = ("Qiao looked at the cup.", "She had a bat in her hand.")
MT = ("Joe see the cup.", "He have a bat in hand.")


def write(root: Path, files: dict[str, list[str]]) -> None:
    for name, lines in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")


def book(root: Path, name: str = "Book1", chapters: tuple[int, ...] = (2, 10)) -> Path:
    """Write a book in BWB's layout, with annotations and two systems, one of them in a folder of its own."""
    for i in chapters:
        inside, beside = f"test/{name}/{i}", f"Google/{name}/{i}.chs_re.txt.Google"
        write(root, {
            f"{inside}.chs_re.txt": ["乔看着杯子。", "她手里有一根球棒。"], f"{inside}.ref_re.txt": list(REF),
            f"{inside}.mt_re.txt": list(MT), beside: list(REF),
            f"{inside}.an.txt": [f"{MT[0]}\t4\t5\t1,cup, mug <n/1,2>", f"{MT[1]}\t2\t3,her hand, hand <n/0,1>\t6"],
            f"{inside}.ner_re.txt": ["PERSON: (Qiao: 1; )\tNONPERSON: ()", "PERSON: ()\tNONPERSON: ()"]})
    return root


def test_chapters_are_documents_in_numerical_order(tmp_path: Path) -> None:
    loaded = wt.read(book(tmp_path))
    assert loaded.corpus.ids == ("Book1/2", "Book1/10") and loaded.corpus.langs == ("zh", "en")
    assert [output.system for output in loaded.outputs] == ["ms", "google"]
    assert loaded.corpus.annotations == {"annotations": str(tmp_path), "names": str(tmp_path)}
    assert wt.read(tmp_path / "test").corpus.ids == loaded.corpus.ids  # the folder of books itself


def test_a_system_without_every_chapter_is_left_out(tmp_path: Path) -> None:
    book(tmp_path)
    (tmp_path / "Google" / "Book1" / "2.chs_re.txt.Google").unlink()
    loaded = wt.read(tmp_path)
    assert [output.system for output in loaded.outputs] == ["ms"]
    assert "system google is left out: it lacks 1 of 2 chapters" in loaded.warnings


def test_blonde_plus_finds_the_annotation(tmp_path: Path) -> None:
    """The same numbers as with the annotations written to one file."""
    loaded, plain = wt.read(book(tmp_path / "BWB")), wt.Options(cache=False)
    spec = "blonde-plus(tagger=plain)"
    scores = wt.score(loaded, spec, options=plain, out=tmp_path / "run")
    lines = [line for i in (2, 10) for line in (tmp_path / f"BWB/test/Book1/{i}.an.txt").read_text().splitlines()]
    (tmp_path / "an.txt").write_text("\n".join(lines) + "\n")
    named = wt.score(loaded, f"blonde-plus(tagger=plain,annotations={tmp_path / 'an.txt'})", options=plain)
    for system in ("ms", "google"):
        mine, other = (next(iter(results.scores.values()))[system] for results in (scores, named))
        assert mine.score == pytest.approx(other.score, abs=1e-12)
    again = wt.open_run(tmp_path / "run")
    assert again[spec]["google"].score == pytest.approx(scores[spec]["google"].score)


def test_error_types_are_those_of_table_2(tmp_path: Path) -> None:
    sentences, counts = error_types(book(tmp_path))
    assert sentences == 4
    assert counts == {"no error": 0, "sentence": 2, "document": 4, "inconsistency": 2, "named entity": 2, "tense": 2,
                      "ellipsis": 2, "pronoun": 2, "other": 2, "ambiguity": 2}


def test_the_table_is_printed(tmp_path: Path, capsys: Capture) -> None:
    code, out, _ = call(capsys, "annotate", "read", book(tmp_path))
    assert not code and "named entity" in out and "50.0 %" in out


def test_a_book_without_annotations(tmp_path: Path) -> None:
    book(tmp_path)
    (tmp_path / "test" / "Book1" / "10.an.txt").unlink()
    loaded = wt.read(tmp_path)
    with pytest.raises(InputError, match="chapter Book1/10 has no annotation") as fault:
        wt.score(loaded, "blonde-plus(tagger=plain)", options=wt.Options(cache=False))
    assert "10.an.txt" in str(fault.value) and "-m blonde" in str(fault.value)


def test_lines_that_do_not_fit(tmp_path: Path) -> None:
    write(book(tmp_path), {"test/Book1/2.an.txt": ["one line"]})
    with pytest.raises(AlignmentError, match="1 line of annotation for 2 sentences"):
        error_types(tmp_path)


def test_wrong_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no chapters of BWB here"):
        error_types(tmp_path)
    book(tmp_path)
    (tmp_path / "test" / "Book1" / "2.ref_re.txt").unlink()
    with pytest.raises(InputError, match="a chapter has no reference"):
        wt.read(tmp_path)


@pytest.mark.parametrize(("name", "what"), [("2.chs_re.txt", "source"), ("2.ref_re.txt", "reference")])
def test_a_pipe_or_a_device_is_no_chapter(tmp_path: Path, name: str, what: str) -> None:
    for kind in ("pipe", "device"):
        path = book(tmp_path / kind) / "test" / "Book1" / name
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/null")
        with pytest.raises(InputError, match=f"a chapter has no {what}"):
            wt.read(tmp_path / kind)


def test_a_pipe_is_no_output(tmp_path: Path) -> None:
    path = book(tmp_path, chapters=(1,)) / "test" / "Book1" / "1.mt_re.txt"
    path.unlink()
    os.mkfifo(path)
    assert [output.system for output in wt.read(tmp_path).outputs] == ["google"]
