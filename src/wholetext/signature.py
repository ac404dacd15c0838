"""Signatures: everything that can change a score, in full and in one short line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

MOST = 100  # characters of a short signature
_ROOM = 79  # what parameters that were not given may fill: a line of a terminal
# outcomes of one output, not settings
_COUNTED = {
    "rows",
    "dropped",
    "lost_context",
    "lost_focus",
    "resegmented",
    "refused",
    "unparsable",
    "repaired",
    "failed",
    "unlocated",
}
_NAMED = {"refs", "context_refs", "rivals"}  # names that users choose: only their number is shown
_LEFT_OUT = (
    _COUNTED | _NAMED | {"metric", "view", "model", "revision", "realigned", "corpus", "wholetext"}
)


class Signature(dict[str, str]):
    """Everything that can change a score, in order; prints as ``key:value|key:value``.

    ``chosen`` are the keys set by the user; the short form shows them before defaults.
    """

    def __init__(
        self, items: Mapping[str, object] | Iterable[tuple[str, object]], chosen: Iterable[str] = ()
    ) -> None:
        super().__init__((key, str(value)) for key, value in dict(items).items())
        self._chosen = frozenset(chosen)

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.items())

    __repr__ = __str__

    @property
    def hash(self) -> str:
        """Eight hex digits of the full signature: equal where settings, texts and version are.

        Counts of cut and dropped text and the names of references are excluded, so all systems of a
        run have the same hash, as have runs that name the same texts differently.
        """
        facts = [
            (key, str(_number(value)) if key in _NAMED else value)
            for key, value in self.items()
            if key not in _COUNTED
        ]
        return hashlib.blake2b(repr(facts).encode(), digest_size=4).hexdigest()

    @property
    def short(self) -> str:
        """One line of at most 100 characters: metric, view, model, parameters, version, hash.

        Parameters that were given come first, and before the version. ``…`` marks parts that were
        left out.
        """
        model = self.get("model", "").rstrip("/").rpartition("/")[2].partition("#")[0]
        revision = f"#{self['revision'][:8]}" if self.get("revision") else ""
        head = [self.get("metric", ""), self.get("view", "")]
        head += [model + revision] if model else []
        head += [f"refs:{_number(self['refs'])}"] if "refs" in self else []
        head += ["realigned"] if "realigned" in self else []
        keys = sorted(
            (key for key in self if key not in _LEFT_OUT), key="view.joiner".__eq__
        )  # rarely of interest
        parts = {key: f"{key.removeprefix('view.')}:{self[key]}" for key in keys}
        chosen = [part for key, part in parts.items() if key in self._chosen]
        rest = [part for key, part in parts.items() if key not in self._chosen]
        version, end = f"v:{self.get('wholetext', '')}", f"#{self.hash}"
        shown: list[str] = []
        for part in chosen:
            if len("|".join([*head, *shown, part, "…", end])) < MOST:
                shown.append(part)
        tail = [version, end]
        if len("|".join([*head, *shown, "…", *tail])) > MOST and shown:
            tail = [end]
        for part in rest if len(shown) == len(chosen) else ():
            if len("|".join([*head, *shown, part, "…", *tail])) > _ROOM:
                break
            shown.append(part)
        shown += ["…"] if len(shown) < len(parts) else []
        start, end = "|".join([*head, *shown]), "|".join(tail)
        return (
            f"{start[: MOST - len(end) - 2]}…|{end}"
            if len(start) + len(end) >= MOST
            else f"{start}|{end}"
        )


def _number(names: str) -> int:
    """How many names a list has; a name with a comma in it counts as two."""
    return 0 if names in ("", "none") else names.count(",") + 1
