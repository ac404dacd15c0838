"""Every format of a glossary gives the same terms; faults name their place."""

import json

import pytest

from wholetext.errors import InputError
from wholetext.terms import Term, read_glossary

TERMS = (Term("vibration damper", ("tłumik drgań", "amortyzator")), Term("gear", ("bieg",)))
TBX = """<?xml version="1.0"?>
<martif type="TBX"><text><body>
<termEntry id="1"><langSet xml:lang="en"><tig><term>vibration damper</term></tig></langSet>
<langSet xml:lang="pl"><tig><term>tłumik drgań</term></tig><tig><term>amortyzator</term></tig></langSet></termEntry>
<termEntry id="2"><langSet xml:lang="en-GB"><tig><term>gear</term></tig></langSet>
<langSet xml:lang="pl"><tig><term>bieg</term></tig></langSet></termEntry>
</body></text></martif>"""
FORMATS = {
    "terms.tsv": "vibration damper\ttłumik drgań | amortyzator\ngear\tbieg\n",
    "header.tsv": "source\ttarget\nvibration damper\ttłumik drgań\nvibration damper\tamortyzator\n\ngear\tbieg\n",
    "terms.csv": '"vibration damper","tłumik drgań|amortyzator",a comment\ngear,bieg,\n',
    "semicolons.csv": "vibration damper;tłumik drgań|amortyzator\ngear;bieg\n",
    "flat.json": json.dumps({"vibration damper": ["tłumik drgań", "amortyzator"], "gear": "bieg"}),
    "wmt.json": json.dumps(
        {"proper": {"vibration damper": ["tłumik drgań", "amortyzator"], "gear": ["bieg"]}, "random": {"the": ["ten"]}}
    ),
    "terms.tbx": TBX,
    "new.tbx": TBX.replace("termEntry", "conceptEntry").replace("langSet", "langSec"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_terms(tmp_path, name):
    path = tmp_path / name
    path.write_text(FORMATS[name], "utf-8")
    assert read_glossary(path, ("en", "pl")).terms == TERMS


def test_guesses_are_noted(tmp_path):
    for name, words in (("header.tsv", "its header: source, target"), ("terms.csv", "of 3 columns")):
        (tmp_path / name).write_text(FORMATS[name], "utf-8")
        assert words in " ".join(read_glossary(tmp_path / name).notes)


def test_repeated_pairs_are_noted(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_text("gear\tbieg\ngear\tbieg\n", "utf-8")
    terms, notes = read_glossary(path)
    assert terms == (Term("gear", ("bieg",)),)
    assert notes == ("the glossary repeats 1 pair of terms, first gear → bieg",)


@pytest.mark.parametrize(
    ("content", "what", "where"),
    [
        ("gear\t\n", "without a target", "g:1"),
        ("gear\tbieg\n\tbieg\n", "without a source", "g:2"),
        ("gear\tbieg | \n", "without a target", "g:1"),
        ("gear\n", "one column", "g:1"),
        ("", "no terms", "g"),
        ('{"proper": {"gear": []}}', "without a target", "'gear'"),
        ('{"proper": {"gear": [1]}}', "not text", "g"),
        ('{"random": {"gear": ["bieg"]}}', "no part 'proper'", "g"),
        ("{", "JSON", "g"),
        ("<martif>", "not XML", "g"),
        (TBX.replace('"pl"', '"de"'), "languages en, de, not en and pl", "g"),
    ],
)
def test_faults_name_what_and_where(tmp_path, content, what, where):
    path = tmp_path / "g"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError) as fault:
        read_glossary(path, ("en", "pl"))
    assert what in str(fault.value)
    assert where in fault.value.where
    assert fault.value.next


def test_entities_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hunter2", "utf-8")
    path = tmp_path / "g.tbx"
    doctype = f'<!DOCTYPE martif [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    path.write_text(TBX.replace("<martif", doctype + "<martif").replace("bieg", "x&e;"), "utf-8")
    assert "hunter2" not in repr(read_glossary(path, ("en", "pl")))
