"""Every module has a test file of its name in the tests of its package, or is listed with a reason and other tests."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "wholetext"

# package (or module of the root) → why modules of it are tested under another name
REASONS = {
    "alignment": "the name is taken: pytest needs unique names of test files",
    "annotation": "campaign and annotations are two ends of one exchange with Pearmut",
    "backends": "tested through metrics and training, with tiny models",
    "cli": "tested through the verb, from its options to its output",
    "executors": "the scheduler's tests drive every pool",
    "flags": "tested through the flags that are reported",
    "io": "tested through the formats that use it",
    "languages": "tested through the checks and metrics that use it",
    "meta": "tested through the study that uses it",
    "metrics": "tested through scores of the metric, against the original tool where there is one",
    "notebook": "tested through what a notebook shows",
    "perturbation": "one test file per group of changes, with the same cases for each",
    "ranking": "tested through rankings",
    "registry": "tested through spec strings and plug-ins",
    "reporting": "tested through the page",
    "rows": "tested through views, which make rows",
    "scoring": "tested through evaluations and run folders",
    "serving": "tested through the scheduler, which starts it",
    "taggers": "one test file, with the same cases for every tagger",
    "training": "tested through training runs",
    "types": "tested through evaluations",
}

# module → the test files (below tests/) that cover it under another name
ELSEWHERE = {
    "alignment/paragraphs": "alignment/test_output_paragraphs",
    "alignment/vectors": "alignment/test_sentence_vectors",
    "annotation/annotations": "annotation/test_pearmut",
    "annotation/campaign": "annotation/test_pearmut",
    "backends/comet/model": "backends/test_comet_checkpoint metrics/test_comet",
    "backends/comet/scoring": "metrics/test_comet",
    "backends/embeddings": "metrics/test_bertscore metrics/test_neural_views",
    "backends/encoder": "backends/test_stack backends/test_lanes",
    "backends/hub/pickled": "backends/test_torch_file",
    "backends/learned/bitext": "metrics/test_learned_bitext",
    "backends/learned/body": "metrics/test_learned_aligned training/test_training",
    "backends/learned/config": "metrics/test_learned_aligned training/test_train_folders",
    "backends/learned/folder": "training/test_train_folders",
    "backends/learned/forms": "training/test_training",
    "backends/learned/joint": "training/test_training",
    "backends/learned/matched": "metrics/test_learned_matched",
    "backends/learned/separate": "metrics/test_learned_aligned",
    "backends/learned/t5": "training/test_training",
    "backends/loading": "backends/test_seq2seq metrics/test_metricx",
    "backends/regressor": "metrics/test_metricx",
    "backends/verify": "backends/test_catalogue backends/test_damaged_folders",
    "cli/annotation": "annotation/test_pearmut",
    "cli/contrast": "meta/test_contrast meta/test_features",
    "cli/meta_tables": "cli/test_meta",
    "cli/options": "cli/test_main cli/test_score",
    "cli/rank": "ranking/test_rank",
    "cli/runs": "cli/test_compare_cli cli/test_explain_cli",
    "cli/studies/stress": "cli/test_stress_cli",
    "cli/train": "training/test_train_cli",
    "cli/web/serve": "serving/test_server",
    "executors/pool": "executors/test_schedule",
    "flags/checks": "flags/test_degenerate",
    "flags/markup": "flags/test_formats",
    "flags/numbers": "flags/test_formats",
    "flags/prompts": "flags/test_formats",
    "io/assembly": "io/test_format_list io/test_doubtful_files",
    "io/formats/json_record": "io/test_jsonl",
    "io/formats/published_scores": "ranking/test_rank meta/test_published",
    "io/markup": "io/test_wmt",
    "io/segments": "io/test_tsv io/test_jsonl",
    "languages/identify": "flags/test_input_checks",
    "languages/scripts": "flags/test_degenerate metrics/test_surface_parity",
    "meta/agreement/permuted_metrics": "meta/agreement/test_permutation",
    "meta/contrast/accuracy": "meta/test_contrast",
    "meta/contrast/decisions": "meta/test_contrast",
    "meta/contrast/formats": "meta/test_contrast_items",
    "meta/contrast/items": "meta/test_contrast_items",
    "meta/contrast/subtitles": "meta/test_contrast",
    "meta/conventions": "meta/test_participants meta/test_meta_choices",
    "meta/evaluate": "cli/test_meta",
    "meta/metric_scores": "meta/test_meta_choices",
    "meta/ranking": "meta/test_tasks",
    "meta/spans/evaluate": "meta/test_spans",
    "meta/spans/files": "meta/test_span_files meta/test_spans",
    "meta/spans/marks": "meta/test_spans",
    "meta/store": "meta/test_tasks files/test_output_folder",
    "metrics/blonde/explain": "metrics/test_blonde_documents cli/test_explain_cli",
    "metrics/blonde/metric": "metrics/test_blonde metrics/test_blonde_golden",
    "metrics/blonde/occurrences": "metrics/test_categories metrics/test_language_tables",
    "metrics/blonde/units": "metrics/test_blonde_paper metrics/test_blonde_golden",
    "metrics/cohesion/metric": "metrics/test_cohesion",
    "metrics/learned": "training/test_training metrics/test_wt_mini",
    "metrics/model_metric": "metrics/test_neural_views metrics/test_model_parameters",
    "metrics/sbert": "metrics/test_neural_views",
    "notebook/run_table": "notebook/test_display notebook/test_frames",
    "perturbation/changes/consistency/address": "perturbation/changes/test_consistency",
    "perturbation/changes/consistency/name": "perturbation/changes/test_consistency",
    "perturbation/changes/consistency/pronoun": "perturbation/changes/test_consistency",
    "perturbation/changes/consistency/tense": "perturbation/changes/test_consistency",
    "perturbation/changes/consistency/term": "perturbation/changes/test_consistency",
    "perturbation/changes/consistency/verbs": "perturbation/changes/test_consistency",
    "perturbation/changes/controls/contraction": "perturbation/changes/test_controls",
    "perturbation/changes/controls/negation": "perturbation/changes/test_controls",
    "perturbation/changes/controls/number": "perturbation/changes/test_controls",
    "perturbation/changes/controls/paraphrase": "perturbation/changes/test_controls",
    "perturbation/changes/controls/resegment": "perturbation/changes/test_controls",
    "perturbation/changes/controls/typography": "perturbation/changes/test_controls",
    "perturbation/changes/relations/antecedent": "perturbation/changes/test_relations",
    "perturbation/changes/relations/connective": "perturbation/changes/test_relations",
    "perturbation/changes/relations/connective_drop": "perturbation/changes/test_relations",
    "perturbation/changes/relations/connectives": "perturbation/changes/test_relations",
    "perturbation/changes/relations/ellipsis": "perturbation/changes/test_relations",
    "perturbation/changes/structure/double": "perturbation/changes/test_structure",
    "perturbation/changes/structure/drop": "perturbation/changes/test_structure",
    "perturbation/changes/structure/foreign": "perturbation/changes/test_structure",
    "perturbation/changes/structure/move": "perturbation/changes/test_structure",
    "perturbation/changes/structure/reverse": "perturbation/changes/test_structure",
    "perturbation/changes/structure/shuffle": "perturbation/changes/test_structure",
    "perturbation/changes/structure/swap": "perturbation/changes/test_structure",
    "ranking/panel": "ranking/test_rank",
    "registry": "test_spec test_plugins",
    "reporting/analysis": "reporting/test_page",
    "reporting/panels": "reporting/test_page reporting/test_studies",
    "reporting/texts": "reporting/test_page_texts",
    "rows": "test_views",
    "scoring/blocks/gathered": "scoring/test_evaluate",
    "scoring/blocks/parts": "scoring/test_evaluate scoring/test_context_controls",
    "scoring/bound": "scoring/test_evaluate scoring/test_context_controls",
    "scoring/explain": "cli/test_explain_cli test_plugins",
    "scoring/plan": "metrics/test_model_parameters metrics/test_neural_views",
    "scoring/run_files": "scoring/test_results",
    "serving/worker": "serving/test_scheduler",
    "taggers/chinese": "taggers/test_analysis",
    "taggers/given": "metrics/test_blonde_paper test_damaged_values",
    "taggers/hanta_de": "taggers/test_analysis",
    "taggers/natasha_ru": "taggers/test_analysis",
    "taggers/plain": "taggers/test_analysis",
    "taggers/simplemma_lemmas": "taggers/test_analysis",
    "training/card": "training/test_training",
    "training/checkpoint": "training/test_resume training/test_train_folders",
    "training/learner": "training/test_training",
    "training/run": "training/test_training training/test_resume",
    "types": "scoring/test_evaluate test_python_mistakes",
}


def modules() -> list[str]:
    names = [str(path.relative_to(SOURCE).with_suffix("")) for path in sorted(SOURCE.rglob("*.py"))]
    return [name for name in names if Path(name).name not in ("__init__", "__main__", "version")]


@pytest.mark.parametrize("module", modules())
def test_a_module_has_tests(module: str) -> None:
    room, name = module.split("/")[0], Path(module).name
    own = [*((TESTS / room).rglob(f"test_{name}.py") if "/" in module else TESTS.glob(f"test_{name}.py"))]
    if module in ELSEWHERE:
        assert not own, f"{module} has a test file of its own: take it off the list"
        own = [TESTS / f"{other}.py" for other in ELSEWHERE[module].split()]
    assert own and all(path.is_file() for path in own), f"there is no tests/{room}/test_{name}.py"


def test_the_lists_name_modules_that_are_there_and_reasons() -> None:
    assert {*ELSEWHERE} <= {*modules()}
    assert {module.split("/")[0] for module in ELSEWHERE} == {*REASONS}


def test_names_of_test_files_are_unique() -> None:
    """pytest imports them by name alone."""
    names = sorted(path.name for path in TESTS.rglob("test_*.py"))
    assert names == sorted(set(names))
