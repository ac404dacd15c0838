"""Values in files and on the command line that used to end in a traceback: each is an error that names its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.errors import InputError, SpecError, WholetextError
from wholetext.meta.contrastive.formats import read_contrast_set as read_contrast
from wholetext.meta.judgments import read_mqm, read_rater_table, read_span_ratings
from wholetext.meta.spans.marks import read_spans
from wholetext.metrics.blonde.units import Checkpoint, find_phrases, read_names
from wholetext.metrics.cohesion import vectors
from wholetext.registry import scorer
from wholetext.text.taggers.given import GivenAnalyser
from wholetext.training.recipe import read_recipe, settings

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"
WMT25 = "doc_id\tsegment_id\tsystem_id\thypothesis_segment\tstart_indices\tend_indices\terror_types\n"
DIGITS, DEEP = "9" * 5000, "[" * 100_000
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nA\td\t{}\t1\tr\ts\tt\tc\tMinor\n"
ITEM = {"src": "a", "target": "b", "contrastive": ["c"]}
READERS: dict[str, Callable[[Path], object]] = {
    "mqm.tsv": read_mqm,
    "spans.tsv": read_spans,
    "ratings.tsv": lambda path: read_rater_table(path, [("d", 0)]),
    "x.rating": lambda path: read_span_ratings(path, [("d", 0)]),
    "set.jsonl": read_contrast,
    "set.json": read_contrast,
    "tags.jsonl": GivenAnalyser,
    "tags.conllu": GivenAnalyser,
    "names.txt": lambda path: read_names(str(path)),
    "recipe.toml": lambda path: read_recipe(path, {}),
    "vectors.txt": lambda path: vectors.load(str(path)),
}


@pytest.mark.parametrize(("name", "text"), [
    ("spans.tsv", "\r" + WMT25), ("mqm.tsv", MQM.format(DIGITS)), ("mqm.tsv", MQM.format("٣")),
    ("mqm.tsv", MQM.format("1_0")), ("ratings.tsv", "system\tseg\trater\tscore\nA\t0\tr\t1_0\n"),
    ("x.rating", 'A\t{"errors": [], "score": Infinity}'), ("x.rating", 'A\t{"errors": [], "score": "inf"}'),
    ("set.json", DEEP), ("set.json", '{"²": 1}'), ("set.jsonl", json.dumps({**ITEM, "antecedent_distance": "1_0"})),
    ("tags.jsonl", '{"tokens": [1]}'), ("tags.jsonl", '{"tokens": ["a"], "entities": [["X", 0]]}'),
    ("tags.jsonl", '{"tokens": ["a"], "sentences": [[0, 9]]}'), ("tags.jsonl", '{"tokens": ["a"], "lemmas": [null]}'),
    ("names.txt", "PERSON: (A: 99999999)"), ("recipe.toml", f"epochs = {DIGITS}"),
    ("vectors.txt", "a 1 2\nb nan 3\n"), ("vectors.txt", "a 1 2\nb 1e99 3\n"), ("vectors.txt", "a 1_0 2\n"),
])  # fmt: skip
def test_files(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        READERS[name](tmp_path / name)
    assert name in str(caught.value) and len(str(caught.value)) < 1000


@pytest.mark.parametrize("spec", [f"chrf(word={DIGITS})", "chrf(beta=1e999)", f"slide(size={DIGITS}):chrf"])
def test_specs(spec: str) -> None:
    with pytest.raises(SpecError, match=r"\^"):
        scorer(spec)


def test_settings_of_a_recipe() -> None:
    assert settings([f"k={DEEP}"]) == {"k": DEEP}  # not TOML: a word, which the recipe then refuses
    with pytest.raises(WholetextError):
        read_recipe(None, {"data": [{"evalset": "x"}], **settings([f"k={DEEP}"])})


def test_long_phrases_are_not_compiled() -> None:
    assert not [*find_phrases("short", [Checkpoint("ambiguity", "ambiguity", "(" * 1_000_000)], is_ref=True)]


@pytest.mark.parametrize("verb", ["compare", "rank", "annotate sample", "gate", "meta stress", "report", "meta spans"])
def test_seeds_of_every_verb(verb: str, oracle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, demo = str(oracle / "run-0.1.0"), str(DEMO)
    words = {"annotate sample": [run, "-n", "1"], "gate": [run, "--baseline", "coherent"], "meta spans": [run, run],
             "report": [run, "-o", str(tmp_path / "x.html")], "meta stress": [demo, "-l", "de-en", "-m", "chrf"]}
    for seed in ("-1", DIGITS):
        code, _, err = call(capsys, *verb.split(), *words.get(verb, [run]), "--seed", seed)
        assert code == 2 and "--seed" in err and "unexpectedly" not in err, err


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_seeds_from_python(seed: Any, oracle: Path) -> None:
    results = wt.Results.load(oracle / "run-0.1.0")
    first = next(iter(results.scores))
    for use in (
        lambda: wt.Significance(seed=seed).compare(results.scores[first]),
        lambda: wt.ranking.rank(results, seed=seed, draws=5),
        lambda: wt.annotation.sample(results, documents=1, seed=seed),
    ):
        with pytest.raises(WholetextError, match="seed"):
            use()


@pytest.mark.parametrize("words", [
    ["--seed", "-1"], ["--seed", DIGITS], ["--seed", "1_0"], ["--alpha", "nan"], ["--draws", DIGITS],
    ["--alpha", "inf"], ["-l", "../x-en"], ["--baseline", "\ud800"], ["--system", "no\0name"],
])
def test_options(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    text = str(tmp_path / "a.txt")
    code, _, err = call(capsys, "score", "-t", text, "-r", text, "-m", "chrf", "--no-cache", *words)
    assert code in (0, 2) and "unexpectedly" not in err and "Traceback" not in err, err
    assert code == 2 or words[0] == "-l"
