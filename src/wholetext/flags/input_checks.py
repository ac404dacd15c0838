"""Checks of the input: declared language pair, order of segments, duplicate outputs.

Like flags, these are hints for people and prefer silence to a false alarm; docs/degenerate.md has the rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from wholetext.alignment.similarity import words
from wholetext.errors import count
from wholetext.languages import code_of, scripts_of
from wholetext.languages.identify import listed, other_language
from wholetext.languages.scripts import CONTENT, SCRIPTS, letters
from wholetext.types import Corpus, FloatArray, IntArray, Output

SAMPLE = 40_000  # characters of a side that are looked at
LETTERS = 100  # that a text must have to be judged by its script, weighted by how much they say
WORDS, DOCUMENT_WORDS = 120, 80  # that a side and a document must have to be judged by its words
FOREIGN = 0.3  # the share of expected script below which text is of another
MIXED = 0.1  # share of documents in another language that makes a side mixed
KANA = (0.02, 0.15)  # less is not Japanese, more is
DOCUMENTS, DOCUMENT = 40, 1_200  # documents of a side, and characters of each, that are looked at for that
_BY_CODE = {"Han": "zh", "Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Thai": "th"}  # what -l changes

FEWEST = 12  # minimum number of segments
WINDOW = 40  # segments looked at together
SHIFTS = tuple(shift for size in range(1, 6) for shift in (size, -size))
PAIRS = 60  # pairs of segments whose words are compared
CLEARER, CLEAR = 0.25, 0.5  # how much better, and how well, lengths must correlate before words are compared
LOOSE = 0.4  # correlation of lengths below which words are compared in any case
CHANCE = 1.5  # times what any two segments share: below that, segments do not belong together
LONGER = 4.0  # added to lengths in characters

Documents = Mapping[str, Sequence[str]]


def input_notes(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    """Notes on everything suspicious about the input as a whole."""
    sides: dict[str, Documents] = {}
    if corpus.has_source:
        sides["the source"] = {doc.id: doc.src or () for doc in corpus.docs}
    for name in corpus.references:
        sides[f"the reference {name}"] = {doc.id: doc.refs[name] for doc in corpus.docs}
    hyps = {f"the output of {output.system}": output.docs for output in outputs}
    return [*_languages(corpus.langs, sides, hyps), *_order(corpus, outputs), *_equal(corpus, outputs)]


def _languages(langs: tuple[str, str], sides: Mapping[str, Documents], hyps: Mapping[str, Documents]) -> list[str]:
    """Pairs that are swapped or wrong, sides in several languages, languages that must be declared."""
    expected = {name: langs[0] if name == "the source" else langs[1] for name in (*sides, *hyps)}
    every = {**sides, **hyps}
    looks = {name: _look(_sample(docs), expected[name], WORDS) for name, docs in every.items()}
    wrong = {name: look for name, look in looks.items() if look}
    pair = "-".join(langs)
    targets = [name for name in looks if name != "the source"]
    swapped = "the source" in wrong and all(langs) and all(looks.values()) and not any(
        _look(_sample(docs), langs[int(name == "the source")], WORDS) for name, docs in every.items())
    if swapped:
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


def _look(texts: Sequence[str], lang: str, least: int) -> str:
    """What texts look like where that is not ``lang``, as "looks like de, not en"; else ""."""
    if not lang:
        return ""
    content = letters(texts).sum(axis=0) * CONTENT  # (scripts,)
    scripts = scripts_of(lang)
    if scripts and content.sum() >= LETTERS and content[_among(scripts)].sum() < FOREIGN * content.sum():
        return f"is written in {SCRIPTS[content.argmax()]}, not {'/'.join(scripts)}"
    code, other = code_of(lang), ""
    if scripts and "Han" in scripts and content.sum() >= LETTERS:  # Japanese has kana, Chinese has not
        kana = content[_among(("Hiragana", "Katakana"))].sum() / content.sum()
        if kana < KANA[0] if code == "ja" else kana > KANA[1]:
            other = "zh" if code == "ja" else "ja"
    elif listed(code):
        other = other_language(texts, code, least)
    return f"looks like {other}, not {lang}" if other else ""


@cache
def _among(scripts: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.isin(SCRIPTS, scripts)


def _mixed(name: str, docs: Documents, lang: str) -> str:
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


def _order(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    name = next(iter(corpus.references), None)
    guides = {doc.id: doc.refs[name] if name else doc.src for doc in corpus.docs}
    against = "the reference" if name else "the source"
    found = []
    for output in outputs:
        places, hyp, guide = [], list[str](), list[str]()
        for doc in corpus.docs:
            side, segments = guides[doc.id], output.docs.get(doc.id, ())
            if side is not None and any(side) and len(side) == len(segments):  # not the blanks of outputs alone
                places += [f"document {doc.id}, segment {number}" for number in range(1, len(side) + 1)]
                hyp += segments
                guide += side
        if note := order_note(hyp, guide, places):
            found.append(f"{output.system}: {note.format(against=against)}")
    return found


def _equal(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    names: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for output in outputs:
        names.setdefault(tuple(output.docs.get(doc.id, ()) for doc in corpus.docs), []).append(output.system)
    found = [f"{' and '.join(same)} are the same text under {len(same)} names" for same in names.values()
             if len(same) > 1]
    for name in corpus.references:
        same = names.get(tuple(doc.refs[name] for doc in corpus.docs), [])
        found += [f"{system} is the reference {name} itself" for system in same if system != name]
    return found


def order_note(hyp: Sequence[str], guide: Sequence[str], places: Sequence[str]) -> str:
    """What is wrong with the order of an output beside its guide, or ""; ``{against}`` stands for the guide's name.

    Correlations of lengths pick the places to look at, words that segments share (names, numbers, cognates) decide.
    """
    size = len(hyp)
    if size < FEWEST:
        return ""
    lengths = [np.log(np.fromiter(map(len, side), dtype=np.float64, count=size) + LONGER) for side in (hyp, guide)]
    compare = _Words(hyp, guide)
    here = np.arange(size)
    straight = _correlation(*lengths)
    if _better(lengths, here, here[::-1], straight) and compare.belongs(here, here[::-1]):
        return "the segments look reversed: the last goes with the first of {against}"
    shifted = _shifted(lengths, compare)
    if shifted is not None:
        start, length, shift = shifted
        many = count(abs(shift), "segment")
        return (f"{length} segments look shifted, from about {places[start]} on: they go with {{against}} "
                f"{many} {'further on' if shift > 0 else 'before'}; is a line missing or too many?")
    if straight < LOOSE and size >= WINDOW and not compare.related(here, here):
        return "the segments do not look like translations of these: neither lengths nor words go with {against}"
    return ""


def _shifted(lengths: Sequence[FloatArray], compare: _Words) -> tuple[int, int, int] | None:
    """(first segment, number of segments, shift) of the longest stretch that goes with other lines."""
    size = len(lengths[0])
    stretches: Counter[int] = Counter()
    starts: dict[int, int] = {}
    for begin in range(0, max(1, size - WINDOW // 2), WINDOW):
        here = np.arange(begin, min(begin + WINDOW, size))
        own = _correlation(lengths[0][here], lengths[1][here])
        for shift in SHIFTS:
            kept = here[(here + shift >= 0) & (here + shift < size)]
            there = kept + shift
            if len(kept) >= FEWEST / 2 and _better(lengths, kept, there, own) and compare.belongs(kept, there):
                stretches[shift] += len(here)
                starts.setdefault(shift, begin)
                break
    if not stretches:
        return None
    shift, count = stretches.most_common(1)[0]
    return (starts[shift], count, shift) if count >= min(size, WINDOW) / 2 else None


def _better(lengths: Sequence[FloatArray], here: IntArray, there: IntArray, own: float) -> bool:
    return own + CLEARER < 1 and _correlation(lengths[0][here], lengths[1][there]) > max(own + CLEARER, CLEAR)


def _correlation(first: FloatArray, second: FloatArray) -> float:
    """Pearson's; 0 where one side does not vary."""
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0


def _bags(side: Sequence[str]) -> Callable[[int], frozenset[str]]:
    return cache(lambda at: frozenset(words(side[at])))


class _Words:
    """Shares of rare words that segments of an output have in common with segments of its guide."""

    def __init__(self, hyp: Sequence[str], guide: Sequence[str]) -> None:
        self.size = len(guide)
        self.hyp, self.guide = _bags(hyp), _bags(guide)

    def belongs(self, here: IntArray, there: IntArray) -> bool:
        """Whether segments ``here`` go better with segments ``there`` of the guide than with their own."""
        better = self._shared(here, there) > 2 * self._shared(here, here)
        return better and self.related(here, there)

    def related(self, here: IntArray, there: IntArray) -> bool:
        far = (here + self.size // 2 + 7) % self.size
        return self._shared(here, there) > CHANCE * self._shared(here, far)

    def _shared(self, here: IntArray, there: IntArray) -> float:
        """Of the rare words of two segments, the share that both have: the mean over pairs."""
        step = max(1, len(here) // PAIRS)
        shares = []
        for i, j in zip(here[::step].tolist(), there[::step].tolist()):
            mine, other = self.hyp(i), self.guide(j)
            both = sum(self.rarity.get(word, 5.0) for word in mine & other)
            either = sum(self.rarity.get(word, 5.0) for word in mine | other)
            shares.append(both / max(1e-9, either))
        return float(np.mean(shares)) + 1e-3

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Inverse document frequency of words in a sample of the guide."""
        sample = range(0, self.size, max(1, self.size // 200))
        counts = Counter(word for at in sample for word in self.guide(at))
        return {word: float(np.log(len(sample) / many)) for word, many in counts.items()}
