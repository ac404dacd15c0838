"""The gate: it fails on a significant fall and on nothing else."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.demo import load

ROOT = Path(__file__).resolve().parents[2]
HOW = wt.Significance(draws=2000)


@pytest.fixture(scope="module")
def results() -> wt.Results:
    """The demo's systems, one that is hardly worse than `coherent`, and a metric of which lower is better."""
    corpus, outputs = load("de-en")
    by_name = {output.system: output for output in outputs}
    docs = dict(by_name["coherent"].docs)
    docs["news-ferry"] = (*docs["news-ferry"][:-1], "And then nothing more was heard.")
    near = wt.Output("near", docs)
    chosen = [by_name["coherent"], by_name["literal"], near]
    return wt.score(
        wt.Loaded(corpus, tuple(chosen), ()), ["chrf", "ter"], options=wt.Options(cache=False), significance=HOW
    )


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_only_a_significant_fall_fails(results: wt.Results, metric: str) -> None:
    found = wt.gate(results, "coherent", metrics=[metric])
    checks = {check.system: check for check in found.checks}
    assert not found.passed and not checks["literal"].passed and "significant (p 0.0" in checks["literal"].reason
    assert checks["near"].passed and checks["near"].drop > 0 and "not significant" in checks["near"].reason
    assert "on 12 documents a drop of" in checks["near"].reason
    assert all("\n" not in check.reason for check in found.checks)
    assert wt.gate(results, "coherent", metrics=[metric], systems=["near"]).passed
    upwards = wt.gate(results, "literal", metrics=[metric])
    assert upwards.passed and upwards.checks[0].drop < 0 and "not worse than literal" in upwards.checks[0].reason


def test_a_significant_fall_within_max_drop_passes(results: wt.Results) -> None:
    fall = wt.gate(results, "coherent", metrics=["chrf"], systems=["literal"]).checks[0].drop
    assert not wt.gate(results, "coherent", metrics=["chrf"], systems=["literal"], max_drop=fall - 0.01).passed
    found = wt.gate(results, "coherent", metrics=["chrf"], systems=["literal"], max_drop=fall + 0.01)
    assert found.passed and "not more than the" in found.checks[0].reason


def test_p_values_are_corrected_over_all_checks(results: wt.Results) -> None:
    one = wt.gate(results, "coherent", metrics=["chrf"], systems=["literal"]).checks[0]
    four = next(check for check in wt.gate(results, "coherent").checks if check.system == "literal")
    assert four.p == pytest.approx(4 * one.p)


def test_what_cannot_be_decided_is_an_error(results: wt.Results) -> None:
    for arguments, said in [(("COHERNT",), "did you mean coherent"), (("coherent", "wrong"), "choose one of")]:
        with pytest.raises(wt.errors.InputError) as caught:
            wt.gate(results, arguments[0], systems=arguments[1:])
        assert said in caught.value.next
    with pytest.raises(wt.errors.RunError, match="no metric 'bleu'"):
        wt.gate(results, "coherent", metrics=["bleu"])
    with pytest.raises(wt.errors.InputError, match="max_drop"):
        wt.gate(results, "coherent", max_drop=math.nan)
    with pytest.raises(wt.errors.InputError, match="no system to compare"):
        wt.gate(results, "coherent", systems=["coherent"])
    undefined = {name: replace(one, reduce=lambda totals: np.full((*totals.shape[:-1], 1), np.nan))
                 for name, one in results["chrf"].items()}
    with pytest.raises(wt.errors.MetricError, match="no defined score for coherent"):
        wt.gate(replace(results, scores={"chrf": undefined}), "coherent")


def test_the_command_exits_with_the_outcome(
    results: wt.Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, xml = tmp_path / "run", tmp_path / "gate.xml"
    wt.scoring.write_run(results, run)
    code, out, _ = call(capsys, "gate", str(run), "--baseline", "coherent", "-m", "chrf", "--junit", str(xml))
    passed, failed, summary = out.splitlines()
    assert code == 1 and passed.startswith("passed: chrf of near ") and failed.startswith("failed: chrf of literal is ")
    assert summary == "1 of 2 checks failed"
    suite = ElementTree.parse(xml).getroot()[0]
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1"
    assert [case.find("failure") is not None for case in suite.findall("testcase")] == [True, False]
    again = call(capsys, "gate", str(run), "--baseline", "coherent", "-m", "chrf", "--junit", str(xml))
    assert again[0] == code and "<testsuites" in xml.read_text("utf-8")
    xml.write_text("mine", "utf-8")
    code, _, said = call(capsys, "gate", str(run), "--baseline", "coherent", "-m", "chrf", "--junit", str(xml))
    assert code == 2 and "would be replaced" in said and xml.read_text("utf-8") == "mine"
    code, out, _ = call(capsys, "gate", str(run), "--baseline", "coherent", "--system", "near", "-m", "chrf", "ter")
    assert code == 0 and out.startswith("passed: ") and out.endswith("none of 2 checks failed\n")
    code, out, _ = call(capsys, "gate", str(run), "--baseline", "coherent", "--json", "--alpha", "0.0001")
    found = json.loads(out)
    assert code == 0 and found["passed"] and found["alpha"] == 0.0001 and len(found["checks"]) == 4
    assert call(capsys, "gate", str(run), "--baseline", "nobody")[0] == 2


def test_junit_is_xml_whatever_systems_are_called(results: wt.Results) -> None:
    check = replace(wt.gate(results, "coherent").checks[0], system="<&\x00\x1b>", reason="a\x0b<b>", passed=False)
    made = wt.scoring.GateResult("coherent\x07", 0.0, 0.05, (check,), ("note\x01",))
    assert ElementTree.fromstring(made.junit().encode())[0][0].attrib["name"] == "<&\\x00\\x1b> against coherent\\x07"


def steps(name: str) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "examples" / "ci" / name).read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    corpus, outputs = load("de-en")
    names = {"coherent": "prod", "literal": "new"}
    renamed = [replace(one, system=names[one.system]) for one in outputs if one.system in names]
    (tmp_path / "eval").mkdir()
    wt.write(tmp_path / "eval" / "corpus.jsonl", wt.Loaded(corpus, tuple(renamed), ()))
    return tmp_path


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path, **environment})


def test_the_example_workflow_runs(project: Path) -> None:
    job = steps("quality-gate.yml")["jobs"]["gate"]
    assert all("${{" not in step.get("run", "") for step in job["steps"])  # nothing of the inputs becomes code
    commands = {step["name"]: step["run"] for step in job["steps"] if "name" in step}
    inputs = {"CORPUS": "eval/corpus.jsonl", "BASELINE": "prod", "METRICS": "chrf bleu", "MAX_DROP": "0"}
    for name, code in (("Score", 0), ("Gate", 1)):
        done = shell(commands[name], project, **inputs)
        assert done.returncode == code, done.stderr
    assert (project / "gate.xml").exists() and done.stdout.splitlines()[-2].startswith("failed: ")


def test_the_example_of_pre_commit_runs(project: Path) -> None:
    (hook,) = steps("pre-commit-config.yaml")["repos"][0]["hooks"]
    done = shell(hook["entry"], project)
    assert done.returncode == 1 and done.stdout.startswith("failed: chrf of new"), done.stderr
