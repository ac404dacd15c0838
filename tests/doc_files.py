"""Small files for the commands of the documentation: the first documents of the demo under the names that pages use."""

from __future__ import annotations

import contextlib
import csv
import json
import lzma
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import wholetext as wt
from wholetext.cli.main import main
from wholetext.demo import load

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = 3


def demo(names: dict[str, str], documents: int | None = DOCUMENTS) -> wt.Loaded:
    """The first documents of the demo, or all; systems as ``names`` calls them, in that order."""
    corpus, outputs = load("de-en")
    docs = corpus.docs[:documents]
    by_name = {output.system: output for output in outputs}
    made = [wt.Output(new, {doc.id: by_name[old].docs[doc.id] for doc in docs}) for old, new in names.items()]
    return wt.Loaded(wt.Corpus(corpus.id, corpus.langs, docs), tuple(made))


def common(folder: Path) -> None:
    """corpus.jsonl with sysA and sysB, and the same as parallel files."""
    loaded = demo({"coherent": "sysA", "patchwork": "sysB"})
    wt.write(folder / "corpus.jsonl", loaded)
    docs = loaded.corpus.docs
    columns = {"src": [line for doc in docs for line in doc.src or ()],
               "ref": [line for doc in docs for line in doc.refs["human"]],
               **{output.system: [line for doc in docs for line in output.docs[doc.id]] for output in loaded.outputs}}
    for name in ("docids", "docs", "ids"):
        columns[name] = [doc.id for doc in docs for _ in range(len(doc))]
    for name, lines in columns.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def further(file: Path, system: str, texts: Mapping[str, Sequence[str]]) -> None:
    """A file of the outputs of one more system."""
    entries = [{"doc": doc, "outputs": {system: list(lines)}} for doc, lines in texts.items()]
    file.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries), "utf-8")


def align(folder: Path) -> None:
    """llm.jsonl: an output with fewer sentences than the source has."""
    loaded = demo({"coherent": "sysA"})
    further(folder / "llm.jsonl", "llm", {doc: texts[1:] for doc, texts in loaded.outputs[0].docs.items()})
    wt.write(folder / "corpus.jsonl", wt.Loaded(loaded.corpus, ()))


def formats(folder: Path) -> None:
    """more.jsonl, lines.txt, llm.jsonl: further outputs for the corpus; study.csv, study.xlsx: tables."""
    loaded = demo({"literal": "more", "coherent": "GPT-4", "patchwork": "DeepL"})
    further(folder / "more.jsonl", "more", loaded.outputs[0].docs)
    shutil.copy(folder / "sysB.txt", folder / "lines.txt")
    with (folder / "llm.jsonl").open("w", encoding="utf-8") as out:
        for doc, texts in loaded.outputs[1].docs.items():
            text = "\n\n".join(" ".join(texts[i : i + 3]) for i in range(0, len(texts), 3))
            out.write(json.dumps({"id": doc, "response": text}, ensure_ascii=False) + "\n")
    with (folder / "study.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["File", "Source text", "Human translation", "Model", "Response", "Rating"])
        for output in loaded.outputs:
            for doc in loaded.corpus.docs:
                rating = {"more": 60, "GPT-4": 90, "DeepL": 70}[output.system]
                rows = zip(doc.src or (), doc.refs["human"], output.docs[doc.id])
                table.writerows([doc.id, src, ref, output.system, text, rating + i % 5] for i, (src, ref, text)
                                in enumerate(rows))  # fmt: skip


def bundled(folder: Path) -> None:
    """The systems of the demo under their own names, and the demo's file where it is in the repository."""
    wt.write(folder / "corpus.jsonl", wt.Loaded(*load("de-en")))
    (folder / "src/wholetext/demo").mkdir(parents=True)
    shutil.copy(folder / "corpus.jsonl", folder / "src/wholetext/demo/de-en.jsonl")


def gate(folder: Path) -> None:
    wt.write(folder / "corpus.jsonl", demo({"coherent": "prod", "loopy": "new"}, None))


def judges(folder: Path) -> None:
    """prices.toml as the page has it."""
    page = (ROOT / "docs" / "judges.md").read_text("utf-8")
    (folder / "prices.toml").write_text("#" + page.partition("```toml\n# prices.toml")[2].partition("```")[0], "utf-8")


def report(folder: Path) -> None:
    """Folders of a sweep and of a ranking of the run that the page makes."""
    loaded = wt.read(folder / "corpus.jsonl")
    found = wt.sweep(loaded.corpus, loaded.outputs, "chrf", wt.scoring.Axes(window=2))
    wt.scoring.write_sweep(found, folder / "windows")
    wt.scoring.write_run(wt.score(loaded, ["chrf", "bleu"]), folder / "first")
    with contextlib.suppress(SystemExit):
        main(["rank", str(folder / "first"), "--out", str(folder / "ranking")])


def stress_set(folder: Path) -> None:
    """The first documents of the released set, unpacked."""
    packed = (ROOT / "examples" / "stress-set" / "documents.jsonl.xz").read_bytes()
    lines = lzma.decompress(packed).decode().splitlines(keepends=True)[:DOCUMENTS]
    (folder / "documents.jsonl").write_text("".join(lines), encoding="utf-8")


def logs(folder: Path) -> None:
    """Sample logs of lm-evaluation-harness, of two models."""
    loaded = demo({"coherent": "my-model", "patchwork": "other"})
    for output in loaded.outputs:
        samples = [{"doc_id": 100 * at + i, "doc": {"document_id": doc.id, "source": source},
                    "target": doc.refs["human"][i], "filtered_resps": [output.docs[doc.id][i]], "filter": "none"}
                   for at, doc in enumerate(loaded.corpus.docs) for i, source in enumerate(doc.src or ())]  # fmt: skip
        (folder / output.system).mkdir()
        text = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        (folder / output.system / "samples_mt.jsonl").write_text(text, "utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "README.md": bundled, "align.md": align, "formats.md": formats, "blonde.md": bundled, "sweeps.md": bundled,
    "integrations.md": logs,
    "ranking.md": bundled, "sampling.md": bundled, "stress.md": bundled, "discourse.md": bundled, "gate.md": gate,
    "judges.md": judges, "report.md": report, "tutorial.md": bundled, "stress-set.md": stress_set,
}  # fmt: skip


def names(folder: Path) -> dict[str, Any]:
    """What Python blocks may use beside what they define: a corpus, its outputs, their scores, a DataFrame."""
    import pandas

    more = folder / "llm.jsonl"
    loaded = wt.read([folder / "corpus.jsonl", *([more] if more.exists() else [])])
    found: dict[str, Any] = {"wt": wt, "loaded": loaded, "corpus": loaded.corpus, "outputs": loaded.outputs}
    found |= {"output": loaded.outputs[0], "__name__": "__main__", "__file__": str(folder / "example.py")}
    if more.exists():  # of other segments: not to be scored as they are
        return found
    found["scores"] = wt.score(loaded, "chrf")["chrf"]
    rows = [{"doc": doc.id, "src": src, "ref": ref} for doc in loaded.corpus.docs
            for src, ref in zip(doc.src or (), doc.refs["human"])]  # fmt: skip
    texts = {one.system: [text for doc in one.docs.values() for text in doc] for one in loaded.outputs}
    found["frame"] = pandas.DataFrame(rows).assign(**{f"hyp:{system}": lines for system, lines in texts.items()})
    return found
