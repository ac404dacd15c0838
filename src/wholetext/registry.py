"""Metrics and views by name: built-ins, plug-ins, aliases; spec strings ⇄ scorers."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

from wholetext import plugins, slices
from wholetext.errors import PluginError, SpecError, choices, did_you_mean
from wholetext.files.parsing import read_toml
from wholetext.spec import Call, Spec, Value, caret, parse
from wholetext.types import Metric
from wholetext.views import VIEWS, View

T = typing.TypeVar("T")
_NATURAL = re.compile("0|[1-9][0-9]{0,17}")
BUILTIN: Mapping[str, str] = {
    "bleu": "wholetext.metrics.surface:Bleu",
    "chrf": "wholetext.metrics.surface:Chrf",
    "chrf++": "wholetext.metrics.surface:ChrfPlusPlus",
    "ter": "wholetext.metrics.ter:Ter",
    "rouge": "wholetext.metrics.rouge:Rouge",
    "meteor": "wholetext.metrics.meteor:Meteor",
    "cider": "wholetext.metrics.cider:Cider",
    "embedding-average": "wholetext.metrics.word_vectors:EmbeddingAverage",
    "vector-extrema": "wholetext.metrics.word_vectors:VectorExtrema",
    "greedy-matching": "wholetext.metrics.word_vectors:GreedyMatching",
    "bertscore": "wholetext.metrics.bertscore:BertScore",
    "bleurt": "wholetext.metrics.bleurt:Bleurt",
    "comet": "wholetext.metrics.comet.metric:Comet",
    "sbert": "wholetext.metrics.sbert:Sbert",
    "mover": "wholetext.metrics.bertscore:Mover",
    "moverscore": "wholetext.metrics.moverscore:MoverScore",
    "prism": "wholetext.metrics.prism:Prism",
    "bartscore": "wholetext.metrics.prism:BartScore",
    "llm-prob": "wholetext.metrics.llm_prob:LlmProb",
    "metricx": "wholetext.metrics.metricx:MetricX",
    "blonde": "wholetext.metrics.blonde.metric:Blonde",
    "d-blonde": "wholetext.metrics.blonde.metric:DBlonde",
    "blonde-plus": "wholetext.metrics.blonde.metric:BlondePlus",
    "ds-focus": "wholetext.metrics.discoscore.metric:DsFocus",
    "ds-sent": "wholetext.metrics.discoscore.metric:DsSent",
    "rc": "wholetext.metrics.cohesion.metric:Rc",
    "lc": "wholetext.metrics.cohesion.metric:Lc",
    "entity-graph": "wholetext.metrics.cohesion.metric:EntityGraph",
    "lexical-graph": "wholetext.metrics.cohesion.metric:LexicalGraph",
    "lexical-chain": "wholetext.metrics.cohesion.metric:LexicalChain",
    "freq": "wholetext.metrics.cohesion.metric:Freq",
    "conn": "wholetext.metrics.cohesion.metric:Conn",
    **slices.added("metrics"),
}
ALIASES: Mapping[str, str] = {  # written in lower case, understood in any
    "d-bleu": "whole:bleu",
    "d-chrf": "whole:chrf",
    "doc-bertscore": "context(prev=2):bertscore",
    "doc-comet": "context(prev=2):comet",
    "comet-qe": "comet@Unbabel/wmt20-comet-qe-da",
    "doc-comet-qe": "context(prev=2):comet@Unbabel/wmt20-comet-qe-da",
    "kiwi": "comet@Unbabel/wmt22-cometkiwi-da",
    "slide-kiwi": "slide(joiner=space,size=6):comet@Unbabel/wmt22-cometkiwi-da",
    "xcomet": "comet@Unbabel/XCOMET-XL",
    "doc-prism": "context(prev=2):prism",
    "metricx-qe": "metricx(mode=qe)",
    "metricx-23": "metricx@google/metricx-23-large-v2p0",
    "metricx-23-qe": "metricx@google/metricx-23-qe-large-v2p0",
    "rouge-1": "rouge(kind=1)",
    "rouge-2": "rouge(kind=2)",
    "rouge-l": "rouge(kind=L)",
    # names of other tools and of papers
    "sacrebleu": "bleu",
    "spbleu": "bleu(tokenize=flores200)",
    "chrf2": "chrf",
    "chrf2++": "chrf++",
    "chrfpp": "chrf++",
    "comet-22": "comet",
    "comet22": "comet",
    "wmt22-comet-da": "comet",
    "cometkiwi": "kiwi",
    "comet-kiwi": "kiwi",
    "wmt22-cometkiwi-da": "kiwi",
    "slide-cometkiwi": "slide-kiwi",
    "comet-mqm_2021": "comet@Unbabel/wmt21-comet-mqm",
    "comet-qe-mqm_2021": "comet@Unbabel/wmt21-comet-qe-mqm",
    "cider-d": "cider",
    "blond": "blonde",
    "blond-d": "d-blonde",
    "dblonde": "d-blonde",
    "blond+": "blonde-plus",
    "blonde+": "blonde-plus",
    "focusdiff": "ds-focus",
    "ds-focus-nn": "ds-focus",
    "ds-focus-entity": "ds-focus(focus=entity)",
    "sentgraph": "ds-sent",
    "ds-sent-u": "ds-sent",
    "ds-sent-w": "ds-sent(weighting=w)",
    "entitygraph": "entity-graph",
    "lexicalgraph": "lexical-graph",
    "lexicalchain": "lexical-chain",
    "gemba": "judge-da",
    "gemba-da": "judge-da",
    "gemba-mqm": "judge-mqm",
    "gemba-esa": "judge-esa",
    **slices.added("aliases"),
}
# names that stand for several metrics
ELSEWHERE: Mapping[str, str] = {"discoscore": "ds-focus or ds-sent"}


@dataclass(frozen=True)
class Scorer:
    """A metric under a view: what a spec string names."""

    view: View
    metric: Metric

    @functools.cached_property
    def spec(self) -> str:
        """Canonical spec string: defaults left out, reads back as the same scorer."""
        args = arguments(self.metric)
        model, revision = args.pop("model", None), args.pop("revision", None)
        view = Call(self.view.name, arguments(self.view))
        return str(
            Spec(
                metric=Call(self.metric.name, args),
                view=None if str(view) == self.metric.view else view,
                model=str(model) if model else None,
                revision=str(revision) if revision else None,
            )
        )

    @property
    def chosen(self) -> list[str]:
        """Parameters that differ from their defaults, as signatures name them."""
        return [*(f"view.{name}" for name in arguments(self.view)), *arguments(self.metric)]


def metric_names() -> list[str]:
    """List every metric: built-ins in their order, then plug-ins."""
    return list(dict.fromkeys((*BUILTIN, *plugins.load(plugins.METRICS))))


def view_names() -> list[str]:
    """List every view: built-ins in their order, then plug-ins."""
    return list(dict.fromkeys((*VIEWS, *plugins.load(plugins.VIEWS))))


def names() -> list[str]:
    """List every metric and alias that can be used, sorted."""
    return sorted({*metric_names(), *ALIASES})


def canonical(name: str) -> str:
    """Normalise the case of a metric or alias; an unknown name is returned unchanged."""
    if name in BUILTIN or name in ALIASES:
        return name
    return {known.casefold(): known for known in names()}.get(name.casefold(), name)


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric by its name (not an alias)."""
    if name in BUILTIN:
        return typing.cast(type[Metric], slices.load(BUILTIN[name]))
    plugin = _plugin(plugins.METRICS, name, Metric)
    if plugin is None:
        known, other = names(), ELSEWHERE.get(name.casefold())
        near = f"did you mean {other}?" if other else did_you_mean(name, known)
        raise SpecError(
            f"there is no metric {name!r}",
            next=near or f"`wholetext list` shows all: {', '.join(known)}",
        )
    return plugin


def view_class(name: str) -> type[View] | None:
    """Return the class of a view by its name, None if there is none."""
    return VIEWS.get(name.lower()) or _plugin(plugins.VIEWS, name, View)


def _plugin(group: str, name: str, kind: type[T]) -> type[T] | None:
    plugin = plugins.load(group).get(name, lambda: None)()
    if plugin is None:
        return None
    if (
        isinstance(plugin, type)
        and issubclass(plugin, kind)
        and hasattr(plugin, "__dataclass_fields__")
    ):
        return plugin
    raise PluginError(
        f"{name!r} of {plugins.origin(group, name)} is not a {kind.__name__.lower()}",
        next=f"write it as a frozen dataclass deriving from {kind.__module__}.{kind.__name__}",
    )


def catalogue() -> dict[str, dict[str, typing.Any]]:
    """Describe every metric, alias and view, and why some plug-ins cannot be used."""
    listing: dict[str, dict[str, typing.Any]] = {
        "metrics": {name: metric_entry(name) for name in BUILTIN},
        "aliases": {alias: str(expand(parse(alias))) for alias in ALIASES},
        "views": {name: _view_entry(name) for name in VIEWS},
        "broken": {},
    }
    for kind, group, describe in (
        ("metrics", plugins.METRICS, metric_entry),
        ("views", plugins.VIEWS, _view_entry),
    ):
        for name, load in plugins.load(group, set(listing[kind])).items():
            try:
                load()
                listing[kind][name] = describe(name)
            except Exception as fault:  # code of another package: the others are still listed
                listing["broken"][name] = str(fault)
    return listing


def reference_free(alias: str) -> bool:
    """Whether the metric of an alias needs no reference; COMET's default checkpoint needs one."""
    metric = scorer(alias).metric
    return "ref" not in metric.needs and getattr(metric, "model", "") != "Unbabel/wmt22-comet-da"


def metric_entry(name: str) -> dict[str, typing.Any]:
    """Describe a metric with its defaults."""
    metric = metric_class(name)()
    return {
        "summary": metric.summary,
        "needs": sorted(metric.needs),
        "wants": sorted(metric.wants - metric.needs),
        "higher_is_better": metric.higher_is_better,
        "range": [str(bound) for bound in metric.range],
        "view": metric.view,
        "outputs": [*metric.outputs],
    }


def _view_entry(name: str) -> str:
    return (getattr(view_class(name), "__doc__", "") or "").partition("\n")[0].replace("``", "")


def scorer(text: str) -> Scorer:
    """Read a spec string (aliases expanded) into a view and a metric."""
    if not isinstance(text, str):
        raise SpecError(
            f"a metric is named by a spec string, and this is of the type {type(text).__name__}",
            next='write "chrf", "slide(size=6,step=6):chrf" …',
        )
    spec = expand(parse(text))
    if spec.metric.name not in BUILTIN and spec.metric.name in view_names():
        raise caret(
            text,
            len(text),
            f"{spec.metric.name!r} is a view and needs a metric",
            f"e.g. {spec.metric}:chrf",
        )
    kind = metric_class(spec.metric.name)
    named = (("model", spec.model), ("revision", spec.revision))
    model = {key: value for key, value in named if value is not None}
    if model.keys() - {f.name for f in dataclasses.fields(kind)}:  # type: ignore[arg-type]
        at = text.find("@")
        raise caret(text, at, f"{spec.metric.name} takes no model", f"leave out {text[at:]}")
    metric = _build(kind, {**spec.metric.args, **model}, text)
    view = spec.view or parse(f"{kind.view}:x").view or Call("sentence")
    layout = view_class(view.name)
    if layout is None:
        raise caret(text, 0, f"there is no view {view.name!r}", choices(view.name, view_names()))
    return Scorer(_build(layout, dict(view.args), text), metric)


def expand(spec: Spec) -> Spec:
    """Expand an alias; arguments, view and model given with it override those of the alias."""
    name = canonical(spec.metric.name)
    if name not in ALIASES:
        return replace(spec, metric=Call(name, spec.metric.args))
    base = expand(parse(ALIASES[name]))
    return Spec(
        metric=Call(base.metric.name, {**base.metric.args, **spec.metric.args}),
        view=spec.view or base.view,
        model=spec.model or base.model,
        revision=spec.revision if spec.model else spec.revision or base.revision,
    )


@functools.cache
def label(text: str) -> str:
    """Shorten a canonical spec to what tables show: an alias where there is one, models by name.

    ``context(prev=2):comet`` is ``doc-comet``, ``learned@/data/models/mine`` is ``learned@mine``.
    """
    spec = parse(text)
    if spec == Spec(Call(spec.metric.name)):
        return text
    alias, covered, most = "", Spec(Call("")), 0
    for name in ALIASES:
        if expand(parse(name)).metric.name != spec.metric.name:
            continue
        other = parse(scorer(name).spec)
        args = other.metric.args.items()
        size = (other.view is not None) + len(args) + (other.model is not None)
        fits = (
            other.view in (None, spec.view)
            and args <= spec.metric.args.items()
            and other.model in (None, spec.model)
        )
        if fits and size > most:
            alias, covered, most = name, other, size
    left = {
        key: _last_part(value) if isinstance(value, str) else value
        for key, value in spec.metric.args.items()
        if key not in covered.metric.args
    }
    return str(
        Spec(
            Call(alias or spec.metric.name, left),
            None if covered.view else spec.view,
            None if covered.model or spec.model is None else _last_part(spec.model),
            spec.revision and spec.revision[:8],
        )
    )


def _last_part(path: str) -> str:
    """Shorten a path, or the name of a model on the hub, to its last part."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def parameters(kind: type) -> dict[str, tuple[object, Value]]:
    """Return field name → (type, default) of a metric or view class."""
    hints = typing.get_type_hints(kind)
    return {
        f.name: (hints[f.name], None if f.default is dataclasses.MISSING else f.default)
        for f in dataclasses.fields(kind)
    }


def explanations(kind: type) -> dict[str, str]:
    """Return field name → what the parameter does and its source (``metrics/parameters.toml``).

    A plug-in gives it in the field: ``field(default=2, metadata={"help": "…"})``.
    """
    tables = read_toml(files("wholetext.metrics").joinpath("parameters.toml").read_bytes())
    texts: dict[str, str] = dict(tables["all"])
    for base in reversed(kind.__mro__):
        texts |= tables.get(str(vars(base).get("name")), {})
    return {
        f.name: str(f.metadata.get("help") or texts.get(f.name, ""))
        for f in dataclasses.fields(kind)
    }


def _build(kind: type[T], args: dict[str, Value], text: str) -> T:
    known = parameters(kind) if args else {}
    for key, value in args.items():
        place = re.search(rf"\b{re.escape(key)}\s*=", text)
        at = place.start() if place else 0
        if key not in known:
            name = getattr(kind, "name", kind.__name__)
            raise caret(text, at, f"{name} has no argument {key!r}", choices(key, known))
        args[key] = _checked(known[key][0], key, value, text, at)
    try:
        return kind(**args)
    except (SpecError, TypeError) as fault:  # TypeError: a plug-in's field without a default
        step = "every field of a metric needs a default; see `wholetext list NAME`"
        what, step = getattr(fault, "what", fault), getattr(fault, "next", step)
        raise SpecError(f"{what}\n  in {text}", next=step) from None


def _checked(hint: object, key: str, value: Value, text: str, at: int) -> Value:
    """Convert a value to the field's type, or raise an error with a caret under the argument."""
    kinds = typing.get_args(hint) or (hint,)
    if typing.get_origin(hint) is typing.Literal:
        literals = {str(choice).lower(): choice for choice in kinds}
        if str(value).lower() in literals:
            return typing.cast(Value, literals[str(value).lower()])
        known = [str(choice) for choice in kinds]
        takes = f"is one of {', '.join(known)}"
        step = did_you_mean(str(value), known) or f"e.g. {key}={known[0]}"
    elif type(value) in kinds:
        return value
    elif float in kinds and type(value) is int:
        return float(value)
    elif str in kinds:
        return str(value)
    else:
        types = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
        takes = f"takes {types.removesuffix(' or NoneType')}"
        step = "`wholetext list NAME` lists the arguments"
    raise caret(text, at, f"{key} {takes}; got {value!r}", step)


def arguments(made: object) -> dict[str, Value]:
    """Return the arguments of a metric or view that differ from their defaults.

    A choice such as "1" is a number, which needs no quotes and reads back the same.
    """
    fields = dataclasses.fields(made)  # type: ignore[arg-type]
    values = {f.name: getattr(made, f.name) for f in fields if getattr(made, f.name) != f.default}
    return {
        name: int(value) if isinstance(value, str) and _NATURAL.fullmatch(value) else value
        for name, value in values.items()
    }
