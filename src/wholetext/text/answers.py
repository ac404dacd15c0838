"""Answers of language models: the translation without reasoning, preamble and fence."""

from __future__ import annotations

import re

_TAG = r"(?:think|thinking|thought|reasoning|analysis)"
_TRANSLATION = (
    r"(?:translat(?:ion|ed)|übersetzung|traducción|traduction|traduzione|перевод|翻译|译文|翻訳)"
)
_PREAMBLE = (
    rf"\A\W*(?:(?:sure|certainly|of course|okay|ok)\b[^\n:：]{{0,40}}?[,.!]\s*)?"
    rf"(?:here(?:'s|’s| is| are)\b[^\n:：]{{0,80}}{_TRANSLATION}"
    rf"|(?:the\s+)?(?:\w+\s+)?{_TRANSLATION})"
    r"[^\n:：.!?]{0,40}[:：]\**\s*"
)
# parts of an answer in the order of removal; `kept` is what stays of a match
_PARTS = [
    (name, re.compile(rf"(?:{pattern})", re.S | re.I))
    for name, pattern in (
        ("reasoning", rf"<({_TAG})>.*?</\1>(?P<kept>)"),
        ("reasoning", rf"\A.*</{_TAG}>(?P<kept>)"),  # opened by the prompt
        ("unfinished reasoning", rf"<{_TAG}>.*\Z(?P<kept>)"),
        ("preamble", rf"{_PREAMBLE}(?P<kept>)"),
        ("fence", r"\A```[^\n`]*\n(?P<kept>.*?)\n?```.*\Z"),
    )
]


def stripped_answer(text: str) -> tuple[str, tuple[str, ...]]:
    """The translation in an answer, and what was removed: reasoning, preamble, fence.

    Reasoning that never ends was cut by the limit of tokens: no translation follows it, so nothing
    is left. A fence counts where it opens the answer; what follows its end is removed with it.
    """
    removed, text = [], text.strip()
    for name, pattern in _PARTS:
        shorter = pattern.sub(lambda match: match["kept"] or "", text).strip()
        removed += [name] if shorter != text else []
        text = shorter
    return text, tuple(dict.fromkeys(removed))
