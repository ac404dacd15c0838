"""Meta-evaluation: human judgments, agreement tasks, paragraph data, contrastive sets."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.meta.agreement.correlation import williams_test as williams_test
    from wholetext.meta.contrastive.decisions import (
        ContrastResults as ContrastResults,
        contrast as contrast,
    )
    from wholetext.meta.contrastive.formats import (
        ContrastSet as ContrastSet,
        read_contrast_set as read_contrast_set,
    )
    from wholetext.meta.evaluate import (
        MetaTasks as MetaTasks,
        ParagraphSets as ParagraphSets,
        meta_evaluate as meta_evaluate,
        paragraph_sets as paragraph_sets,
    )
    from wholetext.meta.features import (
        Discriminativeness as Discriminativeness,
        FeaturePairs as FeaturePairs,
        FocusStatistics as FocusStatistics,
        discriminativeness as discriminativeness,
        feature_pairs as feature_pairs,
        focus_statistics as focus_statistics,
        metric_correlation as metric_correlation,
    )
    from wholetext.meta.grid import GridAxes as GridAxes
    from wholetext.meta.metric_scores import MetricSelection as MetricSelection
    from wholetext.meta.participants import Selection as Selection
    from wholetext.meta.spans.evaluate import (
        RaterSpans as RaterSpans,
        SpanOptions as SpanOptions,
        SpanResults as SpanResults,
        evaluate_spans as evaluate_spans,
        rater_spans as rater_spans,
    )
    from wholetext.meta.spans.marks import (
        Annotations as Annotations,
        ErrorSpan as ErrorSpan,
        Marked as Marked,
        read_spans as read_spans,
    )
    from wholetext.meta.store import Meta as Meta, write_meta as write_meta
    from wholetext.meta.tasks import MetricTests as MetricTests
    from wholetext.scoring.significance.paired import (
        CategoryTest as CategoryTest,
        paired_t as paired_t,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "meta.agreement.correlation": ("williams_test",),
            "meta.contrastive.decisions": ("ContrastResults", "contrast"),
            "meta.contrastive.formats": ("ContrastSet", "read_contrast_set"),
            "meta.evaluate": ("MetaTasks", "ParagraphSets", "meta_evaluate", "paragraph_sets"),
            "meta.features": (
                "Discriminativeness",
                "FeaturePairs",
                "FocusStatistics",
                "discriminativeness",
                "feature_pairs",
                "focus_statistics",
                "metric_correlation",
            ),
            "meta.grid": ("GridAxes",),
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
            "scoring.significance.paired": ("CategoryTest", "paired_t"),
        },
    )
