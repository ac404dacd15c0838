"""wholetext judges translations and other generated text as whole documents.

    corpus, outputs, _ = wt.read("corpus.jsonl")
    scores = wt.score(corpus, outputs, "paragraph(size=6):chrf")
    scores["my-system"].at("doc")

Names are loaded when they are first used, so importing wholetext costs next to nothing. docs/api.md lists them.
"""

from importlib import import_module

from wholetext.version import __version__ as __version__

# The public names, module by module. `make docs` writes __init__.pyi (for type checkers) and docs/api.md from it.
_PUBLIC = {
    "alignment.realign": ("Aligned", "AlignOptions", "align"),
    "annotation.annotations": ("PearmutAnnotations", "read_pearmut", "write_judgments"),
    "annotation.campaign": ("Campaign", "make_campaign"),
    "annotation.sampling": ("Sample", "SampledDocument", "sample"),
    "models.catalogue": ("fetch_model", "list_models", "show_model"),
    "judges.chat.calls": ("Calls",),
    "metrics.verify": ("ModelFinding", "verify_model"),
    "errors": (
        "AlignmentError",
        "CacheError",
        "InputError",
        "MetricError",
        "MissingExtra",
        "ModelError",
        "PluginError",
        "RunError",
        "SpecError",
        "TextTooLong",
        "WholetextError",
        "WholetextWarning",
        "WorkerError",
        "WriteError",
    ),
    "executor": ("Executor",),
    "files.cache": ("Cache",),
    "io.assembly": ("Loaded",),
    "io.detect": ("read",),
    "io.formats.jsonl": ("write",),
    "io.formats.lines": ("LineFiles", "from_texts"),
    "meta.agreement.correlation": ("williams_test",),
    "meta.contrast.accuracy": ("ContrastResults", "contrast"),
    "meta.contrast.formats": ("read_contrast_set",),
    "meta.contrast.items": ("ContrastOptions", "ContrastSet"),
    "meta.evaluate": ("MetaTasks", "ParagraphSets", "meta_evaluate", "paragraph_sets"),
    "meta.features": ("Discriminativeness", "discriminativeness"),
    "judges.check": ("JudgeCheck", "JudgeCheckOptions", "judge_check", "write_judge_check"),
    "judges.statistics": ("JudgeMeasure",),
    "meta.metric_scores": ("MetricSelection",),
    "meta.participants": ("Selection",),
    "meta.ranking": ("Averaging", "CategoryTest", "paired_t"),
    "meta.spans.evaluate": (
        "RaterSpans",
        "SpanOptions",
        "SpanResults",
        "evaluate_spans",
        "rater_spans",
    ),
    "meta.spans.files": ("read_spans",),
    "meta.spans.marks": ("Annotations", "ErrorSpan", "Marked"),
    "meta.store": ("Meta", "read_meta", "write_meta"),
    "meta.tasks": ("MetricTests",),
    "stress.change": ("Change",),
    "stress.known_changes": ("list_changes",),
    "stress.perturb": ("Changed", "Perturbed", "StressOptions", "perturb"),
    "stress.statistics": ("StressCell", "StressSlope"),
    "stress.store": ("write_stress",),
    "stress.evaluate": ("Stress",),
    "ranking.rank": ("RankedSystem", "Ranking", "rank"),
    "reporting.figures": ("plot",),
    "reporting.page": ("PageOptions", "report"),
    "scoring.comparison": ("compare_run",),
    "scoring.defaults": ("default_metrics",),
    "scoring.evaluate": ("Options", "evaluate", "list_metrics", "open_run", "score", "score_texts"),
    "scoring.explain": ("Explained", "explain"),
    "scoring.gate": ("GateCheck", "GateResult", "gate"),
    "scoring.plan": ("Plan", "plan", "write_prompts"),
    "scoring.results": ("Results", "write_run"),
    "scoring.run": ("make_run",),
    "scoring.sweep": ("Axes", "Sweep", "sweep", "write_sweep"),
    "serving.server": ("serve",),
    "serving.settings": ("ServeOptions",),
    "scoring.significance.compare": ("Comparison", "Significance", "compare"),
    "integrations.loggers": ("log_run",),
    "training.recipe": ("Recipe", "make_recipe"),
    "training.run": ("Session", "Trained", "train"),
    "types": (
        "Backend",
        "Corpus",
        "Document",
        "Excerpt",
        "Fit",
        "FloatArray",
        "Judgments",
        "Metric",
        "Output",
        "Request",
        "Row",
        "Runtime",
        "Scores",
        "Signature",
        "mean_stats",
    ),
}
_WHERE = {name: f"wholetext.{module}" for module, names in _PUBLIC.items() for name in names}
_RENAMED = {"Run": "Runtime", "View": "Excerpt"}  # names of interface version 1, until 0.4

__all__ = sorted([*_WHERE, "__version__"])


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        from warnings import warn

        warn(
            f"wholetext.{name} is now wholetext.{_RENAMED[name]}", DeprecationWarning, stacklevel=2
        )
        name = _RENAMED[name]
    if name not in _WHERE:
        raise AttributeError(f"module 'wholetext' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
