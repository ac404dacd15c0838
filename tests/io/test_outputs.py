"""Outputs of LLMs beside plain files: JSONL, text by blank lines, Markdown, a folder; blank lines at the end."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from wholetext.errors import AlignmentError, InputError
from wholetext.io import LineFiles, Loaded, read

SRC = ["Er kam spät.", "Sie war schon da.", "Niemand sprach.", "Guten Morgen!", "Es regnet.", "Bis bald."]
REF = ["He was late.", "She was there already.", "Nobody spoke.", "Good morning!", "It is raining.", "See you soon."]
IDS = ["news\td.1", "news\td.1", "news\td.1", "talk\td.2", "talk\td.2", "talk\td/3"]
TEXTS = {"d.1": ["He came late. She was already there.", "Nobody spoke."], "d.2": ["Good morning! It rains."],
         "d/3": ["See you."]}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in {"src.txt": SRC, "ref.txt": REF, "ids.txt": IDS}.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return tmp_path


def write(kind: str) -> Path:
    """Write the output of an LLM in one of the forms that people have."""
    parts, path = ["\n".join(text) for text in TEXTS.values()], Path(f"llm{kind}")
    if kind == "":
        path.mkdir()
        for doc, text in TEXTS.items():
            (path / f"{doc.replace('/', '_')}.md").write_text("\n\n".join(text) + "\n")
    elif kind == ".txt":
        path.write_text("\n\n\n".join(parts) + "\n\n")
    elif kind == ".md":
        path.write_text("".join(f"## {doc}\n\n{text}\n\n" for doc, text in zip(TEXTS, parts)))
    elif kind == ".rules":
        path.write_text("\n\n---\n\n".join(text.replace("\n", "\n\n") for text in parts))
    else:
        key, text = {".jsonl": ("id", "response"), ".json": ("doc", "output"), ".hyp": ("doc_id", "hypothesis"),
                     ".bare": ("", "translation")}[kind]  # fmt: skip
        records = [{key: doc, text: part.replace("\n", "\n\n")} for doc, part in zip(TEXTS, parts)]
        records = records if key else [{text: record[text]} for record in records]
        path.write_text(json.dumps(records) if kind == ".json" else "\n".join(map(json.dumps, records)))
    return path


def load(path: Path, resegmented: bool = True) -> Loaded:
    return read(LineFiles(src="src.txt", refs=["ref.txt"], docs="ids.txt", hyps=[("llm", path)]),
                langs="de-en", resegmented=resegmented)  # fmt: skip


@pytest.mark.parametrize("kind", ["", ".txt", ".md", ".rules", ".jsonl", ".json", ".hyp", ".bare"])
def test_documents_are_told_apart(kind: str, folder: Path) -> None:
    (output,) = load(write(kind)).outputs
    assert output.docs == {doc: tuple(text) for doc, text in TEXTS.items()}


def test_one_command_scores_it_and_the_error_offers_it(folder: Path, capsys: Capture) -> None:
    write(".txt")
    command = "score -s src.txt -r ref.txt -d ids.txt -t llm.txt"
    code, _, err = call(capsys, *shlex.split(command), "-m", "chrf")
    assert code == 2 and "llm.txt:7: found 8 lines, but src.txt has 6" in err
    offered = err.split("align it: wholetext ")[1].strip()
    assert offered == f"{command} --align"
    code, out, err = call(capsys, *shlex.split(offered), "-m", "chrf", "-q")
    assert code == 0 and "llm" in out and "3 documents are taken from its blank lines" in out + err
    Path("whole.txt").write_text(" ".join(REF))
    code, _, err = call(capsys, "score", "-s", "src.txt", "-d", "ids.txt", "-t", "whole.txt", "--align")
    assert code == 2 and "mark its 3 documents" in err and "a folder with a file per document" in err
    argv = shlex.split("score -s src.txt -r ref.txt -t whole.txt --align -m chrf -b")
    code, out, err = call(capsys, *argv)
    assert code == 0 and float(out) > 99  # without ids, all is one document


def test_several_forms_in_one_run(folder: Path, capsys: Capture) -> None:
    Path("sys.txt").write_text("\n".join(REF))
    outputs = ["sys.txt", *(f"{name}={write(kind)}" for name, kind in (("F", ""), ("J", ".jsonl"), ("M", ".md")))]
    code, out, _ = call(capsys, "score", "-s", "src.txt", "-r", "ref.txt", "-d", "ids.txt", "-t", *outputs, "--align",
                        "-m", "d-chrf", "-b")  # fmt: skip
    scores = [float(line) for line in out.splitlines()]
    assert code == 0 and len(scores) == 4 and scores[0] == 100 and scores[1] == scores[2] == scores[3] < 90
    code, out, _ = call(capsys, "score", "-s", "src.txt", "-r", "ref.txt", "-d", "ids.txt", "-t", *outputs, "--align",
                        "-m", "d-chrf", "bleu", "--system", "J", "sys", "-b")  # fmt: skip
    assert code == 0 and [len(line.split("\t")) for line in out.splitlines()] == [2, 2]


def test_files_and_records_that_do_not_fit(folder: Path) -> None:
    path = write("")
    (path / "notes.txt").write_text("no document")
    assert any("files of no document: notes.txt" in note for note in load(path).warnings)
    (path / "d.2.md").unlink()
    with pytest.raises(AlignmentError, match=r"no file for document 'd.2'"):
        load(path)
    path = Path("numbered")
    path.mkdir()
    for i, text in zip((1, 2, 10), TEXTS.values()):
        (path / f"doc{i}.txt").write_text("\n".join(text))
    loaded = load(path)
    assert loaded.outputs[0].docs["d/3"] == ("See you.",) and "in order of their names" in loaded.warnings[0]
    Path("two.jsonl").write_text('{"output": "a"}\n{"output": "b"}\n')
    with pytest.raises(AlignmentError, match="2 records without document ids, but the corpus has 3 documents and 6"):
        load(Path("two.jsonl"))
    Path("segments.jsonl").write_text("".join(json.dumps({"output": text}) + "\n" for text in REF))
    assert load(Path("segments.jsonl")).outputs[0].docs["d.2"] == tuple(REF[3:5])
    Path("other.jsonl").write_text('{"doc": "x", "output": "a"}\n')
    with pytest.raises(InputError, match="a document 'x' that the corpus does not have"):
        load(Path("other.jsonl"))


@pytest.mark.parametrize("docs", ["ids.txt", None])
def test_a_blank_line_at_the_end_is_no_segment(docs: str | None, folder: Path) -> None:
    Path("sys.txt").write_text("\n".join(REF) + "\n\n \n")
    Path("empty-end.txt").write_text("\n".join(REF[:-1]) + "\n\n")
    for name in ("src.txt", "ids.txt"):
        Path(name).write_text(Path(name).read_text("utf-8") + "\n", "utf-8")
    loaded = read(LineFiles(src="src.txt", refs=["ref.txt"], docs=docs, hyps=["sys.txt", "empty-end.txt"]))
    assert int(loaded.corpus.sizes.sum()) == 6 and [*loaded.outputs[1].docs.values()][-1][-1] == ""
    notes = "\n".join(loaded.warnings)
    assert "src.txt: 1 blank line is left out at the end of the file" in notes and "sys.txt: 2 blank" in notes
    assert ("ids.txt: 1 blank" in notes) == (docs is not None) and "empty-end" not in notes


@pytest.mark.data
@pytest.mark.long
def test_real_outputs_in_paragraphs(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve documents of WMT21, three segments to a paragraph: aligned scores are near those of the segments."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "evalsets" / "wmt21.news"
    if not folder.is_dir():
        pytest.skip("no evaluation data beside the project")
    monkeypatch.chdir(tmp_path)
    loaded = read(folder, langs="de-en", refs=["refA"], systems=["Facebook-AI"])
    docs, (output,) = loaded.corpus.docs[:12], loaded.outputs
    columns = {"src.txt": [text for doc in docs for text in doc.src or ()],
               "ref.txt": [text for doc in docs for text in doc.refs["refA"]],
               "ids.txt": [doc.id for doc in docs for _ in range(len(doc))],
               "sys.txt": [text for doc in docs for text in output.docs[doc.id]]}  # fmt: skip
    for name, lines in columns.items():
        Path(name).write_text("\n".join(lines) + "\n", "utf-8")
    with Path("llm.jsonl").open("w", encoding="utf-8") as out:
        for doc in docs:
            text = output.docs[doc.id]
            joined = "\n\n".join(" ".join(text[i : i + 3]) for i in range(0, len(text), 3))
            out.write(json.dumps({"id": doc.id, "response": joined}) + "\n")
    code, printed, _ = call(capsys, "score", "-s", "src.txt", "-r", "ref.txt", "-d", "ids.txt", "-t", "sys.txt",
                            "llm.jsonl", "--align", "-l", "de-en", "-m", "chrf", "d-chrf", "-b")  # fmt: skip
    (by_segment, whole), (aligned, joined) = ([float(cell) for cell in line.split()] for line in printed.splitlines())
    assert code == 0 and aligned == pytest.approx(by_segment, abs=0.5) and joined == pytest.approx(whole, abs=0.02)
