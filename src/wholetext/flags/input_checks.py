"""Checks of the input: declared language pair, duplicate outputs.

Like flags, these are hints for people and prefer silence to a false alarm; docs/degenerate.md has
the rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wholetext.text import code_of, scripts_of
from wholetext.text.identify import listed, other_language
from wholetext.text.scripts import CONTENT, SCRIPTS, letters
from wholetext.types import Corpus, Output

SAMPLE = 40_000  # characters of a side that are looked at
LETTERS = 100  # that a text must have to be judged by its script, weighted by how much they say
WORDS = 120  # that a side must have to be judged by its words
FOREIGN = 0.3  # the share of expected script below which text is of another
KANA = (0.02, 0.15)  # less is not Japanese, more is
# what -l changes
_BY_CODE = {"Han": "zh", "Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Thai": "th"}

Documents = Mapping[str, Sequence[str]]


def input_notes(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Note what is suspicious about the input as a whole."""
    sides: dict[str, Documents] = {}
    if corpus.has_source:
        sides["the source"] = {doc.id: doc.src or () for doc in corpus.docs}
    for name in corpus.references:
        sides[f"the reference {name}"] = {doc.id: doc.refs[name] for doc in corpus.docs}
    hyps = {f"the output of {output.system}": output.docs for output in outputs}
    return [*_languages(corpus.langs, sides, hyps), *_equal(corpus, outputs)]


def _languages(
    langs: tuple[str, str], sides: Mapping[str, Documents], hyps: Mapping[str, Documents]
) -> list[str]:
    """Note swapped or wrong pairs, and languages that must be declared."""
    expected = {name: langs[0] if name == "the source" else langs[1] for name in (*sides, *hyps)}
    every = {**sides, **hyps}
    looks = {name: _look(_sample(docs), expected[name]) for name, docs in every.items()}
    wrong = {name: look for name, look in looks.items() if look}
    pair = "-".join(langs)
    targets = [name for name in looks if name != "the source"]
    swapped = (
        "the source" in wrong
        and all(langs)
        and all(looks.values())
        and not any(
            _look(_sample(docs), langs[int(name == "the source")]) for name, docs in every.items()
        )
    )
    if swapped:
        return [
            f"source and target look swapped: the source {wrong['the source']}, "
            f"but the pair is {pair}; give -l {langs[1]}-{langs[0]}, or exchange the files"
        ]
    shared = {looks[name] for name in targets}
    notes = []
    if len(targets) > 1 and len(shared) == 1 and "" not in shared:
        plural = shared.pop().replace("looks", "look").replace("is written", "are written")
        notes.append(
            f"references and outputs {plural}, but the pair is {pair}: check -l and the files"
        )
        wrong = {name: look for name, look in wrong.items() if name == "the source"}
    notes += [
        f"{name} {look}, but the pair is {pair}: check -l and the files"
        for name, look in wrong.items()
    ]
    return notes + _undeclared(langs, every, targets)


def _look(texts: Sequence[str], lang: str) -> str:
    """Describe texts that are not in ``lang``, as "looks like de, not en"; else ""."""
    if not lang:
        return ""
    content = letters(texts).sum(axis=0) * CONTENT  # (scripts,)
    scripts = scripts_of(lang)
    if (
        scripts
        and content.sum() >= LETTERS
        and content[_among(scripts)].sum() < FOREIGN * content.sum()
    ):
        return f"is written in {SCRIPTS[content.argmax()]}, not {'/'.join(scripts)}"
    code, other = code_of(lang), ""
    # Japanese has kana, Chinese has not
    if scripts and "Han" in scripts and content.sum() >= LETTERS:
        kana = content[_among(("Hiragana", "Katakana"))].sum() / content.sum()
        if kana < KANA[0] if code == "ja" else kana > KANA[1]:
            other = "zh" if code == "ja" else "ja"
    elif listed(code):
        other = other_language(texts, code, WORDS)
    return f"looks like {other}, not {lang}" if other else ""


@cache
def _among(scripts: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.isin(SCRIPTS, scripts)


def _undeclared(
    langs: tuple[str, str], every: Mapping[str, Documents], targets: Sequence[str]
) -> list[str]:
    """Note an undeclared target language that decides about tokenizers and joiners."""
    if langs[1] or not targets:
        return []
    content = letters(_sample(every[targets[0]])).sum(axis=0) * CONTENT
    script = str(SCRIPTS[content.argmax()])
    if content.sum() < LETTERS or script not in _BY_CODE:
        return []
    return [
        f"{targets[0]} is written in {script}, and no language pair is given: tokenizers and "
        f"joiners are those of languages with blanks; give -l, e.g. -l en-{_BY_CODE[script]}"
    ]


def _sample(docs: Documents) -> list[str]:
    """Sample segments from all over a side, about ``SAMPLE`` characters."""
    texts = [text for segments in docs.values() for text in segments]
    step = max(1, sum(map(len, texts)) // SAMPLE)
    return texts[::step]


def _equal(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    names: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for output in outputs:
        names.setdefault(tuple(output.docs.get(doc.id, ()) for doc in corpus.docs), []).append(
            output.system
        )
    notes = [
        f"{' and '.join(same)} are the same text under {len(same)} names"
        for same in names.values()
        if len(same) > 1
    ]
    for name in corpus.references:
        same = names.get(tuple(doc.refs[name] for doc in corpus.docs), [])
        notes += [f"{system} is the reference {name} itself" for system in same if system != name]
    return notes
