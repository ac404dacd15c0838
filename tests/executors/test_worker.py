"""A worker by itself: what it keeps, what it says about itself, what it makes of tasks it cannot read."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.executors import worker_tasks as tasks
from wholetext.errors import MissingExtra, WorkerError
from wholetext.executors.worker import Failure, Worker, check_versions


def missing(*_: Any) -> None:
    raise MissingExtra("torch", "models")


def test_what_tasks_share_is_sent_once() -> None:
    worker = Worker()
    assert worker.answer(pickle.dumps((tasks.add, 0, pickle.dumps(10), 1))) == 11
    assert worker.answer(pickle.dumps((tasks.add, 0, None, 2))) == 12


def test_versions_that_differ_are_an_error() -> None:
    hello = Worker().hello()
    check_versions(hello)
    for name, other in (("wholetext", "0.0.1"), ("python", "3.1"), ("sacrebleu", "1.0")):
        with pytest.raises(WorkerError, match=rf"process \d+: the worker has {name} {other}.*\n.*install {name}"):
            check_versions({**hello, name: other})
    check_versions({name: value for name, value in hello.items() if name != "torch"})  # absent is told when it is used


def test_a_package_that_is_missing_on_the_worker_is_told_with_its_place() -> None:
    worker = Worker()
    for payload in (b"cno_such_package\nfunction\n.", b"cwholetext.errors\nNoSuchClass\n."):
        failure = worker.answer(payload)
        assert isinstance(failure, Failure)
        with pytest.raises(WorkerError, match=r"process \d+: a worker cannot import .*\n.*every machine"):
            failure.reraise()
    with pytest.raises(WorkerError, match=r"process \d+: torch is not installed\n.*\[models\].*every machine"):
        worker.answer(pickle.dumps((missing, 0, pickle.dumps(1), 1))).reraise()
