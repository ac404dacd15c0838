"""Contrastive sets: decisions, ties, intervals, McNemar, every format, and the balance of DiscEvalMT."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studies import contrast as study
from tests.in_process import call
from wholetext.errors import InputError, MetricError, SpecError
from wholetext.meta.contrastive.decisions import (
    Decisions,
    compare,
    decide,
    groups,
    overall,
    stored_decisions,
    wilson,
    with_controls,
)
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item, read_contrast_set
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats
from wholetext.views import Context, Sentence, Whole

NO_CACHE = Options(cache=False)


@dataclass(frozen=True)
class Fingerprint(Metric):
    """A number from all the text it is shown: blind to context only where the view is."""

    name = "fingerprint"
    needs = frozenset({"src", "hyp"})
    lower: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "higher_is_better", not self.lower)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        seen = [(request.src, request.hyp) for request in requests]
        return mean_stats([int(hashlib.sha256(repr(texts).encode()).hexdigest()[:8], 16) / 2**32 for texts in seen])


@dataclass(frozen=True)
class Length(Metric):
    """Characters of the hypothesis; equal lengths tie."""

    name = "length"
    needs = frozenset({"hyp"})

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats([float(len(request.hyp[0].text)) or float("nan") for request in requests])


def item(at: int, *texts: str, **more: Any) -> Item:
    return Item(f"i{at}", "src", ("before",), tuple(Candidate(text, ("avant",)) for text in texts), **more)


def made(*items: Item) -> ContrastSet:
    return ContrastSet("made", ("en", "fr"), items)


# ---------------------------------------------------------------- decisions


def test_strictly_better_than_every_other() -> None:
    items = made(item(0, "long text", "short"), item(1, "abc", "ab", "abcd"), item(2, "abc", "xyz"), item(3, "a", ""))
    result = decide(items, Scorer(Sentence(), Length()), NO_CACHE)
    assert result.correct.tolist() == [True, False, False, False]
    assert (result.margin == 0).tolist() == [False, False, True, False]
    assert np.isnan(result.margin).tolist() == [False, False, False, True]
    total = overall(result)
    assert (total.total, total.correct, total.ties, total.undefined, total.accuracy) == (4, 1, 1, 1, 0.25)


def test_lower_is_better_turns_round() -> None:
    items = made(*(item(at, f"right {at}", f"wrong {at}") for at in range(40)))
    up, down = (decide(items, Scorer(Sentence(), Fingerprint(lower=low)), NO_CACHE) for low in (False, True))
    assert (up.correct ^ down.correct).all()


def test_the_view_decides_what_is_seen() -> None:
    """The same sentences in another context: a sentence view must not notice, a context view must."""
    here = item(0, "right", "wrong")
    there = Item("i1", "src", ("elsewhere",), tuple(Candidate(c.text, ("ailleurs",)) for c in here.candidates))
    for view, same in ((Sentence(), True), (Context(prev=2), False), (Whole(), False)):
        first, other = decide(made(here, there), Scorer(view, Fingerprint()), NO_CACHE).scores
        assert np.array_equal(first, other) == same


def test_context_is_the_correct_previous_target() -> None:
    seen: list[Request] = []

    @dataclass(frozen=True)
    class Spy(Length):
        def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
            seen.extend(requests)
            return super().measure(requests, run)

    decide(made(item(0, "right", "wrong")), Scorer(Context(prev=2), Spy()), NO_CACHE)
    assert {request.hyp[0].parts for request in seen} == {("avant", "right"), ("avant", "wrong")}
    assert all(request.hyp[0].scored in {("right",), ("wrong",)} for request in seen)


def test_metrics_that_need_a_reference_are_refused() -> None:
    with pytest.raises(MetricError, match="trivial"):
        decide(made(item(0, "a", "b")), "chrf", NO_CACHE)


# ---------------------------------------------------------------- groups, intervals, tests


def decided(correct: Sequence[bool], items: Sequence[Item]) -> Decisions:
    return Decisions("m", made(*items), tuple(np.array([float(right), 0.5]) for right in correct))


def test_groups() -> None:
    items = [item(0, "a", "b", distance=0, type="x", category="it:es", block="1"),
             item(1, "a", "b", distance=2, type="x", category="it:er", block="1", intra=True),
             item(2, "a", "b", distance=7, type="y", category="it:er", block="2"), item(3, "a", "b", type="y")]
    result = groups(decided([True, False, True, True], items))
    assert [(g.group, g.correct, g.total) for g in result["sentence"]] == [
        ("inter", 1, 2), ("intra", 1, 1), ("unknown", 1, 1)]
    assert [(g.group, g.correct, g.total) for g in result["distance"]] == [
        ("0", 1, 1), ("2", 0, 1), (">3", 1, 1), ("unknown", 1, 1)]
    assert [(g.group, g.correct, g.total) for g in result["type"]] == [("x", 1, 2), ("y", 2, 2)]
    assert [(g.group, g.correct, g.total) for g in result["block"]] == [("whole blocks", 1, 2)]
    assert {g.group: g.total for g in result["category"]} == {"it:er": 2, "it:es": 1, "unknown": 1}
    by_flag = groups(decided([True, False, True, True], items), "flag")["sentence"]
    assert [(g.group, g.total) for g in by_flag] == [("intra", 1), ("unknown", 3)]


def test_mcnemar_by_hand() -> None:
    items = [item(at, "a", "b") for at in range(12)]
    first = decided([True] * 10 + [False] * 2, items)
    second = decided([False] * 8 + [True] * 4, items)
    test = compare(first, second)
    assert (test.only_first, test.only_second) == (8, 2)
    assert test.p == pytest.approx(2 * sum([1, 10, 45]) / 2**10)  # two tails of a fair coin thrown 10 times
    assert compare(first, first).p == 1.0


def test_scores_made_elsewhere(tmp_path: Path) -> None:
    items = made(item(0, "a", "b"), item(1, "a", "b", "c"))
    path = tmp_path / "loss.txt"
    path.write_text("0.1\n0.2\n0.5\n0.6\n0.4\n", "utf-8")
    assert stored_decisions(items, path, higher_is_better=False).correct.tolist() == [True, False]
    assert stored_decisions(items, path, name="loss").metric == "loss"
    path.write_text("0.1\n0.2\n", "utf-8")
    with pytest.raises(InputError, match="2 scores for 5"):
        stored_decisions(items, path)
    path.write_text("0.1\nx\n", "utf-8")
    with pytest.raises(InputError, match=r"loss.txt:2"):
        stored_decisions(items, path)


# ---------------------------------------------------------------- DiscEvalMT: balanced by construction


def pairs_are_mirrored(items: Sequence[Item]) -> bool:
    """Whether every correct sentence of a block is the wrong one as often as it is right."""
    right = sorted((entry.src, entry.candidates[0].text, entry.candidates[1].text) for entry in items)
    wrong = sorted((entry.src, entry.candidates[1].text, entry.candidates[0].text) for entry in items)
    return right == wrong


@pytest.mark.data
def test_a_context_blind_metric_gets_exactly_half(data: Path) -> None:
    blind = Scorer(Sentence(), Fingerprint())
    lexical = decide(read_contrast_set(data / "contrastive" / "discevalmt.lexical-choice.en-fr.jsonl"), blind, NO_CACHE)
    assert (overall(lexical).correct, overall(lexical).total, overall(lexical).ties) == (100, 200, 0)
    anaphora = read_contrast_set(data / "contrastive" / "discevalmt.anaphora.en-fr.jsonl")
    blocks: dict[str, list[Item]] = {}
    for entry in anaphora.items:
        blocks.setdefault(entry.block, []).append(entry)
    balanced = [entry for block in blocks.values() if pairs_are_mirrored(block) for entry in block]
    assert (len(blocks), len(balanced)) == (50, 4 * 49)
    result = overall(decide(ContrastSet("balanced", anaphora.langs, tuple(balanced)), blind, NO_CACHE))
    assert (result.correct, result.total) == (98, 196) and result.accuracy == 0.5
    seeing = decide(anaphora, Scorer(Context(prev=1), Fingerprint()), NO_CACHE)
    assert overall(seeing).correct != 100  # a context view is not blind


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("mode, view", [("sentence", "sentence"), ("doc", "context(prev=2)")])
def test_golden_scores_of_comet_qe(mode: str, view: str, data: Path, oracle: Path) -> None:
    expected = json.loads((oracle / "contrastive" / "discevalmt.json").read_text("utf-8"))["expected"][mode]
    model = oracle / "neural" / "models" / "comet-qe-mix"
    items = read_contrast_set(data / "contrastive" / "discevalmt.anaphora.en-fr.jsonl")
    result = decide(items, f"{view}:comet@{model}", NO_CACHE)
    scores = np.stack(result.scores)  # (items, 2)
    assert scores[:, 0] == pytest.approx(np.array(expected["scores_correct"]), abs=2e-5)
    assert scores[:, 1] == pytest.approx(np.array(expected["scores_contrastive"]), abs=2e-5)
    assert (overall(result).correct, overall(result).total) == (expected["correct"], expected["total"])


# ---------------------------------------------------------------- formats


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_discevalmt_json(tmp_path: Path) -> None:
    two = {"src": ["The maps.", "They are old."], "trg": [
        {"correct": ["Les cartes.", "Elles sont vieilles."], "incorrect": ["Les cartes.", "Ils sont vieux."],
         "type": "f.pl"},
        {"semi-correct": ["Les plans.", "Ils sont vieux."], "incorrect": ["Les plans.", "Elles sont vieilles."]}]}
    result = read_contrast_set(write(tmp_path / "anaphora.json", {"10": two, "2": two}))
    assert [entry.block for entry in result.items] == ["2", "2", "10", "10"] and result.langs == ("en", "fr")
    first = result.items[0]
    assert first.src_context == ("The maps.",)
    assert first.candidates[0] == Candidate("Elles sont vieilles.", ("Les cartes.",))
    assert [entry.type for entry in result.items[:2]] == ["f.pl", "semi-correct"]
    example = {"src": ["A?", "B."], "trg": {"correct": ["a", "b"], "incorrect": ["a", "c"]}}
    lexical = {"1": {"type": "repet", "examples": [example]}}
    [entry] = read_contrast_set(write(tmp_path / "lexical-choice.json", lexical)).items
    assert (entry.type, entry.src, entry.candidates[1].text) == ("repet", "B.", "c")


def contrapro_row(segment: int, **more: Any) -> dict[str, Any]:
    return {"src segment": 'He said : "it burns ."', "ref segment": "Er sagt, sie brennt.", "src pronoun": "it",
            "ref pronoun": "Sie", "ante distance": 1, "intrasegmental": False, "document id": "1999_1_2.de",
            "segment id": segment, **more,
            "errors": [{"contrastive": "Er sagt, er brennt."}, {"contrastive": "Er sagt, es brennt."}]}


@pytest.mark.parametrize("first", [1, 0])
def test_contrapro_with_documents(tmp_path: Path, first: int) -> None:
    folder = tmp_path / "documents" / "1999"
    folder.mkdir(parents=True)
    (folder / "1999_1_2.en").write_text("One.\nA candle.\nHe said: “it burns.”\n", "utf-8")
    (folder / "1999_1_2.de").write_text("Eins.\nEine Kerze.\nEr sagt, sie brennt.\n", "utf-8")
    path = write(tmp_path / "contrapro.json", [contrapro_row(2 + first)])
    result = read_contrast_set(path, documents=tmp_path / "documents", context=1)
    [entry] = result.items
    assert result.langs == ("en", "de") and result.warnings == ()
    assert entry.src_context == ("A candle.",) and entry.candidates[0].context == ("Eine Kerze.",)
    assert len(entry.candidates) == 3 and entry.category == "it:sie" and (entry.distance, entry.intra) == (1, False)


def test_contrapro_says_what_is_missing(tmp_path: Path) -> None:
    rows = [contrapro_row(1), contrapro_row(1, **{"document id": "../../etc/passwd"})]
    path = write(tmp_path / "contrapro.json", rows)
    assert "no documents" in read_contrast_set(path).warnings[0]
    (tmp_path / "1999_1_2.en").write_text("Another line.\n", "utf-8")
    (tmp_path / "1999_1_2.de").write_text("Eine andere.\n", "utf-8")
    notes = read_contrast_set(path, documents=tmp_path).warnings
    assert notes == ("1 item has no context: the document or line was not found",
                     "1 item has another source sentence than the document's line")
    (tmp_path / "1999_1_2.de").write_text("Eine.\nZwei.\n", "utf-8")
    with pytest.raises(InputError, match="1 line, but 2"):
        read_contrast_set(path, documents=tmp_path)


_GOOD = '{"src segment": "a", "ref segment": "b", "errors": [{"contrastive": "c"}]}'
_ROW = '{"src": "a", "target": "b", "contrastive": ["c"]'
_CHOICE = '{"source": "s", "text1": "a", "text2": "b", "choice": '


@pytest.mark.parametrize(("name", "content", "place", "message"), [
    ("x.json", "[{}, 2]", "", "unknown format of contrastive set"), ("x.json", "{", "", "not JSON"),
    ("x.json", f'[{_GOOD},\n {{"src segment": "a", "ref segment": "b", "errors": []}}]', ", item 1", "cannot be read"),
    ("x.json", '{\n"1": {"src": ["a", "b"], "trg": [{"correct": ["a", "b"], "incorrect": ["a", "c"]}]},\n'
               '"2": {"src": ["a", "2"]}}', ", block 2", "'trg'"),
    ("x.jsonl", '{"src": 1, "contrastive": ["c"]}', ":1", "'src'"), ("x.jsonl", "", "", "no items"),
    ("x.jsonl", "nonsense", ":1", "not JSON"), ("x.jsonl", _ROW + ', "langs": "english"}', ":1", "english"),
    ("x.jsonl", _ROW + '}\n{"src": "a", "target": "b", "contrastive": []}', ":2", "no contrastive translation"),
    ("x.jsonl", "\n" + _ROW + ', "src_context": ["x"]}', ":2", "context of 1 source"),
    ("x.jsonl", _CHOICE + '"both"}', ":1", "cannot be read"), ("x.jsonl", _CHOICE + '1}', ":1", "cannot be read")])
def test_broken_sets_name_the_place(tmp_path: Path, name: str, content: str, place: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=message) as fault:
        read_contrast_set(path)
    assert fault.value.where.startswith(f"{path}{place}"), fault.value.where


def test_chance_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"src": "a", "target": "b", "contrastive": ["c"] * (1 + i % 2), "block": str(i // 2), "type": "tf"[i % 2]}
            for i in range(4)]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "scores").write_text("\n".join(map(str, range(10))), "utf-8")
    result = stored_decisions(read_contrast_set(path), tmp_path / "scores")
    assert overall(result).chance == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert [group.chance for group in groups(result)["type"]] == pytest.approx([1 / 3, 1 / 2])
    assert groups(result)["block"][0].chance == pytest.approx(1 / 6)
    out = call(capsys, "meta", "contrast", path, "--scores", tmp_path / "scores")[1]
    assert out.splitlines()[0] == "scores is right in 0.0 % of 4 items, no better than chance (41.7 %)."
    assert "random scores without ties reach 41.7 %" in out


def test_preferences_are_judged_with_their_references_by_language(tmp_path: Path) -> None:
    """A metric reads the reference of each item; Japanese is cut as Japanese (chrF has no words, BLEU has)."""
    rows = [{"source": "s", "target": "the cat sat here today", "text1": "the cat sat here", "text2": "a dog ran",
             "source_lang": "de", "target_lang": "en", "choice": "text1", "text1_tag": "para", "text2_tag": "sent"},
            {"source": "s", "target": "猫はここに座った。", "text1": "犬は走った。", "text2": "猫はここに座る。",
             "source_lang": "de", "target_lang": "ja", "choice": "text2", "text1_tag": "para", "text2_tag": "sent"}]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, [*rows, {**rows[0], "choice": "tie"}])), "utf-8")
    items = read_contrast_set(path)
    assert [(item.langs, item.type) for item in items.items] == [(("de", "en"), "para"), (("de", "ja"), "sent")]
    assert [item.candidates[0].text for item in items.items] == ["the cat sat here", "猫はここに座る。"]
    assert items.warnings == ("1 item left out: people preferred neither text",)
    for metric in ("chrf", "bleu"):
        assert decide(items, metric, NO_CACHE).correct.all()
    path.write_text(json.dumps({**rows[0], "target": ""}), "utf-8")
    with pytest.raises(MetricError, match="needs a reference"):
        decide(read_contrast_set(path), "chrf", NO_CACHE)


def test_candidates_given_twice_and_mixed_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No metric tells equal texts apart: such items are errors of the set, not of a metric."""
    saw = {"src": "I saw it.", "target": "Ich sah sie.", "langs": "en-de"}
    rows = [{**saw, "contrastive": ["Ich sah sie.", "Ich sah es."]},
            {**saw, "contrastive": ["Ich sah es.", "Ich sah es."]},
            {**saw, "contrastive": ["Ich sah es."], "langs": "en-fr"},
            {**saw, "contrastive": ["Ich sah es."], "langs": "eng_Latn-deu_Latn"}]
    path, scores = tmp_path / "pronouns.jsonl", tmp_path / "scores.txt"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = read_contrast_set(path)
    assert result.langs == ("en", "de") and len(result) == 4
    assert result.warnings == (
        "not all items are of the language pair en-de (1 of en-fr): all are read as en-de",
        "1 item with the correct translation among the wrong ones, so that every metric ties; see item pronouns-1",
        "1 item with a wrong translation given twice, so that chance is higher than shown; see item pronouns-2")
    scores.write_text("1\n0\n0\n1\n0\n0\n1\n0\n1\n0\n", "utf-8")
    out = call(capsys, "meta", "contrast", path, "--scores", scores, "--json")[1]
    assert json.loads(out)["notes"] == list(result.warnings)


# ---------------------------------------------------------------- wrong context, as a control


def lending(many: int, context: int = 3) -> ContrastSet:
    """Items whose sentences name their item and place."""
    def item(at: int) -> Item:
        before, target = (tuple(f"{side}{at}.{i}" for i in range(context)) for side in "st")
        sides = tuple(Candidate(f"{side} {at}", target) for side in ("right", "wrong"))
        return Item(f"item {at}", f"source {at}", before, sides)

    return made(*map(item, range(many)))


@pytest.mark.parametrize("source", ["shuffled", "other"])
def test_all_candidates_of_an_item_get_the_same_wrong_context(source: str) -> None:
    items = lending(30)
    result, metric = with_controls(items, scorer(f"context(prev=3,hyp=own,source={source}):chrf"))
    assert metric.spec == "context(prev=3,hyp=own):chrf"
    changed = 0
    for before, after in zip(items.items, result.items):
        assert after.candidates[0].context == after.candidates[1].context
        assert [text.replace("s", "t") for text in after.src_context] == list(after.candidates[0].context)
        own = {text.split(".")[0] for text in after.src_context} == {before.src_context[0].split(".")[0]}
        assert own == (source == "shuffled")
        changed += after.src_context != before.src_context
    assert changed >= (30 if source == "other" else 15)  # an order of three is drawn again once in six times


def test_controls_depend_on_the_seed_and_not_on_company() -> None:
    shuffled, reseeded = (scorer(f"context(prev=3,hyp=own,source=shuffled{seed}):chrf") for seed in ("", ",seed=1"))
    few = with_controls(lending(10), shuffled)[0].items
    assert with_controls(lending(30), shuffled)[0].items[:10] == few
    assert with_controls(lending(10), reseeded)[0].items != few


def test_one_sentence_cannot_be_shuffled_which_is_noted() -> None:
    items = lending(4, context=1)
    result, _ = with_controls(items, scorer("context(prev=1,hyp=own,source=shuffled):chrf"))
    assert result.items == items.items and "changes nothing in 4 items of 4" in result.warnings[0]
    with pytest.raises(SpecError, match="different contexts"):
        with_controls(lending(1), scorer("context(source=other):chrf"))


@dataclass(frozen=True)
class Heard(Length):
    """1 if the context of the source names the item that the hypothesis belongs to."""

    needs = frozenset({"src", "hyp"})

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        pairs = [(request.hyp[0].text.split(), request.src.parts[0]) for request in requests if request.src]
        return mean_stats([float(side == "right" and heard.startswith(f"s{at}.")) for (side, at), heard in pairs])


@pytest.mark.parametrize(("source", "correct"), [("same", 12), ("shuffled", 12), ("other", 0)])
def test_decisions_are_made_in_the_controls_context_and_name_it(source: str, correct: int) -> None:
    metric = Scorer(Context(prev=2, hyp="own", source=source), Heard())  # type: ignore[arg-type]
    result = decide(lending(12), metric, Options(cache=False))
    assert int(result.correct.sum()) == correct
    assert ("source=" in result.metric) == (source != "same")
    assert result.set.items == lending(12).items


# ---------------------------------------------------------------- the study


@pytest.mark.slow  # 14,000 items are read
def test_the_page_is_what_the_margins_give(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "DATA", data)
    result, old = json.loads(study.FOUND.read_text("utf-8")), study.PAGE.read_text("utf-8")
    parts = len(result["ContraPro"]["sentence"])
    assert study.page(result, {name: study.load(name) for name in study.SETS}, parts, old) == old


@pytest.mark.data
def test_counts_of_the_real_sets(data: Path) -> None:
    anaphora = read_contrast_set(data / "contrastive" / "discevalmt.anaphora.en-fr.jsonl")
    lexical = read_contrast_set(data / "contrastive" / "discevalmt.lexical-choice.en-fr.jsonl")
    assert anaphora.langs == ("en", "fr") and len(anaphora) == len(lexical) == 200
    kinds = [item.type for item in anaphora.items]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"m.sg": 50, "f.sg": 50, "m.pl": 50, "f.pl": 50}
    kinds = [item.type for item in lexical.items]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"disambig": 172, "repet": 22, "repet, disambig": 6}
    large = read_contrast_set(data / "contrastive" / "contrapro-large.en-fr.jsonl")
    assert len(large) == 14000 and all(len(item.src_context) <= 3 for item in large.items)


@pytest.mark.data
def test_literary_preferences(data: Path) -> None:
    items = read_contrast_set(data / "pairwise" / "literary-translation.jsonl")
    assert len(items) == 540
    kinds = [item.type for item in items.items]
    assert kinds.count("para") > kinds.count("sent")
    assert {item.langs for item in items.items} >= {("ja", "pl"), ("fr", "en"), ("de", "ja")} and all(
        item.ref for item in items.items)


def test_wilson_by_formula() -> None:
    low, high = wilson(8, 10)
    z, p, n = 1.959963984540054, 0.8, 10
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=1e-12)
    assert wilson(0, 5)[0] == 0.0 and wilson(5, 5)[1] == 1.0


def test_metrics_that_survey_the_references_get_them() -> None:
    """CIDEr-D weighs n-grams by the references in which they occur; a copy of the reference has 10."""
    items = tuple(
        Item(str(at), "s", (), (Candidate(ref), Candidate(f"a {ref.rpartition(' ')[0]}")), ref=ref)
        for at, ref in enumerate(("the cat sat down here", "rain fell all night long"))
    )
    decided = decide(ContrastSet("preferences", ("de", "en"), items), "cider", NO_CACHE)
    assert [scores[0] for scores in decided.scores] == pytest.approx([10.0, 10.0]) and decided.correct.all()
