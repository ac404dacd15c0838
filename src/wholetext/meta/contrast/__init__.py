"""Contrastive sets: can a reference-free metric tell a correct translation from one that is wrong in its context?"""

from wholetext.meta.contrast.accuracy import (
    ContrastAccuracy,
    ContrastComparison,
    ContrastResults,
    compare,
    contrast,
    groups,
    overall,
)
from wholetext.meta.contrast.decisions import Decisions, decide, given_scores
from wholetext.meta.contrast.formats import READERS, read_contrast_set
from wholetext.meta.contrast.items import Candidate, ContrastOptions, ContrastSet, Item

__all__ = ["READERS", "Candidate", "ContrastAccuracy", "ContrastComparison", "ContrastOptions", "ContrastResults",
           "ContrastSet", "Decisions", "Item", "compare", "contrast", "decide", "given_scores", "groups", "overall",
           "read_contrast_set"]
