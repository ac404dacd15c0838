"""Damaged inputs of every kind, by seed: each must give a result or a WholetextError, and nothing else.

python tests/fuzz/test_fuzz.py 0 100000    seeds 0 to 99999
python tests/fuzz/test_fuzz.py 4711        one seed
"""

from __future__ import annotations

import gzip
import json
import random
import re
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.annotation.annotations import read_pearmut
from wholetext.errors import WholetextError
from wholetext.files.parsing import file_bytes, read_yaml
from wholetext.io import LineFiles, Loaded, read
from wholetext.io.formats.evalset import EvalSet
from wholetext.judges.chat import Calls
from wholetext.judges.parsers import parse
from wholetext.judges.prompts import load_prompt
from wholetext.meta.contrastive.formats import read_contrast_set
from wholetext.meta.judgments import (
    find_ratings,
    mqm_ratings,
    read_mqm,
    read_rater_table,
    read_span_ratings,
)
from wholetext.meta.spans.marks import read_spans
from wholetext.metrics.blonde.categories import load_table
from wholetext.metrics.blonde.units import read_annotations, read_names
from wholetext.metrics.cohesion import vectors
from wholetext.ranking.procedure import rank
from wholetext.registry import scorer
from wholetext.reporting.studies import read_study
from wholetext.serving.intake import json_request, score_fields
from wholetext.serving.settings import ServeOptions
from wholetext.serving.worker import load
from wholetext.text.taggers.given import GivenAnalyser
from wholetext.training.recipe import read_recipe

Read = Callable[[Path], object]
RUN = Path(__file__).parents[1] / "oracle" / "run-0.1.0"
RECIPE = min((Path(__file__).parents[2] / "recipes").glob("*.toml"))
TABLE = Path(wt.__file__).parent / "metrics" / "blonde" / "tables" / "fr.toml"
SEGMENTS = [("d1", 0), ("d1", 1), ("d2", 0)]


# ---------------------------------------------------------------- readers


def check(loaded: Loaded) -> None:
    """What everything after reading relies on."""
    ids = [doc.id for doc in loaded.corpus.docs]
    assert ids and len(set(ids)) == len(ids)
    texts = [text for doc in loaded.corpus.docs for text in (*(doc.src or ()), *sum(doc.refs.values(), ()))]
    for doc in loaded.corpus.docs:
        assert len(doc) > 0 and all(len(text) == len(doc) for text in doc.refs.values())
    for output in loaded.outputs:
        assert list(output.docs) == ids and all(output.docs.values())
        texts += [text for segments in output.docs.values() for text in segments]
    assert not any("\0" in text for text in texts)
    "".join(texts).encode()


def corpus(folder: Path, format: str | None = None) -> None:
    first, *others = sorted(folder.iterdir())
    check(read([first, *others] if others else first, format=format))


def line_files(folder: Path) -> None:
    check(read(LineFiles(folder / "src.txt", [folder / "sysA.txt"], [folder / "ref.txt"], folder / "ids.txt")))


def evalset(folder: Path) -> object:
    check(read(folder, langs="de-en"))
    opened = EvalSet.open(folder, "de-en")
    return [opened.human(name, level) for name, level in opened.human_names], find_ratings(opened, "mqm")


def run(folder: Path) -> object:
    scores = [scores for by_system in wt.open_run(folder).scores.values() for scores in by_system.values()]
    return [(one.at("row"), one.at("doc"), one.score) for one in scores]


def request(folder: Path) -> object:
    fields = score_fields((folder / "body.json").read_bytes())
    return load(json_request(fields, folder, ServeOptions(data=folder)), folder)


def answer(path: Path) -> object:
    text = path.read_text("utf-8", "replace")
    return [parse(schema, text) for schema in ("score", "errors", "choice", "rubric")]


READERS: dict[str, Read] = {  # of single files
    "mqm.tsv": lambda path: mqm_ratings(read_mqm(path)).judgments(),
    "ratings.tsv": lambda path: read_rater_table(path, SEGMENTS),
    "spans.rating": lambda path: [rated[3] for rated, _ in read_span_ratings(path, SEGMENTS)],
    "spans.tsv": read_spans, "spans.jsonl": read_spans, "set.jsonl": read_contrast_set, "set.json": read_contrast_set,
    "tags.jsonl": GivenAnalyser, "tags.conllu": GivenAnalyser,
    "prices.toml": lambda path: Calls(prices=path).cost("m", 1000, 10**6),
    "prompt.toml": lambda path: load_prompt("da", str(path)), "table.toml": lambda path: load_table(str(path), "fixed"),
    "recipe.toml": lambda path: read_recipe(path, {}), "hparams.yaml": lambda path: read_yaml(file_bytes(path)),
    "spec.txt": lambda path: scorer(path.read_text("utf-8", "surrogateescape")),
    "an.txt": lambda path: read_annotations(str(path)), "ner.txt": lambda path: read_names(str(path)),
    "vectors.txt": lambda path: vectors.load(str(path)), "contrast.json": lambda path: read_study(path).plain(),
    "log.jsonl": lambda path: read_pearmut(path).judgments(),
    "answer.txt": answer,
}  # fmt: skip


# ---------------------------------------------------------------- small valid inputs


def rows(*lines: str) -> str:
    return "".join("\t".join(line.split("|")) + "\n" for line in lines)


def lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


DOC = {"doc": "d1", "src": ["Ja. 😀", "Nein."], "refs": {"A": ["Yes.", "No."]}, "outputs": {"x": ["Yes!", "No <b>."]}}
SEGMENT = {"doc": "d1", "src": "Ja.", "refs": {"A": "Yes."}, "outputs": {"x": "Yes!", "y": "Yep."}}
WMT = {"doc_id": "d1", "src_lang": "de", "tgt_lang": "en", "src_text": "Ja.\n\nNein.", "refs": {"A": {"ref": "Y\n\nN"}}}
LM_EVAL = {"doc_id": 0, "doc": {"document_id": "d", "translation": {"de": "Ja.", "en": "Yes."}}, "target": "Yes.",
           "filtered_resps": ["Yes!"], "filter": "none"}
WMT26 = [{"item_id": f"official_###_deu_Latn_###_eng_Latn_###_news_###_d_###_{i}", "src": "Ja.",
          "ref": {"text": "Yes.", "type": "postedit"}, "hyps": {"x": "Yes!", "y": "Yep."}} for i in (0, 1)]  # fmt: skip
XML = ("<?xml version='1.0' encoding='utf-8'?>\n<dataset id='f'><doc id='d' origlang='de'><src lang='de'><p>"
       "<seg id='1'>Ja &amp; nein</seg></p></src><ref lang='en' translator='A'><p><seg id='1'>Yes</seg></p></ref>"
       "<hyp lang='en' system='x'><p><seg id='1'>Yes</seg></p></hyp></doc></dataset>\n")
MARKS = {"errors": [{"start": 0, "end": 3, "severity": "major", "category": "x", "score": 5}], "score": 70}
MQM = rows("system|doc|doc_id|seg_id|rater|source|target|category|severity",
           "a|d|1|1|r1|Ja|a <v>Yes</v> b|Fluency/Grammar|Major", "b|d|1|1|r1|Ja|Yes|No-error|No-error")
SPAN = {"system": "a", "doc": "d", "segment": 0, "text": "a Yes b", "score": 7.5,
        "spans": [{"start": 0, "end": 2, "severity": "major"}]}
ITEM = {"src": "it", "src_context": ["x"], "target": "er", "ref_context": ["y"], "contrastive": ["sie"],
        "langs": "en-de", "antecedent_distance": 1}
CONTRAPRO = {"document id": "1999_a.de", "segment id": 1, "src segment": "x", "ref segment": "er", "src pronoun": "it",
             "errors": [{"contrastive": "sie"}], "ref pronoun": "er", "ante distance": 1, "intrasegmental": False}
WORDS = ["The", "cat", "sat"]
TAGS = {"text": "The cat sat", "tokens": WORDS, "tags": WORDS, "pos": WORDS, "lemmas": WORDS, "morph": WORDS,
        "entities": [["PERSON", 0, 3]], "sentences": [[0, 11]]}
CONLLU = rows("1|The|the|DET|DT|_|2|det|_|_", "2|cat|cat|NOUN|NN|Number=Sing|0|root|_|NER=B-X")
SHOWN = [{"doc": "d1", "seg": 0, "item_id": "d1#0", "src": "Ja", "weight": 1.0, "tgt": {"a": "Yes", "b": "x"}}]
SAID = [{name: {"score": 70, "error_spans": [{"start_i": 0, "end_i": 0, "severity": "major"}]} for name in "ab"}]
SHARE = {"name": "all", "right": 1, "total": 2, "ties": 0, "undefined": 0, "low": 0.1, "high": 0.9, "accuracy": 0.5}
STUDY = {"kind": "contrast", "format": 1, "set": "s", "langs": ["en", "fr"], "items": ["1"], "mcnemar": [], "notes": [],
         "metrics": [{"metric": "m", "all": SHARE, "groups": {}, "margins": [0.5]}]}
SCORES = {"language_pair": "en-de_DE", "domain": "news", "document_id": "d", "metric_scores": {"M": [0.5, None],
                                                                                              "C": [1, 2]}}
EVALSET: dict[str, str | bytes] = {
    "sources/de-en.txt": "Ja.\nNein.\n", "documents/de-en.docs": rows("news|d", "news|d"),
    "references/de-en.refA.txt": "Yes.\nNo.\n", "system-outputs/de-en/x.txt": "Yes!\nNo!\n",
    "human-scores/de-en.mqm.seg.score": rows("x|-1", "x|None"),
    "human-scores/de-en.mqm.raters.tsv": rows("system|seg|rater|score", "x|0|r1|-1", "x|1|r1|-5"),
}  # fmt: skip
PROMPT = 'system = "You judge."\nuser = "{texts} {answer}"\ntext = "Give a number."\nrepair = "Again."\n'

Files = dict[str, str | bytes]
FILES: Files = {
    "mqm.tsv": MQM, "ratings.tsv": rows("system|seg|rater|score", "a|0|r1|70", "b|1|r1|60.5"),
    "spans.rating": rows(*(f"{system}|{json.dumps(MARKS)}|r1" for system in "ab" for _ in SEGMENTS)),
    "spans.tsv": MQM, "spans.jsonl": lines(SPAN, {**SPAN, "system": "b", "text": "Yes"}),
    "set.jsonl": lines(ITEM, ITEM), "set.json": json.dumps([CONTRAPRO]), "tags.jsonl": lines(TAGS, {"tokens": WORDS}),
    "tags.conllu": f"# text = The cat\n{CONLLU}\n", "prompt.toml": PROMPT, "table.toml": TABLE.read_bytes(),
    "prices.toml": 'currency = "USD"\n[models."m"]\ninput = 0.40\noutput = 1.60\n',
    "recipe.toml": RECIPE.read_bytes(), "hparams.yaml": "a: &x [1, 2]\nb: *x\nc: {d: 1.5}\n",
    "spec.txt": "slide(size=6,step=6):chrf(word_order=2,beta=3)", "vectors.txt": "a 0.1 0.2\nb 1 -2\n",
    "an.txt": rows("a bank|1,bank, shore <pos/1>;river,x"), "contrast.json": json.dumps(STUDY),
    "ner.txt": rows("PERSON: (Anna: 2; Bob B.: 1)|NONPERSON: (Paris: 1)"),
    "log.jsonl": lines({"item": SHOWN, "annotation": SAID, "user_id": "r1", "item_i": 0, "validations": [True]}),
    "answer.txt": '```json\n{"score": 71, "errors": [{"severity": "major", "span": "big"}]}\n```',
}  # fmt: skip
CASES: dict[str, tuple[Read, Files]] = {
    "jsonl": (corpus, {"c.jsonl": lines({"corpus": "c", "langs": ["de", "en"]}, DOC, {**DOC, "doc": "d2"})}),
    "segments": (corpus, {"c.jsonl": lines(SEGMENT, {**SEGMENT, "src": "Nein."})}),
    "wmt": (corpus, {"a.jsonl": lines(WMT), "sys.jsonl": lines({"doc_id": "d1", "hypothesis": "Y\n\nN"})}),
    "lm_eval": (corpus, {"c.jsonl": lines(LM_EVAL, {**LM_EVAL, "doc_id": 1, "target": "['Yes.']"})}),
    "wmt26": (corpus, {"i.jsonl": lines(*WMT26)}),
    "tsv": (corpus, {"c.tsv": rows("doc|src|ref:A|hyp:x", "d1|Ja.|Yes.|Yes!", "d1|Nein.|No.|No!")}),
    "xml": (corpus, {"c.xml": XML}), "evalset": (evalset, EVALSET),
    "lines": (line_files, dict.fromkeys(("src.txt", "ref.txt", "sysA.txt", "ids.txt"), "Ja.\nNein.\n")),
    "run": (run, {path.name: path.read_bytes() for path in RUN.iterdir()}),
    "published": (lambda folder: rank([folder], draws=0, langs="en-de").as_json(),
                  {f"{name}.jsonl": lines(SCORES, {**SCORES, "document_id": "e"}) for name in "xyz"}),
    "request": (request, {"body.json": json.dumps({"documents": [DOC], "metrics": ["chrf"], "langs": "de-en"})}),
    **{name: (lambda folder, name=name: READERS[name](folder / name), {name: FILES[name]}) for name in READERS},
}  # fmt: skip


# ---------------------------------------------------------------- damage

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\[[^\[\]]*\]|[\w.-]+')
VALUES = [
    b"null", b"[]", b"{}", b'""', b"true", b"-1", b"1.5", b"1e999", b"NaN", b"9" * 400, b"9" * 5000, b"1_0",
    b'"\\ud800"', b'"\\u0000"', b'["x"]', b'{"a": 1}', "٣".encode(), b"0x10",
    b"[" * 3000 + b"]" * 3000, b'{"a":' * 99_999,
]  # fmt: skip
SIGNS = ["\u202e", "\x1b[31m", "\u200b", "\ufeff", "\x85", "\u2028", "\r", "\x00", "\U0010ffff", '"', "\\", "../", "%",
         "\t", "\n", "{", "</v>", "&#0;"]  # fmt: skip


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One change: cut, bytes, another value or sign, lines or cells exchanged, encoding, compression."""
    at, parts = rng.randint(0, len(data)), data.split(b"\n")
    line = rng.randrange(len(parts))
    token = rng.choice([*TOKEN.finditer(data)] or [re.compile(b"").search(data)])
    assert token
    changes: list[Callable[[], bytes]] = [
        lambda: data[:at], lambda: data[:at] + rng.randbytes(rng.choice([1, 8, 300])) + data[at:],
        lambda: data[:at] + rng.choice(SIGNS).encode() * rng.choice([1, 300]) + data[at:],
        lambda: data[: token.start()] + rng.choice(VALUES) + data[token.end() :],
        lambda: data[: token.start()] + data[token.end() :], lambda: data[:at] + data[at + 1 :],
        lambda: b"\n".join([*parts[:line], *parts[line + 1 :]]), lambda: b"\n".join([*parts, parts[line]]),
        lambda: b"\n".join([*parts[:line], b"", *parts[line:]]),
        lambda: data.replace(b"\n", rng.choice([b"\r", b"\n\n"])),
        lambda: data.decode("utf-8", "replace").encode(rng.choice(["utf-16", "latin-1", "shift_jis"]), "replace"),
        lambda: gzip.compress(data)[: rng.choice([20, None])], lambda: data[:at] + b"<a>" * 50_000 + data[at:],
    ]  # fmt: skip
    return rng.choice([*changes, changes[3], changes[3]])()


def attempt(seed: int) -> tuple[str, str]:
    """(kind, outcome): "read", "refused", or a traceback."""
    rng, kind = random.Random(seed), list(CASES)[seed % len(CASES)]
    reader, files = CASES[kind]
    folder = Path(tempfile.mkdtemp(prefix="fuzz")) / "in"
    victim = rng.choice(sorted(files))
    try:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            for _ in range(rng.choice([0, 1, 1, 1, 1, 2]) if name == victim else 0):
                data = damaged(data, rng)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        reader(folder)
        return kind, "read"
    except WholetextError as fault:
        return kind, "refused" if str(fault).strip() else "an error without a message"
    except Exception:
        return kind, f"seed {seed}: {kind}, {victim}\n{traceback.format_exc()}"
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def outcomes(seeds: range) -> Counter[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Counter(map(attempt, seeds))


@pytest.mark.long
def test_damaged_inputs_of_every_kind() -> None:
    counted = outcomes(range(40 * len(CASES)))
    assert not [outcome for _, outcome in counted if outcome not in ("read", "refused")]
    assert all(counted[kind, "read"] for kind in CASES)  # no kind is hopeless
    assert {kind for kind in CASES if not counted[kind, "refused"]} == {"answer.txt"}  # which is unparsable at worst


if __name__ == "__main__":
    first, last = (*map(int, sys.argv[1:]), int(sys.argv[1]) + 1)[:2]
    totals = outcomes(range(first, last))
    failures = [outcome for _, outcome in totals if outcome not in ("read", "refused")]
    print(*failures[:20], *(f"{kind:<12} {outcome[:12]:<12} {count}" for (kind, outcome), count in totals.items()
                            if outcome in ("read", "refused")), sep="\n")  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "linux" else 1024**3)  # GB
    print(f"{last - first} inputs, {len(failures)} failures, {peak:.2f} GB at most")
    sys.exit(bool(failures) or peak >= 1)
