"""wholetext judges translations and other generated text as whole documents.

    loaded = wt.read("corpus.jsonl")
    results = wt.score(loaded, ["chrf", "paragraph(size=6):chrf"])
    results["chrf"]["my-system"].at("doc")

Names are imported when they are first used; docs/api.md lists them. Other capabilities are packages
of their own: ``wt.meta``, ``wt.judges``, ``wt.stress``, ``wt.training`` and others.
"""

from wholetext.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "errors": ("WholetextError", "WholetextWarning"),
        "io.assembly": ("Loaded",),
        "io.detect": ("read",),
        "io.formats.evalset": ("EvalSet",),
        "io.formats.jsonl": ("write",),
        "io.formats.lines": ("LineFiles", "from_texts"),
        "notes": ("Note",),
        "reporting.figures": ("plot",),
        "reporting.page": ("report",),
        "scoring.comparison": ("compare",),
        "scoring.defaults": ("default_metrics",),
        "scoring.evaluate": ("Options", "list_metrics", "score"),
        "scoring.explain": ("explain",),
        "scoring.gate": ("gate",),
        "scoring.plan": ("plan",),
        "scoring.results": ("Results", "open_run"),
        "scoring.significance.compare": ("Comparison", "Significance"),
        "scoring.sweep": ("sweep",),
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
        "version": ("__version__",),
    },
    packages=(
        "alignment",
        "annotation",
        "errors",
        "integrations",
        "io",
        "judges",
        "meta",
        "models",
        "ranking",
        "reporting",
        "scoring",
        "serving",
        "stress",
        "training",
    ),
)
