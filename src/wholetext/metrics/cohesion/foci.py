"""What metrics over foci share: the tagger, the static vectors, and the grid of each text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from wholetext.errors import MetricError
from wholetext.metrics.cohesion.grids import Grid, entities
from wholetext.metrics.cohesion.readings import AnalysedText, WordsFrom, readings
from wholetext.metrics.cohesion.vectors import EMBEDDED, StaticVectors, identity, load
from wholetext.taggers.analysis import Analyser, Layer, analyser_for
from wholetext.types import Excerpt, Metric, Request, Runtime

Focus = Literal["nn", "entity"]
_REMEMBERED = 4096  # texts: several metrics ask for the same readings one after the other
_LAYERS: frozenset[Layer] = frozenset({"pos", "lemma", "sentence"})


@dataclass(frozen=True)
class FocusMetric(Metric):
    """A metric that reads texts through a tagger; ``lang`` is the language of the texts (``auto``: the target's)."""

    assumed: ClassVar[bool] = False  # no language was given, so the texts are read as English

    view = "whole"
    lang: str = "auto"
    tagger: str = "auto"

    def resolve(self, langs: tuple[str, str]) -> FocusMetric:
        if self.lang != "auto":
            return self
        made = replace(self, lang=langs[1] or "en")
        object.__setattr__(made, "assumed", not langs[1])
        return made

    def facts(self) -> Mapping[str, str]:
        return {"tagger": self.analyser().id}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        unknown = "no target language was given, so the texts are read as English (-l de-en)"
        return (unknown,) if self.assumed else ()

    def analyser(self) -> Analyser:
        """The tagger that the parameters name; loads nothing yet."""
        found = analyser_for(self.lang, self.tagger, _LAYERS, needs=frozenset({"pos"}))
        if "pos" not in found.layers:
            raise MetricError(f"{self.name} needs parts of speech, which the tagger {found.id} does not give",
                              next="name one that does (tagger=spacy), or give annotations (tagger=given/FILE.conllu)")
        return found

    def readings(
        self, requests: Sequence[Request], run: Runtime, words: WordsFrom = "tokens"
    ) -> dict[Excerpt, AnalysedText]:
        """The reading of every hypothesis and reference; those of the last few thousand texts are remembered."""
        chosen = self.resolve(run.langs)
        analyser = run.resource(("analyser", chosen.lang, chosen.tagger, _LAYERS), chosen.analyser)
        known: dict[Excerpt, AnalysedText] = run.resource(("readings", analyser.id, words), dict)
        wanted = dict.fromkeys(views_of(requests, self.needs))  # in order: batches must not depend on hashing
        if len(known.keys() | wanted.keys()) > _REMEMBERED:
            known.clear()
        known.update(readings((view for view in wanted if view not in known), analyser, run, words))
        return {view: known[view] for view in wanted}


def views_of(requests: Sequence[Request], needs: Iterable[str]) -> list[Excerpt]:
    """Hypotheses, and references where they are needed."""
    wanted = set(needs)
    found = [view for request in requests for view in request.hyp]
    return found + [view for request in requests for view in request.refs if "ref" in wanted]


def static_vectors(source: str, run: Runtime) -> StaticVectors:
    """The static vectors, loaded once per process."""
    return run.resource(("vectors", identity(source)), lambda: load(source))


def foci_of(found: Grid, focus: Focus, threshold: float, vectors: StaticVectors | None) -> Grid:
    """Nouns as they are, or merged into entities."""
    if focus == "nn" or vectors is None:
        return found
    return entities(found, vectors, threshold)


def vector_facts(focus: Focus, source: str) -> dict[str, str]:
    """What the signature says of the static vectors, where they are used."""
    return {"vectors": identity(source)} if focus == "entity" else {}


__all__ = ["EMBEDDED", "Focus", "FocusMetric", "foci_of", "static_vectors", "vector_facts", "views_of"]
