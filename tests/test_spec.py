"""Spec strings: they round-trip, and a wrong one is answered under the fault."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wholetext.errors import SpecError
from wholetext.registry import ALIASES, expand, scorer
from wholetext.spec import Call, Spec, parse

NAMES = st.from_regex(r"[a-z][a-z0-9+-]{0,8}", fullmatch=True).filter(lambda n: not n.endswith("-"))
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
CALLS = st.builds(Call, NAMES, st.dictionaries(KEYS, VALUES, max_size=3))
MODELS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9/_.-]{0,20}", fullmatch=True)


@given(CALLS, st.none() | CALLS, st.none() | MODELS, st.none() | st.from_regex(r"[a-f0-9]{4,12}", fullmatch=True))
def test_any_spec_reads_back_as_itself(
    metric: Call, view: Call | None, model: str | None, revision: str | None
) -> None:
    spec = Spec(metric, view, model, revision if model else None)
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    "text",
    [
        "chrf", "d-bleu", "context(prev=1,hyp=own):chrf", "slide(size=6,step=2,partial=weighted):bleu(lowercase=true)",
        "paragraph(size=3):chrf++", "whole:ter", "rouge-1", "bleu(smooth=add-k,smooth_value=0.5)",
    ],
)
def test_canonical_form_is_a_fixed_point(text: str) -> None:
    once = scorer(text)
    assert scorer(once.spec) == once
    assert scorer(once.spec).spec == once.spec


def test_canonical_form_leaves_out_defaults() -> None:
    assert scorer("sentence:bleu(lowercase=false)").spec == "bleu"
    assert scorer("context(prev=2,next=0):chrf").spec == "context:chrf"
    assert scorer("slide(size=6):chrf").spec == "slide(size=6,step=6):chrf"


def test_alias_expands_and_what_is_given_beside_it_wins() -> None:
    assert scorer("d-bleu").spec == "whole:bleu"
    assert scorer("d-bleu(lowercase=true)").spec == "whole:bleu(lowercase=true)"
    assert scorer("slide(size=2):d-bleu").spec == "slide(size=2,step=2):bleu"
    for alias in ALIASES:
        assert alias == alias.lower()
        assert expand(parse(alias)).metric.name not in ALIASES


@pytest.mark.parametrize(("text", "spec"), [
    ("BERTScore", "bertscore"), ("Doc-BERTScore", "context:bertscore"), ("BLEU", "bleu"), ("chrF++", "chrf++"),
    ("chrF2", "chrf"), ("spBLEU", "bleu(tokenize=flores200)"), ("COMET-22", "comet"), ("Doc-COMET", "context:comet"),
    ("COMET-QE", "comet@Unbabel/wmt20-comet-qe-da"), ("COMETKiwi", "comet@Unbabel/wmt22-cometkiwi-da"),
    ("BLOND", "blonde"), ("BlonDe", "blonde"), ("BLOND-D", "d-blonde"), ("BLOND+", "blonde-plus"),
    ("FocusDiff", "ds-focus"), ("DS-FOCUS-NN", "ds-focus"), ("DS-SENT-U", "ds-sent"),
    ("DS-SENT-W", "ds-sent(weighting=w)"), ("MoverScore", "moverscore"), ("EntityGraph", "entity-graph"),
    ("SLIDE-COMETKiwi", scorer("slide-kiwi").spec),
    ("GEMBA-MQM@Some/Judge", "judge-mqm@Some/Judge"), ("slide(size=3):Doc-COMET", "slide(size=3,step=3):comet"),
    ("BERTScore(baseline=My/Table.csv)@Some/Model#Tag", "bertscore(baseline=My/Table.csv)@Some/Model#Tag"),
])  # fmt: skip
def test_names_people_type(text: str, spec: str) -> None:
    assert scorer(text).spec == spec


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("slide(6):bleu", "arguments of slide are named", 6),
        ("context(prev=2:chrf", "expected ',' or ')'", 14),
        ("context(prv=2):chrf", "no argument 'prv'", 8),
        ("bleu(smooth=expo)", "one of exp, floor", 5),
        ("bleu@some/model", "takes no model", 4),
        ("slidee(size=2):bleu", "no view 'slidee'", 0),
        ('bleu(tokenize="13a)', "never closed", 14),
        ("bleu(lowercase=true,lowercase=true)", "given twice", 20),
        ("slide(size=2)", "needs a metric", 13),
        ("bleu(lowercase=3)", "takes bool", 5),
        ("comet@", "expected a model name or folder after '@'", 6),
        ("comet@#main", "expected a model name or folder after '@'", 6),
        ("context(prev=1):", "expected a metric name here", 16),
        ("", "expected a view or metric name here", 0),
    ],
)
def test_a_fault_is_shown_with_a_caret_under_it(text: str, message: str, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        scorer(text)
    what = caught.value.what
    assert message in what
    line, under = what.splitlines()[1:3]
    assert line == "  " + text
    assert under.index("^") - 2 == column


@pytest.mark.parametrize(("text", "hint"), [
    ("bleux", "bleu"), ("context(prv=1):bleu", "prev"), ("slid(size=2):bleu", "slide"),
    ("DiscoScore", "ds-focus or ds-sent"),
])  # fmt: skip
def test_a_near_miss_gets_a_suggestion(text: str, hint: str) -> None:
    with pytest.raises(SpecError, match=f"did you mean.*{hint}"):
        scorer(text)


@pytest.mark.parametrize(
    "text",
    [
        "slide(size=0):chrf", "slide(size=2,step=3):chrf", "slide:chrf", "slide(size=2,tokens=5):chrf",
        "context(prev=-1):chrf", "paragraph(size=0):chrf",
    ],
)
def test_impossible_views_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        scorer(text)


@given(st.text(max_size=40))
def test_any_text_is_a_spec_or_a_spec_error(text: str) -> None:
    try:
        parse(text)
    except SpecError as fault:
        assert fault.what


def test_quotes_in_values() -> None:
    call = parse(r"""m(a="x\"y",b='it\'s',c="a\\b",d="")""").metric
    assert call.args == {"a": 'x"y', "b": "it's", "c": "a\\b", "d": ""}
    for text in ('m(a="x', 'm(a="x\\'):
        with pytest.raises(SpecError, match="this quote is never closed") as caught:
            parse(text)
        assert caught.value.next == 'end the value with "'
    with pytest.raises(SpecError, match="expected a view or metric name here, but found"):
        parse("(")
    with pytest.raises(SpecError) as caught:
        parse("chrf extra")
    assert "[view:]metric[@model[#revision]]" in caught.value.next


def test_blanks_anywhere_between_words() -> None:
    wide = " context( prev = 2 ,  next = 1 ) : chrf ( word_order = 2 ) "
    assert parse(wide) == parse("context(prev=2,next=1):chrf(word_order=2)")


def test_every_error_about_a_spec_names_the_next_step() -> None:
    """In the code itself: what ``SpecError`` and ``caret`` are called with."""
    import ast
    from pathlib import Path

    import wholetext

    for path in sorted(Path(wholetext.__file__).parent.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "SpecError(" in text or "caret(" in text else ():
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if isinstance(node, ast.Call) and name == "SpecError":
                assert any(keyword.arg == "next" for keyword in node.keywords), f"{path}:{node.lineno}"
            if isinstance(node, ast.Call) and name == "caret":
                passed = len(node.args) + sum(isinstance(arg, ast.Starred) for arg in node.args)
                assert passed == 4, f"{path}:{node.lineno}"
