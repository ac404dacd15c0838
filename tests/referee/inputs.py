"""Small inputs of the commands, made from the German demo corpus: no number in them is random."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .api import CHECKPOINTS, DEMO

LP = "de-en"
SYSTEMS = ("coherent", "patchwork", "loopy", "literal")


def make(folder: Path) -> None:
    """Write all inputs into a folder."""
    records = [json.loads(line) for line in (DEMO / f"{LP}.jsonl").read_text("utf-8").split("\n") if line]
    write_jsonl(folder / "all.jsonl", records)
    write_jsonl(folder / "demo.jsonl", records[:3])
    write_jsonl(folder / "rejoined.jsonl", map(rejoined, records[:2]))
    line_files(folder, records[:2])
    evalset(folder / "wmt22.small", records[:5])
    contrast(folder, records[:4])
    spans(folder, records[:2])
    pearmut(folder / "pearmut.jsonl", records[:2])
    annotations(folder / "ambiguity.txt", records)
    shutil.copytree(CHECKPOINTS, folder / "models")


def rejoined(record: dict[str, Any]) -> dict[str, Any]:
    """Outputs with other segments: the literal one by two sentences, the others without their second sentence."""
    outputs = {system: [*texts[:1], *texts[2:]] for system, texts in record["outputs"].items()}
    literal = record["outputs"]["literal"]
    outputs["literal"] = [" ".join(literal[i : i + 2]) for i in range(0, len(literal), 2)]
    return {**record, "outputs": outputs}


def line_files(folder: Path, records: list[dict[str, Any]]) -> None:
    """A file per side, one segment per line, and one with document ids."""
    write_lines(folder / "src.txt", [text for record in records for text in record["src"]])
    write_lines(folder / "ref.txt", [text for record in records for text in record["refs"]["human"]])
    write_lines(folder / "docs.txt", [record["doc_id"] for record in records for _ in record["src"]])
    write_lines(folder / "short.txt", records[0]["src"])
    for system in SYSTEMS:
        write_lines(folder / f"{system}.txt", [text for record in records for text in record["outputs"][system]])


def human_score(system: int, segment: int) -> float:
    """Made up: systems get worse in the order of SYSTEMS, segments differ."""
    return -float(system + (3 * segment + system) % 5)


def evalset(root: Path, records: list[dict[str, Any]]) -> None:
    """An EvalSet in the layout of mt-metrics-eval: MQM scores with gaps, two raters, two stored metrics."""
    for part in ("sources", "documents", "references", f"system-outputs/{LP}", "human-scores", f"metric-scores/{LP}"):
        (root / part).mkdir(parents=True)
    segments = [(record["doc_id"], i) for record in records for i in range(len(record["src"]))]
    domains = {record["doc_id"]: "even" if at % 2 else "odd" for at, record in enumerate(records)}
    write_lines(root / "sources" / f"{LP}.txt", [text for record in records for text in record["src"]])
    write_lines(root / "documents" / f"{LP}.docs", [f"{domains[doc]}\t{doc}" for doc, _ in segments])
    reference = [text for record in records for text in record["refs"]["human"]]
    write_lines(root / "references" / f"{LP}.refA.txt", reference)
    human, raters = [], ["system\tseg\tdoc\trater\tscore"]
    stored: dict[str, list[str]] = {"good-refA": [], "poor-src": []}
    for s, system in enumerate(SYSTEMS):
        write_lines(root / "system-outputs" / LP / f"{system}.txt",
                    [text for record in records for text in record["outputs"][system]])  # fmt: skip
        for i, (doc, _) in enumerate(segments):
            score = human_score(s, i)
            rated = (i + s) % 7 != 0
            human.append(f"{system}\t{score if rated else None}")
            if rated:
                raters.append(f"{system}\t{i}\t{doc}\t{'ann' if i < 24 else 'bob'}\t{score}")
            stored["good-refA"].append(f"{system}\t{score + (i * i + s) % 3}")
            stored["poor-src"].append(f"{system}\t{(i * i + 5 * s) % 11}")
    write_lines(root / "human-scores" / f"{LP}.mqm.seg.score", human)
    write_lines(root / "human-scores" / f"{LP}.mqm.raters.tsv", raters)
    for metric, lines in stored.items():
        write_lines(root / "metric-scores" / LP / f"{metric}.seg.score", lines)
        means = [sum(float(line.split("\t")[1]) for line in lines if line.startswith(f"{system}\t")) / len(segments)
                 for system in SYSTEMS]  # fmt: skip
        write_lines(root / "metric-scores" / LP / f"{metric}.sys.score",
                    [f"{system}\t{mean}" for system, mean in zip(SYSTEMS, means)])  # fmt: skip


def annotations(path: Path, records: list[dict[str, Any]]) -> None:
    """Ambiguity in the first words of every third reference, as BlonDe+ reads it."""
    words = [text.split()[:2] for record in records for text in record["refs"]["human"]]
    write_lines(path, [f"x\t1,{first}, {second} <pos/1,2>" if i % 3 == 0 else "x\t0"
                       for i, (first, second) in enumerate(words)])  # fmt: skip


def contrast(folder: Path, records: list[dict[str, Any]]) -> None:
    """The reference against the literal output, in context; and losses of a model for them."""
    items, losses = [], []
    for record in records:
        human, literal = record["refs"]["human"], record["outputs"]["literal"]
        for i in range(1, len(human), 2):
            items.append({
                "src": record["src"][i], "src_context": record["src"][i - 1 : i], "target": human[i],
                "ref_context": human[i - 1 : i], "contrastive": [literal[i]], "type": record["domain"],
                "antecedent_distance": i % 3, "langs": LP,
            })  # fmt: skip
            losses += [f"{i % 4}", f"{i % 3}"]
    write_jsonl(folder / "contrast.jsonl", items)
    write_lines(folder / "losses.txt", losses)


def spans(folder: Path, records: list[dict[str, Any]]) -> None:
    """Error spans of two raters and of two metrics."""
    marks: dict[str, list[dict[str, Any]]] = {name: [] for name in ("gold", "near", "far")}
    for record in records:
        for s, system in enumerate(SYSTEMS[2:]):
            for i, text in enumerate(record["outputs"][system]):
                place = {"system": system, "doc": record["doc_id"], "segment": i}
                start, severity = (i + s) % 6, ("minor", "major")[i % 2]
                human = {"start": start, "end": start + 9, "severity": severity}
                marks["gold"] += [{**place, "rater": "ann", "spans": [human] if i % 3 else []},
                                  {**place, "rater": "bob", "spans": [{**human, "end": start + 5}]}]
                marks["near"].append({**place, "spans": [{**human, "start": start + 1}] if i % 4 else []})
                marks["far"].append({**place, "spans": [{"start": 0, "end": len(text), "severity": "minor"}]})
    for name, lines in marks.items():
        write_jsonl(folder / f"{name}.jsonl", lines)


def pearmut(path: Path, records: list[dict[str, Any]]) -> None:
    """The log of a Pearmut campaign: two annotators, one of whom changes his mind."""
    log = []
    for d, record in enumerate(records):
        for s, system in enumerate(SYSTEMS[:2]):
            doc, texts = record["doc_id"], record["outputs"][system]
            items = [{"doc": doc, "item_id": f"{doc}#{i}", "src": src, "tgt": {system: texts[i]}}
                     for i, src in enumerate(record["src"])]  # fmt: skip
            for user, more in (("u", 0), ("v", 5), ("v", 7)):
                error = [{"start_i": 0, "end_i": 3, "severity": "minor", "category": None}]
                said = [{system: {"score": 90 - 20 * s - i + more, "error_spans": error if i % 2 else []}}
                        for i in range(len(items))]  # fmt: skip
                log.append({"annotation": said, "item": items, "actions": [], "user_id": user, "item_i": 2 * d + s})
    write_jsonl(path, log)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """One line each."""
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def write_jsonl(path: Path, records: Iterable[Any]) -> None:
    """One JSON record per line."""
    write_lines(path, [json.dumps(record, ensure_ascii=False) for record in records])
