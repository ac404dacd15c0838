"""Log-probabilities of given texts from llama.cpp, through the C interface of the wheel `xllamacpp`.

Chat servers return no probabilities of a text they are given; the library they are built on does. The structures below
are those of xllamacpp 2026.10.11549 (`tests/judges/requirements.txt`), which is checked. The wheel is built for AVX2;
the variable WHOLETEXT_LLAMA names a libllama.so built from the same release for a newer processor.
"""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from wholetext.metrics.llm_prob import lines
from wholetext.models.seq2seq import Pair
from wholetext.types import Fit

VERSION = "2026.10.11549"
CONTEXT, BATCH, TOGETHER = 4096, 2048, 16
UNIFIED = 141  # the byte of kv_unified: sequences share one cache


class ModelParams(c.Structure):
    _fields_ = [("opaque", c.c_char * 1024)]


class ContextParams(c.Structure):
    _fields_ = [*((name, c.c_uint32) for name in (
        "n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max", "n_outputs_max_per_seq",
        "n_threads", "n_threads_batch")), ("opaque", c.c_char * 988)]  # fmt: skip


class Batch(c.Structure):
    _fields_ = [("n_tokens", c.c_int32), ("token", c.POINTER(c.c_int32)), ("embd", c.c_void_p),
                ("pos", c.POINTER(c.c_int32)), ("n_seq_id", c.POINTER(c.c_int32)),
                ("seq_id", c.POINTER(c.POINTER(c.c_int32))), ("logits", c.POINTER(c.c_int8))]  # fmt: skip


def _library() -> c.CDLL:
    os.environ["OMP_WAIT_POLICY"] = "passive"  # idle threads that spin take the cores from others
    wheel = distribution("xllamacpp")
    if wheel.version != VERSION:
        raise SystemExit(
            f"xllamacpp {wheel.version} is installed, and the structures are of {VERSION}"
        )
    built = os.environ.get("WHOLETEXT_LLAMA")
    lib = c.CDLL(built or str(wheel.locate_file("xllamacpp/xllamacpp.abi3.so")))
    for name, result, *arguments in (
        ("llama_model_default_params", ModelParams), ("llama_context_default_params", ContextParams),
        ("llama_model_load_from_file", c.c_void_p, c.c_char_p, ModelParams),
        ("llama_init_from_model", c.c_void_p, c.c_void_p, ContextParams),
        ("llama_model_get_vocab", c.c_void_p, c.c_void_p), ("llama_vocab_n_tokens", c.c_int32, c.c_void_p),
        ("llama_tokenize", c.c_int32, c.c_void_p, c.c_char_p, c.c_int32, c.POINTER(c.c_int32), c.c_int32,
         *[c.c_bool] * 2),
        ("llama_token_to_piece", c.c_int32, c.c_void_p, c.c_int32, c.c_char_p, c.c_int32, c.c_int32, c.c_bool),
        ("llama_batch_init", Batch, c.c_int32, c.c_int32, c.c_int32), ("llama_decode", c.c_int32, c.c_void_p, Batch),
        ("llama_get_logits_ith", c.POINTER(c.c_float), c.c_void_p, c.c_int32),
        ("llama_n_ctx_seq", c.c_uint32, c.c_void_p), ("llama_get_memory", c.c_void_p, c.c_void_p),
        ("llama_memory_clear", None, c.c_void_p, c.c_bool),
        ("llama_memory_seq_cp", None, c.c_void_p, *[c.c_int32] * 4),
        ("llama_log_set", None, c.c_void_p, c.c_void_p),
    ):  # fmt: skip
        function = getattr(lib, str(name))
        function.restype, function.argtypes = result, arguments
    return lib


_QUIET = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(lambda level, text, data: None)


class Llama:
    """A backend for `llm-prob`: the prompts are those of `wholetext.metrics.llm_prob`, one thread reads them."""

    def __init__(self, path: Path, names: tuple[str, str]) -> None:
        self.names, self.id, self.read = names, f"llama:{path.name}:{'>'.join(names)}", 0
        self.lib = lib = _library()
        lib.llama_log_set(c.cast(_QUIET, c.c_void_p), None)
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(
            str(path).encode(), lib.llama_model_default_params()
        )
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = (
            CONTEXT,
            BATCH,
            512,
            TOGETHER,
        )
        params.n_threads = params.n_threads_batch = 1
        c.memset(c.addressof(params) + UNIFIED, 1, 1)
        self.context = lib.llama_init_from_model(self.model, params)
        if lib.llama_n_ctx_seq(self.context) != CONTEXT:
            raise SystemExit("each text would get a part of the context only: kv_unified is elsewhere")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.size = lib.llama_vocab_n_tokens(self.vocab)
        self.memory = lib.llama_get_memory(self.context)
        self.batch = lib.llama_batch_init(BATCH, 0, 1)

    def fit(self, x: Pair) -> Fit:
        return Fit(len(self.prompt(x)[0]), 0, 0, 0)

    def shown(self, x: Pair) -> str:
        return "«".join(lines(self.names, x, (x.source.before, x.target.before), x.source.after))

    def prompt(self, x: Pair) -> tuple[list[int], int]:
        """Its tokens, and the number of those that are given."""
        given, scored = lines(self.names, x, (x.source.before, x.target.before), x.source.after)
        text = (given + scored).encode()
        buffer = (c.c_int32 * (len(text) + 8))()
        count = self.lib.llama_tokenize(
            self.vocab, text, len(text), buffer, len(buffer), False, False
        )
        ids, piece = list(buffer[:count]), c.create_string_buffer(256)
        lengths = [
            self.lib.llama_token_to_piece(self.vocab, token, piece, 256, 0, False) for token in ids
        ]
        return ids, int((np.cumsum(lengths) <= len(given.encode())).sum())

    def run(self, batch: Sequence[Pair]) -> list[tuple[float, int]]:
        prompts = [self.prompt(x) for x in batch]
        groups: dict[tuple[int, ...], list[int]] = {}
        for at, (ids, given) in enumerate(prompts):
            groups.setdefault(tuple(ids[:given]), []).append(at)
        sums = [(0.0, 0)] * len(batch)
        for members in groups.values():
            for begin in range(0, len(members), TOGETHER):
                some = members[begin : begin + TOGETHER]
                scored = self._score([prompts[at][0] for at in some], prompts[some[0]][1])
                for at, logs in zip(some, scored):
                    sums[at] = (sum(logs), len(logs))
        return sums

    def _score(self, texts: list[list[int]], given: int) -> list[list[float]]:
        """Log-probability of each token from ``given`` on; what the texts have in common is read once."""
        shared = next(
            (at for at, tokens in enumerate(zip(*texts)) if len(set(tokens)) > 1),
            min(map(len, texts)),
        )
        shared = min(shared, *(len(text) - 1 for text in texts))
        self.lib.llama_memory_clear(self.memory, True)
        common = self._decode([(texts[0][at], at, 0) for at in range(shared)], given - 1)
        logs = [
            [self._log(common[at - given], texts[0][at]) for at in range(given, shared)]
            for _ in texts
        ]
        for row in range(1, len(texts)):
            self.lib.llama_memory_seq_cp(self.memory, 0, row, -1, -1)
        last = [self._log(common[shared - given], text[shared]) for text in texts]
        rows = [
            (text[at], at, row)
            for row, text in enumerate(texts)
            for at in range(shared, len(text) - 1)
        ]
        tables = iter(self._decode(rows, 0) if rows else [])
        for row, text in enumerate(texts):
            logs[row] += [
                last[row],
                *(self._log(next(tables), text[at + 1]) for at in range(shared, len(text) - 1)),
            ]
        return logs

    def _decode(self, rows: list[tuple[int, int, int]], begin: int) -> list[np.ndarray]:
        """Logits after each row from position ``begin`` on."""
        batch, kept = self.batch, []
        batch.n_tokens = len(rows)
        for at, (token, place, sequence) in enumerate(rows):
            batch.token[at], batch.pos[at], batch.n_seq_id[at], batch.seq_id[at][0] = (
                token,
                place,
                1,
                sequence,
            )
            batch.logits[at] = int(place >= begin)
            kept += [at] if place >= begin else []
        if self.lib.llama_decode(self.context, batch):
            raise RuntimeError("llama_decode failed")
        self.read += len(rows)
        pointers = (self.lib.llama_get_logits_ith(self.context, at) for at in kept)
        return [
            np.ctypeslib.as_array(pointer, (self.size,)).astype(np.float64) for pointer in pointers
        ]

    @staticmethod
    def _log(logits: np.ndarray, token: int) -> float:
        top = logits.max()
        return float(logits[token] - top - np.log(np.exp(logits - top).sum()))
