"""Rewards: in process, from a server and on the command line the same; the signatures of TRL and verl; bad input."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.in_process import call
from tests.serving.serving_material import Running
from wholetext.errors import InputError, SpecError, WholetextError, WorkerError
from wholetext.integrations.rewards import Reward

TOKEN = "0123456789abcdef"
PROMPTS = ["Translate: Er kam spät.", "Translate: Die Katze saß."]
COLUMNS = {"source": ["Er kam spät.", "Die Katze saß."], "reference": ["He was late.", "The cat sat down."]}
PLAIN = ["He came late.", "The cat sat."]
THOUGHT = ["<think>spät?</think>He came late.", "Translation:\n```\nThe cat sat.\n```"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("served") / "data", "--token", TOKEN) as server:
        yield server


def printed(metric: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[float]:
    """What the command line writes for the same segments."""
    for name, lines in (("hyp", PLAIN), ("ref", COLUMNS["reference"]), ("src", COLUMNS["source"])):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    code, _, said = call(capsys, "score", "-t", folder / "hyp", "-r", folder / "ref", "-s", folder / "src",
                         "-l", "de-en", "-m", metric, "--out", folder / "run")  # fmt: skip
    assert code == 0, said
    rows = map(json.loads, (folder / "run" / "results.jsonl").read_text("utf-8").splitlines())
    return [row["score"] for row in rows if row["level"] == "row"]


@pytest.mark.long
@pytest.mark.parametrize("metric", ["chrf", "bleu", "sbert@minilm"])
def test_command_line_server_and_reward_function_agree(
    server: Running, metric: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = printed(metric, tmp_path, capsys)
    here, there = Reward(metric, "de-en"), Reward(metric, "de-en", url=server.address, token=TOKEN)
    for completions in (PLAIN, THOUGHT, [[{"role": "assistant", "content": text}] for text in THOUGHT]):
        assert here(prompts=PROMPTS, completions=completions, **COLUMNS) == pytest.approx(expected, abs=1e-6)
        assert there(prompts=PROMPTS, completions=completions, **COLUMNS) == pytest.approx(expected, abs=1e-6)
    with ThreadPoolExecutor(8) as threads:  # verl: one answer per call, from many threads
        alone = threads.map(lambda at: there.compute_score("wmt", THOUGHT[at % 2], COLUMNS["reference"][at % 2],
                            {"source": COLUMNS["source"][at % 2]}), range(16))  # fmt: skip
        assert list(alone) == pytest.approx(expected * 8, abs=1e-6)


@pytest.mark.long
def test_in_process_and_command_line_agree_on_comet(
    oracle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metric = f"comet@{oracle / 'neural' / 'models' / 'comet-reg-mix'}"
    expected = printed(metric, tmp_path, capsys)
    assert Reward(metric, "de-en")(PROMPTS, THOUGHT, **COLUMNS) == pytest.approx(expected, abs=1e-6)


def test_verl_computes_rewards_with_it(tmp_path: Path) -> None:
    """verl's own loader reads the function from a file, and its managers call it: by batch, by answer, in a loop."""
    torch, *_ = (pytest.importorskip(name, reason=f"{name} is not installed") for name in ("torch", "ray", "verl"))
    import numpy as np
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager as OfTheLoop
    from verl.trainer.ppo.reward import get_custom_reward_fn
    from verl.workers.reward_manager.batch import BatchRewardManager
    from verl.workers.reward_manager.naive import NaiveRewardManager

    expected = Reward("chrf", "de-en")(PROMPTS, THOUGHT, **COLUMNS)
    file = tmp_path / "reward.py"
    file.write_text("from wholetext.integrations.rewards import Reward\n"
                    "reward = Reward('chrf', langs='de-en')\n"
                    "one, several = reward.compute_score, reward.compute_scores\n", "utf-8")  # fmt: skip
    configs = [OmegaConf.create({"reward": {"custom_reward_function": {"path": str(file), "name": name}}})
               for name in ("one", "several")]  # fmt: skip
    one, several = map(get_custom_reward_fn, configs)
    tokenizer = SimpleNamespace(decode=lambda ids, **_: "".join(THOUGHT[int(at)] for at in ids))

    def answers() -> Any:
        columns = {"data_source": ["wmt"] * 2, "reward_model": [{"ground_truth": ref} for ref in COLUMNS["reference"]],
                   "extra_info": [{"source": source} for source in COLUMNS["source"]]}  # fmt: skip
        return DataProto.from_dict(
            tensors={"prompts": torch.zeros(2, 1, dtype=torch.long), "responses": torch.tensor([[0, 0], [1, 0]]),
                     "attention_mask": torch.tensor([[1, 1, 0]] * 2)},
            non_tensors={name: np.array(column, dtype=object) for name, column in columns.items()})  # fmt: skip

    async def loop() -> list[dict[str, Any]]:
        manager = OfTheLoop(configs[0], tokenizer, one)
        return await asyncio.gather(*(manager.run_single(answers()[at : at + 1]) for at in range(2)))

    for manager in (BatchRewardManager(tokenizer, 0, several), NaiveRewardManager(tokenizer, 0, one)):
        rewards = manager(answers())
        assert rewards[:, 0].tolist() == pytest.approx(expected, abs=1e-4) and not rewards[:, 1].any()
    assert [answer["reward_score"] for answer in asyncio.run(loop())] == pytest.approx(expected, abs=1e-6)


def test_trl_computes_rewards_with_it() -> None:
    """The real method of GRPOTrainer calls the reward; None becomes NaN."""
    torch = pytest.importorskip("torch")
    trl = pytest.importorskip("trl", reason="TRL is not installed: make test-integration")
    pytest.importorskip("accelerate").PartialState(cpu=True)  # for the log
    reward = Reward("chrf", "de-en", language="null")
    trainer: Any = SimpleNamespace(
        accelerator=SimpleNamespace(device="cpu", is_main_process=True), args=SimpleNamespace(report_to=[]),
        state=SimpleNamespace(global_step=0), environments=None,
        _log_completion_extra=None, _log_metric=None, reward_funcs=[reward], reward_processing_classes=[None],
        reward_func_names=["chrf"],
    )  # fmt: skip
    german = "Er kam sehr spät nach Hause, und der Hund war nicht mehr da."
    inputs = [{"prompt": prompt, "source": "Er kam spät.", "reference": "He was late."} for prompt in [*PROMPTS, ""]]
    rows = [*PLAIN, german]
    module = inspect.getmodule(trl.GRPOTrainer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "gather", lambda values: values)
        made = trl.GRPOTrainer._calculate_rewards(trainer, inputs, [*PROMPTS, ""], rows, [[1]] * 3)
    assert made.shape == (3, 1) and torch.isnan(made[2, 0])
    assert made[:2, 0].tolist() == pytest.approx(reward([*PROMPTS], PLAIN, source=["Er kam spät."] * 2,
                                                        reference=["He was late."] * 2), abs=1e-4)  # fmt: skip


def test_what_trl_passes_is_accepted() -> None:
    """The keyword arguments of TRL 1.16, whatever else it adds; names as TRL reads them."""
    reward = Reward("chrf", "de-en")
    made = reward(prompts=PROMPTS, completions=PLAIN, completion_ids=[[1], [2]], trainer_state=None, log_extra=print,
                  log_metric=print, **COLUMNS)  # fmt: skip
    assert len(made) == 2 and all(isinstance(value, float) for value in made)
    assert reward.__name__ == "chrf" and not inspect.iscoroutinefunction(reward.__call__)
    assert pickle.loads(pickle.dumps(reward))(PROMPTS, PLAIN, **COLUMNS) == made
    assert reward(prompts=[], completions=[], source=[], reference=[]) == []


def test_verl_calls_it_by_batch_and_by_answer() -> None:
    reward = Reward("chrf", "de-en")
    infos = [{"source": text} for text in COLUMNS["source"]]
    made = reward.compute_scores(data_sources=["wmt"] * 2, solution_strs=THOUGHT,
                                 ground_truths=COLUMNS["reference"], extra_infos=infos)  # fmt: skip
    assert made == reward(PROMPTS, PLAIN, **COLUMNS)
    assert reward.compute_score(data_source="wmt", solution_str=PLAIN[0], ground_truth="He was late.") == made[0]
    with pytest.raises(InputError, match=r"numbers only(.|\n)*worst"):
        Reward("chrf", "de-en", language="null").compute_score("wmt", "", "He was late.")


def test_less_is_better_becomes_more_is_better() -> None:
    worse, better = Reward("ter", "de-en")(PROMPTS, ["A dog", "The cat sat down."], **COLUMNS)
    assert worse is not None and better == pytest.approx(0.0) and worse < better


def test_references_may_be_several_and_texts_documents() -> None:
    reward = Reward("chrf", refs=["a", "b"])
    assert reward(["", ""], ["x y", "z"], a=["u", "z"], b=["x y", "v"]) == pytest.approx([100.0, 100.0])
    assert Reward("chrf", "de-en", align=True)(
        [""], ["It rained. The dog Bello slept."], source=[["Es regnete.", "Der Hund Bello schlief."]],
        reference=[["It rained.", "The dog Bello slept."]],
    ) == pytest.approx([100.0])  # fmt: skip


# ---------------------------------------------------------------- bad input


def test_a_server_that_is_not_there_is_named() -> None:
    reward = Reward("chrf", "de-en", url="http://127.0.0.1:9", patience=0.3)
    with pytest.raises(WorkerError, match=r"127\.0\.0\.1:9/v1/score: the server does not answer(.|\n)*wholetext serve"):
        reward(PROMPTS, PLAIN, **COLUMNS)


def test_what_is_not_a_server_of_ours_is_named() -> None:
    with pytest.raises(WholetextError, match="url"):
        Reward("chrf", url="nonsense", patience=0.1)(PROMPTS, PLAIN, **COLUMNS)


@pytest.mark.long
def test_a_wrong_token_and_metrics_that_the_server_refuses_are_named_at_once(server: Running) -> None:
    with pytest.raises(WorkerError, match=r"token of this server(.|\n)*Bearer"):
        Reward("chrf", url=server.address, token=TOKEN[::-1])(PROMPTS, PLAIN, **COLUMNS)
    with pytest.raises(WorkerError, match=r"may not name files(.|\n)*--allow-model"):
        Reward("sbert@/tmp/model", url=server.address, token=TOKEN)(PROMPTS, PLAIN, **COLUMNS)


@pytest.mark.long
def test_nothing_is_lost_when_the_server_starts_later(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    reward = Reward("chrf", "de-en", url=f"http://127.0.0.1:{port}", patience=60)
    with ThreadPoolExecutor(2) as threads:
        made = threads.submit(reward, PROMPTS, PLAIN, **COLUMNS)
        with Running(tmp_path / "data", port=port):
            assert made.result(60) == pytest.approx(Reward("chrf", "de-en")(PROMPTS, PLAIN, **COLUMNS), abs=1e-6)


def test_an_unknown_metric_is_refused_before_the_training() -> None:
    with pytest.raises(SpecError, match="chrf"):
        Reward("chrff")
    with pytest.raises(SpecError, match="depend on the other texts"):
        Reward("cider")
    with pytest.raises(InputError, match="add langs"):
        Reward("chrf", language="worst")


def test_columns_that_are_missing_or_too_short_are_named() -> None:
    with pytest.raises(InputError, match=r"columns target(.|\n)*'source' nor 'reference'(.|\n)*src="):
        Reward("chrf")(PROMPTS, PLAIN, target=["a", "b"])
    with pytest.raises(InputError, match=r"column 'reference': 1 values for 2 completions"):
        Reward("chrf")(PROMPTS, PLAIN, reference=["a"])
    with pytest.raises(InputError, match="text 2"):
        Reward("chrf")(PROMPTS, ["a", None], reference=["a", "b"])
