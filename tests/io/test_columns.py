"""Tables of every kind as people have them: columns guessed from the header, named, or numbered; human scores."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import Capture, call
from wholetext.errors import InputError
from wholetext.io import Loaded, read
from wholetext.io.columns import parse_columns

ROWS = [["d1", "Er kam spät.", "He was late.", "He came late.", "It came late."],
        ["d1", "Sie war da, wie immer.", 'She was "there", as ever.', "She was there, as ever.", "It was always."],
        ["d2", "Guten Morgen!", "Good morning!", "Good morning!", "Morning!"]]  # fmt: skip
HEADER = ["doc", "src", "ref", "hyp:A", "hyp:B"]
COMMON = ["File name", "Source text", "Human translation", "GPT-4", "DeepL"]


def written(path: Path, header: list[str] | None, rows: list[list[str]] = ROWS) -> Path:
    rows = [header, *rows] if header else rows
    if path.suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append([int(cell) if cell.isdecimal() else cell for cell in row])
        book.save(path)
    elif path.suffix in (".json", ".jsonl"):
        records = [json.dumps(dict(zip(rows[0], row)), ensure_ascii=False) for row in rows[1:]]
        path.write_text(f"[{','.join(records)}]" if path.suffix == ".json" else "\n".join(records), "utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, delimiter={"c": ",", "s": ";"}.get(path.suffix[1], "\t")).writerows(rows)
    return path


def texts(loaded: Loaded) -> list[Any]:
    docs = [(doc.id, doc.src, *doc.refs.values()) for doc in loaded.corpus.docs]
    return [docs, *(tuple(output.docs.values()) for output in loaded.outputs)]


@pytest.fixture
def plain(tmp_path: Path) -> list[Any]:
    return texts(read(written(tmp_path / "plain.tsv", HEADER)))


KINDS = ["t.csv", "t.tsv", "t.semicolon", "t.xlsx", "t.json", "t.jsonl"]


@pytest.mark.parametrize("name", KINDS)
def test_a_guess_is_made_from_the_header_and_printed(name: str, tmp_path: Path, plain: list[Any]) -> None:
    loaded = read(written(tmp_path / name, COMMON))
    assert texts(loaded) == plain and [output.system for output in loaded.outputs] == ["GPT-4", "DeepL"]
    (note,) = loaded.warnings
    assert note == ("columns guessed from the header: document = 'File name'; source = 'Source text'; reference = "
                    "'Human translation'; output = 'GPT-4', 'DeepL' (--columns names others)")  # fmt: skip
    documented = read(written(tmp_path / name, HEADER))
    assert texts(documented) == plain and documented.warnings == ()


@pytest.mark.parametrize("name", KINDS)
def test_columns_are_named(name: str, tmp_path: Path, plain: list[Any]) -> None:
    path = written(tmp_path / name, ["w", "German", "English", "x", "y"])
    columns = {"document": "w", "source": "german", "reference": 3, "output": ["x", "y"]}
    loaded = read(path, columns=columns)
    assert texts(loaded) == plain and loaded.warnings == ()
    assert [output.system for output in loaded.outputs] == ["x", "y"] and loaded.corpus.references == ("ref",)
    loaded = read(path, columns={**columns, "output": "y"})
    assert [output.system for output in loaded.outputs] == ["y"] and loaded.warnings == ("fields not used: x",)
    loaded = read(path, columns={"document": "w", "source": "German", "ref:A": "English", "output:mine": "x"})
    assert [output.system for output in loaded.outputs] == ["mine"] and loaded.corpus.references == ("A",)
    for wrong, says in (({"source": "Germn"}, "no column 'Germn'"), ({"sauce": "w"}, "no role 'sauce'")):
        with pytest.raises(InputError, match=says) as caught:
            read(path, columns=wrong)
        assert "did you mean" in caught.value.next


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.xlsx"])
def test_a_table_without_a_header(name: str, tmp_path: Path, plain: list[Any]) -> None:
    path = written(tmp_path / name, None)
    columns = parse_columns(["document=1,source=2,reference=3", "output:A=4,output:B=5"])
    assert texts(read(path, columns=columns)) == plain
    with pytest.raises(InputError, match="no name of a column is known in the first row: 'd1', 'Er kam") as caught:
        read(path)
    assert "--columns source=1,reference=2" in caught.value.next and caught.value.where.endswith(":1")


def test_codes_of_languages_and_a_column_per_system(tmp_path: Path, plain: list[Any]) -> None:
    path = written(tmp_path / "t.csv", ["file", "de", "en", "mt_A", "mt_B"])
    loaded = read(path, langs="de-en")
    assert texts(loaded) == plain and [output.system for output in loaded.outputs] == ["A", "B"]
    # numbers, short labels and repeated texts are not outputs
    extra = [[*row, str(i), "news", "checked by the editor"] for i, row in enumerate(ROWS)]
    path = written(tmp_path / "t.csv", [*COMMON, "length", "kind", "status"], extra)
    assert [output.system for output in read(path).outputs] == ["GPT-4", "DeepL"]


def test_systems_one_under_another_with_a_model_column(tmp_path: Path, plain: list[Any]) -> None:
    rows = [[*row[:3], model, row[i]] for i, model in ((3, "A"), (4, "B")) for row in ROWS]
    loaded = read(written(tmp_path / "t.csv", ["article", "input", "gold", "Model", "Response"], rows))
    assert texts(loaded) == plain and [output.system for output in loaded.outputs] == ["A", "B"]
    path = written(tmp_path / "t.csv", ["doc", "src", "ref", "system", "text of the system"], rows)
    for columns in (None, {"output": "text of the system"}, {"output": 5, "system": 4}):
        assert texts(read(path, columns=columns)) == plain


def test_human_scores(tmp_path: Path) -> None:
    wide = [[*row, str(i), "" if i == 1 else "2.5"] for i, row in enumerate(ROWS)]
    (scores,) = read(written(tmp_path / "t.csv", [*HEADER, "human:A", "human:B"], wide)).judgments
    assert (scores.scheme, scores.level, scores.systems) == ("human", "seg", ("A", "B"))
    np.testing.assert_array_equal(scores.values, [[0, 1, 2], [2.5, np.nan, 2.5]])
    rows = [[*row[:3], name, row[i], str(i)] for i, name in ((3, "A"), (4, "B")) for row in ROWS]
    (scores,) = read(written(tmp_path / "t.csv", ["doc", "src", "ref", "system", "hyp", "MQM"], rows)).judgments
    assert scores.scheme == "MQM" and scores.values.tolist() == [[3.0] * 3, [4.0] * 3]
    rows[4][-1] = "good"
    with pytest.raises(InputError, match="'good' is not a human score") as caught:
        read(written(tmp_path / "t.csv", ["doc", "src", "ref", "system", "hyp", "human"], rows))
    assert caught.value.where.endswith("t.csv:6")


def test_paths_of_nested_json(tmp_path: Path) -> None:
    records = [{"custom_id": row[0], "src": row[1], "reply": {"parts": [{"text": row[3]}]}} for row in ROWS]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    loaded = read(path, columns={"output:A": "reply.parts.0.text", "document": "custom_id"})
    assert loaded.outputs[0].docs["d2"] == ("Good morning!",)
    with pytest.raises(InputError, match=r"no column 'reply.parts.1.text'"):
        read(path, columns={"output": "reply.parts.1.text"})


def test_workbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (HEADER, [7, "2024", "x", None, 3.5], [None] * 5):
        book.active.append(row)
    book.create_sheet("notes").append(["other"])
    book.save(tmp_path / "t.xlsx")
    loaded = read(tmp_path / "t.xlsx")
    assert texts(loaded) == [[("7", ("2024",), ("x",))], (("",),), (("3.5",),)]
    assert "only the sheet 'Sheet' is read, not 'notes'" in loaded.warnings[0]
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError, match="no Excel workbook"):
        read(tmp_path / "broken.xlsx")


def test_options_of_the_command_line(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path / "t.csv", ["w", "German", "English", "x, y", "z"])
    code, out, err = call(capsys, "score", path, "-m", "chrf", "-b", "-q",
                          "--columns", "document=w,source=German,reference=English,output=x, y,output=z")  # fmt: skip
    assert code == 0 and len(out.splitlines()) == 2
    code, _, err = call(capsys, "score", path, "-m", "chrf", "--columns", "source")
    assert code == 2 and "--columns takes ROLE=COLUMN, not 'source'" in err
    code, _, err = call(capsys, "meta", path, "-m", "chrf")
    assert code == 2 and "--columns" in err


@pytest.mark.data
def test_a_csv_with_human_scores_agrees_with_its_evalset(tmp_path: Path, capsys: Capture) -> None:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "evalsets" / "wmt21.tedtalks"
    if not folder.is_dir():
        pytest.skip("no evaluation data beside the project")
    loaded = read(folder, langs="zh-en", refs=["refB"])
    human = dict(zip(*_human(folder, loaded)))
    rows = [[doc.id, src, ref, output.system, text, score]
            for output in loaded.outputs if output.system in human
            for (doc, src, ref, text), score in zip(_segments(loaded, output), human[output.system])]  # fmt: skip
    path = written(tmp_path / "ted.csv", ["document", "source", "reference", "system", "translation", "human"], rows)
    tasks = ("-m", "chrf", "--task", "sys:pearson", "seg:kendall/item", "--draws", 0, "-f", "tsv", "-q")
    systems = ("--system", *sorted(set(human) - {"refA", "refB"}))
    code, ours, _ = call(capsys, "meta", path, *tasks)
    assert code == 0
    code, theirs, _ = call(capsys, "meta", folder, "-l", "zh-en", "--ref", "refB", *systems, *tasks)
    cells = [[float(line.split("\t")[4]) for line in table.splitlines()[1:]] for table in (ours, theirs)]
    assert code == 0 and len(cells[0]) >= 2 and cells[0] == pytest.approx(cells[1], abs=1e-12)


def _segments(loaded: Loaded, output: Any) -> list[Any]:
    return [(doc, *parts) for doc in loaded.corpus.docs
            for parts in zip(doc.src or (), doc.refs["refB"], output.docs[doc.id])]  # fmt: skip


def _human(folder: Path, loaded: Loaded) -> tuple[list[str], list[list[str]]]:
    blocks: dict[str, list[str]] = {}
    for line in (folder / "human-scores" / "zh-en.mqm.seg.score").read_text("utf-8").splitlines():
        system, score = line.split("\t")
        blocks.setdefault(system, []).append("" if score == "None" else score)
    return list(blocks), list(blocks.values())


@pytest.mark.parametrize(("langs", "sources"), [
    ("de-en", [f"{ROWS[at % 2][1]} {at}" for at in range(6)]),
    ("zh-en", [f"她像往常一样在那里。{at}" for at in range(6)]),
])  # fmt: skip
def test_a_column_in_the_source_language_is_the_source(langs: str, sources: list[str], tmp_path: Path) -> None:
    rows = [[source, *(f"{text} {at}" for text in ROWS[at % 2][2:])] for at, source in enumerate(sources)]
    loaded = read(written(tmp_path / "t.csv", ["Quelle", "Reference", "GPT-4", "DeepL"], rows), langs=langs)
    assert [output.system for output in loaded.outputs] == ["GPT-4", "DeepL"]
    assert loaded.corpus.docs[0].src == tuple(sources) and "source = 'Quelle'" in loaded.warnings[0]
    loaded = read(tmp_path / "t.csv", langs="fr-en")  # in no language of the pair: text like any other
    assert [output.system for output in loaded.outputs] == ["Quelle", "GPT-4", "DeepL"]
