"""The scorer of inspect_ai, in evaluations with a model that answers from a list."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.integrations.cases import LANGS, by_command, rows

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: make test-integration")

import anyio
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from wholetext.integrations.inspect_ai import wholetext_scorer


def said(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage()  # otherwise tokens are counted with a table from the network
    return output


def sample(row: dict[str, str]) -> Sample:
    metadata = {"doc": row["doc"], "src": row["src"]}
    return Sample(input=f"{row['doc']}: {row['src']}", target=row["ref"], metadata=metadata)


def run(folder: Path, samples: list[Sample], answers: list[str], *specs: str) -> Any:
    """An evaluation in which samples run side by side and finish in any order."""
    order, by_input = random.Random(1), dict(zip((sample.input for sample in samples), answers))

    async def answer(messages: list[Any], *_: Any) -> ModelOutput:
        await anyio.sleep(order.random() / 100)
        return said(by_input[messages[-1].text])

    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=[wholetext_scorer(s, LANGS) for s in specs])
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    return eval(task, model=model, max_samples=8, log_dir=str(folder / "logs"), display="none")[0]


def values(log: Any) -> list[dict[str, float]]:
    assert log.status == "success", log.error
    return [{name: metric.value for name, metric in scores.metrics.items()} for scores in log.results.scores]


def test_scores_are_those_of_the_command_and_errors_are_clustered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segments, specs = rows(), ("chrf", "d-bleu", "context(prev=2):bleu")
    log = run(tmp_path, list(map(sample, segments)), [row["hyp"] for row in segments], *specs)
    expected = by_command(capsys, tmp_path, segments, *specs)
    assert [scores["corpus"] for scores in values(log)] == pytest.approx(expected, abs=1e-6)

    by_segment = np.array([  # the definition: deviations are summed by document (arXiv:2411.00640, appendix A)
        wt.score([row["hyp"]], "chrf", refs=[row["ref"]]).score for row in segments])  # fmt: skip
    assert values(log)[0]["mean"] == pytest.approx(by_segment.mean(), abs=1e-6)
    docs = np.array([row["doc"] for row in segments])
    sums = [(by_segment[docs == doc] - by_segment.mean()).sum() for doc in dict.fromkeys(docs)]
    clustered = math.sqrt(np.square(sums).sum() * len(sums) / (len(sums) - 1)) / len(docs)
    assert values(log)[0]["stderr"] == pytest.approx(clustered, abs=1e-6)


def test_a_sample_may_be_a_document_and_what_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    document = {"doc": "a", "src": "Eins.\nZwei.", "ref": "One.\nTwo."}
    again = {**document, "doc": "b"}
    log = run(tmp_path, [sample(document), sample(again)], ["One.\nTo.", "One and two."], "chrf")
    alone = wt.score([["One.", "To."]], "chrf", refs=[["One.", "Two."]]).score
    scores = [entry.scores["wholetext_scorer"] for entry in log.samples]
    assert values(log)[0]["mean"] == values(log)[0]["corpus"] == pytest.approx(alone, abs=1e-6)
    assert log.results.scores[0].unscored_samples == 1 and math.isnan(scores[1].as_float())
    assert scores[1].reason == "invalid_response_format" and "segments" in scores[1].explanation


def test_a_score_that_is_not_defined_is_nan(tmp_path: Path) -> None:
    samples = [sample({"doc": "a", "src": "Ein Satz.", "ref": ""})]  # without a term that recurs
    log = run(tmp_path, samples, ["A sentence."], "term-consistency")
    score = log.samples[0].scores["wholetext_scorer"]
    assert log.results.scores[0].unscored_samples == 1 and math.isnan(score.as_float())
    assert score.reason == "scoring_failed" and "every score is undefined" in score.explanation


def test_a_document_is_scored_through_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segments, spec = rows(3), "slide(size=3,step=1):chrf"
    docs = {row["doc"]: [other for other in segments if other["doc"] == row["doc"]] for row in segments}
    joined = [{side: "\n".join(row[side] for row in some) for side in ("src", "ref", "hyp")} for some in docs.values()]
    samples = [sample({**texts, "doc": doc}) for doc, texts in zip(docs, joined)]
    log = run(tmp_path, samples, [texts["hyp"] for texts in joined], spec)
    assert [values(log)[0]["corpus"]] == pytest.approx(by_command(capsys, tmp_path, segments, spec), abs=1e-6)


def test_mistakes_are_answered(tmp_path: Path) -> None:
    with pytest.raises(wt.errors.SpecError, match="there is no metric 'chrff'") as caught:
        wholetext_scorer("chrff")
    assert "did you mean chrf" in caught.value.next
    row = {"doc": "a", "src": "x", "ref": "x"}
    log = run(tmp_path, [Sample(input="x", target="x")], ["x"], "chrf")
    assert log.status == "error" and "there is no document id" in log.error.message
    log = run(tmp_path, [Sample(input="x", target="x", metadata={"doc": "a"})], ["x"], "term-consistency")
    assert log.status == "error" and "needs the source" in log.error.message, log.error
    log = run(tmp_path, [Sample(input="x", metadata={"doc": "a"})], [row["ref"]], "chrf")
    assert log.status == "error" and "chrf needs a reference" in log.error.message
