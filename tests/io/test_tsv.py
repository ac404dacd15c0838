"""TSV: wide and long, headers, rows that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io import Loaded, read
from wholetext.io.formats import tsv
from wholetext.types import Corpus, Document, Output


def read_tsv(folder: Path, *rows: str, name: str = "corpus.tsv") -> Loaded:
    path = folder / name
    path.write_text("".join(row.replace("|", "\t") + "\n" for row in rows), encoding="utf-8")
    return read(path, langs="de-en")


def test_wide(tmp_path: Path) -> None:
    loaded = read_tsv(
        tmp_path, "doc_id|source|refA|ref:other|hyp:A|mt:B|domain|note", "x|1|2|3|4|5|news|?", "y|6|7|8|9|0|web|?"
    )
    assert loaded.corpus == Corpus(
        "corpus",
        ("de", "en"),
        (
            Document("x", ("1",), {"refA": ("2",), "other": ("3",)}, {"domain": "news"}),
            Document("y", ("6",), {"refA": ("7",), "other": ("8",)}, {"domain": "web"}),
        ),
    )
    assert loaded.outputs == (Output("A", {"x": ("4",), "y": ("9",)}), Output("B", {"x": ("5",), "y": ("0",)}))
    assert loaded.warnings == ("columns not used: note (an output's column is called hyp:SYSTEM)",)


def test_one_unnamed_output_is_named_after_the_file(tmp_path: Path) -> None:
    loaded = read_tsv(tmp_path, "src|mt|ref", "1|2|3", name="mine.tsv")
    assert loaded.outputs[0].system == "mine" and loaded.corpus.references == ("ref",)
    assert "one document" in loaded.warnings[0]


def test_long_blocks_and_interleaved(tmp_path: Path) -> None:
    rows = ["a|x|1|A1", "a|x|2|A2", "b|x|1|B1", "b|x|2|B2"]
    blocks = read_tsv(tmp_path, "system|doc|src|hyp", *rows)
    mixed = read_tsv(tmp_path, "system|doc|src|hyp", *(rows[i] for i in (0, 2, 1, 3)))
    assert blocks == mixed
    assert blocks.outputs == (Output("a", {"x": ("A1", "A2")}), Output("b", {"x": ("B1", "B2")}))


@pytest.mark.parametrize(
    ("rows", "says", "line"),
    [
        (
            ["system|doc|src|hyp", "a|x|1|A1", "b|x|2|B1"],
            "the segments of system 'b' differ here from those of 'a' .src.",
            ":3",
        ),
        (["system|doc|src|hyp", "a|x|1|A1", "b|y|1|B1"], "system 'b' differ here from those of 'a' .doc.", ":3"),
        (["system|doc|src|hyp", "a|x|1|A1", "a|x|2|A2", "b|x|1|B1"], "system 'b' differ here", ":4"),
        (["system|doc|src|hyp", "|x|1|A1"], "no system name", ":2"),
        (["src|hyp:A", "1|2", "3"], "has 1 cells, the header has 2", ":3"),
        (["src|hyp:A", "1|2", "", "3|4"], "has 1 cells", ":3"),
        (["src|hyp:A", "1|2|3"], "has 3 cells", ":2"),
        (["src|source|hyp:A", "1|2|3"], "'src' and 'source' map to one field", ":1"),
        (["src|hyp:A|hyp:A", "1|2|3"], "'hyp:A' and 'hyp:A' map to one field", ":1"),
        (["src|hyp|hyp:A", "1|2|3"], "neither goes with hyp:SYSTEM", ":1"),
        (["src|system|hyp:A", "1|2|3"], "'system' goes with one 'hyp'", ":1"),
        (["doc|src|hyp:A"], "no row below", ""),
        (["doc|src|hyp:A", "x|1|2", "|3|4"], "no document id", ":3"),
    ],
)
def test_faults(rows: list[str], says: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_tsv(tmp_path, *rows)
    assert caught.value.where == f"{tmp_path / 'corpus.tsv'}{line}"


def test_a_header_that_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "odd.tsv"
    path.write_text("sorce\ttext\n1\t2\n")
    with pytest.raises(InputError, match="known to hold text") as caught:
        read(path, format="tsv")
    assert "source" in caught.value.next
    with pytest.raises(InputError, match="plain lines"):
        read(path)


def test_blank_last_line_and_crlf(tmp_path: Path) -> None:
    path = tmp_path / "crlf.tsv"
    path.write_bytes(b"\xef\xbb\xbfsrc\thyp:A\r\n1\t2\r\n\r\n")
    assert read(path).outputs == (Output("A", {"doc1": ("2",)}),)


def test_writing_what_a_tsv_cannot_hold(tmp_path: Path) -> None:
    def one(text: str, hyp: tuple[str, ...] = ("b",)) -> Loaded:
        return Loaded(Corpus("c", ("", ""), (Document("d", (text,)),)), (Output("s", {"d": hyp}),))

    for text in ("a\tb", "a\nb", "a\rb"):
        with pytest.raises(InputError, match="cannot be written"):
            tsv.write(tmp_path / "out.tsv", one(text))
    with pytest.raises(AlignmentError, match="other segments"):
        tsv.write(tmp_path / "out.tsv", one("a", ("b", "c")))
