"""DataFrames and datasets as input: the columns of a TSV, one segment per row, whichever library holds them."""

from __future__ import annotations

from typing import Any

import pytest

import wholetext as wt

COLUMNS: dict[str, list[Any]] = {
    "doc": ["d1", "d1", "d2"], "src": ["eins", "zwei", "drei"], "ref:A": ["one", "two", "three"],
    "ref:B": ["1", "2", "3"], "hyp:x": ["one", "too", "tree"], "hyp:y": ["won", "two", ""],
    "domain": ["news", "news", "talk"], "note": [1, 2, 3],
}  # fmt: skip


LIBRARIES = ["pandas", "polars", "datasets", "like datasets"]


class Dataset:
    """What ``datasets.Dataset`` offers: names of columns, and columns by name."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns, self.column_names = columns, list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))


def table(library: str, columns: dict[str, list[Any]]) -> Any:
    if library == "like datasets":
        return Dataset(columns)
    found = pytest.importorskip(library)
    return found.Dataset.from_dict(columns) if library == "datasets" else found.DataFrame(columns)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_is_read_as_a_tsv_of_the_same_columns(library: str, tmp_path: Any) -> None:
    rows = [list(COLUMNS), *map(list, zip(*COLUMNS.values()))]
    path = tmp_path / "table.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    assert wt.read(table(library, COLUMNS), langs="de-en") == wt.read(path, langs="de-en")
    chosen = wt.read(table(library, COLUMNS), langs="de-en", systems=["y"], refs=["B"])
    assert [one.system for one in chosen.outputs] == ["y"] and chosen.corpus.references == ("B",)


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_can_be_document_ids_and_one_output_needs_no_name(library: str) -> None:
    corpus, (output,), _ = wt.read(table(library, {"doc_id": [7, 7, 8], "mt": ["a", "b", "c"], "ref": ["a", "b", "d"]}))
    assert [doc.id for doc in corpus.docs] == ["7", "8"] and output.system == "hyp"
    assert output.docs["7"] == ("a", "b")


def test_scores_of_a_frame_go_back_beside_its_texts() -> None:
    """The round trip of a notebook: texts in a frame → scores of segments → joined to the same frame."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    corpus, outputs, _ = wt.read(frame, langs="de-en")
    results = wt.score(corpus, outputs, ["chrf", "bleu"], wt.Options(cache=False))
    scores = results["chrf"]["x"].to_pandas("segment")
    frame["segment"] = frame.groupby("doc").cumcount()
    joined = frame.merge(scores, on=["doc", "segment"], validate="one_to_one")
    assert list(joined["hyp:x"]) == COLUMNS["hyp:x"]
    assert list(joined["score"]) == results["chrf"]["x"].at("segment").tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_text_is_told_with_its_place(library: str) -> None:
    with pytest.raises(wt.InputError, match=r"table, column hyp:x, row 1: there is no text here\n  → write \"\""):
        wt.read(table(library, {"ref": ["a", "b"], "hyp:x": ["a", None]}))


@pytest.mark.parametrize(("columns", "said"), [
    ({"ref": ["a"], "hyp:x": [3]}, "expected a string, got"),
    ({"text": ["a"]}, "no column of this header is known to hold text"),
    ({"ref": [], "hyp:x": []}, "columns but no rows"),
])
def test_tables_that_cannot_be_read_are_answered(columns: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(wt.InputError, match=said):
        wt.read(Dataset(columns))


def test_a_dataset_of_several_splits_asks_for_one() -> None:
    splits = Dataset({"ref": ["a"]})
    splits.column_names = {"train": ["ref"], "test": ["ref"]}  # type: ignore[assignment]
    with pytest.raises(wt.InputError, match="several parts: train, test"):
        wt.read(splits)
