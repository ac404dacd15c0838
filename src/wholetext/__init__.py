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
    )
    from wholetext import (
        annotation as annotation,
    )
    from wholetext import (
        errors as errors,
    )
    from wholetext import (
        integrations as integrations,
    )
    from wholetext import (
        io as io,
    )
    from wholetext import (
        judges as judges,
    )
    from wholetext import (
        meta as meta,
    )
    from wholetext import (
        models as models,
    )
    from wholetext import (
        ranking as ranking,
    )
    from wholetext import (
        reporting as reporting,
    )
    from wholetext import (
        scoring as scoring,
    )
    from wholetext import (
        serving as serving,
    )
    from wholetext import (
        stress as stress,
    )
    from wholetext import (
        training as training,
    )
    from wholetext.errors import (
        WholetextError as WholetextError,
    )
    from wholetext.errors import (
        WholetextWarning as WholetextWarning,
    )
    from wholetext.io.assembly import Loaded as Loaded
    from wholetext.io.detect import read as read
    from wholetext.io.formats.evalset import EvalSet as EvalSet
    from wholetext.io.formats.jsonl import write as write
    from wholetext.io.formats.lines import LineFiles as LineFiles
    from wholetext.io.formats.lines import from_texts as from_texts
    from wholetext.notes import Note as Note
    from wholetext.reporting.figures import plot as plot
    from wholetext.reporting.page import report as report
    from wholetext.scoring.comparison import compare as compare
    from wholetext.scoring.evaluate import Options as Options
    from wholetext.scoring.evaluate import default_metrics as default_metrics
    from wholetext.scoring.evaluate import list_metrics as list_metrics
    from wholetext.scoring.evaluate import score as score
    from wholetext.scoring.explain import explain as explain
    from wholetext.scoring.gate import gate as gate
    from wholetext.scoring.plan import plan as plan
    from wholetext.scoring.results import Results as Results
    from wholetext.scoring.results import open_run as open_run
    from wholetext.scoring.significance.compare import (
        Comparison as Comparison,
    )
    from wholetext.scoring.significance.compare import (
        Significance as Significance,
    )
    from wholetext.scoring.sweep import sweep as sweep
    from wholetext.types import (
        Backend as Backend,
    )
    from wholetext.types import (
        Corpus as Corpus,
    )
    from wholetext.types import (
        Document as Document,
    )
    from wholetext.types import (
        Excerpt as Excerpt,
    )
    from wholetext.types import (
        Fit as Fit,
    )
    from wholetext.types import (
        FloatArray as FloatArray,
    )
    from wholetext.types import (
        Judgments as Judgments,
    )
    from wholetext.types import (
        Metric as Metric,
    )
    from wholetext.types import (
        Output as Output,
    )
    from wholetext.types import (
        Request as Request,
    )
    from wholetext.types import (
        Row as Row,
    )
    from wholetext.types import (
        Runtime as Runtime,
    )
    from wholetext.types import (
        Scores as Scores,
    )
    from wholetext.types import (
        Signature as Signature,
    )
    from wholetext.types import (
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
            "ranking",
            "reporting",
            "scoring",
            "serving",
            "stress",
            "training",
        ),
    )
