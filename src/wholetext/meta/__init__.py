"""Meta-evaluation: human judgments, agreement tasks, paragraph data, contrastive sets."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.meta.agreement.correlation import williams_test as williams_test
    from wholetext.meta.contrastive.decisions import ContrastResults as ContrastResults
    from wholetext.meta.contrastive.decisions import contrast as contrast
    from wholetext.meta.contrastive.formats import ContrastSet as ContrastSet
    from wholetext.meta.contrastive.formats import read_contrast_set as read_contrast_set
    from wholetext.meta.evaluate import MetaTasks as MetaTasks
    from wholetext.meta.evaluate import ParagraphSets as ParagraphSets
    from wholetext.meta.evaluate import meta_evaluate as meta_evaluate
    from wholetext.meta.evaluate import paragraph_sets as paragraph_sets
    from wholetext.meta.features import CategoryTest as CategoryTest
    from wholetext.meta.features import Discriminativeness as Discriminativeness
    from wholetext.meta.features import discriminativeness as discriminativeness
    from wholetext.meta.features import paired_t as paired_t
    from wholetext.meta.metric_scores import MetricSelection as MetricSelection
    from wholetext.meta.participants import Selection as Selection
    from wholetext.meta.spans.evaluate import RaterSpans as RaterSpans
    from wholetext.meta.spans.evaluate import SpanOptions as SpanOptions
    from wholetext.meta.spans.evaluate import SpanResults as SpanResults
    from wholetext.meta.spans.evaluate import evaluate_spans as evaluate_spans
    from wholetext.meta.spans.evaluate import rater_spans as rater_spans
    from wholetext.meta.spans.marks import Annotations as Annotations
    from wholetext.meta.spans.marks import ErrorSpan as ErrorSpan
    from wholetext.meta.spans.marks import Marked as Marked
    from wholetext.meta.spans.marks import read_spans as read_spans
    from wholetext.meta.store import Meta as Meta
    from wholetext.meta.store import write_meta as write_meta
    from wholetext.meta.tasks import MetricTests as MetricTests
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "meta.agreement.correlation": ("williams_test",),
            "meta.contrastive.decisions": ("ContrastResults", "contrast"),
            "meta.contrastive.formats": ("ContrastSet", "read_contrast_set"),
            "meta.evaluate": ("MetaTasks", "ParagraphSets", "meta_evaluate", "paragraph_sets"),
            "meta.features": (
                "CategoryTest",
                "Discriminativeness",
                "discriminativeness",
                "paired_t",
            ),
            "meta.metric_scores": ("MetricSelection",),
            "meta.participants": ("Selection",),
            "meta.spans.evaluate": (
                "RaterSpans",
                "SpanOptions",
                "SpanResults",
                "evaluate_spans",
                "rater_spans",
            ),
            "meta.spans.marks": ("Annotations", "ErrorSpan", "Marked", "read_spans"),
            "meta.store": ("Meta", "write_meta"),
            "meta.tasks": ("MetricTests",),
        },
    )
