"""Instructions by domain for judge-esa: each document has those of its own, none changes a prompt without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import wholetext as wt
from tests.io.wmt26_items import ITEMS, write_items
from tests.judges.scripted import ScriptedServer
from wholetext.errors import InputError
from wholetext.io.formats.wmt26 import read_items, read_submission
from wholetext.scoring import write_submission
from wholetext.text import language_name

NEWS, SOFTWARE = "The text is news.", "from the interface or the documentation of software"


def score(loaded: wt.Loaded, spec: str) -> wt.Results:
    return wt.score(loaded, spec, options=wt.Options(cache=False))


@pytest.fixture
def loaded(tmp_path: Path) -> wt.Loaded:
    return wt.read(write_items(tmp_path / "mteval-test26.jsonl"), langs="en-de")


def last(server: ScriptedServer) -> list[str]:
    return [body["messages"][-1]["content"] for body in server.asked]


def test_each_domain_has_its_instructions_in_both_calls(server: ScriptedServer, loaded: wt.Loaded) -> None:
    results = score(loaded, "judge-esa(domains=wmt26)@m")
    prompts = last(server)
    assert len(prompts) == 2 * 6  # two calls about each output, also about those that are missing
    assert sum(NEWS in said for said in prompts) == 2 * 4 and sum(SOFTWARE in said for said in prompts) == 2 * 2
    assert not any(NEWS in said and SOFTWARE in said for said in prompts)
    assert all("(such as {name} or %s)" in said for said in prompts if SOFTWARE in said)
    ((_, by_system),) = results.items()
    assert by_system["A"].signature["domain_texts"].startswith("wmt26#")


def test_without_the_option_nothing_changes(server: ScriptedServer, loaded: wt.Loaded) -> None:
    score(loaded, "judge-esa@m")
    assert not any(NEWS in said or SOFTWARE in said for said in last(server))
    assert language_name("deu_Latn") in last(server)[0]


def test_an_unknown_domain_is_a_note(server: ScriptedServer, loaded: wt.Loaded) -> None:
    docs = tuple(replace(doc, meta={"domain": "poetry"}) for doc in loaded.corpus.docs)
    results = score(replace(loaded, corpus=replace(loaded.corpus, docs=docs)), "judge-esa(domains=wmt26)@m")
    assert any("no instructions for the domain of some texts" in note for note in results.notes)


def test_a_file_of_domains(server: ScriptedServer, loaded: wt.Loaded, tmp_path: Path) -> None:
    file, prompt = tmp_path / "d.toml", tmp_path / "p.toml"
    file.write_text('news = "Be strict with {hyp}."\nsoftware = "Be kind."\n', "utf-8")
    results = score(loaded, f"judge-esa(domains={file})@m")
    assert sum("Be strict with {hyp}." in said for said in last(server)) == 8
    assert not any("no instructions" in note for note in results.notes)
    prompt.write_text("user = '''{texts} {errors} {answer}'''", "utf-8")
    results = score(loaded, f"judge-esa(domains={file},prompt={prompt})@m")
    assert any("no instructions for a domain, as its prompt has no {focus}" in note for note in results.notes)
    for damage in ("", "news = 1", 'news = " "', "news ="):
        file.write_text(damage, "utf-8")
        with pytest.raises(InputError, match=r"no texts by domain|not TOML") as caught:
            score(loaded, f"judge-esa(domains={file})@m")
        assert caught.value.where.endswith("d.toml") and "news = " in caught.value.next
    with pytest.raises(InputError, match="no such file") as caught:
        score(loaded, "judge-esa(domains=wmt27)@m")
    assert "domains=wmt26" in caught.value.next


def test_from_a_judge_to_a_submission(server: ScriptedServer, loaded: wt.Loaded, tmp_path: Path) -> None:
    """Both tasks are filled; a run without any error is a prediction of no errors."""
    items, out = tmp_path / "mteval-test26.jsonl", tmp_path / "s.jsonl"
    summary, _ = write_submission(score(loaded, "judge-esa(domains=wmt26)@m"), out, items)
    assert summary == "4 items, filled in: 5 of task 1, 5 of task 2, null: 2"
    read, _ = read_submission(out, read_items(items))
    empty = {"errors": [], "omission": None, "instruction_fault": None}
    assert read[ITEMS[3]["item_id"]]["task1_pred"] == {"A": empty}
    assert 0 <= read[ITEMS[3]["item_id"]]["task2_pred"]["A"] <= 100
