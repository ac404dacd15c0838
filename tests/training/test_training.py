"""Training: loss falls, folders score as the trained model did, and bad folders are refused with a reason."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scored import scored
from tests.training.training_data import TINY, recipe
from wholetext.errors import InputError, ModelError, WholetextError
from wholetext.io import Loaded
from wholetext.io.formats.evalset import read
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.plan import plan
from wholetext.testing import check_metric
from wholetext.training.examples import read_examples
from wholetext.training.learner import Learner, TrainingData
from wholetext.training.metric import Learned
from wholetext.training.run import (
    Moment,
    Session,
    Trained,
    TrainingCheckpoint,
    TrainingRun,
    train,
    train_runs,
)
from wholetext.types import Excerpt, Request

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")
OFF = Options(cache=False, device="cpu")


@pytest.fixture(scope="module")
def frozen(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    out = tmp_path_factory.mktemp("frozen") / "metric"
    told: list[Moment] = []
    settings: dict[str, Any] = {"form": "aligned", "epochs": 4}
    found = train(recipe(root, **settings), Session(out, tell=told.append))
    assert {moment.stage for moment in told} == {"features", "training", "evaluation"}
    return found


def test_validation_loss_falls(frozen: Trained) -> None:
    losses = [row["verdict"]["loss"] for row in frozen.history]
    assert losses[-1] < 0.85 * losses[0] and frozen.verdict.acc_eq > 0.55
    assert frozen.verdict.acc_eq == max(row["verdict"]["acc_eq"] for row in frozen.history[1:])


@pytest.mark.parametrize("settings", [
    {"form": "aligned", "settings__layers": [2, -1]},
    {"form": "aligned", "head__activation": "gelu", "ends": True},
    {"form": "t5", "base": str(TINY / "tiny-mt5"), "optimizer": "adafactor", "micro_batch": 3},
], ids=["aligned", "ends", "t5"])  # fmt: skip
def test_the_folder_scores_as_the_trained_model_did(settings: dict[str, Any], root: Path, tmp_path: Path) -> None:
    chosen = recipe(root, **{"epochs": 1, "most": 5, "validation_most": 3, "k": [1, 2], **settings})
    out = tmp_path / "metric"
    trained = train(chosen, Session(out))
    _, held = read_examples(chosen)
    metric = Learned(str(out)).resolve(("de", "en"))
    scores = [metric.reduce_rows(metric.measure(pairs, Engine(batch_tokens=tokens)))[:, 0]
              for pairs, tokens in ((held.pairs, 1), (held.pairs, 900), (held.pairs[::-1], 300))]
    # 1e-6 of the range: 0 … 100 where it is that, and the untrained tiny T5 says numbers from -30 to 30
    near = 1e-6 * (100 if chosen.ends else 60 if chosen.form == "t5" else 1)
    np.testing.assert_allclose(scores[0], scores[1], atol=near, rtol=0)
    np.testing.assert_allclose(scores[0], scores[2][::-1], atol=near, rtol=0)
    learner = Learner(chosen, TrainingData(held, held, out / ".train", Engine()), lambda done, of: None)
    learner.module.load_state_dict(torch.load(out / ".train/state.pt", weights_only=True)["best"])
    output = trained.config.output
    low, high = (0, 100) if chosen.ends else (-np.inf, np.inf)
    expected = np.clip(output.shift + output.scale * learner.validate(), low, high)
    np.testing.assert_allclose(scores[0], expected, atol=near, rtol=0)
    assert metric.needs == set(chosen.reads) and metric.range == (low, high)


def test_a_t5_folder_is_a_metricx_folder(root: Path, tmp_path: Path, oracle: Path) -> None:
    one = recipe(root, form="t5", base=str(TINY / "tiny-mt5"), epochs=1, most=4, k=[1],
                 batch=16, validation_most=4)
    out = tmp_path / "metric"
    assert train(one, Session(out)).best == 1, "one step"
    loaded = read(root, "de-en")
    spec = "metricx(version=23,clamp=false,limit=1024)"
    mine, theirs, untrained = (
        scored(loaded.corpus, loaded.outputs[:1], f"{metric}@{folder}", OFF)["a"].at("row")
        for metric, folder in (("learned", out), (spec, out), (spec, TINY / "tiny-mt5"))
    )
    np.testing.assert_allclose(mine, theirs, atol=1e-6, rtol=0)
    assert np.abs(theirs - untrained).min() > 1e-4, "a step changes every score"


def test_every_view_and_the_contract(frozen: Trained, root: Path) -> None:
    metric = f"learned@{frozen.out}"
    for view in ("", "context(prev=1):", "whole:"):
        check_metric(f"{view}{metric}")
    loaded = read(root, "de-en")

    def rows(view: str) -> Any:
        return scored(loaded.corpus, loaded.outputs[:2], f"{view}:{metric}", OFF)["a"].at("row")

    sentence = rows("sentence")
    for view in ("context(prev=0)", "slide(size=1,step=1)", "paragraph(size=1)"):
        assert np.array_equal(rows(view), sentence)
    assert not np.array_equal(rows("context(prev=2)"), sentence)
    assert len(rows("slide(size=3,step=1)")) and len(rows("paragraph(size=5)"))
    planned = plan(loaded.corpus, loaded.outputs[:1], f"context(prev=1):{metric}")
    assert planned.tokens and "«" in planned.shown[1].sides[0][1]
    signature = scored(loaded.corpus, loaded.outputs[:1], f"paragraph(size=5):{metric}", OFF)["a"].signature
    assert signature["form"] == "aligned" and signature["several_refs"] == "mean" and signature["revision"]


def test_penalties_are_a_second_output(root: Path, tmp_path: Path) -> None:
    """On a scale of 0 to 100."""
    given = recipe(root, ends=True,
                   penalty={"rate": 0.5, "length": 1.0, "shape": 2.0}, version="7")  # fmt: skip
    found = train(given, Session(tmp_path / "out"))
    assert found.config.version == "7" and "Version 7" in (found.out / "README.md").read_text("utf-8")
    metric = Learned(str(found.out)).resolve(("de", "en"))
    texts = [("One came.", "One came."), ("Two trees.", "The third one stayed at home.")]
    pairs = [Request((Excerpt((hyp,), (0, 1)),), None, (Excerpt((ref,), (0, 1)),)) for hyp, ref in texts]
    table = metric.reduce_rows(metric.measure(pairs, Engine(("de", "en"))))
    assert metric.outputs == ("score", "penalty")
    words = np.array([2.0, 6.0])
    np.testing.assert_allclose(table[:, 1], -0.5 * words * (1 - table[:, 0] / 100) ** 2, atol=1e-12)


def test_gradients_of_parts_add_up_to_that_of_the_batch(root: Path, tmp_path: Path) -> None:
    t5: dict[str, Any] = {"form": "t5", "base": str(TINY / "tiny-mt5"), "most": 2, "k": [1], "decay": 0.0}
    gradients = []
    for size in (0, 2):
        chosen = recipe(root, **t5, micro_batch=size)
        train_set, held = read_examples(chosen)
        learner = Learner(chosen, TrainingData(train_set, held, tmp_path, Engine()), lambda done, of: None)
        run = TrainingRun(Session(tmp_path), learner, TrainingCheckpoint(tmp_path / f"m{size}", chosen, fresh=True))
        learner.module.eval()  # no dropout
        run.step(np.arange(6))
        gradients.append([parameter.grad for parameter in learner.module.parameters() if parameter.grad is not None])
    for whole, parts in zip(*gradients):
        torch.testing.assert_close(whole, parts, atol=1e-6, rtol=1e-3)


def test_a_limit_on_steps_goes_beyond_an_epoch(root: Path, tmp_path: Path) -> None:
    trained = train(recipe(root, epochs=1, steps=30, batch=64, patience=0), Session(tmp_path / "m"))
    assert trained.history[-1]["step"] == 30 and trained.stopped == "end" and len(trained.history) > 3


def test_several_runs_have_seeds_and_folders_of_their_own(root: Path, tmp_path: Path) -> None:
    runs = train_runs(recipe(root, runs=3, epochs=1), Session(tmp_path / "m"))
    assert [run.out.name for run in runs] == ["run-1", "run-2", "run-3"]
    assert len({run.verdict.loss for run in runs}) == 3 and len(list((tmp_path / "m").rglob("*.sqlite"))) == 1


def test_several_references_give_the_mean(frozen: Trained) -> None:
    metric = Learned(str(frozen.out)).resolve(("de", "en"))
    hyp, one, two = (Excerpt((text,), (0, 1)) for text in ("A red boat.", "The boat is red.", "A blue house stood."))
    requests = [Request((hyp,), None, refs) for refs in ((one,), (two,), (one, two))]
    found = metric.reduce_rows(metric.measure(requests, Engine()))[:, 0]
    assert found[2] == pytest.approx(found[:2].mean(), abs=1e-9)


def test_long_text_is_cut_and_counted(frozen: Trained, root: Path) -> None:
    loaded = read(root, "de-en")
    docs = tuple(replace(doc, refs={"refA": tuple(" ".join([text] * 60) for text in doc.refs["refA"])})
                 for doc in loaded.corpus.docs[:1])  # fmt: skip
    found = scored(replace(loaded.corpus, docs=docs), loaded.outputs[:1], f"learned@{frozen.out}", OFF)["a"]
    assert found.lost is not None and found.lost[:, 1].sum() > 0


def test_features_are_shared_and_damaged_ones_made_again(root: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"form": "aligned", "epochs": 1}
    made = [train(recipe(root, **settings, seed=seed), Session(tmp_path / f"m{seed}", work=tmp_path / "work"))
            for seed in (1, 2)]
    store = tmp_path / "work" / "features.sqlite"
    assert store.is_file() and made[0].verdict != made[1].verdict
    with sqlite3.connect(store) as db:
        db.execute("UPDATE checked_items SET value = zeroblob(length(value))")
    again = train(recipe(root, **settings, seed=1), Session(tmp_path / "m3", work=tmp_path / "work"))
    assert again.verdict == made[0].verdict
    assert (tmp_path / "m3/weights.safetensors").read_bytes() == (tmp_path / "m1/weights.safetensors").read_bytes()


# ---------------------------------------------------------------- what is refused


def broken(frozen: Trained, folder: Path) -> Path:
    shutil.copytree(frozen.out, folder, ignore=shutil.ignore_patterns(".train"))
    return folder


def changed(folder: Path, **values: Any) -> None:
    path = folder / "wholetext.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(("fault", "wanted"), [
    ("cut", "the weights were changed since they were written"),
    ("gone", "weights.safetensors: it cannot be read"),
    ("json", "wholetext.json: this is not JSON"),
    ({"head": {"hidden": [8]}}, "its tensors are not those of the head in wholetext.json"),
    ({"form": "alinged"}, "there is no form 'alinged'"),
    ({"content": "0123456789abcdef"}, "it was trained on tiny-bert with the content 0123456789abcdef"),
    ({"base": "/nowhere/tiny"}, "/nowhere/tiny was not found"),
    ({"settings": {"layer": 3}}, "there is no setting settings.layer\n"),
    ({"reads": ["ref"]}, "it reads ref"),
    ({"format": 99}, "its format is 99"),
])  # fmt: skip
def test_bad_folders_are_refused(fault: Any, wanted: str, frozen: Trained, root: Path, tmp_path: Path) -> None:
    folder = broken(frozen, tmp_path / "m")
    path = folder / "weights.safetensors"
    if fault == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    elif fault == "gone":
        path.unlink()
    elif fault == "json":
        (folder / "wholetext.json").write_text("{")
    else:
        changed(folder, **fault)
    loaded = read(root, "de-en")
    with pytest.raises(ModelError) as caught:
        score(Loaded(loaded.corpus, loaded.outputs[:1]), f"learned@{folder}", options=OFF)
    assert wanted in f"{caught.value}\n"


def test_the_base_may_lie_beside(frozen: Trained, root: Path, tmp_path: Path) -> None:
    folder = broken(frozen, tmp_path / "m")
    changed(folder, base="/elsewhere/tiny-bert")
    shutil.copytree(TINY / "tiny-bert", tmp_path / "tiny-bert")
    loaded = read(root, "de-en")
    there, moved = (score(Loaded(loaded.corpus, loaded.outputs[:1]), f"learned@{path}", options=OFF)
                    for path in (frozen.out, folder))  # fmt: skip
    rows = [next(iter(results.scores.values()))["a"].at("row") for results in (there, moved)]
    assert np.array_equal(*rows)


def test_what_cannot_be_trained_is_said(root: Path, tmp_path: Path) -> None:
    def refused(wanted: str, **settings: Any) -> None:
        with pytest.raises(WholetextError) as caught:
            few = {"data": [{"evalset": str(root), "human": "wmt-z", "documents": 2}], "k": [1], "share": 0.5}
            train(recipe(root, **few, **settings), Session(tmp_path / "m", fresh=True))
        assert wanted in str(caught.value)

    refused("there are no layers [9]", settings__layers=[9])
    refused("reads, head, output and penalty do not fit the form aligned", reads=["hyp", "src"])
    refused("anchor needs a form", form="t5", base=str(TINY / "tiny-mt5"), anchor=1.0)
    refused("there is no setting settings.layer", settings__layer=1)
    refused("no such model folder", base=str(tmp_path / "nowhere"))
    (tmp_path / "m").mkdir(exist_ok=True)
    (tmp_path / "m/thesis.txt").write_text("x")
    refused("the folder holds 'thesis.txt'")


def test_another_recipe_in_the_folder_is_an_error(frozen: Trained, root: Path) -> None:
    with pytest.raises(InputError, match=r"another run \(epochs was 4, is 5\)"):
        train(recipe(root, form="aligned", epochs=5), Session(frozen.out))


@pytest.mark.long
def test_random_numbers_of_the_caller_stay(root: Path, tmp_path: Path) -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    train(recipe(root, form="aligned", epochs=1), Session(tmp_path / "m"))
    assert torch.equal(torch.rand(3), wanted)
