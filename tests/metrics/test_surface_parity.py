"""Every parameter of BLEU, chrF and TER against sacrebleu itself: scores, counts, one and two references."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from wholetext.errors import SpecError
from wholetext.io import from_texts
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score

NO_CACHE = Options(cache=False, flags=False)
HYPS = [
    "The Minister's reply, dated 3.5.2021, was short.", "He said: “We do not know yet.”", "a b", "", "yes",
    "A man-made lake of 1,000 acres &amp; two islands", "他说：“我们还不知道。”",
    "東京オリンピックは2021年に開催された。",
    "the the the the the the the", "It rained all day long in Oslo and Bergen .", "word " * 30 + "end",
]  # fmt: skip
FIRST = [
    "The minister's answer, dated 3.5.2021, was brief.", "He said: \"We don't know yet.\"", "a b", "something", "no",
    "An artificial lake of 1,000 acres & two islands", "他说：“我们目前还不知道。”",
    "2021年に東京でオリンピックが開催された。",
    "the cat is on the mat", "In Oslo and Bergen it rained all day.", "word " * 25 + "final end",
]  # fmt: skip
SECOND = [
    "The Minister replied shortly on 3.5.2021.", "“We do not know yet,” he said.", "b a", "", "yes indeed",
    "A man-made lake with two islands", "“我们还不知道”，他说。", "東京五輪は２０２１年に開かれた。",
    "there is a cat on the mat", "It rained the whole day in Oslo and Bergen.", "a word",
]  # fmt: skip


def specs(name: str, **choices: tuple[Any, ...]) -> list[tuple[str, dict[str, Any]]]:
    """(spec, arguments) of every combination; None leaves an argument out."""
    found = []
    for values in product(*choices.values()):
        args = {key: value for key, value in zip(choices, values) if value is not None}
        written = ",".join(f"{key}={str(value).lower()}" for key, value in args.items())
        found.append((f"{name}({written})" if args else name, args))
    return found


SMOOTHING = (
    *(("exp", value) for value in (None,)), *(("floor", value) for value in (None, 0, 0.1, 0.5)),
    *(("add-k", value) for value in (None, 0, 1, 2.5)), ("none", None),
)  # fmt: skip


def check(spec: str, whole: Any, single: Any) -> None:
    """Corpus and sentence scores, against one reference and two."""
    for refs in ([FIRST], [FIRST, SECOND]):
        scores = score(HYPS, spec, refs=refs, options=NO_CACHE)[spec]["hyp"]
        expected = whole.corpus_score(HYPS, refs).score
        assert scores.score == pytest.approx(expected, rel=1e-9, abs=1e-12)
        each = [single.sentence_score(hyp, list(ref)).score for hyp, *ref in zip(HYPS, *refs)]
        assert scores.at("row") == pytest.approx(each, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("method", "value"), SMOOTHING)
@pytest.mark.parametrize("order", [1, 4, 6])
def test_bleu_smoothing_and_orders(method: str, value: float | None, order: int) -> None:
    args = {"smooth": method, "max_ngram_order": order} | ({} if value is None else {"smooth_value": value})
    given = ",".join(f"{key}={each}" for key, each in args.items())
    for effective in ("always", "never"):
        whole, single = (
            BLEU(smooth_method=method, smooth_value=value, max_ngram_order=order, effective_order=on, force=True)
            for on in (effective == "always",) * 2
        )
        check(f"sentence:bleu({given},effective_order={effective})", whole, single)


@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "zh", "none"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_bleu_tokenizers_and_case(tokenize: str, lowercase: bool) -> None:
    whole, single = (
        BLEU(tokenize=tokenize, lowercase=lowercase, effective_order=on, force=True) for on in (False, True)
    )
    check(f"sentence:bleu(tokenize={tokenize},lowercase={str(lowercase).lower()})", whole, single)


@pytest.mark.parametrize(("lang", "tokenize"), [("ja", "ja-mecab"), ("ko", "ko-mecab"), ("zho_Hans", "zh")])
def test_bleu_tokenizer_of_the_language(lang: str, tokenize: str) -> None:
    if tokenize.endswith("mecab"):
        pytest.importorskip("MeCab" if lang == "ja" else "mecab_ko")
    peer = BLEU(tokenize=tokenize, force=True)
    ours = score(HYPS, "sentence:bleu", refs=FIRST, langs=f"en-{lang}", options=NO_CACHE)["sentence:bleu"]["hyp"]
    assert ours.score == pytest.approx(peer.corpus_score(HYPS, [FIRST]).score, rel=1e-9)


@pytest.mark.parametrize("order", [2, 4, 5])
def test_bleu_counts_are_sacrebleus(order: int) -> None:
    peer = BLEU(max_ngram_order=order, force=True).corpus_score(HYPS, [FIRST, SECOND])
    spec = f"sentence:bleu(max_ngram_order={order},counts=true)"
    ours = score(HYPS, spec, refs=[FIRST, SECOND], options=NO_CACHE)[spec]["hyp"]
    row = dict(zip(ours.outputs, ours.table("corpus")[0]))
    orders = range(1, order + 1)
    assert [row[f"matches{n}"] for n in orders] == list(peer.counts)
    assert [row[f"ngrams{n}"] for n in orders] == list(peer.totals)
    assert (row["hyp_length"], row["ref_length"]) == (peer.sys_len, peer.ref_len)
    assert [row[f"precision{n}"] for n in orders] == pytest.approx(peer.precisions, rel=1e-9)
    assert row["brevity"] == pytest.approx(peer.bp, rel=1e-9)


@pytest.mark.parametrize("order", [0, -1, 17])
def test_bleu_orders_out_of_range(order: int) -> None:
    with pytest.raises(SpecError, match="max_ngram_order"):
        scorer(f"bleu(max_ngram_order={order})")


CHRF_CASES = specs("sentence:chrf", char_order=(1, 6), word_order=(0, 2), beta=(1, 3), whitespace=(False, True),
                   eps_smoothing=(False, True))  # fmt: skip
CHRF_CASES += specs("sentence:chrf", char_order=(4,), word_order=(0, 1), lowercase=(True,))


@pytest.mark.parametrize(("spec", "args"), CHRF_CASES, ids=[spec for spec, _ in CHRF_CASES])
def test_chrf_parameters(spec: str, args: dict[str, Any]) -> None:
    check(spec, CHRF(**args), CHRF(**args))


TER_CASES = specs("sentence:ter", normalized=(False, True), no_punct=(False, True), asian_support=(False, True),
                  case_sensitive=(False, True))  # fmt: skip


@pytest.mark.parametrize(("spec", "args"), TER_CASES, ids=[spec for spec, _ in TER_CASES])
def test_ter_parameters(spec: str, args: dict[str, Any]) -> None:
    check(spec, TER(**args), TER(**args))


# ---------------------------------------------------------------- what a language needs


@pytest.mark.parametrize(("lang", "hyp", "ref"), [
    ("zh", "我们还不知道。", "我们都不知道。"),
    ("ja", "彼は昨日東京駅で会議に出席した。", "彼は今日東京駅で会議に出席した。"),
])  # fmt: skip
def test_ter_of_chinese_and_japanese_counts_characters(lang: str, hyp: str, ref: str) -> None:
    scores = score([hyp], "ter", refs=[ref], langs=f"en-{lang}", options=NO_CACHE)["ter"]["hyp"]
    peer = TER(normalized=True, asian_support=True)
    assert scores.score == pytest.approx(peer.sentence_score(hyp, [ref]).score, rel=1e-9)
    assert scores.score < 20
    assert "asian_support:true" in str(scores.signature)


@pytest.mark.parametrize(("lang", "normalized"), [("de", False), ("zh", True), ("ja-JP", True), ("ko", False)])
def test_ter_resolves_auto(lang: str, normalized: bool) -> None:
    metric: Any = scorer("ter").metric.resolve(("en", lang))
    assert (metric.normalized, metric.asian_support) == (normalized, normalized)
    fixed: Any = scorer("ter(normalized=false,asian_support=false)").metric.resolve(("en", lang))
    assert (fixed.normalized, fixed.asian_support) == (False, False)


@pytest.mark.parametrize(("spec", "lang", "noted"), [
    ("ter", "th", True), ("ter", "zh", False), ("ter", "de", False), ("ter(asian_support=false)", "zh", True),
    ("bleu", "th", True), ("bleu", "km", True), ("bleu", "zh", False), ("bleu", "ja", False), ("bleu", "de", False),
    ("bleu(tokenize=char)", "th", False), ("bleu(tokenize=13a)", "zh", True), ("chrf", "th", False),
])  # fmt: skip
def test_unspaced_languages_are_noted_where_words_are_needed(spec: str, lang: str, noted: bool) -> None:
    if lang == "ja":
        pytest.importorskip("MeCab")
    loaded = from_texts(["ก ข"], refs=["ก ค"], langs=f"en-{lang}")
    results = score(loaded, [spec], options=NO_CACHE)
    assert any("blanks" in note for note in results.warnings) is noted


def test_thai_documents_are_joined_with_a_blank() -> None:
    segments = ["วันนี้อากาศดี", "เราไปเดินเล่น", "แล้วกลับบ้าน", "ตอนเย็นฝนตก", "ทุกคนหลับสบาย"]
    refs = [*segments[:4], "ทุกคนตื่นสาย"]
    scores = score(segments, "whole:bleu", refs=refs, langs="en-th", options=NO_CACHE)["whole:bleu"]["hyp"]
    assert scores.score > 60  # one phrase of five is wrong; as one long word nothing would match
