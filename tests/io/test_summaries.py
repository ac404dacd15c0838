"""Rated summaries: SummEval as published, other JSONL, Newsroom's CSV; what is wrong with a file is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import Capture, call
from wholetext.errors import InputError
from wholetext.io import read
from wholetext.io.formats.summaries import open_summaries
from wholetext.meta import MetaTasks, MetricTests, Selection, meta_evaluate

ASPECTS = ("coherence", "consistency", "fluency", "relevance")
SYSTEMS = ("M0", "M8", "M9", "M10")


def summeval(folder: Path, **changes: Any) -> Path:
    """A file in the format of SummEval: two documents, an extractive and three abstractive systems."""
    path, lines = folder / "model_annotations.aligned.jsonl", []
    for doc in ("a", "b"):
        for at, system in enumerate(SYSTEMS):
            rating = dict.fromkeys(ASPECTS, at + 1)
            lines.append({
                "id": doc, "model_id": system, "decoded": f"the cat of {doc} slept {'well ' * at}.",
                "references": [f"the cat of {doc} slept well well well .", f"a cat of {doc} ."],
                "expert_annotations": [rating, dict.fromkeys(ASPECTS, at + 2)],
                "turker_annotations": [rating], **changes})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_summeval_as_published(tmp_path: Path) -> None:
    judged = open_summaries(summeval(tmp_path))
    assert judged.set_name == "summeval"
    assert judged.systems == SYSTEMS and judged.references == ("ref0", "ref1")
    assert [name for name, _ in judged.human_names] == [*ASPECTS, *(f"turker-{aspect}" for aspect in ASPECTS)]
    scores = judged.human("coherence", "seg")
    assert np.array_equal(scores.values, [[at + 1.5] * 2 for at in range(4)])
    loaded = read(str(judged.root))
    assert len(loaded.corpus.docs) == 2 and {output.system for output in loaded.outputs} == set(SYSTEMS)


def test_several_aspects_and_references_and_no_extractive_systems(tmp_path: Path, capsys: Capture) -> None:
    path = summeval(tmp_path)
    tasks = MetaTasks(tasks=("sys:kendall", "seg:kendall/item"), between=True, paired_t=True)
    meta = meta_evaluate(path, (), ["chrf"], tasks, selection=Selection(golds=("coherence", "fluency")),
                         tests=MetricTests(draws=0))
    assert [(str(r.task), r.gold, round(r.value("chrf"), 6)) for r in meta.results[:2]] == [
        ("sys:kendall", "coherence", 1.0), ("seg:kendall/item", "coherence", 1.0)]
    assert meta.parts[0].participants.refs == ("ref0", "ref1")
    assert meta.parts[0].participants.left_out == {"M0": "outlier"}
    assert meta.golds[0][2] == ["coherence", "fluency"] and np.allclose(meta.golds[0][3], 1.0)
    code, out, _ = call(capsys, "meta", path, "-m", "chrf", "--gold", "coherence", "--gold", "turker-fluency",
                       "--task", "sys:kendall", "--draws", "0", "--between", "--paired-t", "--outliers")
    assert code == 0 and "between human scores" in out and "t-test between metrics" in out
    assert "4 systems, left out: none" in " ".join(out.split())


def test_ensembles_are_means(tmp_path: Path) -> None:
    from wholetext.meta import MetricSelection

    selected = MetricSelection(("bleu",), ensembles=("bleu + chrf++",))
    meta = meta_evaluate(summeval(tmp_path), (), selected, MetaTasks(tasks=("seg:kendall",)),
                         tests=MetricTests(draws=0))
    assert [metric.name for metric in meta.parts[0].metrics] == ["bleu", "bleu + chrf++"]
    both = meta_evaluate(summeval(tmp_path), (), ["bleu", "chrf++"], MetaTasks(tasks=("seg:kendall",)),
                         tests=MetricTests(draws=0)).parts[0].metrics
    expected = (both[0].levels["seg"] + both[1].levels["seg"]) / 2
    assert np.allclose(meta.parts[0].metrics[1].levels["seg"], expected)


def test_articles_and_references_beside(tmp_path: Path) -> None:
    path = tmp_path / "mine.summaries.jsonl"
    lines = [{"id": 7, "system": system, "summary": "x", "scores": {"fun": 2}} for system in ("s", "t")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "mine.docs.jsonl").write_text(
        json.dumps({"id": 7, "src": "article", "reference": "y"}) + "\n"
        + json.dumps({"id": 8, "src": "another", "reference": "z"}) + "\n")
    judged = open_summaries(path)
    (doc,) = judged.load().corpus.docs
    assert (doc.id, doc.src, doc.refs) == ("7", ("article",), {"ref0": ("y",)})
    assert judged.set_name == "summaries" and judged.human_names == (("fun", "seg"),)


def test_newsroom_csv(tmp_path: Path) -> None:
    path = tmp_path / "newsroom-human-eval.csv"
    path.write_text(
        "ArticleID,ArticleText,System,SystemSummary,CoherenceRating,FluencyRating,InformativenessRating,RelevanceRating\n"
        + "".join(f'1,"A &amp; B\nC",{system},"a, {system}",{rating},3,2,1\n'
                  for system in ("lede3", "textrank") for rating in (1, 2, 5)))
    judged = open_summaries(path)
    assert judged.set_name == "ner18" and judged.systems == ("lede3", "textrank")
    assert judged.human("coherence", "seg").values.tolist() == [[8 / 3], [8 / 3]]
    assert judged.load().corpus.docs[0].src == ("A & B\nC",)
    assert judged.load().outputs[0].docs["1"] == ("a, lede3",)


@pytest.mark.parametrize(("changes", "what"), [
    ({"decoded": None}, "needs the fields"), ({"model_id": "M8"}, "two summaries"),
    ({"expert_annotations": [{"coherence": "good"}]}, "not a number per aspect"),
    ({"expert_annotations": ["good"]}, "not a number per aspect"),
    ({"expert_annotations": [], "turker_annotations": []}, "nobody rated")])
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what) as fault:
        open_summaries(summeval(tmp_path, **changes)).load()
    assert "model_annotations" in (fault.value.where or "")


@pytest.mark.parametrize("changes", [
    {"references": 5}, {"references": [1]}, {"references": [None]}, {"references": ["a\0b"]}, {"text": ["a"]},
    {"text": "a\0b"}, {"decoded": "a\0b"}, {"model_id": "a\0b"}, {"model_id": [1]}, {"id": ["d1"]}, {"id": True},
    *({"expert_annotations": [{"coherence": value}]} for value in (True, "nan", "inf", None, [4], 10**400)),
], ids=str)  # fmt: skip
def test_what_is_no_text_name_or_number_is_named_by_its_line(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read(summeval(tmp_path, **changes))
    assert caught.value.where.endswith("aligned.jsonl:1")


def test_a_reference_alone_is_one_reference(tmp_path: Path) -> None:
    """Not one per letter."""
    assert read(summeval(tmp_path, references="one")).corpus.docs[0].refs == {"ref0": ("one",)}


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    path = summeval(tmp_path)
    path.write_text(path.read_text().replace('"id": "a"', '"id": 0').replace('"id": "b"', '"id": 1'))
    assert [doc.id for doc in read(path).corpus.docs] == ["0", "1"]


def test_references_that_differ(tmp_path: Path) -> None:
    path = summeval(tmp_path)
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head.replace("well well well", "badly"), *rest]))
    with pytest.raises(InputError, match="other references"):
        open_summaries(path).load()


def test_aspects_and_files_that_do_not_exist(tmp_path: Path, capsys: Capture) -> None:
    code, _, err = call(capsys, "meta", summeval(tmp_path), "-m", "chrf", "--gold", "coherenc")
    assert code == 2 and "no human scores 'coherenc'" in err and "did you mean coherence" in err
    other = tmp_path / "notes.txt"
    other.write_text("hello\n")
    code, _, err = call(capsys, "meta", other, "-m", "chrf")
    assert code == 2 and "neither an EvalSet folder nor a file of rated summaries" in err
    code, _, err = call(capsys, "meta", tmp_path / "nothing", "-m", "chrf")
    assert code == 2 and "there is no such folder" in err


def test_the_data_sets(data: Path) -> None:
    judged = open_summaries(data / "summarization" / "summeval.summaries.jsonl")
    assert judged.set_name == "summeval" and len(judged.systems) == 12 and len(judged.references) == 11
    assert judged.human("relevance", "seg").values.shape == (12, 100)
    judged = open_summaries(data / "summarization" / "ner18.newsroom.summaries.jsonl")
    assert judged.set_name == "ner18" and len(judged.systems) == 7 and judged.references == ("ref0",)
    assert not np.isnan(judged.human("informativeness", "seg").values).any()
