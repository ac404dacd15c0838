"""Form ``t5``: an encoder-decoder that predicts the score, as MetricX (Juraska et al. 2023, §3).

The trained folder is an ordinary transformers folder, so ``metricx@FOLDER`` reads it too.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.models.device import Precision
from wholetext.models.hub.locate import Located
from wholetext.models.loading import Checkpoint
from wholetext.models.regressor import PROMPTS, Prompt, Regressor, locate_tokenizer, prompt
from wholetext.models.tokenizer import check_limit
from wholetext.training.learned.folder import MODEL_FILES, Config
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime


@dataclass(frozen=True)
class Settings:
    """How a prompt is read."""

    limit: int = 1024  # tokens, including the end-of-sequence token


class T5:
    """One decoder step, one reserved word: its score is the one feature, and the prediction."""

    Settings = Settings
    predicts_directly = True
    width = 1

    def __init__(self, config: Config, base: Located, precision: Precision, run: Runtime) -> None:
        limit = Settings(**config.settings).limit
        check_limit(limit, 2, 0, base.name)
        self.reads = config.reads
        both = {"ref", "src"} <= set(self.reads)
        version = "24" if both or "ref" not in self.reads else "23"
        self.text = PROMPTS[version, "ref" if "ref" in self.reads else "qe"]
        # T5 has no other attention in transformers 4: one way in all versions keeps scores the same
        self.checkpoint = Checkpoint(base.source, base.revision, precision, "eager")
        self.regressor = Regressor(self.checkpoint, "auto", limit)
        self.id = f"{self.regressor.id}/t5/{','.join(self.reads)}"

    def texts(self, pair: Request) -> dict[str, Excerpt]:
        """Return the texts that are read, the hypothesis first."""
        sides = {"hyp": pair.hyp[0], "ref": pair.refs[0] if pair.refs else None, "src": pair.src}
        order = dict.fromkeys(("hyp", *self.reads))
        return {side: view for side in order if (view := sides[side]) is not None}

    def prompt(self, pair: Request) -> Prompt:
        return prompt(self.text, self.texts(pair))

    def fit(self, pair: Request) -> Fit:
        return self.regressor.fit(self.prompt(pair))

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        return [("+".join(self.texts(pair)), self.regressor.shown(self.prompt(pair)))]

    def seen(self, pair: Request) -> int | None:
        return None

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        return np.array(
            run.map(self.regressor, [self.prompt(pair) for pair in pairs]), dtype=np.float64
        )[:, None]

    @property
    def module(self) -> Any:
        return self.checkpoint.weights

    def learn(self, pairs: Sequence[Request]) -> Any:
        return self.regressor.learn([self.prompt(pair) for pair in pairs])[:, None]

    def write_model(self, folder: Path) -> None:
        """Write the model as transformers reads it, with its tokenizer."""
        from safetensors.torch import save_file

        source = self.checkpoint.located.path
        words = locate_tokenizer(self.checkpoint.located, self.regressor.tokenizer).path
        for name in MODEL_FILES:
            file = next((path for path in (source / name, words / name) if path.is_file()), None)
            if file is not None:
                shutil.copyfile(file, folder / name)
        tensors = self.checkpoint.weights.state_dict()
        # tied tensors are written once, under their first name
        names = {tensor.data_ptr(): name for name, tensor in reversed(tensors.items())}
        state = {name: tensors[name].detach().cpu().contiguous() for name in names.values()}
        save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})
