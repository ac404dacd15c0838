"""Pronouns, tense, names, terms: made where it is sure, refused elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from wholetext.stress.change import Change, NotApplicable, TaggedText, applied
from wholetext.stress.changes.consistency import name, pronoun, tense, term

Tagged = Callable[..., TaggedText]


def after(change: Change, text: TaggedText) -> tuple[str, ...]:
    """The text with every site changed."""
    return applied(text.segments, change.sites(text, random.Random(0)))[0]


def refused(change: Change, text: TaggedText) -> str:
    with pytest.raises(NotApplicable) as caught:
        change.sites(text, random.Random(0))
    return str(caught.value)


FIRST = "Bob/NNP paid/VBD and/CC he/PRP left/VBD ./."


def test_pronouns_change_their_gender_after_the_first_mention(tagged: Tagged) -> None:
    text = tagged(FIRST, "His/PRP$ car/NN hit/VBD him/PRP himself/PRP ./.", "In/IN Rome/NNP he/PRP slept/VBD ./.",
                  persons=["Rome"], Rome="GPE")
    assert after(pronoun, text) == ("Bob paid and he left.", "Her car hit her herself.", "In Rome she slept.")
    back = tagged("Ann/NNP says/VBZ she/PRP left/VBD ./.", "Her/PRP$ car/NN hit/VBD her/PRP ./.")
    assert after(pronoun, back)[1] == "His car hit him."


@pytest.mark.parametrize("unsure", [
    "He/PRP met/VBD Carl/NNP ./.", "Dan/NNP said/VBD he/PRP slept/VBD ./.", "He/PRP saw/VBD his/PRP$ wife/NN ./.",
    "The/DT spokeswoman/NN said/VBD he/PRP slept/VBD ./.", "He/PRP Dayi/NNP slept/VBD ./.",
    "A/DT person/NN slept/VBD ,/, and/CC he/PRP woke/VBD ./.", "Every/DT male/NN says/VBZ he/PRP slept/VBD ./.",
    "One/PRP sleeps/VBZ when/WRB he/PRP can/MD ./.", "The/DT car/NN was/VBD his/PRP ./.",
])
def test_no_pronoun_changes_where_the_sentence_tells_who_is_meant(tagged: Tagged, unsure: str) -> None:
    text = tagged(FIRST, unsure, "He/PRP slept/VBD ./.", persons=["Carl"])
    assert after(pronoun, text)[1:] == (text.segments[1], "She slept.")


def test_no_pronoun_changes_where_another_person_may_be_meant(tagged: Tagged) -> None:
    assert refused(pronoun, tagged(FIRST, "She/PRP slept/VBD ./.")) == "pronouns of both genders"
    assert "after the first mention" in refused(pronoun, tagged(FIRST, "All/DT slept/VBD ./."))


PAST = ("It/PRP rained/VBD/rain ./.", "Bob/NNP opened/VBD/open the/DT door/NN ./.",
        "He/PRP went/VBD/go out/RP and/CC called/VBD/call ./.", "The/DT dogs/NNS were/VBD/be chased/VBN/chase ./.",
        "They/PRP did/VBD/do n't/RB bark/VB/bark ./.", "It/PRP rained/VBD/rain ./.")


def test_the_past_becomes_the_present(tagged: Tagged) -> None:
    text = tagged(*PAST)
    sites = tense.sites(text, random.Random(0))
    assert len(sites) == 3  # half of the segments keep the tense of the document
    every = {applied(text.segments, [site])[0][at] for seed in range(20)
             for site in tense.sites(text, random.Random(seed)) for at in [site[0].segment]}
    assert every == {"He goes out and calls.", "The dogs are chased.", "They don't bark."}  # Bob may be anyone


@pytest.mark.parametrize("unsure", [
    "He/PRP went/VBD/go yesterday/NN ./.", "He/PRP went/VBD/go if/IN he/PRP called/VBD/call ./.",
    "He/PRP said/VBD/say so/RB ./.", "“/`` He/PRP went/VBD/go ”/'' ./.", "The/DT man/NN fed/VBD/feed by/IN Bob/NNP ./.",
    "The/DT man/NN fed/VBD/feed slept/VBD/sleep ./.", "The/DT sky/NN was/VBD/be blue/JJ ./.",
    "The/DT number/NN of/IN cases/NNS rose/VBD/rise ./.", "He/PRP went/VBD/go and/CC can/MD see/VB ./.",
    "He/PRP put/VBD/put it/PRP there/RB ./.", "He/PRP never/RB or/CC stop/VB and/CC went/VBD/go ./.",
    "‘/`` He/PRP went/VBD/go ’/'' ./.", "'/`` He/PRP went/VBD/go '/'' ./.", "He/PRP knew/VBD/know it/PRP ./.",
    "Shares/NNS raised/VBN ,/, and/CC he/PRP went/VBD/go ./.", "He/PRP scared/VBD/scar it/PRP ./.",
])
def test_no_tense_changes_where_the_sentence_asks_for_its_own(tagged: Tagged, unsure: str) -> None:
    ran = [f"{name}/NNP ran/VBD/run ./." for name in ("Al", "Bob", "Cy", "Di", "Ed")]
    text = tagged(*ran[:4], unsure, ran[4])
    assert "with certainty" in refused(tense, text)


def test_a_document_without_a_tense_of_its_own_is_refused(tagged: Tagged) -> None:
    mixed = tagged("It/PRP rained/VBD/rain ./.", "It/PRP rains/VBZ/rain ./.", "It/PRP rained/VBD/rain ./.",
                   "It/PRP rains/VBZ/rain ./.", "It/PRP rained/VBD/rain ./.")
    assert "no past tense" in refused(tense, mixed)


def test_a_name_gets_another_spelling_after_the_first_mention(tagged: Tagged) -> None:
    text = tagged("John/NNP Petrov/NNP spoke/VBD/speak ./.", "Then/RB Petrov/NNP 's/POS wife/NN spoke/VBD ./.",
                  "Petrov/NNP left/VBD ./.", persons=["John Petrov", "Petrov"])
    changed = after(name, text)
    assert changed[0] == text.segments[0]
    new = changed[2].split()[0]
    assert new != "Petrov" and new[0] == "P" and changed[1] == f"Then {new}'s wife spoke."


def test_of_names_with_as_many_mentions_the_first_is_spelled_otherwise(tagged: Tagged) -> None:
    names = ["Petrov", "Sidorov", "Ivanov", "Popov", "Kozlov", "Orlov"]
    listed = " ".join(f"Mr/NNP {name}/NNP" for name in names)
    changed = after(name, tagged(f"{listed} spoke/VBD ./.", f"{listed} left/VBD ./.", persons=names))
    assert changed[1].split()[3:-1:2] == names[1:] and not changed[1].startswith("Mr Petrov ")


def test_names_that_are_not_sure_stay(tagged: Tagged) -> None:
    once = tagged("Petrov/NNP spoke/VBD/speak ./.", "He/PRP left/VBD ./.", persons=["Petrov"])
    short = tagged("Li/NNP spoke/VBD/speak ./.", "Li/NNP left/VBD ./.", persons=["Li"])
    word = tagged("Brown/NNP spoke/VBD/speak ./.", "Brown/NNP wore/VBD brown/JJ ./.", persons=["Brown"])
    club = tagged("Madrid/NNP won/VBD/win ./.", "Madrid/NNP left/VBD/leave ./.", persons=["Madrid"])
    both = tagged("Paris/NNP spoke/VBD/speak ./.", "Paris/NNP left/VBD ./.", persons=["Paris", "Paris"])
    both = TaggedText("doc", "en", both.segments, (both.analyses[0], replace(both.analyses[1], entities=(
        both.analyses[1].entities[0], both.analyses[1].entities[0]._replace(label="GPE")))))
    place = tagged("Berlin/NNP spoke/VBD/speak ./.", "Berlin/NNP left/VBD ./.", persons=["Berlin"], Berlin="GPE")
    assert {refused(name, text) for text in (once, short, word, club, both, place)} == {"no person is named twice"}


def test_a_term_gets_another_name_after_the_first_mention(tagged: Tagged) -> None:
    text = tagged("A/DT ship/NN sank/VBD ./.", "The/DT Ship/NN was/VBD old/JJ ./.", "Ships/NNS/ship sink/VBP ./.",
                  "The/DT ship/NN owner/NN left/VBD ./.")
    assert after(term, text) == ("A ship sank.", "The Ferry was old.", "Ships sink.", "The ship owner left.")
    several = tagged("Ships/NNS/ship sank/VBD ./.", "These/DT ships/NNS/ship were/VBD old/JJ ./.")
    assert after(term, several)[1] == "These ferries were old."


def test_terms_that_are_not_sure_stay(tagged: Tagged) -> None:
    another = tagged("A/DT car/NN came/VBD ./.", "It/PRP was/VBD a/DT car/NN ./.")
    same = tagged("A/DT car/NN and/CC the/DT car/NN came/VBD ./.", "It/PRP left/VBD ./.")
    conjunction = tagged("Cars/NNS/car came/VBD ./.", "He/PRP said/VBD that/IN cars/NNS/car left/VBD ./.")
    both = tagged("A/DT ship/NN sank/VBD ./.", "The/DT ship/NN is/VBZ a/DT ferry/NN ./.")
    verb = tagged("A/DT ship/NN sank/VBD ./.", "They/PRP refuse/VBP to/TO ship/NN it/PRP ./.")
    once = tagged("A/DT ship/NN sank/VBD ./.", "All/DT slept/VBD ./.")
    assert all("by itself" in refused(term, text) for text in (another, same, conjunction, both, verb, once))
