"""Trees come in order whoever makes them, and the work can end at any time."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from treewright.data.samples import sample
from treewright.ensembles.running import run_trees
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import ID3
from treewright.tree.tree import Tree

TREE = fit(sample("play-tennis"), ID3()).tree


class Jobs:
    """Makes the same tree again and again, and remembers who was asked."""

    def __init__(self, pause: float = 0.0, stop_at: int | None = None, stop: type[BaseException] = KeyboardInterrupt):
        self.asked: list[int] = []
        self.threads: set[int] = set()
        self.pause, self.stop_at, self.stop = pause, stop_at, stop

    def __call__(self, number: int) -> Tree:
        self.asked.append(number)
        self.threads.add(threading.get_ident())
        if number == self.stop_at:
            raise self.stop
        time.sleep(self.pause)
        return TREE


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1, -2])
def test_all_trees_are_made_by_any_number_of_threads(n_jobs: int | None) -> None:
    jobs, reported = Jobs(), []
    trees, interrupted = run_trees(
        jobs, 3, 20, n_jobs=n_jobs, progress=lambda done, total: reported.append((done, total))
    )
    assert len(trees) == 17
    assert not interrupted
    assert sorted(jobs.asked) == list(range(3, 20))
    assert reported == [(done, 20) for done in range(4, 21)]


def test_threads_share_the_work() -> None:
    jobs = Jobs(pause=0.01)
    run_trees(jobs, 0, 12, n_jobs=3)
    assert 1 < len(jobs.threads) <= 3


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_ctrl_c_keeps_the_trees_before_without_a_gap(n_jobs: int) -> None:
    trees, interrupted = run_trees(Jobs(stop_at=7), 0, 30, n_jobs=n_jobs)
    assert interrupted
    assert len(trees) == 7


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_tree_is_begun_after_the_time_but_one_is_always_made(n_jobs: int) -> None:
    jobs = Jobs(pause=0.005)
    trees, interrupted = run_trees(jobs, 0, 1000, n_jobs=n_jobs, time_limit=1e-9)
    assert len(trees) == 1
    assert not interrupted
    assert len(jobs.asked) < 20


def test_errors_of_a_tree_are_errors_of_all() -> None:
    with pytest.raises(RuntimeError):
        run_trees(Jobs(stop_at=3, stop=RuntimeError), 0, 10, n_jobs=2)


@pytest.mark.parametrize("time_limit", [0, -1.0, True, "soon", float("nan")])
def test_a_time_limit_is_a_positive_number(time_limit: Any) -> None:
    with pytest.raises(ParameterError, match="time_limit must be"):
        run_trees(Jobs(), 0, 1, time_limit=time_limit)


@pytest.mark.parametrize("n_jobs", [0, True])
def test_a_number_of_threads_is_not_zero(n_jobs: Any) -> None:
    with pytest.raises(ParameterError, match="n_jobs must be"):
        run_trees(Jobs(), 0, 1, n_jobs=n_jobs)


def test_joblib_sets_the_number_of_threads() -> None:
    import joblib

    jobs = Jobs(pause=0.01)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        trees, _ = run_trees(jobs, 0, 10)
    assert len(trees) == 10
    assert len(jobs.threads) == 2
