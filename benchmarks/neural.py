"""Neural metrics against the original tools: the same scores, how much faster. `make bench-neural` runs it.

Builds an environment of its own for unbabel-comet and bert-score, a COMET model of XLM-R-base size with random
weights, and scores 10 systems × 60 segments of wmt21.news.mqm with 2 sentences of context. Every ratio is of two
measurements of this run; CPU seconds are printed beside wall-clock seconds, because other programs disturb those. A
machine's clock wanders too: wholetext is measured before, between and after the halves of the original's work, and its
mean counts. The model has no layer norm over the mixed layers (``layer_norm: false``, as CometKiwi has it);
``--layer-norm`` gives it one, as old models have it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from machine import processor

from wholetext.io import Loaded
from wholetext.models.hub import locate as hub
from wholetext.registry import scorer
from wholetext.scoring.bound import bind
from wholetext.scoring.engine import batches
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results
from wholetext.types import Corpus, Document, Output

ROOT = Path(__file__).resolve().parent.parent
NEEDS = ("torch==2.13.0", "setuptools<81", "numpy<2", "transformers==4.57.6", "unbabel-comet==2.2.7",
         "bert-score==0.3.13")  # fmt: skip
BUDGET = 1024  # padded tokens in a batch
LAYERS, WIDTH, INNER, HEADS = 12, 768, 3072, 12  # XLM-R base


@dataclass(frozen=True)
class Timed:
    """What some work gave, and the seconds it took."""

    result: Any
    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Timed(result, time.perf_counter() - wall, time.process_time() - cpu)


def mean(runs: list[Timed]) -> Timed:
    """The same work measured several times."""
    wall, cpu = (float(np.mean([getattr(run, kind) for run in runs])) for kind in ("wall", "cpu"))
    return Timed(runs[0].result, wall, cpu)


# ---------------------------------------------------------------- what is scored


def load(pair: str, systems: int, segments: int) -> tuple[Corpus, list[Output]]:
    """The first whole documents of a language pair, up to about ``segments`` segments."""
    data = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data")) / "evalsets" / "wmt21.news.mqm"
    if not data.is_dir():
        sys.exit(f"the evaluation data is not at {data} (set WHOLETEXT_DATA)")
    source, target = pair.split("-")
    lines = lambda path: (data / path).read_text("utf-8").split("\n")[:segments]  # noqa: E731
    names = [line.split("\t")[1] for line in lines(f"documents/{pair}.docs")]
    reference = {"en-de": "refC", "zh-en": "refB"}[pair]
    src, ref = lines(f"sources/{pair}.txt"), lines(f"references/{pair}.{reference}.txt")
    where = {name: [i for i, other in enumerate(names) if other == name] for name in names}
    docs = tuple(Document(name, tuple(src[i] for i in at), {reference: tuple(ref[i] for i in at)})
                 for name, at in where.items())  # fmt: skip
    files = [path for path in sorted((data / "system-outputs" / pair).glob("*.txt")) if not path.stem.startswith("ref")]
    outputs = []
    for path in files[:systems]:
        text = lines(path.relative_to(data))
        outputs.append(Output(path.stem, {name: tuple(text[i] for i in at) for name, at in where.items()}))
    return Corpus(pair, (source, target), docs), outputs


def random_comet(folder: Path, norm: bool) -> Path:
    """A COMET regression model of XLM-R-base size with random weights, in Unbabel's layout."""
    import torch
    import transformers
    import yaml

    torch.manual_seed(1)
    tiny = ROOT / "tests" / "oracle" / "neural" / "models" / "tiny-xlmr"
    encoder, model = folder / "xlmr-base-size", folder / "comet-base-size"
    encoder.mkdir(), (model / "checkpoints").mkdir(parents=True)
    for path in tiny.glob("*token*.json"):
        shutil.copy(path, encoder / path.name)
    config = json.loads((tiny / "config.json").read_text("utf-8"))
    config |= {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "intermediate_size": INNER,
               "num_attention_heads": HEADS}  # fmt: skip
    (encoder / "config.json").write_text(json.dumps(config), "utf-8")
    made = transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained(encoder), add_pooling_layer=False)
    state = {f"encoder.model.{key}": value for key, value in made.state_dict().items()}
    for i in range(LAYERS + 1):
        state[f"layerwise_attention.scalar_parameters.{i}"] = torch.randn(1) / 4
    state["layerwise_attention.gamma"] = torch.ones(1)
    sizes = (6 * WIDTH, 3072, 1024, 1)
    for i, (size, out) in enumerate(pairwise(sizes)):
        state[f"estimator.ff.{3 * i}.weight"] = torch.randn(out, size) * 2 / size**0.5  # so that scores vary
        state[f"estimator.ff.{3 * i}.bias"] = torch.randn(out) / 10
    hparams = {"class_identifier": "regression_metric", "encoder_model": "XLM-RoBERTa",
               "pretrained_model": encoder.name,
               "pool": "avg", "layer": "mix", "layer_transformation": "softmax", "layer_norm": norm, "dropout": 0.1,
               "hidden_sizes": [3072, 1024], "activations": "Tanh", "final_activation": None, "optimizer": "AdamW",
               "learning_rate": 1e-5, "encoder_learning_rate": 1e-6, "layerwise_decay": 0.95, "loss": "mse",
               "keep_embeddings_frozen": True, "nr_frozen_epochs": 0.3, "batch_size": 4, "train_data": [],
               "validation_data": []}  # fmt: skip
    (model / "hparams.yaml").write_text(yaml.safe_dump(hparams), "utf-8")
    torch.save({"state_dict": state, "hyper_parameters": hparams, "pytorch-lightning_version": "2.0.0"},
               model / "checkpoints" / "model.ckpt")  # fmt: skip
    return model


# ---------------------------------------------------------------- the original tools


def oracle_python(given: str) -> str:
    """The interpreter of the environment with the original tools; built where it is not there yet."""
    folder = Path(given) if given else ROOT / ".venv-oracle"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"building {folder} with {', '.join(NEEDS)} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *NEEDS], check=True)
    return str(python)


def original(python: str, work: dict[str, Any], cwd: Path) -> Any:
    """Run a job with the original tools."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "job.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(work), "utf-8")
        script = str(ROOT / "benchmarks" / "neural_oracle.py")
        run = subprocess.run([python, script, str(asked), str(answer)], cwd=cwd, capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"})  # fmt: skip
        if run.returncode:
            sys.exit(f"the original tool failed:\n{run.stderr[-3000:]}")
        return json.loads(answer.read_text("utf-8"))


def joined(corpus: Corpus, output: Output, context: int = 2) -> list[dict[str, str]]:
    """What unbabel-comet takes: strings with up to ``context`` previous segments before a separator."""
    rows = []
    for doc in corpus.docs:
        (ref,) = doc.refs.values()
        sides = {"src": (doc.src or (), doc.src or ()), "mt": (ref, output.docs[doc.id]), "ref": (ref, ref)}
        for i in range(len(doc)):
            begin = max(0, i - context)
            rows.append({side: " </s> ".join([*stream[begin:i], text[i]]) for side, (stream, text) in sides.items()})
    return rows


# ---------------------------------------------------------------- the comparison


def ours(corpus: Corpus, outputs: list[Output], spec: str) -> Timed:
    """Score with wholetext, without its cache; the model is loaded before the clock starts, as the original's is."""
    options = Options(cache=False, device="cpu", batch_tokens=BUDGET)
    first = Corpus(corpus.id, corpus.langs, corpus.docs[:1])
    score(Loaded(first, outputs[:1]), [spec], options=options)
    return timed(lambda: score(Loaded(corpus, outputs), [spec], options=options))


def rows(results: Results) -> np.ndarray:
    """(systems, segments) scores."""
    (by_system,) = results.scores.values()
    return np.stack([scores.at("segment") for scores in by_system.values()])


def work_done(corpus: Corpus, outputs: list[Output], spec: str) -> tuple[float, float, float]:
    """GFLOP that real tokens of distinct texts need in the encoder, the share of padding in all batches, and how many
    times as many tokens there are when every system's texts count."""
    from wholetext.scoring.engine import Engine

    engine = Engine(corpus.langs, "cpu")
    one = bind(scorer(spec), corpus, outputs, engine, None)
    metric: Any = one.metric
    vectors = metric.backend(engine)
    requests = [request for doc in corpus.docs for output in outputs for request in one.cut(doc, output)[1]]
    asked = [view for request in requests for row in metric._rows(request) for view in row]
    tokens = {view: vectors.fit(view).tokens for view in asked}
    sizes = list(tokens.values())
    padded = sum(len(batch) * max(sizes[i] for i in batch) for batch in batches(sizes, BUDGET))
    per_token = 2 * LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER)
    flop = sum(size * per_token + 4 * LAYERS * size * size * WIDTH for size in sizes)
    return flop / 1e9, 1 - sum(sizes) / padded, sum(tokens[view] for view in asked) / sum(sizes)


def report(name: str, mine: Timed, theirs: list[dict[str, Any]], target: float) -> None:
    wall, cpu = (sum(each[kind] for each in theirs) for kind in ("wall", "cpu"))
    ratio = wall / mine.wall
    print(f"{name:<46} {wall:8.1f} s → {mine.wall:7.1f} s   {ratio:5.2f}×   (CPU {cpu:.1f} → {mine.cpu:.1f} s, "
          f"{cpu / mine.cpu:.2f}×)   target {target}×: {'met' if ratio >= target else 'NOT MET'}", flush=True)


def deviation(found: np.ndarray, wanted: np.ndarray) -> str:
    from scipy.stats import kendalltau

    order = kendalltau(found.mean(axis=1), wanted.mean(axis=1)).statistic
    inside = np.mean([kendalltau(a, b).statistic for a, b in zip(found, wanted)])
    return (f"max |Δ| {np.abs(found - wanted).max():.1e}, systems' max |Δ| "
            f"{np.abs(found.mean(1) - wanted.mean(1)).max():.1e}, Kendall τ of systems {order:.3f}, "
            f"of segments {inside:.3f}")  # fmt: skip


def compare_comet(python: str, threads: int, data: tuple[Corpus, list[Output]], folder: Path, norm: bool) -> None:
    corpus, outputs = data
    model = random_comet(folder, norm)
    spec = f"context(prev=2):comet@{model}"
    exact, one, theirs = list[Timed](), list[Timed](), list[dict[str, Any]]()
    half = (len(outputs) + 1) // 2
    for part in (outputs[:half], outputs[half:], []):
        exact.append(ours(corpus, outputs, spec))
        one.append(ours(corpus, outputs[:1], spec))
        work = {"tool": "comet", "model": str(model), "threads": threads,
                "systems": [joined(corpus, output) for output in part]}  # fmt: skip
        found = original(python, work, folder) if part else []
        theirs += found
        for name, times in ((f"wholetext, {len(outputs)} systems", [exact[-1]]), ("wholetext, one system", [one[-1]]),
                            (f"unbabel-comet, {len(part)} systems", [Timed(0, x["wall"], x["cpu"]) for x in found])):
            wall, cpu = sum(x.wall for x in times), sum(x.cpu for x in times)
            print(f"{name}: {wall:.1f} s ({cpu:.1f} CPU s)" if times else "", flush=True)
    ten, alone = mean(exact), mean(one)
    wanted = np.array([each["scores"] for each in theirs])
    report(f"Doc-COMET, {len(outputs)} systems, fp32", ten, theirs, 6.0 if "AVX-512" in processor() else 4.5)
    print(f"    against unbabel-comet 2.2.7: {deviation(rows(ten.result), wanted)}; spread {wanted.std():.2f}")
    gflop, padding, repeated = work_done(corpus, outputs, spec)
    print(f"    {gflop / ten.wall:.1f} useful GFLOP/s ({gflop / ten.cpu:.1f} per CPU second), padding {padding:.1%}, "
          f"{repeated:.2f} × fewer tokens because equal texts are read once")
    report("Doc-COMET, one system, fp32", alone, theirs[:1], 1.5)


def compare_bertscore(python: str, threads: int, data: tuple[Corpus, list[Output]], folder: Path) -> None:
    corpus, outputs = data
    model, layer = hub.locate("minilm").path, 3
    flat = [[text for doc in corpus.docs for text in output.docs[doc.id]] for output in outputs]
    ref = [text for doc in corpus.docs for text in next(iter(doc.refs.values()))]
    spec = f"bertscore(layer={layer})@{model}"
    mine = ours(corpus, outputs, spec)
    theirs = original(python, {"tool": "bertscore", "model": str(model), "layer": layer, "threads": threads,
                               "systems": flat, "ref": ref}, folder)  # fmt: skip
    wanted = np.array([each["scores"] for each in theirs["calls"]])
    report(f"BERTScore on MiniLM, {len(outputs)} bert-score calls", mine, theirs["calls"], 3.0)
    print(f"    against bert-score 0.3.13: {deviation(rows(mine.result), wanted)}")
    report("    the same, bert-score's model kept loaded", mine, theirs["kept"], 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default="", help="environment with the original tools (default: .venv-oracle)")
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--segments", type=int, default=60)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=("comet", "bertscore"), help="one of the two comparisons")
    parser.add_argument("--layer-norm", action="store_true", help="a COMET model with layer norm")
    args = parser.parse_args()
    import torch

    torch.set_num_threads(args.threads)
    python = oracle_python(args.oracle)
    print(f"{processor()}, {args.systems} systems × {args.segments} segments, {args.threads} threads, "
          f"load {os.getloadavg()[0]:.1f}, torch {torch.__version__}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if args.only != "bertscore":
            data = load("en-de", args.systems, args.segments)
            compare_comet(python, args.threads, data, Path(folder), args.layer_norm)
        if args.only != "comet":
            compare_bertscore(python, args.threads, load("zh-en", args.systems, args.segments), Path(folder))


if __name__ == "__main__":
    main()
