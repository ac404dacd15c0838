"""Grids: every cell is the score its spec gives alone, shares of what was dropped and cut, settings that make sense."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.scored import scored
from wholetext.demo import load
from wholetext.errors import MetricError, SpecError
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.sweep import Axes, sweep
from wholetext.types import Corpus, Document, Output

CPU = Options(cache=False, device="cpu")


def corpus(*sizes: int) -> tuple[Corpus, list[Output]]:
    def text(words: str, k: int, n: int) -> tuple[str, ...]:
        return tuple(words.format(i, k) for i in range(n))

    docs = tuple(
        Document(f"d{k}", text("Satz {} von {} .", k, n), {"ref": text("sentence {} of {} .", k, n)})
        for k, n in enumerate(sizes)
    )
    outputs = [
        Output(name, {doc.id: tuple(text.replace("of", name) for text in doc.refs["ref"]) for doc in docs})
        for name in ("in", "from")
    ]
    return Corpus("c", ("de", "en"), docs), outputs


def test_cells_of_a_context_grid() -> None:
    cells = [(*settings.values(), view) for settings, view in Axes(context=2).views()]
    assert len(cells) == 1 + 2 * 2 * 3 and cells[0][:3] == (0, "–", "–")
    assert len({view for *_, view in cells}) == len(cells)
    assert [settings for settings, _ in Axes(context=1, hyp=("own",), source=("same",)).views()] == [
        {"prev": 0, "hyp": "–", "source": "–"}, {"prev": 1, "hyp": "own", "source": "same"},
    ]


@pytest.mark.parametrize("wrong", [
    {}, {"context": 1, "window": 1}, {"context": -1}, {"window": 0}, {"window": 2, "step": (0,)},
    {"context": 1, "hyp": ("mine",)}, {"context": 1, "source": ()},
])  # fmt: skip
def test_axes_that_make_no_grid(wrong: dict[str, object]) -> None:
    with pytest.raises(SpecError):
        Axes(**wrong)  # type: ignore[arg-type]


def test_windows_are_the_scores_of_their_specs() -> None:
    made, outputs = load("de-en")
    found = sweep(made, outputs, "chrf", Axes(window=4), CPU)
    for cell in found.cells:
        alone = scored(made, outputs, cell.spec, CPU)
        for system, scores in cell.scores.items():
            assert scores.score == alone[system].score
        size, step = int(cell.settings["size"]), int(cell.settings["step"])
        left = sum((len(doc) - size) % step if len(doc) >= size else len(doc) for doc in made.docs)
        assert cell.losses["dropped"] == pytest.approx(left / sum(map(len, made.docs)))
    sentence = score(Loaded(made, outputs), "chrf", options=CPU)["chrf"]
    assert all(found.cells[0].scores[system].score == sentence[system].score for system in sentence)


def test_strides_share_windows() -> None:
    made, outputs = corpus(9, 7)
    found = sweep(made, outputs, "chrf", Axes(window=5), CPU)
    counts = found.results.counts
    windows = 2 * sum(max(0, n - size + 1) for n in (9, 7) for size in range(1, 6))
    assert counts["distinct"] == counts["computed"] == windows < counts["requests"]


def test_windows_longer_than_every_document_are_empty_cells() -> None:
    made, outputs = corpus(2, 3)
    found = sweep(made, outputs, "slide(size=2,step=1):chrf", Axes(window=4, step=(1,)), CPU)
    assert found.metric == "chrf" and [bool(cell.scores) for cell in found.cells] == [True, True, True, False]
    grid = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert grid["cells"][3]["scores"] == {"in": None, "from": None} and grid["cells"][3]["dropped"] is None
    assert grid["axes"] == ["size", "step"]
    with pytest.raises(MetricError, match="no row"):
        score(Loaded(made, outputs), found.cells[3].spec, options=CPU)


def test_context_cells_with_a_model(oracle: Path) -> None:
    pytest.importorskip("torch")
    made, outputs = corpus(4, 3)
    metric = f"bertscore(layer=2,limit=16)@{oracle / 'neural/models/tiny-bert'}"
    found = sweep(made, outputs, metric, Axes(context=2), CPU)
    assert len(found.cells) == 13
    sentence = score(Loaded(made, outputs), metric, options=CPU)[metric]
    for system in sentence:
        np.testing.assert_allclose(found.cells[0].scores[system].at("row"), sentence[system].at("row"), atol=1e-6)
    by = {tuple(cell.settings.values()): cell for cell in found.cells}
    for settings in [(2, "ref", "same"), (2, "own", "shuffled"), (1, "ref", "other")]:
        alone = scored(made, outputs, by[settings].spec, CPU)
        for system, scores in alone.items():
            np.testing.assert_allclose(by[settings].scores[system].at("row"), scores.at("row"), atol=1e-6)
    assert by[(2, "ref", "same")].losses["lost_context"] > 0 == by[(0, "–", "–")].losses["lost_context"]
    assert by[(1, "ref", "same")].scores["in"].score != by[(1, "ref", "other")].scores["in"].score


def test_a_metric_without_references_reads_its_own_context(oracle: Path) -> None:
    pytest.importorskip("torch")
    made, outputs = corpus(3, 2)
    metric = f"prism(direction=src-hyp)@{oracle / 'neural/models/tiny-mbart50'}"
    found = sweep(made, outputs, metric, Axes(context=1, source=("same",)), CPU)
    assert [cell.settings["hyp"] for cell in found.cells] == ["–", "own"]


def test_one_document_has_nobody_to_borrow_from() -> None:
    made, outputs = corpus(5)
    found = sweep(made, outputs, "chrf", Axes(context=1), CPU)
    assert {cell.settings["source"] for cell in found.cells} == {"–", "same", "shuffled"}
    assert any("one document" in note for note in found.results.warnings)


def test_a_metric_that_does_not_read_context_is_told() -> None:
    found = sweep(*corpus(4, 3), "chrf", Axes(context=1), CPU)
    assert any("the metric reads no context" in note for note in found.results.warnings)
    windows = sweep(*corpus(4, 3), "chrf", Axes(window=2), CPU)
    assert not any("reads no context" in note for note in windows.results.warnings)
