"""BlonDe against the released scorer: every number of its frozen outputs, on given annotations (no tagger)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wholetext.io import Loaded
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output, Scores

ORACLE = json.loads((Path(__file__).parents[1] / "oracle" / "blonde" / "blonde.json").read_text("utf-8"))
DOCUMENTS: dict[str, Any] = {name: doc for name, doc in ORACLE["documents"].items() if "tagged" in doc}
NAMES = {"dm": "marker", **{str(n): f"ngram{n}" for n in (1, 2, 3, 4)}}
UNIFORM = 'weights="neuter=1,epicene=1,nonperson=1"'
VARIANTS = {
    "default": "",
    "uniform_pronoun_entity_weights": UNIFORM,
    "arithmetic": "mean=arithmetic",
    "smooth_floor": "smooth=floor",
    "smooth_none": "smooth=none",
    "lowercase": "lowercase=true",
}


def record(segment: str, tagged: dict[str, Any], lower: bool = False) -> dict[str, Any]:
    """An annotation as ``tagger=given/…`` reads it, from the oracle's tokens, tags and entities by token."""
    at, starts, ends = 0, [], []
    for token in tagged["tokens"]:
        at = segment.index(token, at)
        starts.append(at)
        at += len(token)
        ends.append(at)
    entities = [[label, starts[a], ends[b - 1]] for _, label, a, b in tagged["ents"]]
    tokens = [token.lower() for token in tagged["tokens"]] if lower else tagged["tokens"]
    text = segment.lower() if lower else segment
    return {"text": text, "tokens": tokens, "tags": tagged["tags"], "entities": entities}


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("given") / "oracle.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for doc in DOCUMENTS.values():
            pairs = list(zip(doc["sys"], doc["tagged"]["sys"]))
            for segments, tagged in zip(doc["refs"], doc["tagged"]["refs"]):
                pairs += zip(segments, tagged)
            for lower in (True, False):
                for segment, one in pairs:
                    out.write(json.dumps(record(segment, one, lower)) + "\n")
    return path


def oracle_scores(names: list[str], spec: str, tagger: Path, refs: int | None = None) -> Scores:
    """The named documents under a spec."""
    docs = []
    for name in names:
        texts = DOCUMENTS[name]["refs"][:refs]
        docs.append(Document(name, None, {f"ref{i}": tuple(text) for i, text in enumerate(texts)}))
    output = Output("sys", {name: tuple(DOCUMENTS[name]["sys"]) for name in names})
    name, _, args = spec.partition("(")
    args = ",".join(filter(None, (args.rstrip(")"), f'tagger="given/{tagger}"')))
    results = score(
        Loaded(Corpus("oracle", ("zh", "en"), tuple(docs)), [output]), [f"{name}({args})"], options=Options(cache=False)
    )
    return next(iter(results.scores.values()))["sys"]


def run(names: list[str], spec: str, tagger: Path, refs: int | None = None) -> dict[str, float]:
    """Corpus scores by output."""
    scores = oracle_scores(names, spec, tagger, refs)
    return dict(zip(scores.outputs, scores.table("corpus")[0]))


def check(names: list[str], args: str, expected: dict[str, Any], tagger: Path, **more: Any) -> None:
    """Every number of one expected block: the totals, each category, d-blonde and the experiments' sBlonDe."""
    plus = "ambiguity" in expected["detail"]["recalls"]
    blonde = run(names, f"{'blonde-plus' if plus else 'blonde'}({args})", tagger, **more)
    d = run(names, f"d-blonde({args})", tagger, **more)
    s = run(names, f"blonde({','.join(filter(None, (args, 'with_d=true')))})", tagger, **more)
    same(blonde["recall"], expected["recall"], "recall")
    same(blonde["precision"], expected["precision"], "precision")
    same(blonde["f1"], expected["F1"], "F1")
    for kind, side in (("recalls", "recall"), ("precisions", "precision"), ("F1s", "f1")):
        for category, value in expected["detail"][kind].items():
            if category == "dBlonDe":
                same(d[side], value, f"dBlonDe {side}")
            elif category == "sBlonDe":
                same(s[side], value, f"sBlonDe {side}")
            else:
                name = NAMES.get(category, category)
                same(blonde[name if side == "f1" else f"{name}.{side}"], value, f"{category} {side}")


def same(got: float, wanted: float, what: str) -> None:
    assert np.isclose(got, wanted, rtol=0, atol=ORACLE["tolerance"], equal_nan=True), f"{what}: {got} is not {wanted}"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str, variant: str, tagger: Path) -> None:
    check([name], VARIANTS[variant], DOCUMENTS[name]["expected"][variant], tagger)


def check_counts(names: list[str], spec: str, expected: dict[str, list[float]], tagger: Path) -> None:
    stats = oracle_scores(names, spec, tagger).stats.sum(axis=0).reshape(-1, 3)
    got = dict(zip(CATEGORIES, stats.tolist()))
    for category, three in expected.items():
        assert got[NAMES.get(category, category)] == three, category


@pytest.mark.parametrize("name", DOCUMENTS)
def test_counts(name: str, tagger: Path) -> None:
    """[match, reference, system] of every category under unit weights, exactly."""
    check_counts([name], f"blonde({UNIFORM})", DOCUMENTS[name]["expected"]["counts_match_ref_sys"], tagger)


def test_first_reference_only(tagger: Path) -> None:
    check(["multiref"], "", DOCUMENTS["multiref"]["expected"]["first_reference_only"], tagger, refs=1)


def test_corpus_of_documents(tagger: Path) -> None:
    block = ORACLE["documents"]["corpus_of_all_single_ref_docs"]
    check(block["documents"], "", block["expected"]["default"], tagger)
    check_counts(block["documents"], f"blonde({UNIFORM})", block["expected"]["counts_match_ref_sys"], tagger)


def test_plus(tagger: Path, tmp_path: Path) -> None:
    """BlonDe+ on the annotated document: the annotation file goes by line."""
    lines = DOCUMENTS["plus"]["annotation_lines"]
    (tmp_path / "an.txt").write_text("\n".join(lines) + "\n", "utf-8")
    args = f'annotations="{tmp_path}/an.txt"'
    check(["plus"], args, DOCUMENTS["plus"]["expected"]["blonde_plus"], tagger)
    counts = DOCUMENTS["plus"]["expected"]["counts_plus"]
    check_counts(["plus"], f"blonde-plus({args},{UNIFORM})", counts, tagger)
