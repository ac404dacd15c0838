"""Every kind of input that wholetext reads: a small valid one made by seed, and what reads it."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.fuzz.fuzz_judgments import (
    Make,
    Read,
    dump,
    each,
    make_annotations,
    make_contrast,
    make_given,
    make_mqm,
    make_ratings,
    make_scores,
    read_annotations,
    read_contrast,
    read_given,
    read_mqm,
    read_ratings,
    read_scores,
    write,
)
from tests.fuzz.fuzz_studies import (
    make_cache,
    make_judging,
    make_pearmut,
    make_published,
    make_request,
    make_spans,
    make_study,
    read_cache,
    read_judging,
    read_pearmut,
    read_published,
    read_request,
    read_spans,
    read_study,
)
from tests.io import fuzzing
from tests.io.fuzz_valid import valid_corpus
from wholetext.errors import WholetextError
from wholetext.io import Loaded, read
from wholetext.io.formats import evalset, jsonl, tsv
from wholetext.types import Corpus, Document, Output

EXAMPLES = Path(__file__).parents[2] / "recipes"


# ---------------------------------------------------------------- tables, vectors


def make_table(folder: Path, rng: random.Random) -> None:
    from importlib.resources import files

    name = rng.choice(["en", "de", "es", "fr", "ru", "zh"])
    (folder / "own.toml").write_bytes((files("wholetext.metrics.blonde") / "tables" / f"{name}.toml").read_bytes())


def read_table(folder: Path, rng: random.Random) -> object:
    from wholetext.metrics.blonde.categories import load_table

    table = load_table(str(folder / "own.toml"), rng.choice(["reference", "paper", "fixed"]))  # type: ignore[arg-type]
    return table.beginnings


def make_vectors(folder: Path, rng: random.Random) -> None:
    lines = [f"w{i} " + " ".join(f"{rng.random():.3f}" for _ in range(4)) for i in range(5)]
    (folder / "v.txt").write_text("\n".join([*(["5 4"] if rng.random() < 0.5 else []), *lines]) + "\n")


def read_vectors(folder: Path, rng: random.Random) -> object:
    from wholetext.metrics.cohesion import vectors

    found = vectors.load(str(folder / "v.txt"))
    assert vectors.np.isfinite(found.matrix).all()
    return found.unit(list(found.index))


# ---------------------------------------------------------------- settings


def make_recipe(folder: Path, rng: random.Random) -> None:
    shutil.copy(rng.choice(sorted(EXAMPLES.glob("*.toml"))), folder / "recipe.toml")


def read_recipe(folder: Path, rng: random.Random) -> object:
    from wholetext.training.recipe import read_recipe, settings

    pairs = (
        []
        if rng.random() < 0.6
        else [
            rng.choice(
                [
                    "adapter.rank=16",
                    "base.x=1",
                    "k=[1,2",
                    "epochs=9" + "9" * 5000,
                    "head.hidden=[[[1]]]",
                    "seed=-1",
                    "share=nan",
                    "x.y.z=1",
                    "=",
                    "a",
                ]
            )
        ]
    )
    return read_recipe(folder / "recipe.toml", settings(pairs))


SPECS = [
    "chrf",
    "context(prev=2):chrf",
    "slide(size=6,step=6):bleu",
    'whole:blonde(weights="tense=2")',
    "bleu(smooth=floor)",
    "paragraph(size=3,partial=weighted):ter",
    "rouge(kind=L,stem=true)",
    "d-bleu",
    "chrf(word=2,beta=1.5)",
    "rouge-l",
    "bertscore@minilm#main",
    "slide(tokens=100,step=50):chrf",
    "context(prev=1,hyp=ref):bleu(lowercase=true)",
]


def make_spec(folder: Path, rng: random.Random) -> None:
    (folder / "spec").write_text(rng.choice(SPECS))


def read_spec(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.paragraphs import read_lengths
    from wholetext.registry import scorer
    from wholetext.spec import parse

    text = (folder / "spec").read_bytes().decode("utf-8", "surrogateescape") if (folder / "spec").exists() else ""
    found = parse(text)
    assert parse(str(found)) == found
    with suppress(WholetextError):
        read_lengths(text)
    return scorer(text).spec


def make_values(folder: Path, rng: random.Random) -> None:
    (folder / "x.json").write_text(json.dumps({"a": [1, 2.5, {"b": "c"}], "d": None, "e": "\ud83d\ude00"}))
    (folder / "x.toml").write_text("a = [1, 2]\n[b.c]\nd = 'e'\nf = 2020-01-01\n")
    (folder / "x.yaml").write_text("a: &x [1, 2]\nb: *x\nc: {d: 1.5, e: [f, g]}\nh: |\n  text\n")


def read_values(folder: Path, rng: random.Random) -> object:
    from wholetext.files.parsing import file_bytes, integer, number, read_json, read_toml, read_yaml

    data = {end: (folder / f"x.{end}") for end in ("json", "toml", "yaml")}
    for parse in (integer, number):
        with suppress(WholetextError):
            parse(file_bytes(data["json"], most=1 << 24).decode("latin-1"))
    return each(
        [
            lambda: read_json(file_bytes(data["json"], most=1 << 24), constants=rng.random() < 0.2),
            lambda: read_toml(file_bytes(data["toml"])),
            lambda: read_yaml(file_bytes(data["yaml"])),
        ]
    )


# ---------------------------------------------------------------- folders


@cache
def _run_folder() -> Path:
    """A run folder, made once for a process and copied for each input."""
    from wholetext.scoring.evaluate import Options, evaluate
    from wholetext.scoring.results import write_run

    folder = Path(tempfile.mkdtemp(prefix="fuzzrun"))
    docs = tuple(
        Document(f"d{i}", (f"Quelle {i}.", "Zwei."), {"refA": (f"Source {i}.", "Two.")}, {"domain": "x"})
        for i in range(3)
    )
    outputs = [Output(name, {doc.id: (f"A {name} {doc.id}.", "Two!") for doc in docs}) for name in ("a", "b")]
    results = evaluate(
        Corpus("c", ("de", "en"), docs), outputs, ["chrf", "whole:bleu", "slide(size=2):ter"], Options(cache=False)
    )
    write_run(results, folder / "run")
    return folder / "run"


def make_run(folder: Path, rng: random.Random) -> None:
    """A run folder; most are without hashes, as 0.1.0 wrote them, so that damage meets the checks behind the hashes."""
    shutil.copytree(_run_folder(), folder / "run")
    if rng.random() < 0.8:
        head = json.loads((folder / "run" / "run.json").read_text("utf-8"))
        dump(folder / "run" / "run.json", {key: value for key, value in head.items() if key not in ("files", "sha256")})


def read_run(folder: Path, rng: random.Random) -> object:
    from wholetext.scoring.evaluate import open_run

    found = open_run(folder / "run")
    return [
        scores.at(level) for by in found.scores.values() for scores in by.values() for level in ("row", "doc", "corpus")
    ]  # type: ignore[arg-type]


def make_evalset(folder: Path, rng: random.Random) -> None:
    loaded = valid_corpus(rng)
    evalset.write(folder / "set", loaded)
    count = sum(map(len, loaded.corpus.docs))
    human = folder / "set" / "human-scores"
    human.mkdir()
    write(
        human / "de-en.mqm.seg.score",
        [[out.system, str(-rng.random())] for out in loaded.outputs for _ in range(count)],
    )
    rows = [[out.system, str(i), "r1", str(-rng.randint(0, 9))] for out in loaded.outputs for i in range(count)]
    write(human / "de-en.mqm.raters.tsv", [["system", "seg", "rater", "score"], *rows])


def read_evalset(folder: Path, rng: random.Random) -> object:
    from wholetext.io.formats.scores import human_names, human_scores
    from wholetext.meta.judgments.sources import find_ratings

    root = folder / "set"
    return each(
        [
            lambda: read(root, langs="de-en"),
            lambda: find_ratings(root, "de-en", "mqm"),
            lambda: [human_scores(root, "de-en", name, level) for name, level in human_names(root, "de-en")],
        ]
    )


# ---------------------------------------------------------------- corpora: read, and written and read back


def make_nothing(folder: Path, rng: random.Random) -> None:
    """Corpora are made and damaged by tests/io/fuzzing.py."""


def read_corpus(folder: Path, rng: random.Random) -> object:
    made = fuzzing.case(rng.randrange(1 << 40), folder)
    loaded = read(made.source, langs=made.langs, format=made.format)
    fuzzing.check(loaded)
    return loaded


def read_back(folder: Path, rng: random.Random) -> object:
    """What a writer writes is read back as it was; names and texts are anything."""
    from tests.fuzz.fuzz_changes import SIGNS

    def odd(text: str) -> str:
        return (
            text + rng.choice([*SIGNS, "\ud800", "\n", "\t", " ", '"']) * rng.choice([1, 1, 3])
            if rng.random() < rate
            else text
        )

    rate = rng.choice([0.01, 0.05, 0.5])
    loaded = valid_corpus(rng)
    names = {doc.id: odd(doc.id) for doc in loaded.corpus.docs}
    docs = tuple(
        Document(
            names[doc.id],
            tuple(map(odd, doc.src or ())),
            {odd(k): tuple(map(odd, v)) for k, v in doc.refs.items()},
            {"domain": odd("news")},
        )
        for doc in loaded.corpus.docs
    )
    outputs = tuple(
        Output(odd(one.system), {names[doc]: tuple(map(odd, text)) for doc, text in one.docs.items()})
        for one in loaded.outputs
    )
    made = Loaded(Corpus("c", (odd("de") if rng.random() < 0.1 else "de", "en"), docs), outputs)
    kind = rng.choice(["jsonl", "tsv", "evalset"])
    path = folder / f"x.{kind}"
    {"jsonl": jsonl.write, "tsv": tsv.write, "evalset": evalset.write}[kind](path, made)
    assert {entry.parts[len(folder.parts)] for entry in folder.rglob("*")} <= {path.name}, "written elsewhere"
    again = read(
        path, langs=made.corpus.langs if kind != "tsv" else None, format=kind, systems=[o.system for o in outputs]
    )
    if kind != "evalset":  # which strips the ends of lines
        assert [doc.src for doc in again.corpus.docs] == [doc.src for doc in docs], kind
        assert [dict(out.docs) for out in again.outputs] == [dict(out.docs) for out in outputs], kind
    return again


KINDS: dict[str, tuple[Make, Read]] = {
    "corpus": (make_nothing, read_corpus),
    "written": (make_nothing, read_back),
    "evalset": (make_evalset, read_evalset),
    "scores": (make_scores, read_scores),
    "mqm": (make_mqm, read_mqm),
    "ratings": (make_ratings, read_ratings),
    "contrast": (make_contrast, read_contrast),
    "annotations": (make_annotations, read_annotations),
    "tags": (make_given, read_given),
    "table": (make_table, read_table),
    "vectors": (make_vectors, read_vectors),
    "recipe": (make_recipe, read_recipe),
    "spec": (make_spec, read_spec),
    "values": (make_values, read_values),
    "run": (make_run, read_run),
    "study": (make_study, read_study),
    "pearmut": (make_pearmut, read_pearmut),
    "published": (make_published, read_published),
    "spans": (make_spans, read_spans),
    "judging": (make_judging, read_judging),
    "request": (make_request, read_request),
    "cache": (make_cache, read_cache),
}
