"""Rewards for training loops: a metric as a reward function of TRL or verl.

``Reward("comet", langs="de-en")`` is a reward function of TRL (``GRPOTrainer(reward_funcs=…)``); its
methods ``compute_scores`` and ``compute_score`` are those of verl. With ``url`` it calls a server
(`wholetext serve`), whose models stay loaded for all processes of a training; without, it scores in
this process.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from wholetext.errors import InputError, WorkerError
from wholetext.registry import scorer
from wholetext.scoring.single import Treatment, independent, read_texts, score_texts

# whatever proxy the environment names: the server is one's own
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_BYTES = 900_000  # of a request; the server takes 1 MB
_AGAIN = (429, 502, 503, 504)  # status of answers after which a request is sent again
_ALONE = threading.Lock()  # scoring in this process: verl calls from several threads


@dataclass(frozen=True)
class Reward:
    """Scores of completions under a metric, the better the higher (TER and its like are negated).

    A score is None where the metric is undefined, and where ``language="null"`` bars the text; TRL
    leaves such rewards out. Errors are raised: a training never goes on with made-up rewards.
    """

    metric: str
    langs: str = ""
    url: str = ""  # of a server, http://127.0.0.1:8765; without one, scores are made here
    token: str = field(default_factory=lambda: os.environ.get("WHOLETEXT_TOKEN", ""), repr=False)
    src: str = "source"  # columns of the data set: strings, or lists of segments
    refs: Sequence[str] = ("reference",)
    strip: bool = True  # remove reasoning, preamble and fence of an answer
    language: Literal["worst", "null"] | None = None  # the reward of text in another language
    align: bool = False
    patience: float = 60.0  # seconds in which a server that does not answer is asked again

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", scorer(independent(self.metric)).spec)  # in TRL's logs
        self._how()

    def _how(self) -> Treatment:
        return Treatment(self.langs, self.strip, self.language, self.align)

    # -------------------------------------------------------- signatures of the trainers

    def __call__(
        self, prompts: Sequence[Any] = (), completions: Sequence[Any] = (), **columns: Any
    ) -> list[float | None]:
        """Reward function of TRL: prompts, completions and columns of the data set, by name."""
        names = [name for name in (self.src, *self.refs) if name in columns]
        if not names:
            raise InputError(
                f"the data set has neither {self.src!r} nor {' nor '.join(map(repr, self.refs))}",
                where=f"columns {', '.join(columns) or 'none'}",
                next="name the columns: Reward(…, src=…, refs=[…])",
            )
        short = next((name for name in names if len(columns[name]) != len(completions)), "")
        if short:
            raise InputError(
                f"{len(columns[short])} values for {len(completions)} completions",
                where=f"column {short!r}",
                next="give a value per completion",
            )
        return self._rewards(
            [
                {
                    "hyp": _text(completion),
                    **({"src": columns[self.src][at]} if self.src in names else {}),
                    "refs": [columns[name][at] for name in names if name != self.src],
                }
                for at, completion in enumerate(completions)
            ]
        )

    def compute_scores(
        self,
        data_sources: Sequence[str],
        solution_strs: Sequence[str],
        ground_truths: Sequence[Any],
        extra_infos: Sequence[Mapping[str, Any] | None],
        **_: Any,
    ) -> list[float]:
        """Batch reward function of verl; the source is in ``extra_info``, under ``src``."""
        sources = [(info or {}).get(self.src) for info in extra_infos]
        rewards = self._rewards(
            [
                {
                    "hyp": hyp,
                    **({} if src is None else {"src": src}),
                    "refs": [] if ref is None else [ref],
                }
                for hyp, ref, src in zip(solution_strs, ground_truths, sources, strict=True)
            ]
        )
        numbers = [reward for reward in rewards if reward is not None]
        if len(numbers) < len(rewards):
            raise InputError(
                "a reward is undefined, and verl takes numbers only",
                where=f"completion {rewards.index(None) + 1}",
                next='set language="worst", or use another metric',
            )
        return numbers

    def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> float:
        """Reward function of verl for one answer; the server scores those of all threads together."""
        return self.compute_scores([data_source], [solution_str], [ground_truth], [extra_info])[0]

    # -------------------------------------------------------- scores

    def _rewards(self, texts: list[dict[str, Any]]) -> list[float | None]:
        checked = read_texts(texts, self.align)
        if self.url:
            values = [value for part in _parts(texts) for value in self._ask(part)]
        elif texts:
            with _ALONE:
                values = score_texts(checked, [self.metric], self._how())[0][0].scores
        else:
            values = []
        sign = 1.0 if scorer(self.metric).metric.higher_is_better else -1.0
        return [None if value is None else sign * value for value in values]

    def _ask(self, texts: list[dict[str, Any]]) -> list[float | None]:
        """Scores of a server; it is asked again while it cannot be reached or is busy."""
        how = {name: value for name, value in asdict(self._how()).items() if value}
        body = json.dumps({"texts": texts, "metrics": [self.metric], **how}).encode()
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        address = f"{self.url.rstrip('/')}/v1/score"
        end, pause = time.monotonic() + self.patience, 0.1
        while True:
            try:
                request = urllib.request.Request(address, body, headers)
                with _DIRECT.open(request, timeout=3600) as answer:
                    scores: list[float | None] = json.load(answer)["metrics"][0]["scores"]
                    return scores
            except urllib.error.HTTPError as refused:
                problem = _problem(refused)
                again = refused.code in _AGAIN
            except (OSError, ValueError, LookupError) as fault:
                reason = getattr(fault, "reason", fault)
                step = "start it (`wholetext serve`), or check url; no reward was made up"
                problem = (f"the server does not answer ({reason})", step)
                again = isinstance(fault, OSError)
            if not again or time.monotonic() + pause > end:
                raise WorkerError(problem[0], where=address, next=problem[1])
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


def _problem(refused: urllib.error.HTTPError) -> tuple[str, str]:
    """What a server says about an error, and the next step."""
    try:
        answer = json.load(refused)
        return str(answer["error"]), str(answer["next"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"the server answers with status {refused.code}", "check url: is it wholetext's?"


def _text(completion: Any) -> Any:
    """The text of a completion: a string, or the last message of a conversation."""
    if isinstance(completion, (list, tuple)) and completion and isinstance(completion[-1], Mapping):
        return completion[-1].get("content") or ""
    return completion


def _parts(texts: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Texts in parts that fit a request."""
    parts, size = list[list[dict[str, Any]]](), _BYTES
    for text in texts:
        own = len(json.dumps(text)) + 2
        if size + own > _BYTES:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += own
    return parts
