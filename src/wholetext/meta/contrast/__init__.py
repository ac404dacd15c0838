"""Contrastive sets: can a reference-free metric tell a correct translation from one that is wrong in its context?"""

from wholetext.meta.contrast.accuracy import Accuracy, Comparison, compare, groups, overall
from wholetext.meta.contrast.decisions import Decisions, decide, given_scores
from wholetext.meta.contrast.detect import READERS, read
from wholetext.meta.contrast.items import Candidate, ContrastSet, Item

__all__ = ["READERS", "Accuracy", "Candidate", "Comparison", "ContrastSet", "Decisions", "Item", "compare", "decide",
           "given_scores", "groups", "overall", "read"]
