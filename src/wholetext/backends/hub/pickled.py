"""A pickle of tensors run as data: plain values come out, names outside our tables are refused, nothing is imported.

``pickle.Unpickler`` allocates whatever the memo opcode names and hashes nested keys for hours; torch's own restricted
unpickler hashes them too and allocates tensors of the size the file states. Here only strings are dictionary keys
(others are left out), nothing is copied, and the number of opcodes is bounded, so memory and time are too.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from wholetext.errors import ModelError

BYTES = 64 << 20  # of one pickle; that of the largest published checkpoint has less than 1 MB
OPCODES = 1_000_000  # of one pickle; a tensor takes about 25
DIMENSIONS = 8
AGAIN = "fetch the model again, or convert it to safetensors on an isolated machine"
DTYPES: Mapping[str, tuple[str, int]] = {  # storage class → dtype, bytes of a number
    "FloatStorage": ("float32", 4), "HalfStorage": ("float16", 2), "BFloat16Storage": ("bfloat16", 2),
    "DoubleStorage": ("float64", 8), "LongStorage": ("int64", 8), "IntStorage": ("int32", 4),
    "ShortStorage": ("int16", 2), "CharStorage": ("int8", 1), "ByteStorage": ("uint8", 1), "BoolStorage": ("bool", 1),
}  # fmt: skip
# data that training tools store with the weights: replaced by an inert object
_TOOLS = frozenset({"pytorch_lightning", "lightning", "lightning_fabric", "lightning_utilities", "torchmetrics",
                    "comet", "omegaconf", "numpy", "argparse"})  # fmt: skip
_INERT_NAMES = frozenset({("torch", "Size"), ("torch", "device"), ("_codecs", "encode"), ("pathlib", "PosixPath"),
                          *(("builtins", name) for name in ("list", "set", "tuple", "frozenset", "bytearray"))})
_INERT = object()
_MAPPING, _TENSOR, _PARAMETER = object(), object(), object()
_CALLED: Mapping[tuple[str, str], object] = {
    ("collections", "OrderedDict"): _MAPPING, ("builtins", "dict"): _MAPPING,
    ("torch._utils", "_rebuild_tensor"): _TENSOR, ("torch._utils", "_rebuild_tensor_v2"): _TENSOR,
    ("torch._utils", "_rebuild_parameter"): _PARAMETER,
}  # fmt: skip


@dataclass(frozen=True)
class Storage:
    """A run of numbers in the file."""

    key: str
    dtype: str
    width: int  # bytes of a number
    elements: int


@dataclass(frozen=True)
class Stored:
    """A tensor as the file describes it; its numbers are still in the file."""

    storage: Storage
    offset: int  # in elements
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def extent(self) -> int:
        """Elements from the first to the last that the tensor touches."""
        if 0 in self.shape:
            return 0
        return 1 + sum((size - 1) * step for size, step in zip(self.shape, self.stride))


class Unpickler:
    """A stack machine over the opcodes of one pickle; errors name the file."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def fault(self, what: str) -> ModelError:
        return ModelError(what, where=self.where, next=AGAIN)

    def read(self, file: BinaryIO) -> Any:
        """The value of the next pickle of a file."""
        try:
            for count, (opcode, argument, _) in enumerate(pickletools.genops(file)):
                if count > OPCODES:
                    raise self.fault(f"its pickle has more than {OPCODES:,} opcodes")
                name = opcode.name
                if name == "STOP":
                    return self.stack.pop()
                if name in _VALUES:
                    self.stack.append(argument)
                elif name in _NEW:
                    self.stack.append(_NEW[name]())
                elif name in _STEPS:
                    _STEPS[name](self, argument)
                else:
                    raise self.fault(f"its pickle has the opcode {name}, which no checkpoint needs")
        except ModelError:
            raise
        except Exception as fault:  # a damaged pickle can fail in any way
            what = f"{type(fault).__name__}: {str(fault)[:200]}"
            raise self.fault(f"the checkpoint cannot be read ({what})") from None
        raise self.fault("its pickle is truncated")

    def since_mark(self) -> list[Any]:
        begin = self.marks.pop()
        found = self.stack[begin:]
        del self.stack[begin:]
        return found

    def group(self, many: int | None) -> None:
        """The topmost values as one tuple."""
        if many is None:
            self.stack.append(tuple(self.since_mark()))
            return
        if len(self.stack) < many:
            raise ValueError("a tuple of more values than there are")
        found = tuple(self.stack[-many:])
        del self.stack[-many:]
        self.stack.append(found)

    def append(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, list):
            target.extend(items)

    def assign(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, dict):
            target.update((key, value) for key, value in zip(items[::2], items[1::2], strict=True)
                          if isinstance(key, str))  # fmt: skip

    def remember(self, at: int | None) -> None:
        self.memo[len(self.memo) if at is None else at] = self.stack[-1]

    def recall(self, at: int) -> None:
        self.stack.append(self.memo[at])

    def name(self, spelled: str | None) -> None:
        """The replacement of a global in the file; unknown globals are refused."""
        if spelled is None:
            name, module = self.stack.pop(), self.stack.pop()
        else:
            module, _, name = spelled.partition(" ")
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("a name that is not a string")
        found = _CALLED.get((module, name))
        if found is None and module == "torch" and name in DTYPES:
            found = DTYPES[name]
        if found is None and (module.split(".")[0] in _TOOLS or (module, name) in _INERT_NAMES):
            found = _INERT
        if found is None:
            raise self.fault(f"the checkpoint asks for {module[:80]}.{name[:80]}, which is neither a tensor nor a "
                             "plain container; it was refused and nothing in it was executed")
        self.stack.append(found)

    def call(self, _: Any) -> None:
        arguments, what = self.stack.pop(), self.stack.pop()
        if what is _MAPPING:
            self.stack.append({} if arguments == () else _INERT)  # copies could be made without end
        elif what is _TENSOR:
            self.stack.append(_tensor(*arguments[:4]))
        elif what is _PARAMETER:
            self.stack.append(arguments[0])
        elif what is _INERT:
            self.stack.append(_INERT)
        else:
            raise ValueError("something is called that is not a function")

    def storage(self, _: Any) -> None:
        pid = self.stack.pop()
        fine = isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage" and pid[1] in DTYPES.values()
        if not fine or type(pid[4]) is not int or not isinstance(pid[2], str):
            raise self.fault("the checkpoint refers to something that is not a tensor")
        if len(pid) > 5 and pid[5] is not None:
            raise self.fault("its tensors are views in a way that torch no longer writes")
        dtype, width = pid[1]
        self.stack.append(Storage(pid[2], dtype, width, pid[4]))


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any) -> Stored:
    if not isinstance(storage, Storage) or len(shape) > DIMENSIONS or len(shape) != len(stride):
        raise ValueError("a tensor without a storage, or with a wrong shape")
    if any(type(each) is not int or not 0 <= each < 1 << 60 for each in (offset, *shape, *stride)):
        raise ValueError("a tensor has an invalid size, stride or offset")
    return Stored(storage, offset, tuple(shape), tuple(stride))


_VALUES = frozenset({
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
    "BINUNICODE8",
})  # fmt: skip
_NEW: Mapping[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_TUPLE": tuple, "EMPTY_LIST": list,
    "EMPTY_DICT": dict, "EMPTY_SET": lambda: _INERT,
}  # fmt: skip
_STEPS: Mapping[str, Callable[[Unpickler, Any], Any]] = {
    "PROTO": lambda machine, argument: None,
    "FRAME": lambda machine, argument: None,
    "MARK": lambda machine, argument: machine.marks.append(len(machine.stack)),
    "POP": lambda machine, argument: machine.stack.pop(),
    "POP_MARK": lambda machine, argument: machine.since_mark(),
    "TUPLE": Unpickler.group,
    "TUPLE1": lambda machine, argument: machine.group(1),
    "TUPLE2": lambda machine, argument: machine.group(2),
    "TUPLE3": lambda machine, argument: machine.group(3),
    "APPEND": lambda machine, argument: machine.append([machine.stack.pop()]),
    "APPENDS": lambda machine, argument: machine.append(machine.since_mark()),
    "ADDITEMS": lambda machine, argument: machine.since_mark(),
    "SETITEM": lambda machine, argument: machine.assign([machine.stack.pop(), machine.stack.pop()][::-1]),
    "SETITEMS": lambda machine, argument: machine.assign(machine.since_mark()),
    "BUILD": lambda machine, argument: machine.stack.pop(),  # attributes of an object: nothing reads them
    "PUT": Unpickler.remember, "BINPUT": Unpickler.remember, "LONG_BINPUT": Unpickler.remember,
    "MEMOIZE": Unpickler.remember,
    "GET": Unpickler.recall, "BINGET": Unpickler.recall, "LONG_BINGET": Unpickler.recall,
    "GLOBAL": Unpickler.name, "STACK_GLOBAL": Unpickler.name,
    "REDUCE": Unpickler.call, "NEWOBJ": Unpickler.call,
    "NEWOBJ_EX": lambda machine, argument: machine.call(machine.stack.pop()),
    "BINPERSID": Unpickler.storage,
}  # fmt: skip
