"""Files with texts and human scores (``Loaded.judgments``) in the role of an EvalSet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from wholetext.errors import InputError
from wholetext.io.assembly import DocumentRun, Langs
from wholetext.io.columns import Columns
from wholetext.io.formats import jsonl, table
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.formats.scores import Names, ScoreLevel
from wholetext.io.text import FilePath, opened
from wholetext.types import Judgments


@dataclass(frozen=True, eq=False)
class JudgedFile(EvalSet):
    """A table or JSONL with human scores: a column ``human`` beside the output of a system."""

    @classmethod
    def read(
        cls, path: FilePath, langs: Langs = None, columns: Columns | None = None
    ) -> JudgedFile:
        """Read a file; one without human scores is an InputError."""
        loaded = None
        with opened(path) as file:
            format = jsonl if jsonl.recognise(file) else table
            try:
                if format.recognise(file) or columns:
                    loaded = format.read(file, langs, columns=columns)
            except InputError as fault:
                others = "or give an EvalSet folder, or a file of rated summaries"
                raise type(fault)(
                    fault.what, where=fault.where, next=f"{fault.next}; {others}"
                ) from fault
        if loaded is None or not loaded.judgments:
            raise InputError(
                "this is neither an EvalSet folder nor a file of rated summaries, nor a table "
                "with human scores",
                where=str(path),
                next="human scores are in a column human, mqm, esa, da, score or rating, or name "
                "it: --columns human=NAME; an EvalSet has folders sources and human-scores",
            )
        pair = "-".join(loaded.corpus.langs) if all(loaded.corpus.langs) else "und-und"
        judged = cls(Path(path), pair, (pair,))
        vars(judged)["_loaded"] = loaded
        return judged

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def set_name(self) -> str:
        return "table"

    @property
    def notes(self) -> tuple[str, ...]:
        return self._loaded.warnings

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(output.system for output in self._loaded.outputs)

    @property
    def references(self) -> tuple[str, ...]:
        return self._loaded.corpus.references

    @cached_property
    def documents(self) -> tuple[DocumentRun, ...]:
        docs = self._loaded.corpus.docs
        ends = [*accumulate(map(len, docs), initial=0)]
        return tuple(
            DocumentRun(doc.id, start, stop, doc.meta)
            for doc, start, stop in zip(docs, ends, ends[1:])
        )

    @property
    def human_names(self) -> Names:
        return tuple((judgments.scheme, judgments.level) for judgments in self._loaded.judgments)

    def human(self, name: str, level: ScoreLevel) -> Judgments:
        """Human scores of a name, in the order of the outputs; NaN where nobody judged."""
        for judgments in self._loaded.judgments:
            if (judgments.scheme, judgments.level) == (name, level):
                return judgments
        raise self.no_scores(name, level, self.human_names)

    @property
    def _docs(self) -> Path:
        return self.root
