"""lm-evaluation-harness itself: metrics by name in its tasks, and the logs that it writes."""

# ruff: noqa: E402
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.integrations.cases import by_command, rows

lm_eval = pytest.importorskip("lm_eval", reason="lm_eval is not installed: make test-integration")

from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from wholetext.integrations.lm_eval import register

SPECS = ("chrf", "d-bleu", "slide(size=3,step=3):ter")
TASK = """
task: demo_mt
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/data.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "Translate: {{{{source}}}}"
doc_to_target: {target}
generation_kwargs: {{until: ["\\n\\n"]}}
{results}
metric_list:
"""


class Memory(LM):
    """A model that knows the answers."""

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [self.answers[request.args[0]] for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@pytest.fixture
def segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    segments = rows()
    with (tmp_path / "data.jsonl").open("w", encoding="utf-8") as data:
        for row in segments:
            names = {"document_id": row["doc"], "source": row["src"], "target": row["ref"], "both": [row["ref"]] * 2}
            data.write(json.dumps(names, ensure_ascii=False) + "\n")
    return segments


def run(folder: Path, segments: list[dict[str, str]], *metrics: str, results: str = "", target: str = "target") -> Any:
    (folder / "tasks").mkdir(exist_ok=True)
    text = TASK.format(folder=folder, results=results, target=target)
    (folder / "tasks" / "demo.yaml").write_text(text + "".join(f"  - metric: {name}\n" for name in metrics), "utf-8")
    manager = TaskManager(include_path=str(folder / "tasks"), include_defaults=False)
    model = Memory({f"Translate: {row['src']}": row["hyp"] for row in segments})
    return lm_eval.simple_evaluate(model=model, tasks=["demo_mt"], task_manager=manager, log_samples=True)


def test_scores_by_name_and_of_the_log_are_those_of_the_command(
    tmp_path: Path, segments: list[dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    expected = by_command(capsys, tmp_path, segments, *SPECS)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "utils.py").write_text(
        "from wholetext.integrations.lm_eval import register\n"
        f"process_results = register({', '.join(map(repr, SPECS))}, langs='de-en')\n")
    names = [f"wholetext/{spec}" for spec in SPECS]
    made = run(tmp_path, segments, *names, results="process_results: !function utils.process_results")
    assert [made["results"]["demo_mt"][f"{name},none"] for name in names] == pytest.approx(expected, abs=1e-6)
    assert [made["higher_is_better"]["demo_mt"][name] for name in names] == [True, True, False]

    tracker = EvaluationTracker(output_path=str(tmp_path / "logs"))
    tracker.general_config_tracker.model_name_sanitized = "my-model"
    samples = made.pop("samples")
    tracker.save_results_aggregated(results=made, samples=samples)
    tracker.save_results_samples(task_name="demo_mt", samples=samples["demo_mt"])
    (path,) = (tmp_path / "logs" / "my-model").glob("samples_demo_mt_*.jsonl")
    results = wt.score(wt.read(path, langs="de-en"), list(SPECS))
    assert results.systems == ("my-model",) and results.corpus.id == "demo_mt"
    assert [results[spec]["my-model"].score for spec in SPECS] == pytest.approx(expected, abs=1e-6)


def test_a_task_may_do_without_process_results(
    tmp_path: Path, segments: list[dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    register("chrf")
    made = run(tmp_path, segments, "wholetext/chrf")
    expected = by_command(capsys, tmp_path, segments, "chrf")
    assert [made["results"]["demo_mt"]["wholetext/chrf,none"]] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(wt.errors.InputError, match="several targets") as caught:
        run(tmp_path, segments, "wholetext/chrf", target="both")
    assert "process_results" in caught.value.next


def test_mistakes_are_answered(tmp_path: Path, segments: list[dict[str, str]]) -> None:
    with pytest.raises(wt.errors.SpecError, match="there is no metric 'chrff'"):
        register("chrff")
    process = register("chrf", "term-consistency", src="source", ref=None, doc=None)
    with pytest.raises(wt.errors.InputError, match="no column 'source'") as caught:
        process({"sources": "Ja."}, ["Yes."])
    assert "did you mean sources?" in caught.value.next
    item = process({"source": "Ja."}, ["Yes."])["wholetext/chrf"]
    assert item == ("Yes.", (), "Ja.", None, None)
    register("term-consistency")
    with pytest.raises(wt.errors.MetricError, match="term-consistency needs the source"):
        run(tmp_path, segments, "wholetext/term-consistency")
