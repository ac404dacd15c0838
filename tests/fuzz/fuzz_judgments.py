"""Judgments, contrastive sets and annotations for the fuzzer: small valid ones made by seed, and what reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.io.fuzz_valid import WORDS
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
    from wholetext.meta.judgments.mqm import mqm_ratings, read_mqm
    from wholetext.meta.judgments.ratings import rater_pairs, reliability

    ratings = mqm_ratings(read_mqm(folder / "mqm.tsv"))
    return ratings.judgments(), rater_pairs(ratings), reliability(ratings)


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
    from wholetext.meta.judgments.mqm import read_span_ratings
    from wholetext.meta.judgments.ratings import (
        SCORES,
        Ratings,
        direct_assessments,
        gather,
        rater_pairs,
        read_rater_table,
        reliability,
    )

    def rated() -> Ratings:
        table = read_rater_table(folder / "ratings.tsv", SEGMENTS, rng.choice([SCORES, ("raw",)]))
        for both in direct_assessments(table, SEGMENTS) if len(table.types) == len(table.rows) else ():
            both.judgments()
        return gather("da", table.rows, SEGMENTS)

    steps: list[Callable[[], object]] = [
        lambda: [one.penalty for one in read_span_ratings(folder / "spans.rating", SEGMENTS)],
        lambda: reliability(rated()),
        lambda: rater_pairs(rated()),
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
        "preferences.jsonl": [
            {"source": two[0], "text1": two[0], "text2": two[1], "text1_tag": "a", "choice": choice}
            for choice in ("text1", "text2", "tie")
        ],
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
    from wholetext.meta.contrast.formats import read_contrast_set as read_set
    from wholetext.meta.contrast.items import ContrastOptions

    path = next(path for path in [*folder.glob("*.json*"), folder / "none.json"])
    documents = folder / "docs" if rng.random() < 0.5 else None
    return read_set(path, ContrastOptions(langs=rng.choice([None, ("en", "de")]), documents=documents, context=2))


# ---------------------------------------------------------------- annotations


def make_annotations(folder: Path, rng: random.Random) -> None:
    write(folder / "an.txt", [[sentence(rng), "1,bank, shore <pos/1>;river,x", "3,did, do"] for _ in range(3)])
    write(folder / "ner.txt", [["PERSON: (Anna: 2; Bob B.: 1)", "NONPERSON: (Paris: 1)"] for _ in range(3)])


def read_annotations(folder: Path, rng: random.Random) -> object:
    from wholetext.metrics.blonde.units import (
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
        one.nouns()
    return analyser.run(list(analyser._known))
