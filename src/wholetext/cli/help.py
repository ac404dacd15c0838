"""Help texts in sections: commands by purpose, options by subject."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

# One line of 80 columns for each command; `wholetext COMMAND --help` has its docstring.
COMMANDS = {
    "Score and compare systems": {
        "score": "Score systems on whole documents",
        "compare": "Show differences between systems, intervals and p-values",
        "gate": "Exit with code 1 if a system got significantly worse",
        "rank": "Rank systems by several metrics at once (AutoRank)",
        "report": "Write an HTML report of a run",
        "explain": "Explain the score of a document",
        "plan": "Show what would be scored, without running models",
        "sweep": "Score over a grid of context or window sizes",
        "align": "Align outputs that have other sentence breaks",
        "features": "Compare discourse features of outputs and references",
    },
    "Evaluate metrics, use human judgments": {
        "meta": "Evaluate metrics against human scores",
        "contrast": "Evaluate metrics on a contrastive set",
        "stress": "Test metrics with controlled errors",
        "spans": "Evaluate the error spans of metrics",
        "judge-check": "Check LLM judges for bias and consistency",
        "paragraphs": "Split rated documents into paragraphs",
        "sample": "Choose documents for human annotation",
        "annotations": "Read the annotations of a Pearmut campaign",
        "train": "Train a metric on human scores",
    },
    "Other": {
        "demo": "Score the bundled documents",
        "serve": "Run a local web page for scoring",
        "list": "List metrics, aliases and views",
        "show": "Explain a metric or a view",
        "models": "List, download and verify models",
        "cache": "Show or clear the cache of scores",
    },
}


class Sectioned(TyperCommand):
    """A command whose help lists options by section; ``sections`` has the titles by parameter."""

    sections: dict[str, str]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Input": [], "Options": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                other = "Arguments" if parameter.param_type_name == "argument" else "Options"
                title = self.sections.get(parameter.name or "", other)
                records.setdefault(title, []).append(record)
        for title, lines in records.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)
