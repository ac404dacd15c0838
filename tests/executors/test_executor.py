"""The interface: what may be asked for, and that nothing is started before there is work."""

from __future__ import annotations

from typing import Any

import pytest

import wholetext as wt
from tests.executors import worker_tasks as tasks
from wholetext.executors.executor import Executor
from wholetext.executors.pool import Task


def test_local_computes_here_one_after_the_other() -> None:
    begun = []

    def some() -> Any:
        for i in range(3):
            begun.append(i)
            yield Task(tasks.add, 1, i)

    found = Executor().run(some())
    assert next(found) == 1 and begun == [0]
    assert list(found) == [2, 3] and list(Executor().run([None])) == [None]


def test_workers_are_started_by_the_first_task_only() -> None:
    executor = Executor("processes", workers=2)
    assert list(executor.run([None, None])) == [None, None] and executor.done == []
    executor.close()


@pytest.mark.parametrize("wrong", [
    {"on": "spark"}, {"on": "processes://host"}, {"on": "processes", "workers": 0}, {"on": "processes", "gpus": True},
    {"workers": 2}, {"gpus": 1},
])
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(wt.InputError, match="→"):
        Executor(**wrong)
    renamed = {{"on": "executor"}.get(name, name): value for name, value in wrong.items()}
    with pytest.raises(wt.InputError, match="→"):
        wt.Options(**renamed)


def test_an_executor_has_its_own_workers() -> None:
    with pytest.raises(wt.InputError, match="settings of the executor"):
        wt.Options(executor=Executor("processes"), workers=2)
