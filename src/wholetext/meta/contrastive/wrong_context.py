"""Wrong context for contrastive items, as a control: every candidate of an item gets the same wrong
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wholetext.errors import SpecError, count
from wholetext.meta.contrastive.items import Candidate, ContrastSet, Item
from wholetext.registry import Scorer
from wholetext.views import Context, draw


def with_controls(items: ContrastSet, scorer: Scorer) -> tuple[ContrastSet, Scorer]:
    """The items with the context that ``context(source=…)`` asks for, and the metric under
    ``source=same``.

    Views draw wrong context document by document, and every candidate is a separate document: drawn
    there, candidates of one item would be compared in different contexts.
    """
    view = scorer.view
    if not isinstance(view, Context) or view.source == "same":
        return items, scorer
    make = _shuffled if view.source == "shuffled" else _of_another
    changed = replace(items, items=make(items.items, view.seed))
    short = sum(len(item.src_context) < 2 for item in items.items)
    if view.source == "shuffled" and short:
        note = (
            f"source=shuffled changes nothing in {count(short, 'item')} of {len(items)}: "
            "no two sentences"
        )
        changed = replace(changed, warnings=(*changed.warnings, note))
    return changed, replace(scorer, view=replace(view, source="same"))


def _shuffled(items: Sequence[Item], seed: int) -> tuple[Item, ...]:
    """Context sentences in an order drawn by item, the same on both sides."""
    shuffled = []
    for item in items:
        drawn = [draw(seed, item.id, at) for at in range(len(item.src_context))]
        order = sorted(range(len(drawn)), key=drawn.__getitem__)
        shuffled.append(
            _in_context(
                item,
                [item.src_context[at] for at in order],
                [[candidate.context[at] for at in order] for candidate in item.candidates],
            )
        )
    return tuple(shuffled)


def _of_another(items: Sequence[Item], seed: int) -> tuple[Item, ...]:
    """The context of an item whose source context is another one, and as long where there is such
    an item.
    """
    circle = sorted(range(len(items)), key=lambda at: (draw(seed, items[at].id), at))
    replaced: dict[int, Item] = {}
    for place, at in enumerate(circle):
        item = items[at]
        others = [
            items[other]
            for other in (*circle[place + 1 : place + 200], *circle[:place][:200])
            if items[other].src_context and items[other].src_context != item.src_context
        ]
        if not others:
            raise SpecError(
                "context(source=other) needs items with different contexts",
                next="use source=shuffled",
            )
        lender = next(
            (
                other_item
                for other_item in others
                if len(other_item.src_context) >= len(item.src_context)
            ),
            others[0],
        )
        size = min(len(item.src_context), len(lender.src_context))
        cut = slice(len(lender.src_context) - size, None)
        replaced[at] = _in_context(
            item,
            lender.src_context[cut],
            [lender.candidates[0].context[cut]] * len(item.candidates),
        )
    return tuple(replaced[at] for at in range(len(items)))


def _in_context(item: Item, source: Sequence[str], targets: Sequence[Sequence[str]]) -> Item:
    candidates = tuple(
        Candidate(candidate.text, tuple(context))
        for candidate, context in zip(item.candidates, targets)
    )
    return replace(item, src_context=tuple(source), candidates=candidates)
