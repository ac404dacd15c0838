"""Readings: what the discourse metrics need to know of a whole text, gathered from the analyses of its segments."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext.taggers.analysis import NOUNS, Analyser, Analysis, Token
from wholetext.types import Excerpt, Runtime

WordsFrom = Literal["tokens", "spaces"]
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})  # universal tags of words that carry meaning themselves


@dataclass(frozen=True)
class AnalysedText:
    """What the discourse metrics need to know of a text, lower-cased; build it by hand where no tagger is wanted."""

    words: tuple[str, ...]
    sentences: tuple[tuple[int, int], ...]  # spans of words
    nouns: tuple[tuple[int, str], ...]  # (sentence, lemma) in order, repeats kept
    noun_words: tuple[tuple[int, str], ...] = ()  # (word, lemma), where words are the tagger's tokens
    content: tuple[tuple[str, str], ...] = ()  # (form, lemma) of content words


def read(segments: Sequence[str], analyses: Sequence[Analysis], words_from: WordsFrom = "tokens") -> AnalysedText:
    """The reading of a text given segment by segment; sentences without a word are dropped."""
    words: list[str] = []
    sentences: list[tuple[int, int]] = []
    nouns: list[tuple[int, str]] = []
    noun_words: list[tuple[int, str]] = []
    content: list[tuple[str, str]] = []
    for segment, analysis in zip(segments, analyses, strict=True):
        for (start, stop), tokens in _by_sentence(segment, analysis):
            found = segment[start:stop].split() if words_from == "spaces" else [token.text for token in tokens]
            if not found:
                continue
            for place, token in enumerate(tokens):
                if token.pos in NOUNS:
                    nouns.append((len(sentences), token.lemma.lower()))
                    noun_words.append((len(words) + place, token.lemma.lower()))
            content += [(token.text.lower(), token.lemma.lower()) for token in tokens if token.pos in CONTENT]
            sentences.append((len(words), len(words) + len(found)))
            words.extend(word.lower() for word in found)
    if words_from == "spaces":
        noun_words = []  # places of tokens, not of these words
    return AnalysedText(tuple(words), tuple(sentences), tuple(nouns), tuple(noun_words), tuple(content))


def _by_sentence(segment: str, analysis: Analysis) -> Iterator[tuple[tuple[int, int], list[Token]]]:
    """Each sentence's characters with its visible tokens; a segment whose sentences are not told is one sentence."""
    spans = analysis.sentences or ((0, len(segment)),)
    starts = [start for start, _ in spans]
    tokens: list[list[Token]] = [[] for _ in spans]
    for token in analysis.tokens:
        if token.text.strip():
            tokens[max(0, bisect_right(starts, token.start) - 1)].append(token)
    return zip(spans, tokens)


def readings(
    views: Iterable[Excerpt], analyser: Analyser, run: Runtime, words_from: WordsFrom = "tokens"
) -> dict[Excerpt, AnalysedText]:
    """The reading of each distinct view; each distinct segment is analysed once."""
    distinct = list(dict.fromkeys(views))
    segments = list(dict.fromkeys(segment for view in distinct for segment in view.scored))
    analyses = dict(zip(segments, run.map(analyser, segments), strict=True))
    return {view: read(view.scored, [analyses[segment] for segment in view.scored], words_from) for view in distinct}
