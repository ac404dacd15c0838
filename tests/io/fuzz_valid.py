"""Small valid inputs of every format, made by seed: what the fuzzer starts from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from wholetext.io import LineFiles, Loaded
from wholetext.io.formats import evalset
from wholetext.types import Corpus, Document, Output

WORDS = [
    "the",
    "cat",
    "sat",
    "Ünïcode",
    "猫",
    "很好",
    "кот",
    "😀",
    "a,b",
    '"quoted"',
    "<tag>",
    "&amp;",
    "{x}",
    "",
    "\u2028",
    "\ufeff",
    "-",
    "1.5",
]


def valid_corpus(rng: random.Random) -> Loaded:
    """A small corpus with one to three systems."""

    def text(size: int) -> tuple[str, ...]:
        return tuple(" ".join(rng.choices(WORDS, k=rng.randint(0, 6))) for _ in range(size))

    sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    refs = ["refA", "refB"][: rng.randint(0, 2)]
    docs = tuple(
        Document(f"doc.{i}", text(size), {ref: text(size) for ref in refs}, {"domain": "news"})
        for i, size in enumerate(sizes)
    )
    systems = ["sysA", "sysB", "sysC"][: rng.randint(1, 3)]
    outputs = tuple(Output(name, {doc.id: text(len(doc)) for doc in docs}) for name in systems)
    return Loaded(Corpus("fuzz", ("de", "en"), docs), outputs)


def write_lines_files(folder: Path, loaded: Loaded, rng: random.Random) -> LineFiles:
    def flat(name: str, texts: list[tuple[str, ...]], blank: bool) -> Path:
        joined = ("\n\n" if blank else "\n").join("\n".join(segments) for segments in texts)
        (folder / name).write_text(joined + "\n", encoding="utf-8", newline="")
        return folder / name

    docs = loaded.corpus.docs
    blank = rng.random() < 0.3
    src = flat("src.txt", [doc.src or () for doc in docs], blank)
    refs = [flat(f"{name}.txt", [doc.refs[name] for doc in docs], blank) for name in loaded.corpus.references]
    hyps = [flat(f"{output.system}.txt", list(output.docs.values()), blank) for output in loaded.outputs]
    ids = flat("ids.txt", [(doc.id,) * len(doc) for doc in docs], False) if not blank and rng.random() < 0.8 else None
    return LineFiles(src, hyps, refs, ids, breaks=rng.choice(["auto", "auto", "blank", "none"]))  # type: ignore[arg-type]


def write_xml(path: Path, loaded: Loaded) -> None:
    def part(tag: str, name: str, texts: tuple[str, ...]) -> str:
        segments = "\n".join(f'<seg id="{i}">{escape(text)}</seg>' for i, text in enumerate(texts, 1))
        return f"<{tag} {name}><p>{segments}</p></{tag}>"

    docs = []
    for doc in loaded.corpus.docs:
        parts = [part("src", 'lang="de"', doc.src or ())]
        parts += [part("ref", f'lang="en" translator="{name[3:]}"', text) for name, text in doc.refs.items()]
        parts += [part("hyp", f"lang='en' system={quoteattr(out.system)}", out.docs[doc.id]) for out in loaded.outputs]
        docs.append(f"<doc id={quoteattr(doc.id)} origlang='de'>" + "\n".join(parts) + "</doc>")
    path.write_text(
        "<?xml version='1.0' encoding='utf-8'?>\n<dataset id='f'>" + "\n".join(docs) + "</dataset>\n", "utf-8"
    )


def write_wmt(folder: Path, loaded: Loaded) -> list[Path]:
    """WMT's own JSONL: a source file and one file per system."""
    records = [
        {
            "doc_id": doc.id,
            "src_lang": "de",
            "tgt_lang": "en",
            "src_text": "\n\n".join(doc.src or ()),
            "refs": {name: {"ref": "\n\n".join(text)} for name, text in doc.refs.items()},
        }
        for doc in loaded.corpus.docs
    ]
    files = {"wmt.jsonl": records}
    files |= {
        f"{output.system}.jsonl": [
            {"doc_id": doc, "hypothesis": "\n\n".join(text)} for doc, text in output.docs.items()
        ]
        for output in loaded.outputs
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return [folder / name for name in files]


def write_segments(path: Path, loaded: Loaded, rng: random.Random) -> None:
    """JSONL with a segment per line, systems side by side or one under another."""
    long = rng.random() < 0.5
    lines: list[dict[str, object]] = []
    for output in loaded.outputs if long else loaded.outputs[:1]:
        for doc in loaded.corpus.docs:
            for i, text in enumerate(doc.src or ()):
                line: dict[str, object] = {
                    "doc": doc.id,
                    "src": text,
                    "refs": {name: ref[i] for name, ref in doc.refs.items()},
                }
                more = {"system": output.system, "hyp": output.docs[doc.id][i]}
                lines.append(
                    line | (more if long else {"outputs": {o.system: o.docs[doc.id][i] for o in loaded.outputs}})
                )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def write_evalset(folder: Path, loaded: Loaded, rng: random.Random) -> None:
    evalset.write(folder, loaded)
    size = sum(map(len, loaded.corpus.docs))
    for path, systems, count in (
        (folder / "human-scores/de-en.mqm.seg.score", loaded.outputs, size),
        (folder / "human-scores/de-en.mqm.doc.score", loaded.outputs, len(loaded.corpus)),
        (folder / "metric-scores/de-en/chrF-refA.sys.score", loaded.outputs, 1),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{out.system}\t{rng.random()}\n" for out in systems for _ in range(count)))
