"""Judgments, contrastive sets and annotations for the fuzzer: small valid ones made by seed, and what reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz_valid import WORDS

from wholetext.errors import WholetextError

Make = Callable[[Path, random.Random], None]
Read = Callable[[Path, random.Random], object]
SEGMENTS = [("d1", 0), ("d1", 1), ("d2", 0)]


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 6))).replace("\u2028", "x").strip() or "x"


def write(path: Path, rows: list[list[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")


def dump(path: Path, value: Any, lines: bool = False) -> None:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in value) if lines else json.dumps(value)
    path.write_text(text, "utf-8")


# ---------------------------------------------------------------- ratings


def make_mqm(folder: Path, rng: random.Random) -> None:
    header = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
    rows = [
        [
            f"s{i % 2}",
            "d",
            str(i + 1),
            str(i),
            "r1",
            sentence(rng),
            f"a <v>{sentence(rng)}</v> b",
            rng.choice(["Fluency/Grammar", "No-error", "Accuracy"]),
            rng.choice(["Major", "Minor", "No-error"]),
        ]
        for i in range(4)
    ]
    write(folder / "mqm.tsv", [header, *rows])


def read_mqm(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.judgments.mqm import breakdown, gaps, mqm_ratings, read_mqm, spans
    from wholetext.meta.judgments.raters import rater_pairs, reliability

    errors = read_mqm(folder / "mqm.tsv")
    ratings = mqm_ratings(errors)
    return (
        breakdown(errors),
        spans(errors),
        gaps(errors),
        ratings.judgments(),
        rater_pairs(ratings),
        reliability(ratings),
    )


def make_ratings(folder: Path, rng: random.Random) -> None:
    rows = [["system", "seg", "rater", "score", "raw", "type"]]
    rows += [
        [f"s{i % 2}", str(i % 3), f"r{i % 2}", str(rng.randint(0, 100)), str(rng.random()), "SYSTEM"] for i in range(6)
    ]
    write(folder / "ratings.tsv", rows)
    marks = {"errors": [{"start": 0, "end": 3, "severity": "major", "category": "x", "score": 5}], "score": 70}
    write(
        folder / "spans.rating",
        [[system, rng.choice(["None", json.dumps(marks)]), "r1"] for system in ("a", "b") for _ in SEGMENTS],
    )


def read_ratings(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.judgments.rater_tables import read_rater_table
    from wholetext.meta.judgments.raters import rater_pairs, reliability
    from wholetext.meta.judgments.ratings import read_da, read_ratings
    from wholetext.meta.judgments.spans import read_span_ratings, span_ratings

    steps: list[Callable[[], object]] = [
        lambda: read_rater_table(folder / "ratings.tsv", SEGMENTS),
        lambda: [z.judgments() for z in read_da(folder / "ratings.tsv", SEGMENTS)],
        lambda: span_ratings(
            read_span_ratings(folder / "spans.rating", SEGMENTS), rng.choice(["mqm", "esa"]), SEGMENTS
        ),
        lambda: reliability(read_ratings(folder / "ratings.tsv", "da", SEGMENTS)),
        lambda: rater_pairs(read_ratings(folder / "ratings.tsv", "da", SEGMENTS)),
    ]
    return each(steps)


def each(steps: list[Callable[[], object]]) -> object:
    """All steps; the first deliberate error is raised at the end, so that one does not hide the next."""
    refused: WholetextError | None = None
    for step in steps:
        try:
            step()
        except WholetextError as error:
            refused = refused or error
    if refused is not None:
        raise refused
    return None


def make_aspects(folder: Path, rng: random.Random) -> None:
    dump(
        folder / "aspects.jsonl",
        [
            {
                "id": f"i{i}",
                "system": f"s{j}",
                "text": sentence(rng),
                "scores": {"coherence": 3.5},
                "expert": [{"coherence": 1, "fluency": 2.0}, {"coherence": 4, "fluency": 5}],
            }
            for i in range(2)
            for j in range(2)
        ],
        lines=True,
    )


def read_aspects(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.judgments.aspects import read_aspects

    found = read_aspects(folder / "aspects.jsonl")
    return [found.judgments(aspect, group) for group in found.groups for aspect in found.aspects(group)]


def make_preferences(folder: Path, rng: random.Random) -> None:
    names = ("source", "target", "text1", "text2", "text1_tag", "text2_tag")
    dump(
        folder / "p.jsonl",
        [{**{name: sentence(rng) for name in names}, "choice": rng.choice(["text1", "tie"])} for _ in range(3)],
        lines=True,
    )
    rows = [f"{i},j,a,{rng.randint(-1, 5)},b,{rng.randint(1, 5)}" for i in range(3)]
    header = "segmentId,judgeId,system1Id,system1rank,system2Id,system2rank"
    (folder / "r.csv").write_text("\n".join([header, *rows]) + "\n")


def read_preferences(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.judgments.preferences import read_preferences, read_rankings

    return each([lambda: read_preferences(folder / "p.jsonl"), lambda: read_rankings(folder / "r.csv")])


def make_scores(folder: Path, rng: random.Random) -> None:
    write(
        folder / "x.seg.score", [[s, rng.choice(["None", str(rng.random()), "1e-3"])] for s in "ab" for _ in range(3)]
    )
    write(folder / "x.domain.score", [[d, s, str(rng.random())] for s in "ab" for d in ("news", "talk")])


def read_scores(folder: Path, rng: random.Random) -> object:
    from wholetext.io.formats.scores import read_scores

    steps: list[Callable[[], object]] = [
        lambda: read_scores(folder / "x.seg.score", "x", "seg", items=3, gaps=rng.random() < 0.5),
        lambda: read_scores(folder / "x.domain.score", "x", "domain"),
    ]
    return each(steps)


# ---------------------------------------------------------------- contrastive sets


def make_contrast(folder: Path, rng: random.Random) -> None:
    two = [sentence(rng), sentence(rng)]
    made: dict[str, Any] = {
        "items.jsonl": [
            {
                "src": two[0],
                "src_context": two,
                "target": "it",
                "ref_context": two,
                "contrastive": ["he", "she"],
                "antecedent_distance": rng.choice([1, "2", None]),
                "langs": "en-de",
            }
            for _ in range(2)
        ],
        "contrapro.json": [
            {
                "document id": "1999_a.de",
                "segment id": rng.choice([1, "2"]),
                "src segment": "x",
                "ref segment": "er",
                "errors": [{"contrastive": "sie"}],
                "src pronoun": "it",
                "ref pronoun": "er",
                "ante distance": 1,
                "intrasegmental": False,
            }
        ],
        "ctxpro.json": [
            {
                "expected": word,
                "rule": f"NOM.{word}",
                "ref segment": f"da {word} ist",
                "src segment": "it is",
                "src pronoun": "it",
                "document id": "1999_a",
                "segment id": 1,
            }
            for word in ("er", "sie")
        ],
        "discevalmt.json": {
            "1": {"src": two, "trg": [{"correct": two, "incorrect": two, "type": "m"}]},
            "2": {"type": "x", "examples": [{"src": two, "trg": {"correct": two, "incorrect": two}}]},
        },
        "voita.json": [{"src": "a _eos b", "dst": ["a _eos c", "a _eos d"], "true_ind": 1, "ctx_dist": 2}],
    }
    name = rng.choice(list(made))
    dump(folder / name, made[name], lines=name.endswith("l"))
    (folder / "docs").mkdir()
    for side in ("en", "de"):
        (folder / "docs" / f"1999_a.{side}").write_text("x\ny\nz\n")


def read_contrast(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.contrast.detect import read as read_set
    from wholetext.meta.contrast.items import Wanted

    path = next(path for path in [*folder.glob("*.json*"), folder / "none.json"])
    documents = folder / "docs" if rng.random() < 0.5 else None
    return read_set(path, Wanted(langs=rng.choice([None, ("en", "de")]), documents=documents, context=2))


# ---------------------------------------------------------------- annotations


def make_annotations(folder: Path, rng: random.Random) -> None:
    write(folder / "an.txt", [[sentence(rng), "1,bank, shore <pos/1>;river,x", "3,did, do"] for _ in range(3)])
    write(folder / "ner.txt", [["PERSON: (Anna: 2; Bob B.: 1)", "NONPERSON: (Paris: 1)"] for _ in range(3)])


def read_annotations(folder: Path, rng: random.Random) -> object:
    from wholetext.metrics.blonde.annotation_files import (
        file_mark,
        find_names,
        find_phrases,
        read_annotations,
        read_names,
    )

    steps: list[Callable[[], object]] = [
        lambda: [find_phrases("a bank did", one) for one in read_annotations(str(folder / "an.txt"))],
        lambda: [
            find_names("Anna saw Paris", one, as_counted=rng.random() < 0.5)
            for one in read_names(str(folder / "ner.txt"))
        ],
        lambda: file_mark(str(folder / "ner.txt")),
    ]
    return each(steps)


def make_given(folder: Path, rng: random.Random) -> None:
    if rng.random() < 0.5:
        rows = [
            ["1", "The", "the", "DET", "DT", "_", "2", "det", "_", "_"],
            ["2-3", "du", *"________"],
            ["2", "cat", "cat", "NOUN", "NN", "Number=Sing", "0", "root", "_", "NER=B-X"],
            ["3", "sat", "sit", "VERB", "_", "_", "2", "x", "_", "NER=I-X"],
        ]
        text = "\n".join("\t".join(row) for row in rows)
        (folder / "tags.conllu").write_text(f"# seg_id = 1\n# text = The du\n{text}\n\n{text}\n", "utf-8")
    else:
        words = ["The", "cat", "sat"]
        records = [
            {
                "text": "The cat sat",
                "tokens": words,
                "tags": words,
                "pos": words,
                "lemmas": words,
                "morph": words,
                "entities": [["PERSON", 0, 3]],
                "sentences": [[0, 11]],
            },
            {"tokens": words},
        ]
        dump(folder / "tags.jsonl", records, lines=rng.random() < 0.7)


def read_given(folder: Path, rng: random.Random) -> object:
    from wholetext.taggers.given import GivenAnalyser

    analyser = GivenAnalyser(folder)
    found = [*analyser._known.values()]
    for one in found:
        assert analyser.unpack(analyser.pack(one)) == one
        one.nouns(), one.sentence_tokens()
    return analyser.run(list(analyser._known))
