"""The page studies/stress.md from the figures of studies/stress.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wholetext.files.storage import write_file

PAGE = Path(__file__).resolve().parent.parent / "studies" / "stress.md"
BEGIN, END = "<!-- reading -->", "<!-- end of reading -->"
TABLES = {
    "Consistency and relations": ("pronoun", "tense", "name", "term", "connective", "no-connective", "antecedent"),
    "Order and completeness": ("swap", "shuffle", "reverse", "drop", "double", "move", "foreign"),
    "Errors of sentences, and harmless changes": ("number", "negation", "paraphrase", "contraction", "typography",
                                                  "resegment"),
}  # fmt: skip
VIEWS = ("", "context(prev=2,hyp=own):", "slide(size=6,step=6):", "whole:")
ORDER = ("bleu", "d-bleu", "chrf", "d-chrf", "ter",
         *(f"{view}{name}" for name in ("bertscore", "sbert", "wt-mini") for view in VIEWS))  # fmt: skip
Cell = Mapping[str, Any]


class Figures:
    """Cells by domain, metric, change and dose."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.found = found
        self.cells = {(one["domain"], one["metric"], one["change"], one["dose"]): one for one in found["cells"]}
        every = dict.fromkeys(one["metric"] for one in found["cells"])
        self.metrics = [*(name for name in ORDER if name in every), *(name for name in every if name not in ORDER)]

    def table(self, changes: Sequence[str], cell: Callable[[Cell], str], domain: str = "all") -> list[str]:
        """Metrics × changes at the full dose."""
        made = [name for name in changes if any(key[2] == name for key in self.cells)]
        counts = [str(self._documents(domain, name)) for name in made]
        lines = [f"| metric | {' | '.join(made)} |", "|---|" + "---:|" * len(made),
                 f"| documents | {' | '.join(counts)} |"]  # fmt: skip
        for metric in self.metrics:
            row = [self.cells.get((domain, metric, change, "all")) for change in made]
            lines.append(f"| `{metric}` | " + " | ".join("–" if one is None else cell(one) for one in row) + " |")
        return lines

    def _documents(self, domain: str, change: str) -> int:
        return max((one["documents"] for key, one in self.cells.items() if key[0] == domain and key[2] == change),
                   default=0)


def share(cell: Cell) -> str:
    """Preferred, with its interval; ties and undefined scores where they are many."""
    text = f"{100 * cell['preferred']:.0f} [{100 * cell['low']:.0f}, {100 * cell['high']:.0f}]"
    unseen = cell["ties"] + cell["undefined"]
    return f"{text} ={unseen}" if unseen > 0.2 * cell["documents"] else text


def effect(cell: Cell) -> str:
    return "–" if cell["effect"] is None else f"{cell['effect']:.2f}".replace("-", "−")


def bare(cell: Cell) -> str:
    return f"{100 * cell['preferred']:.0f}"


def sets(found: Mapping[str, Any]) -> list[str]:
    lines = ["| set | documents | segments | text under test | reference | systems |", "|---|---:|---:|---|---|---|"]
    lines += [f"| {name} | {one['documents']} | {one['segments']} | {one['text']} | {', '.join(one['refs'])} | "
              f"{', '.join(one['systems'])} |" for name, one in found["sets"].items()]  # fmt: skip
    return lines


def told(figures: Figures) -> list[str]:
    changes = ("pronoun", "tense", "name", "term", "connective", "no-connective", "number", "negation")
    lines = [f"| metric | {' | '.join(changes)} |", "|---|" + "---:|" * len(changes)]
    for metric in figures.metrics:
        row = [figures.cells.get(("all", metric, change, "all"), {}) for change in changes]
        cells = ["–" if one.get("auc") is None else
                 f"{100 * one['auc']:.0f} [{100 * one['auc_low']:.0f}, {100 * one['auc_high']:.0f}]" for one in row]
        lines.append(f"| `{metric}` | {' | '.join(cells)} |")
    return lines


def extent(found: Mapping[str, Any]) -> str:
    """Which metrics saw a sample of the documents, and which were not measured."""
    missing = ", ".join(f"`{name}`" for name in found["missing"])
    said = []
    for every in sorted({*found["sampled"].values()}):
        names = ", ".join(f"`{name}`" for name, one in found["sampled"].items() if one == every)
        said.append(f"One document of {every} was scored by {names}.")
    said += [f"Not measured yet: {missing}; the command goes on where it stopped."] if missing else []
    return " ".join(said)


def doses(figures: Figures) -> list[str]:
    changes = ("pronoun", "tense", "name", "term", "swap", "drop", "double", "number")
    lines = [f"| metric | {' | '.join(changes)} |", "|---|" + "---:|" * len(changes)]
    for metric in figures.metrics:
        by_dose = [[figures.cells.get(("all", metric, change, dose)) for dose in ("1", "50%", "all")]
                   for change in changes]
        if all(one is not None for one in by_dose[0]):
            cells = [" ".join(bare(one) if one else "–" for one in three) for three in by_dose]
            lines.append(f"| `{metric}` | {' | '.join(cells)} |")
    return lines


def write_page(found: Mapping[str, Any]) -> None:
    """What was written about the numbers by hand stays as it is."""
    figures = Figures(found)
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    reading = old.partition(BEGIN)[2].partition(END)[0].strip()
    documents = sum(one["documents"] for one in found["sets"].values())
    minutes = sum(found["seconds"].values()) / 60
    page = [
        "# Which metric sees which document-level error?", "",
        "Written by `python studies/stress.py`, with every number in it but those of the reading; the figures are "
        "explained in [stress tests](../stress.md).", "", BEGIN, reading, END, "", "## Documents", "",
        f"{documents} documents of two domains that have two human references. The second is changed and scored "
        "against the first, so that no text is scored against itself. News documents have 5 to 14 segments; talks are "
        "cut in parts of 10. Effects are in units of the spread between the systems that are named. "
        "`bertscore` and `sbert` are `bertscore(align_scope=sentence)@minilm` and `sbert@minilm`.", "",
        *sets(found), "",
        f"The figures took {minutes:.0f} minutes of processor time, some with segments that were cached. "
        f"{extent(found)}", "",
    ]  # fmt: skip
    for title, changes in TABLES.items():
        page += [f"## {title}", "", "Share of documents in which the original scores strictly better, in %, at the "
                 "full dose, with 95 % intervals over documents. `=n`: ties and undefined scores, where they are more "
                 "than a fifth. Of harmless changes these are false alarms.", "",
                 *figures.table(changes, share), "", "Mean loss, in units of the spread between systems:", "",
                 *figures.table(changes, effect), ""]  # fmt: skip
    page += ["## Errors told from harmless changes", "", "A metric that loses a little whenever a word changes prefers "
             "most originals and has seen no error. Here one place of an error is compared with one place of a "
             "harmless change (paraphrases, contractions, quotation marks): share of all pairs of documents in which "
             "the error costs more, in %, with 95 % intervals. 50: no difference.", "", *told(figures), ""]
    page += ["## By domain", "", "Preferred, in %, at the full dose; news, then talks.", ""]
    every = [change for changes in TABLES.values() for change in changes]
    for domain in ("news", "talks"):
        page += [f"**{domain}**", "", *figures.table(every, bare, domain), ""]
    page += ["## By dose", "", "Preferred, in %: one place, half of the places, all of them.", "", *doses(figures), ""]
    write_file(PAGE, "\n".join(page).rstrip() + "\n")
