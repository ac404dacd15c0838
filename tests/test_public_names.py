"""The package's names stay what they are promised to be, whichever modules were imported before."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import wholetext as wt
from wholetext import errors
from wholetext.cli.main import VERBS

ROOT = Path(__file__).resolve().parent.parent

# what is promised: adding a name is a decision, taking one away breaks programs
PUBLIC = [
    "AlignOptions", "Aligned", "AlignmentError", "Annotations", "Averaging", "Axes", "Backend", "Cache",
    "CacheError", "Calls", "Campaign", "CategoryTest", "Change", "Changed", "Comparison", "ContrastOptions",
    "ContrastResults", "ContrastSet", "Corpus", "Discriminativeness", "Document", "ErrorSpan", "Excerpt",
    "Executor", "Explained", "Fit", "FloatArray", "GateCheck", "GateResult", "InputError", "JudgeCheck",
    "JudgeCheckOptions", "JudgeMeasure", "Judgments", "LineFiles", "Loaded", "Marked", "Meta", "MetaTasks",
    "Metric", "MetricError", "MetricSelection", "MetricTests", "MissingExtra", "ModelError", "ModelFinding",
    "Options", "Output", "PageOptions", "ParagraphSets", "PearmutAnnotations", "Perturbed", "Plan", "PluginError",
    "RankedSystem", "Ranking", "RaterSpans", "Recipe", "Request", "Results", "Row", "RunError", "Runtime", "Sample",
    "SampledDocument", "Scores", "Selection", "ServeOptions", "Session", "Signature", "Significance", "SpanOptions",
    "SpanResults", "SpecError", "Stress", "StressCell", "StressOptions", "StressSlope", "Sweep", "TextTooLong",
    "Trained", "WholetextError", "WholetextWarning", "WorkerError", "WriteError", "__version__",
    "align", "compare", "compare_run", "contrast", "default_metrics", "discriminativeness", "evaluate",
    "evaluate_spans", "explain", "fetch_model", "from_texts", "gate", "judge_check", "list_changes", "list_metrics",
    "list_models", "log_run", "make_campaign", "make_recipe", "make_run", "mean_stats", "meta_evaluate", "open_run",
    "paired_t", "paragraph_sets", "perturb", "plan", "plot", "rank", "rater_spans", "read", "read_contrast_set",
    "read_meta", "read_pearmut", "read_spans", "report", "sample", "score", "score_texts", "serve", "show_model",
    "sweep", "train", "verify_model", "williams_test", "write", "write_judge_check", "write_judgments",
    "write_meta", "write_prompts", "write_run", "write_stress", "write_sweep",
]  # fmt: skip


def test_functions_are_not_replaced_by_modules_of_the_same_name() -> None:
    for _ in range(2):
        assert wt.score_texts(["a b c"], refs=["a b c"], metric="chrf").score == 100.0
        importlib.import_module("wholetext.metrics.surface")
        assert not isinstance(wt.evaluate, ModuleType) and "chrf" in wt.list_metrics()
    for module in pkgutil.iter_modules(wt.__path__):
        if module.name not in ("models", "reporting", "training", "__main__"):
            importlib.import_module(f"wholetext.{module.name}")
    for name in wt.__all__:
        assert not isinstance(getattr(wt, name), ModuleType), name


def test_every_public_name_is_listed() -> None:
    assert dir(wt) == sorted(wt.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"__version__", "FloatArray"}))
def test_every_public_name_is_the_object_of_that_name(name: str) -> None:
    """Names are loaded from a table of modules: an entry that is wrong or missing would show only when it is used."""
    found = getattr(wt, name)
    assert found.__name__ == name and found.__doc__
    assert found.__module__.startswith("wholetext.")


def test_editors_see_the_names_that_are_loaded() -> None:
    """Type checkers and editors read the stub, which is made from the table of modules that is used at run time."""
    tree = ast.parse(Path(wt.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = {alias.asname: line.module for line in tree.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert sorted(map(str, seen)) == PUBLIC
    for name, module in seen.items():
        assert getattr(importlib.import_module(str(module)), str(name)) is getattr(wt, str(name)), name


@pytest.mark.slow
def test_a_strict_type_checker_sees_every_name(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("import wholetext as wt\n" + "".join(f"wt.{name}\n" for name in PUBLIC))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_page_of_python_lists_every_name() -> None:
    listed = re.findall("^### (.+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    assert sorted(listed) == sorted({*PUBLIC} - {"__version__", "FloatArray"})


def test_every_error_is_public() -> None:
    known = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}
    assert known <= {*PUBLIC}


def test_every_verb_has_a_public_function() -> None:
    """The table of the page names a function for every verb, and every function of the table is public."""
    rows = re.findall(r"^\| (`.+`) \| (.+) \|$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    verbs = {verb for row, _ in rows for verb in re.findall("`([a-z-]+)`", row)}
    functions = {name for _, row in rows for name in re.findall("`([A-Za-z_]+)`", row)}
    assert verbs | {"show", "demo"} == {*VERBS}
    assert functions <= {*PUBLIC}


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = wt.scores


def test_modules_of_metrics_can_be_imported_by_name() -> None:
    import wholetext.metrics.surface as surface

    assert surface.Bleu is wt.list_metrics()["bleu"]


@pytest.mark.parametrize(("old", "new"), [("Run", "Runtime"), ("View", "Excerpt")])
def test_names_of_the_first_interface_still_work_and_warn(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"wholetext.{old} is now wholetext.{new}"):
        assert getattr(wt, old) is getattr(wt, new)
