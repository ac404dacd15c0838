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
from wholetext.meta.contrast.formats import READERS, read
from wholetext.meta.contrast.items import Candidate, ContrastSet, Item, Wanted

__all__ = ["READERS", "Candidate", "ContrastAccuracy", "ContrastComparison", "ContrastResults", "ContrastSet",
           "Decisions", "Item", "Wanted", "compare", "contrast", "decide", "given_scores", "groups", "overall", "read"]
