"""wholetext judges translations and other generated text as whole documents.

    loaded = wt.read("corpus.jsonl")
    results = wt.score(loaded, ["chrf", "paragraph(size=6):chrf"])
    results["chrf"]["my-system"].at("doc")

Names are imported when they are first used; docs/api.md lists them. Other capabilities are packages
of their own: ``wt.meta``, ``wt.judges``, ``wt.stress``, ``wt.training`` and others.
"""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext import (
        alignment as alignment,
        annotation as annotation,
        errors as errors,
        integrations as integrations,
        io as io,
        judges as judges,
        meta as meta,
        models as models,
        pick as pick,
        ranking as ranking,
        reporting as reporting,
        reproduce as reproduce,
        scoring as scoring,
        serving as serving,
        stress as stress,
        terms as terms,
        training as training,
    )
    from wholetext.errors import (
        WholetextError as WholetextError,
        WholetextWarning as WholetextWarning,
    )
    from wholetext.io.assembly import Loaded as Loaded
    from wholetext.io.detect import read as read
    from wholetext.io.formats.evalset import EvalSet as EvalSet
    from wholetext.io.formats.jsonl import write as write
    from wholetext.io.formats.lines import LineFiles as LineFiles, from_texts as from_texts
    from wholetext.notes import Note as Note
    from wholetext.reporting.figures import plot as plot
    from wholetext.reporting.page import report as report
    from wholetext.scoring.comparison import compare as compare
    from wholetext.scoring.evaluate import (
        Options as Options,
        default_metrics as default_metrics,
        list_metrics as list_metrics,
        score as score,
    )
    from wholetext.scoring.explain import explain as explain
    from wholetext.scoring.gate import gate as gate
    from wholetext.scoring.plan import plan as plan
    from wholetext.scoring.results import Results as Results, open_run as open_run
    from wholetext.scoring.significance.compare import (
        Comparison as Comparison,
        Significance as Significance,
    )
    from wholetext.scoring.sweep import sweep as sweep
    from wholetext.types import (
        Backend as Backend,
        Corpus as Corpus,
        Document as Document,
        Excerpt as Excerpt,
        Fit as Fit,
        FloatArray as FloatArray,
        Judgments as Judgments,
        Metric as Metric,
        Output as Output,
        Request as Request,
        Row as Row,
        Runtime as Runtime,
        Scores as Scores,
        Signature as Signature,
        mean_stats as mean_stats,
    )
    from wholetext.version import __version__ as __version__
else:
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
            "scoring.evaluate": ("Options", "default_metrics", "list_metrics", "score"),
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
            "pick",
            "ranking",
            "reporting",
            "reproduce",
            "scoring",
            "serving",
            "stress",
            "terms",
            "training",
        ),
    )
