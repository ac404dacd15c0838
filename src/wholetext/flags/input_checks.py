"""Whether the input is what it is said to be: language pair, order of segments, outputs given twice.

Like flags, these are hints for people and prefer silence to a false alarm; docs/degenerate.md has the rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from wholetext.flags.order import order_note
from wholetext.languages import code_of, scripts_of
from wholetext.languages.identify import listed, other_language
from wholetext.languages.scripts import CONTENT, SCRIPTS, letters
from wholetext.types import Corpus, FloatArray, Output

SAMPLE = 40_000  # characters of a side that are looked at
LETTERS = 100  # that a text must have to be judged by its script, weighted by how much they say
WORDS, DOCUMENT_WORDS = 120, 80  # that a side and a document must have to be judged by its words
FOREIGN = 0.3  # the share of expected script below which text is of another
MIXED = 0.1  # share of documents in another language that makes a side mixed
KANA = (0.02, 0.15)  # less is not Japanese, more is
DOCUMENTS, DOCUMENT = 40, 1_200  # documents of a side, and characters of each, that are looked at for that
_BY_CODE = {"Han": "zh", "Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Thai": "th"}  # what -l changes

Documents = Mapping[str, Sequence[str]]


def input_notes(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Everything that looks wrong about the input as a whole, as sentences."""
    sides = dict(_sides(corpus))
    hyps = {f"the output of {output.system}": output.docs for output in outputs}
    return [*_languages(corpus.langs, sides, hyps), *_order(corpus, outputs), *_equal(corpus, outputs)]


def _sides(corpus: Corpus) -> Iterator[tuple[str, Documents]]:
    if corpus.has_source:
        yield "the source", {doc.id: doc.src or () for doc in corpus.docs}
    for name in corpus.references:
        yield f"the reference {name}", {doc.id: doc.refs[name] for doc in corpus.docs}


# ---------------------------------------------------------------- languages


def _languages(langs: tuple[str, str], sides: Mapping[str, Documents], hyps: Mapping[str, Documents]) -> list[str]:
    """A pair that is swapped or wrong; sides in several languages; an undeclared language that needs a tokenizer."""
    expected = {name: langs[0] if name == "the source" else langs[1] for name in (*sides, *hyps)}
    every = {**sides, **hyps}
    looks = {name: _look(_sample(docs), expected[name], WORDS) for name, docs in every.items()}
    wrong = {name: look for name, look in looks.items() if look}
    pair = "-".join(langs)
    targets = [name for name in looks if name != "the source"]
    fits = [_fits(docs, langs[int(name == "the source")], looks[name]) for name, docs in every.items()]
    if "the source" in wrong and all(fits):
        return [f"source and target look swapped: the source {wrong['the source']}, but the pair is {pair}; "
                f"give -l {langs[1]}-{langs[0]}, or exchange the files"]
    shared = {looks[name] for name in targets}
    found = []
    if len(targets) > 1 and len(shared) == 1 and "" not in shared:
        plural = shared.pop().replace("looks", "look").replace("is written", "are written")
        found.append(f"references and outputs {plural}, but the pair is {pair}: check -l and the files")
        wrong = {name: look for name, look in wrong.items() if name == "the source"}
    found += [f"{name} {look}, but the pair is {pair}: check -l and the files" for name, look in wrong.items()]
    found += [note for name in every if not looks[name] and (note := _mixed(name, every[name], expected[name]))]
    return found + _undeclared(langs, every, targets)


def _fits(docs: Documents, lang: str, look: str) -> bool:
    """Whether a side that is not in its own language is in ``lang``."""
    return bool(look) and bool(lang) and not _look(_sample(docs), lang, WORDS)


def _look(texts: Sequence[str], lang: str, least: int) -> str:
    """What texts look like where that is not ``lang``: "is written in Cyrillic, not Latin", "looks like de, not en"."""
    if not lang:
        return ""
    content = letters(texts).sum(axis=0) * CONTENT  # (scripts,)
    scripts = scripts_of(lang)
    if scripts and content.sum() >= LETTERS and content[np.isin(SCRIPTS, scripts)].sum() < FOREIGN * content.sum():
        return f"is written in {SCRIPTS[content.argmax()]}, not {'/'.join(scripts)}"
    if scripts and "Han" in scripts and content.sum() >= LETTERS:
        other = _by_kana(content, code_of(lang))
    else:
        other = other_language(texts, code_of(lang), least) if listed(code_of(lang)) else ""
    return f"looks like {other}, not {lang}" if other else ""


def _by_kana(content: FloatArray, lang: str) -> str:
    """The other one of Chinese and Japanese: a text has kana or it has not."""
    kana = content[np.isin(SCRIPTS, ("Hiragana", "Katakana"))].sum() / content.sum()
    if lang == "ja":
        return "zh" if kana < KANA[0] else ""
    return "ja" if kana > KANA[1] else ""


def _mixed(name: str, docs: Documents, lang: str) -> str:
    """A note where many documents of a side are in another language than the rest."""
    names = list(docs)
    if len(names) > DOCUMENTS:
        names = [names[i] for i in sorted(np.random.default_rng(0).choice(len(names), DOCUMENTS, replace=False))]
    looks = {doc: _look([" ".join(docs[doc])[:DOCUMENT]], lang, DOCUMENT_WORDS) for doc in names}
    other = [doc for doc, look in looks.items() if look]
    if len(other) < max(2, MIXED * len(names)):
        return ""
    look = Counter(looks[doc] for doc in other).most_common(1)[0][0]
    return (f"{name} mixes languages: in {len(other)} of {len(names)} documents looked at it {look}; "
            f"see document {next(doc for doc in other if looks[doc] == look)}")


def _undeclared(langs: tuple[str, str], every: Mapping[str, Documents], targets: Sequence[str]) -> list[str]:
    """A target language that was not given but decides about tokenizers and joiners."""
    if langs[1] or not targets:
        return []
    content = letters(_sample(every[targets[0]])).sum(axis=0) * CONTENT
    script = str(SCRIPTS[content.argmax()])
    if content.sum() < LETTERS or script not in _BY_CODE:
        return []
    return [f"{targets[0]} is written in {script}, and no language pair is given: tokenizers and joiners are those of "
            f"languages with blanks; give -l, e.g. -l en-{_BY_CODE[script]}"]


def _sample(docs: Documents) -> list[str]:
    """Segments from all over a side, about ``SAMPLE`` characters of them."""
    texts = [text for segments in docs.values() for text in segments]
    step = max(1, sum(map(len, texts)) // SAMPLE)
    return texts[::step]


# ---------------------------------------------------------------- order and repetition


def _order(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Outputs that are reversed, shifted, or of other texts, by the first reference (else the source)."""
    name = next(iter(corpus.references), None)
    guides = {doc.id: doc.refs[name] if name else doc.src for doc in corpus.docs}
    against = "the reference" if name else "the source"
    found = []
    for output in outputs:
        places, hyp, guide = [], list[str](), list[str]()
        for doc in corpus.docs:
            side, segments = guides[doc.id], output.docs.get(doc.id, ())
            if side is not None and len(side) == len(segments):
                places += [f"document {doc.id}, segment {number}" for number in range(1, len(side) + 1)]
                hyp += segments
                guide += side
        if note := order_note(hyp, guide, places):
            found.append(f"{output.system}: {note.format(against=against)}")
    return found


def _equal(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Outputs that are the same text under two names, and outputs that are a reference under another name."""
    names: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for output in outputs:
        names.setdefault(tuple(output.docs.get(doc.id, ()) for doc in corpus.docs), []).append(output.system)
    found = [f"{' and '.join(same)} are the same text under {len(same)} names" for same in names.values()
             if len(same) > 1]
    for name in corpus.references:
        same = names.get(tuple(doc.refs[name] for doc in corpus.docs), [])
        found += [f"{system} is the reference {name} itself" for system in same if system != name]
    return found
