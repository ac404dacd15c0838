"""Language codes: every style of writing one language gives one code."""

from __future__ import annotations

import pytest

import wholetext as wt
from wholetext.text import code_of, language, language_name, pair_of, same_language
from wholetext.text.codes import TWO_LETTERS, _registered


@pytest.mark.parametrize(("written", "code"), [
    ("en", "en"), ("eng", "en"), ("en_US", "en"), ("eng_Latn", "en"), ("EN-us", "en"),
    ("zh", "zh"), ("zho_Hans", "zh"), ("cmn_Hans", "zh"), ("zh-CN", "zh"), ("zh_TW", "zh"), ("yue_Hant", "zh"),
    ("arz_Arab", "ar"), ("arb_Arab", "ar"), ("ar_EG", "ar"), ("ekk_Latn", "et"), ("lvs_Latn", "lv"),
    ("sr_Cyrl_RS", "sr"), ("hr", "hr"), ("nb", "nb"), ("nob_Latn", "nb"), ("id", "id"), ("pt-BR", "pt"),
    ("is_IS", "is"), ("isl_Latn", "is"), ("sme", "se"), ("mas_KE", "mas"), ("iw", "he"),
])
def test_every_style_gives_one_code(written: str, code: str) -> None:
    assert code_of(written) == code
    assert language(written).known


def test_codes_of_two_letters_are_read_as_the_registry_reads_them() -> None:
    assert len(TWO_LETTERS) == 182
    assert all(language(code) == _registered(code, code) for code in TWO_LETTERS)
    assert language("DE") == _registered("DE", "de")


def test_script_region_and_member_are_kept_where_stated() -> None:
    serbian = language("sr_Cyrl_RS")
    assert (serbian.script, serbian.region, language("sr").script) == ("Cyrl", "RS", "")
    assert "'arz_Arab' is treated as 'ar'" in language("arz_Arab").note()
    assert language("zho_Hans").note() == language("en_US").note() == ""


@pytest.mark.parametrize("written", ["x-klingon", "xx", "klingon", "qqq", "12", "e"])
def test_an_unknown_code_is_named_in_a_note(written: str) -> None:
    assert not language(written).known
    assert repr(written) in language(written).note()


def test_no_language_is_no_code_and_no_note() -> None:
    assert {language(written).code + language(written).note() for written in ("", " ", "und")} == {""}


@pytest.mark.parametrize(("one", "other", "same"), [
    ("zh", "zho_Hans", True), ("zho_Hant", "zho_Hans", False), ("pt", "pt-BR", True), ("pt-PT", "pt-BR", False),
    ("pt", "es", False),
])  # fmt: skip
def test_scripts_and_regions_differ_only_where_both_are_stated(one: str, other: str, same: bool) -> None:
    assert same_language(one, other) is same


@pytest.mark.parametrize(("text", "pair"), [
    ("en-de", ("en", "de")), ("eng_Latn-isl_Latn", ("eng_Latn", "isl_Latn")), ("en-zh-CN", ("en", "zh-CN")),
    ("zh-CN-en", ("zh-CN", "en")), ("en-is_IS", ("en", "is_IS")), ("en-sr-Cyrl-RS", ("en", "sr-Cyrl-RS")),
    ("xx-yy", ("xx", "yy")),
])
def test_a_pair_is_split_between_two_codes(text: str, pair: tuple[str, str]) -> None:
    assert pair_of(text) == pair


@pytest.mark.parametrize("text", ["de", "en-", "-en", "", "xx-yy-zz"])
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pair of language codes"):
        pair_of(text)


def test_languages_have_names() -> None:
    pytest.importorskip("language_data", reason="language_data is not installed: pip install 'wholetext[judges]'")
    assert [language_name(code) for code in ("de", "zho_Hans", "", "x!")] == [
        "German", "Chinese (Simplified)", "an unstated language", "x!"]


def test_codes_in_a_score() -> None:
    def notes(langs: str) -> list[str]:
        scores = wt.score({"a": ["x y"], "b": ["y z"]}, ["chrf", "bleu"], refs=["x y"], langs=langs)
        return [note for note in scores.warnings if "language code" in note]

    codes = ("zh", "zho_Hans", "cmn_Hans", "zh-CN")
    made, ref = ["我喜欢吃苹果和香蕉。"], ["我爱吃苹果和香蕉。"]
    (score,) = {wt.score(made, "bleu", refs=ref, langs=f"en-{code}").score for code in codes}
    assert 60 < score < 70
    assert notes("en-de") == []
    assert notes("en-xq") == ["the language code 'xq' is unknown: language-specific rules do not apply"]
    assert notes("en-cmn_Hans") == ["the language code 'cmn_Hans' is treated as 'zh', its macrolanguage"]
