"""Files of torch.save that were made to do harm, or that were damaged: an error or their tensors, in bounded memory."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from wholetext.backends.comet.model import read_checkpoint  # noqa: E402
from wholetext.backends.hub import pickled  # noqa: E402
from wholetext.backends.hub.torch_file import TorchFile  # noqa: E402
from wholetext.errors import ModelError  # noqa: E402

KEY = "estimator.ff.0.weight"


def archive(path: Path, code: bytes, numbers: bytes = b"\0" * 256) -> Path:
    """A checkpoint with this pickle and one storage."""
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("archive/data.pkl", code)
        made.writestr("archive/data/0", numbers)
    return path


def text(word: str) -> bytes:
    return b"X" + struct.pack("<I", len(word.encode())) + word.encode()


def whole(number: int) -> bytes:
    packed = pickle.encode_long(number)
    return b"\x8a" + bytes([len(packed)]) + packed


def sizes(numbers: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(whole, numbers)) + b"t"


def checkpoint(storage: bytes = b"ctorch\nFloatStorage\n", offset: int = 0, shape: tuple[int, ...] = (4, 4),
               stride: tuple[int, ...] = (4, 1), elements: int = 64) -> bytes:  # fmt: skip
    """{"state_dict": {KEY: tensor}}, the tensor described as asked."""
    pid = b"(" + text("storage") + storage + text("0") + text("cpu") + whole(elements) + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + pid + whole(offset) + sizes(shape) + sizes(stride) + b"\x89}tR"
    return b"\x80\x02}" + text("state_dict") + b"}" + text(KEY) + tensor + b"ss."


def test_a_plain_one_is_read(tmp_path: Path) -> None:
    found = read_checkpoint(archive(tmp_path / "x.ckpt", checkpoint()))
    assert found[KEY].shape == (4, 4) and not found[KEY].any()


HARM = {
    "a dtype as text": checkpoint(storage=text("quint8")),
    "a quantised dtype": checkpoint(storage=b"ctorch\nQUInt8Storage\n"),
    "no dtype": checkpoint(storage=text("nix")),
    "stride 0": checkpoint(shape=(1 << 31, 1), stride=(0, 1)),
    "stride 0 inside": checkpoint(shape=(8, 8), stride=(0, 1)),
    "too large": checkpoint(shape=(1 << 20, 1 << 20), stride=(1 << 20, 1)),
    "many dimensions": checkpoint(shape=(1,) * 4000, stride=(1,) * 4000),
    "a long shape": checkpoint(shape=(1, 2, 3)),
    "a negative offset": checkpoint(offset=-4),
    "a negative stride": checkpoint(stride=(-4, 1)),
    "an offset of 2**70": checkpoint(offset=1 << 70),
    "a size of 2**70": checkpoint(shape=(1 << 70, 1)),
    "a memo that is not there": b"\x80\x02h\x07.",
    "nested keys": b"\x80\x02}" + b")" + b"q\x00h\x00\x86" * 60 + b"Ns.",
    "nested names": b"\x80\x04)" + b"q\x00h\x00\x86" * 60 + b"X\x01\x00\x00\x00a\x93.",
    "nested calls": b"\x80\x02" + b"ccollections\nOrderedDict\n" + b")" + b"q\x00h\x00\x86" * 60 + b"R.",
    "deep lists": b"\x80\x02" + b"](" * 30_000 + b"e" * 30_000 + b".",
    "no end": b"\x80\x02" + b"}" * 1000,
    "an opcode nobody needs": b"\x80\x02I1\n2.",
    "an instance": b"\x80\x02(ios\nsystem\n.",
    "a long integer": b"\x80\x02L" + b"9" * 5000 + b"L\n.",
    "another persistent id": b"\x80\x02Pfoo\n.",
    "too little on the stack": b"\x80\x02\x87.",
    "an odd number of items": b"\x80\x02}(" + text("a") + b"u.",
    "a call of a number": b"\x80\x02K\x01)R.",
    "only a number": b"\x80\x02K\x01.",
    "bad text": b"\x80\x02X\x02\x00\x00\x00\xff\xfe.",
    "text without end": b"\x80\x02X\xff\xff\xff\x7fabc",
}  # fmt: skip


@pytest.mark.parametrize("kind", HARM)
def test_harmful_pickles(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"x\.ckpt"):
        read_checkpoint(archive(tmp_path / "x.ckpt", HARM[kind]))


def test_a_memo_far_out_takes_no_memory(tmp_path: Path) -> None:
    far = b"\x80\x02}r\xff\xff\xff\x1f0" + checkpoint()[2:]  # pickle would make a table of half a billion places
    assert KEY in read_checkpoint(archive(tmp_path / "x.ckpt", far))


def test_too_many_opcodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickled, "OPCODES", 1000)
    with pytest.raises(ModelError, match="opcodes"):
        read_checkpoint(archive(tmp_path / "x.ckpt", b"\x80\x02" + b"}" * 1_100 + b"."))


def test_a_device_or_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "zero.ckpt").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.ckpt")
    for name in ("zero.ckpt", "pipe.ckpt", "."):
        with pytest.raises(ModelError, match="not a file"):
            read_checkpoint(tmp_path / name)


def test_files_of_torch_before_1_6(tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    wanted = {KEY: torch.randn(3, 5), "estimator.ff.0.bias": torch.arange(4.0).half(), "layerwise_attention.gamma":
              torch.ones(1, dtype=torch.float64)}  # fmt: skip
    torch.save({"state_dict": wanted, "epoch": 3}, path, _use_new_zipfile_serialization=False)
    found = read_checkpoint(path)
    assert all(torch.equal(found[key], wanted[key]) for key in wanted)
    assert TorchFile(path).check() == 3
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ModelError, match="truncated"):
        TorchFile(path).check()


def mutants(seed: int, count: int) -> Iterator[bytes]:
    """Real checkpoints, changed at random: bits, bytes, numbers, opcodes, lengths, whole pieces."""
    chance = random.Random(seed)
    weights = {KEY: torch.randn(8, 4), "estimator.ff.0.bias": torch.randn(8).half(), "x": torch.zeros(2, 2).t()}
    originals = []
    for new in (True, False):
        made = io.BytesIO()
        torch.save({"state_dict": weights, "epoch": 1, "callbacks": {"a": [1, (2.0, None)]}}, made,
                   _use_new_zipfile_serialization=new)  # fmt: skip
        originals.append(made.getvalue())
    for _ in range(count):
        data = bytearray(chance.choice([*originals, checkpoint()]))
        for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
            at = chance.randrange(len(data))
            kind = chance.randrange(6)
            if kind == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                data[at] = chance.randrange(256)
            elif kind == 2:
                data[at : at + 4] = struct.pack("<I", chance.choice((0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF)))
            elif kind == 3:
                far = b"\xff\xff\xff\x7f"
                data[at : at + 1] = chance.choice((b"r" + far, b"j" + far, b"\x86", b"}", b"s", b"2"))
            elif kind == 4:
                data = data[:at] or data
            else:
                data[at:at] = data[chance.randrange(len(data)) :][: chance.randrange(64)]
        if data[:2] == b"\x80\x02" and b"PK" not in data:  # a bare pickle: into an archive
            plain = io.BytesIO()
            with zipfile.ZipFile(plain, "w") as out:
                out.writestr("archive/data.pkl", bytes(data))
                out.writestr("archive/data/0", b"\0" * 256)
            yield plain.getvalue()
        yield bytes(data)


def fuzz(seed: int, count: int, folder: Path) -> tuple[int, int]:
    """How many changed checkpoints were read and how many refused; anything else is an error of ours."""
    read = refused = 0
    for data in mutants(seed, count):
        path = folder / "mutant.ckpt"
        path.write_bytes(data)
        try:
            for tensor in read_checkpoint(path).values():
                tensor.float().sum()
            TorchFile(path).check()
            read += 1
        except ModelError:
            refused += 1
    return read, refused


def test_changed_checkpoints_are_read_or_refused(tmp_path: Path) -> None:
    read, refused = fuzz(1, 120, tmp_path)
    assert read > 8 and refused > 30


@pytest.mark.slow
def test_changed_checkpoints_in_bounded_memory(tmp_path: Path) -> None:
    """In a process that may have 1.5 GB more than it starts with: what asks for more dies."""
    program = f"""
import resource, sys
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from pathlib import Path
from tests.backends import test_torch_file as own
own.fuzz(0, 5, Path({str(tmp_path)!r}))
now = int(next(l for l in open('/proc/self/status') if l.startswith('VmSize')).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (now + (3 << 29), now + (3 << 29)))
print(*own.fuzz(2, 5000, Path({str(tmp_path)!r})))
for name, code in own.HARM.items():
    try:
        own.read_checkpoint(own.archive(Path({str(tmp_path)!r}) / 'x.ckpt', code))
    except own.ModelError:
        pass
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here")
    done: Any = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    read, refused = map(int, done.stdout.split())
    assert read > 200 and refused > 1000
