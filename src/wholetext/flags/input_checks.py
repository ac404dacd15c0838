"""Checks of the input: declared language pair, duplicate outputs.

Like flags, these are hints for people and prefer silence to a false alarm; docs/degenerate.md has
the rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from wholetext.text import code_of, scripts_of
from wholetext.text.identify import other_language
from wholetext.text.scripts import CONTENT, SCRIPTS, letters
from wholetext.types import Corpus, Output

SAMPLE = 40_000  # characters of a side that are looked at
LETTERS = 100  # that a text must have to be judged by its script, weighted by how much they say
WORDS = 120  # that a side must have to be judged by its words
FOREIGN = 0.3  # the share of expected script below which text is of another
KANA = (0.02, 0.15)  # less is not Japanese, more is
# what -l changes
_BY_CODE = {"Han": "zh", "Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Thai": "th"}


def input_notes(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Note what is suspicious about the input as a whole."""
    references = {name: [doc.refs[name] for doc in corpus.docs] for name in corpus.references}
    sides: dict[str, Iterable[Sequence[str]]] = {
        **({"the source": [doc.src or () for doc in corpus.docs]} if corpus.has_source else {}),
        **{f"the reference {name}": docs for name, docs in references.items()},
        **{f"the output of {output.system}": output.docs.values() for output in outputs},
    }
    samples = {}
    for name, docs in sides.items():  # segments from all over a side
        texts = [text for segments in docs for text in segments]
        samples[name] = texts[:: max(1, sum(map(len, texts)) // SAMPLE)]
    names: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for output in outputs:
        same = names.setdefault(tuple(output.docs.get(doc.id, ()) for doc in corpus.docs), [])
        same.append(output.system)
    notes = [
        f"{' and '.join(same)} are the same text under {len(same)} names"
        for same in names.values()
        if len(same) > 1
    ]
    notes += [
        f"{system} is the reference {name} itself"
        for name, docs in references.items()
        for system in names.get(tuple(docs), [])
        if system != name
    ]
    return [*_languages(corpus.langs, samples), *notes]


def _languages(langs: tuple[str, str], samples: Mapping[str, Sequence[str]]) -> list[str]:
    """Note swapped or wrong pairs, and languages that must be declared."""
    pair, source = "-".join(langs), "the source"
    looks = {name: _look(texts, langs[name != source]) for name, texts in samples.items()}
    wrong = {name: look for name, look in looks.items() if look}
    if (
        source in wrong
        and all(langs)
        and all(looks.values())
        and not any(_look(texts, langs[name == source]) for name, texts in samples.items())
    ):
        return [
            f"source and target look swapped: the source {wrong[source][0]}, "
            f"but the pair is {pair}; give -l {langs[1]}-{langs[0]}, or exchange the files"
        ]
    targets = [name for name in samples if name != source]
    shared = {looks[name] for name in targets}
    notes = []
    if len(targets) > 1 and len(shared) == 1 and (look := shared.pop()):
        notes.append(
            f"references and outputs {look[1]}, but the pair is {pair}: check -l and the files"
        )
        wrong = {name: look for name, look in wrong.items() if name == source}
    notes += [
        f"{name} {look[0]}, but the pair is {pair}: check -l and the files"
        for name, look in wrong.items()
    ]
    if not langs[1] and targets:
        notes += _undeclared(targets[0], samples[targets[0]])
    return notes


def _look(texts: Sequence[str], lang: str) -> tuple[str, str] | None:
    """Describe texts that are not in ``lang``: "looks like de, not en", and the same in the plural."""
    if not lang:
        return None
    content = letters(texts).sum(axis=0) * CONTENT  # (scripts,)
    scripts = scripts_of(lang)
    if (
        scripts
        and content.sum() >= LETTERS
        and content[np.isin(SCRIPTS, scripts)].sum() < FOREIGN * content.sum()
    ):
        written = f"written in {SCRIPTS[content.argmax()]}, not {'/'.join(scripts)}"
        return f"is {written}", f"are {written}"
    code, other = code_of(lang), ""
    # Japanese has kana, Chinese has not
    if scripts and "Han" in scripts and content.sum() >= LETTERS:
        kana = content[np.isin(SCRIPTS, ("Hiragana", "Katakana"))].sum() / content.sum()
        if kana < KANA[0] if code == "ja" else kana > KANA[1]:
            other = "zh" if code == "ja" else "ja"
    else:
        other = other_language(texts, code, WORDS)
    like = f"like {other}, not {lang}"
    return (f"looks {like}", f"look {like}") if other else None


def _undeclared(name: str, texts: Sequence[str]) -> list[str]:
    """Note a target language that decides about tokenizers and joiners, and is not declared."""
    content = letters(texts).sum(axis=0) * CONTENT
    script = str(SCRIPTS[content.argmax()])
    if content.sum() < LETTERS or script not in _BY_CODE:
        return []
    return [
        f"{name} is written in {script}, and no language pair is given: tokenizers and "
        f"joiners are those of languages with blanks; give -l, e.g. -l en-{_BY_CODE[script]}"
    ]
