"""The two metrics through the public interface."""

import pytest

import wholetext as wt
from wholetext.errors import MetricError

SRC = ["The torsional vibration damper is new.", "The vibration damper broke.", "A vibration damper costs a lot."]
REF = ["Tłumik drgań skrętnych jest nowy.", "Tłumik drgań się zepsuł.", "Amortyzator kosztuje dużo."]
GLOSSARY = "vibration damper\ttłumik drgań\ntorsional vibration damper\ttłumik drgań skrętnych\n"


@pytest.fixture
def glossary(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_text(GLOSSARY, "utf-8")
    return path


def score(hyp, spec, src=SRC, refs=REF, langs=("en", "pl")):
    return wt.score(hyp, spec, srcs=src, refs=refs, docs=["d"] * len(src), langs="-".join(langs))


def outputs(results):
    (by_system,) = results.scores.values()
    (scores,) = by_system.values()
    return dict(zip(scores.outputs, scores.table("doc")[0].tolist()))


def test_terms_counts_disjoint_renditions(glossary):
    hyp = ["Tłumik drgań skrętnych jest nowy.", "Zepsuł się.", "Tłumik drgań kosztuje."]
    values = outputs(score(hyp, f"terms(glossary={glossary})"))
    # required: 1 × torsional vibration damper, 2 × vibration damper; the nested one has no text of its own
    assert values["used"] == pytest.approx(100 * 2 / 3)
    assert values["overlapping"] == pytest.approx(100)
    assert values["reference"] == pytest.approx(100 * 2 / 3)


def test_lemmas_and_surface_differ(glossary):
    hyp = ["Brak tłumika drgań skrętnych.", "Brak tłumika drgań.", "Brak tłumika drgań."]
    assert outputs(score(hyp, f"terms(glossary={glossary})"))["used"] == 100
    assert outputs(score(hyp, f"terms(glossary={glossary},match=surface)"))["used"] == 0


def test_texts_without_terms_are_undefined(glossary):
    results = score(["Nic."], f"terms(glossary={glossary})", src=["Nothing."], refs=["Nic."])
    assert outputs(results)["used"] != outputs(results)["used"]


def test_missing_and_used_terms_are_explained(glossary):
    hyp = ["Tłumik drgań skrętnych jest nowy.", "Zepsuł się.", "Tłumik drgań kosztuje."]
    explained = wt.explain(score(hyp, f"terms(glossary={glossary})"))
    spans = [[(span.category, span.text) for span in segment.extra] for segment in explained.segments]
    assert spans == [
        [("term", "Tłumik drgań skrętnych")],
        [("missing term", "Zepsuł się.")],
        [("term", "Tłumik drgań")],
    ]
    assert "tłumik drgań" in explained.segments[1].extra[0].feature


def test_consistency_with_a_glossary(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_text("damper\tDämpfer|Tilger\n", "utf-8")
    src = ["A damper.", "The damper.", "One damper."]
    for hyp, share in (
        (["Ein Dämpfer.", "Der Dämpfer.", "Ein Dämpfer."], 100),
        (["Ein Dämpfer.", "Der Tilger.", "Ein Dämpfer."], 200 / 3),
        (["Ein Dämpfer.", "Das Ding.", "Ein Tilger."], 100 / 3),
    ):
        results = score(hyp, f"term-consistency(glossary={path})", src=src, refs=hyp, langs=("en", "de"))
        assert outputs(results)["score"] == pytest.approx(share)


def test_consistency_without_a_glossary():
    """A name that is spelled in two ways lowers the score, and nothing else does."""
    src = ["We met Alice here.", "Then Alice left.", "It was late.", "Where was Alice now?", "Nobody knew."]
    same = ["Wir trafen Alice hier.", "Dann ging Alice.", "Es war spät.", "Wo war Alice jetzt?", "Niemand wusste es."]
    other = [*same[:3], "Wo war Alisa jetzt?", same[4]]
    first, second = (
        outputs(score(hyp, "term-consistency", src=src, refs=same, langs=("en", "de")))["score"]
        for hyp in (same, other)
    )
    assert first == 100
    assert second == pytest.approx(200 / 3)


def test_a_glossary_is_part_of_the_signature(glossary):
    spec = f"terms(glossary={glossary})"
    before = score(REF, spec)
    glossary.write_text(GLOSSARY + "new\tnowy\n", "utf-8")
    after = score(REF, spec)
    signatures = [next(iter(next(iter(r.scores.values())).values())).signature for r in (before, after)]
    assert signatures[0]["terms"] != signatures[1]["terms"]
    assert signatures[0].hash != signatures[1].hash


def test_a_language_without_lemmas_is_noted(glossary):
    results = score(REF, f"terms(glossary={glossary})", langs=("en", "eu"))
    assert any("no lemmas of the language 'eu'" in str(note) for note in results.notes)


def test_terms_needs_a_glossary():
    with pytest.raises(MetricError, match="needs a glossary") as fault:
        score(REF, "terms")
    assert "terms(glossary=FILE)" in fault.value.next
