"""What other tools and later commands write: campaigns, published scores, error spans, studies, settings of judges,
requests to the server, values of the cache. Small valid ones by seed, and what reads them."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.fuzz_judgments import dump, each, sentence, write
from wholetext.errors import WholetextError
from wholetext.types import Corpus, Document, Output

# ---------------------------------------------------------------- annotations of Pearmut


def make_pearmut(folder: Path, rng: random.Random) -> None:
    """A log, or the file of the dashboard; resets, repeats and controls among the entries."""

    shown = [
        [{"doc": f"d{doc}", "seg": seg, "item_id": f"d{doc}#{seg}", "src": sentence(rng), "weight": 1.0 + doc,
          "tgt": {"a": sentence(rng), "b": "x 🐶"}} for seg in range(2)]
        for doc in range(2)
    ]  # fmt: skip

    def entry(doc: int, user: str) -> dict[str, Any]:
        items = shown[doc]
        marks = [{"start_i": 0, "end_i": 0, "severity": rng.choice(["major", None]), "category": "x"}]
        said = [{name: {"score": rng.choice([70, 10.5, None]), "error_spans": marks} for name in "ab"} for _ in items]
        return {"item": items, "annotation": said, "user_id": user, "item_i": doc, "validations": [True, False]}

    entries = [entry(doc, user) for doc in range(2) for user in ("r1", "r2")]
    entries.append({"annotation": "__RESET__", "user_id": "r2", "item_i": 1})
    if rng.random() < 0.5:
        dump(folder / "log.jsonl", entries, lines=True)
    else:
        dump(folder / "annotations.json", {"campaign": entries})


def read_pearmut(folder: Path, rng: random.Random) -> object:
    from wholetext.annotation.annotations import read_pearmut, write_judgments
    from wholetext.io.formats.scores import human_names, human_scores
    from wholetext.meta.judgments.sources import find_ratings
    from wholetext.meta.spans.files import read_spans

    found = read_pearmut(next(iter(folder.glob("*.json*")), folder / "none.json"))
    assert all(0 <= score <= 100 for score in found.system_scores().values())
    write_judgments(folder / "set", found, found.loaded("de-en"))
    root = folder / "set"
    levels = [human_scores(root, "de-en", name, level) for name, level in human_names(root, "de-en")]
    rated = find_ratings(root, "de-en", "esa").ratings
    assert {*rated.systems} == {*found.ratings().systems} and {*rated.raters} == {*found.ratings().raters}
    return levels, read_spans(folder / "set" / "human-scores" / "de-en.esa.spans.jsonl")


# ---------------------------------------------------------------- published scores, rankings


def make_published(folder: Path, rng: random.Random) -> None:
    for system in ("x", "y", "z"):
        records = [
            {
                "language_pair": "en-de_DE",
                "domain": rng.choice(["news", "speech"]),
                "document_id": f"d{doc}",
                "metric_scores": {name: [rng.random(), rng.choice([0.5, None])] for name in ("MetricX", "COMET")},
            }
            for doc in range(3)
        ]
        dump(folder / f"{system}.jsonl", records, lines=True)


def read_published(folder: Path, rng: random.Random) -> object:
    from wholetext.ranking.aggregate import METHODS
    from wholetext.ranking.rank import rank

    return rank([folder], method=rng.choice(list(METHODS)), draws=rng.choice([0, 20]), langs=rng.choice(["", "en-de"]),
                out=folder / "ranked" if rng.random() < 0.5 else None).as_json()


# ---------------------------------------------------------------- error spans


def make_spans(folder: Path, rng: random.Random) -> None:
    """Gold as a table of MQM or of WMT25 or JSONL, and spans of a metric as JSONL."""
    texts = {(system, seg): sentence(rng) + " and so on" for system in "ab" for seg in range(3)}
    gold = rng.choice(["wmt25", "jsonl", "mqm"])
    if gold == "wmt25":
        head = ["doc_id", "segment_id", "system_id", "hypothesis_segment"]
        head += ["start_indices", "end_indices", "error_types"]
        rows = [["d", str(seg), system, text, *rng.choice([("-1", "-1", "no-error"), ("0 2", "2 4", "major minor")])]
                for (system, seg), text in texts.items()]
        write(folder / "gold.tsv", [head, *rows])
    elif gold == "mqm":
        head = ["system", "doc", "doc_id", "rater", "source", "target", "category", "severity"]
        rows = [[system, "d", str(seg + 1), rng.choice(["r1", "r2"]), "q", f"<v>{text[:2]}</v>{text[2:]}", "x", "major"]
                for (system, seg), text in texts.items()]
        write(folder / "gold.tsv", [head, *rows])
    for name in ("metric", "gold")[: 1 + (gold == "jsonl")]:
        marks = [{"start": 0, "end": rng.randint(1, 5), "severity": rng.choice(["major", "minor"])},
                 {"start": "missing", "end": "missing", "severity": "minor"}]
        lines = [{"system": system, "doc": "d", "segment": seg, "text": text, "score": rng.random() * 100,
                  "spans": rng.choice([marks, marks[:1], [], None])} for (system, seg), text in texts.items()]
        dump(folder / f"{name}.jsonl", lines, lines=True)


def read_spans(folder: Path, rng: random.Random) -> object:
    from wholetext.meta.spans.evaluate import SpanOptions, evaluate_spans, rater_spans
    from wholetext.meta.spans.files import read_spans

    found = {name: read_spans(next(iter(folder.glob(f"{name}.*")), folder / name))[0] for name in ("gold", "metric")}
    how = SpanOptions(draws=rng.choice([0, 20]))
    with suppress(WholetextError):  # there may be one rater only
        rater_spans(found["gold"], how)
    return evaluate_spans(found["gold"], [found["metric"]], how)


# ---------------------------------------------------------------- what commands write for the report


def _corpus() -> tuple[Corpus, list[Output]]:
    docs = tuple(
        Document(f"d{i}", ("Sie ging.", "Er sah 2 Hunde."), {"refA": ("She left.", "He saw 2 dogs.")}, {"domain": "x"})
        for i in range(3)
    )
    outputs = [Output(name, {doc.id: (f"She {name} left.", "He saw 2 dogs.") for doc in docs}) for name in ("a", "b")]
    return Corpus("c", ("de", "en"), docs), outputs


@cache
def studies() -> dict[str, str]:
    """A file of each kind, as the commands write it, made once for a process."""
    from wholetext.perturbation.perturb import StressOptions
    from wholetext.perturbation.store import write_stress
    from wholetext.perturbation.stress import stress
    from wholetext.ranking.rank import rank
    from wholetext.scoring.evaluate import Options, evaluate
    from wholetext.scoring.sweep import Axes, sweep, write_sweep

    folder = Path(tempfile.mkdtemp(prefix="fuzzstudies"))
    corpus, outputs = _corpus()
    options = Options(cache=False, flags=False)
    rank(evaluate(corpus, outputs, ["chrf", "bleu"], options), draws=20, out=folder / "ranking")
    write_sweep(sweep(corpus, outputs, "chrf", Axes(window=2), options), folder / "grid")
    tested = StressOptions(changes=("typography", "number", "swap"), draws=20)
    write_stress(stress(corpus, outputs, ["chrf"], tested, options), folder / "stress")
    made = {name: (folder / name.split(".")[0] / name).read_text("utf-8")
            for name in ("ranking.json", "grid.json", "stress.json")}
    shutil.rmtree(folder)
    return {**made, **{name: json.dumps(value) for name, value in _OTHERS.items()}}


_MEASURE = {"check": "length", "judge": "j", "measure": "errors per 1,000 characters", "setting": "window 1",
            "value": 0.5, "low": 0.4, "high": None, "count": 7}  # fmt: skip
_SHARE = {"name": "all", "right": 1, "total": 2, "ties": 0, "undefined": 0, "low": 0.1, "high": 0.9, "accuracy": 0.5}
_OTHERS: dict[str, Any] = {
    "judge-check.json": {"kind": "judge-check", "corpus": "c", "langs": ["de", "en"], "documents": 2,
                         "systems": ["a", "b"], "judges": ["j"], "settings": {"draws": 100},
                         "measures": [_MEASURE, {**_MEASURE, "check": "position", "setting": ""}], "notes": ["said"]},
    "contrast.json": {"kind": "contrast", "format": 1, "set": "s", "langs": ["en", "fr"], "items": ["1"],
                      "metrics": [{"metric": "m", "all": _SHARE, "groups": {}, "margins": [0.5]}], "mcnemar": [],
                      "notes": []},
    "meta.json": {"kind": "meta", "format": 1, "fields": [], "tasks": [], "average": None, "curves": [],
                  "between_metrics": []},
}  # fmt: skip


def make_study(folder: Path, rng: random.Random) -> None:
    name = rng.choice(sorted(studies()))
    (folder / name).write_text(studies()[name], "utf-8")


def read_study(folder: Path, rng: random.Random) -> object:
    """Both readers; a study that is whole can be shown."""
    from wholetext.meta.store import read_meta
    from wholetext.reporting.studies import read_study

    steps: list[Callable[[], object]] = [lambda: [read_study(path).plain() for path in folder.glob("*.json")]]
    if (folder / "meta.json").exists():
        steps.append(lambda: read_meta(folder))
    return each(steps)


# ---------------------------------------------------------------- judges: prices, prompts, answers

ANSWERS = [
    '{"score": 71}',
    "Score: 71/100",
    '```json\n{"score": "71"}\n```',
    'Critical:\nno-error\nMajor:\naccuracy/addition - "very big"\nMinor:\nfluency - "x"',
    '{"errors": [{"severity": "major", "category": "accuracy", "span": "big", "context": "a big dog", "reason": "r"}]}',
    '{"winner": "A"}',
    "A",
    '{"cohesion": 4, "coherence": 3, "evidence": [{"quote": "big", "reason": "r"}]}',
    "cohesion: 4\ncoherence: 3",
]


def make_judging(folder: Path, rng: random.Random) -> None:
    (folder / "prices.toml").write_text('currency = "USD"\n[models."m"]\ninput = 0.40\noutput = 1.60\n')
    (folder / "prompt.toml").write_text(
        'system = "You judge."\nuser = "{texts} {answer}"\ntext = "Give a number."\nrepair = "Again."\n'
        '[[examples]]\nlangs = ["de", "en"]\nsrc = "a"\nhyp = "b"\nerrors = [["major", "x", "b", "b", "r"]]\n'
    )
    (folder / "answer.txt").write_text(rng.choice(ANSWERS), "utf-8")


def read_judging(folder: Path, rng: random.Random) -> object:
    """Settings are read or refused; an answer is understood or not, and never an error."""
    from wholetext.backends.chat.calls import Calls
    from wholetext.metrics.judges.parsers import parse_choice, parse_errors, parse_rubric, parse_score
    from wholetext.metrics.judges.places import locate
    from wholetext.metrics.judges.prompts import load_prompt

    answer = folder / "answer.txt"
    text = answer.read_bytes().decode("utf-8", "replace") if answer.exists() else ""
    for parse in (parse_score, parse_errors, parse_choice, parse_rubric):
        for fault in parse(text, cut=rng.random() < 0.2).faults:
            locate(fault, "a very big dog and a big cat")
    calls = Calls(prices=folder / "prices.toml")
    steps: list[Callable[[], object]] = [
        lambda: [calls.cost(name, 1000, 10**6) for name in ("m", "n")],
        lambda: load_prompt("da", str(folder / "prompt.toml")),
    ]
    return each(steps)


# ---------------------------------------------------------------- requests to the server


def make_request(folder: Path, rng: random.Random) -> None:
    docs = [{"doc": "d1", "src": ["Ja."], "refs": {"A": ["Yes."]}, "outputs": {"mine": ["Yes."]}}]
    dump(folder / "body.json", {"documents": docs, "metrics": ["chrf", "whole:bleu"], "langs": "de-en"})
    parts = [("metric", "", "chrf bleu"), ("langs", "", "de-en"), ("title", "", "x"), ("hyp", "a.txt", "Yes.\n"),
             ("ref", "../r.txt", "Yes.\n")]
    form = "".join(
        f'--edge\r\nContent-Disposition: form-data; name="{name}"{f"; filename={chr(34)}{file}{chr(34)}" * bool(file)}'
        f"\r\n\r\n{text}\r\n" for name, file, text in parts)
    (folder / "form").write_bytes((form + "--edge--\r\n").encode())


def read_request(folder: Path, rng: random.Random) -> object:
    import logging

    from wholetext.serving.intake import form_request, json_request
    from wholetext.serving.settings import ServeOptions
    from wholetext.serving.uploads import read_form
    from wholetext.serving.worker import load

    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    data = folder / "data"
    job = data / "jobs" / "one"
    job.mkdir(parents=True)
    options = ServeOptions(data=data)
    body, form = (path.read_bytes() if path.exists() else b"" for path in (folder / "body.json", folder / "form"))

    async def chunks() -> AsyncIterator[bytes]:
        size = rng.choice([1, 7, 1 << 16])
        for at in range(0, min(len(form), 4096), size):
            yield form[at : at + size]
        yield form[4096:]

    def page() -> object:
        sent = asyncio.run(read_form(chunks(), "multipart/form-data; boundary=edge", job, 1 << 24))
        return load(form_request(sent, data, options)[1], data)

    result = each([lambda: load(json_request(body, job, data, options), data), page])
    assert {path.name for path in folder.iterdir()} <= {"body.json", "form", "data"}, "written elsewhere"
    return result


# ---------------------------------------------------------------- values that are kept between runs


@cache
def _kept() -> tuple[Path, list[float]]:
    """A filled cache and the scores that it was filled with."""
    folder = Path(tempfile.mkdtemp(prefix="fuzzcache"))
    return folder, _cached_scores(folder / "cache.sqlite")


def _cached_scores(path: Path) -> list[float]:
    from wholetext.scoring.evaluate import Options, evaluate

    corpus, outputs = _corpus()
    results = evaluate(corpus, outputs, ["chrf", "ter"], Options(cache=path, flags=False))
    return [value for by in results.scores.values() for one in by.values() for value in one.at("segment").tolist()]


def make_cache(folder: Path, rng: random.Random) -> None:
    for path in _kept()[0].glob("cache.sqlite*"):
        shutil.copy(path, folder / path.name)


def read_cache(folder: Path, rng: random.Random) -> object:
    """Whatever became of the file: the same scores."""
    scores = _cached_scores(folder / "cache.sqlite")
    assert scores == _kept()[1], "a damaged cache changed a score"
    return scores
