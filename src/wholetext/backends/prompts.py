"""The prompts of MetricX: which texts are read in which order, and shorter forms of a prompt that is too long."""

from __future__ import annotations

from collections.abc import Mapping

from wholetext.backends.regressor import Prompt
from wholetext.types import Excerpt

# (version, whether a reference is read) → prompt (Juraska et al. 2023, 2024)
PROMPTS = {
    ("23", "ref"): "candidate: {hyp} reference: {ref}",
    ("23", "qe"): "candidate: {hyp} source: {src}",
    ("24", "ref"): "source: {src} candidate: {hyp} reference: {ref}",
    ("24", "qe"): "source: {src} candidate: {hyp}",
}


def prompt(form: str, sides: Mapping[str, Excerpt | None]) -> Prompt:
    """The prompt with all context, then with less and less of it."""
    shown = {side: view for side, view in sides.items() if view is not None and f"{{{side}}}" in form}
    most = max(len(view.before) + len(view.after) for view in shown.values())
    texts = [
        form.format(**{side: narrowed(view, keep) for side, view in shown.items()}) for keep in range(most, -1, -1)
    ]
    return Prompt(tuple(dict.fromkeys(texts)))


def narrowed(view: Excerpt, keep: int) -> str:
    """The scored text with its ``keep`` nearest context segments (the later of two equally near), as one string."""
    begin, end = view.focus
    for _ in range(min(keep, len(view.before) + len(view.after))):
        later = end - view.focus[1] <= view.focus[0] - begin
        if end < len(view.parts) and (later or begin == 0):
            end += 1
        else:
            begin -= 1
    return view.glue.join(view.parts[begin:end])
