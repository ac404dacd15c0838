"""Signatures: everything that can change a score, in full and in one short line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

MOST = 100  # characters of a short signature
_ROOM = 79  # what further parameters may fill: a line of a terminal
_COUNTED = {"rows", "dropped", "lost_context", "lost_focus"}  # outcomes of one output, not settings
_NAMED = {"refs", "context_refs"}  # names that users choose: how many there are is what matters
_LEFT_OUT = _COUNTED | _NAMED | {"metric", "view", "model", "revision", "realigned", "corpus", "wholetext"}


class Signature(Mapping[str, str]):
    """Everything that can change a score, in order; prints as ``key:value|key:value``."""

    def __init__(self, items: Mapping[str, object] | Iterable[tuple[str, object]]) -> None:
        pairs = items.items() if isinstance(items, Mapping) else items
        self._items = {key: str(value) for key, value in pairs}

    def __getitem__(self, key: str) -> str:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self._items.items())

    __repr__ = __str__

    @property
    def hash(self) -> str:
        """Eight hex digits of the full signature: equal where settings, texts and version are.

        How much of one output was cut or dropped and what references are called do not enter: systems of one run,
        and runs that call the same texts otherwise, have one hash.
        """
        facts = [(key, str(_number(value)) if key in _NAMED else value)
                 for key, value in self._items.items() if key not in _COUNTED]
        return hashlib.blake2b(repr(facts).encode(), digest_size=4).hexdigest()

    @property
    def short(self) -> str:
        """One line of at most 100 characters: metric, view, model, references, what else has room, version, hash."""
        model = self.get("model", "").rstrip("/").rpartition("/")[2].partition("#")[0]
        head = [self.get("metric", ""), self.get("view", "")]
        head += [f"{model}#{self['revision'][:8]}" if self.get("revision") else model] if model else []
        head += [f"refs:{_number(self['refs'])}"] if "refs" in self else []
        head += ["realigned"] if "realigned" in self else []
        tail = [f"v:{self.get('wholetext', '')}", f"#{self.hash}"]
        keys = sorted((key for key in self if key not in _LEFT_OUT), key="view.joiner".__eq__)  # rarely of interest
        rest = [f"{key.removeprefix('view.')}:{self[key]}" for key in keys]
        room = _ROOM - len("|".join([*head, "…", *tail]))
        shown = []
        for part in rest:
            if len(part) + 1 > room:
                shown.append("…")
                break
            shown.append(part)
            room -= len(part) + 1
        start, end = "|".join([*head, *shown]), "|".join(tail)
        return f"{start[: MOST - len(end) - 2]}…|{end}" if len(start) + len(end) >= MOST else f"{start}|{end}"


def _number(names: str) -> int:
    """How many names a list has; a name with a comma in it counts as two."""
    return 0 if names in ("", "none") else names.count(",") + 1
