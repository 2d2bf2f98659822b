"""Choosing the parameters of a learner, and saying honestly how good the choice is.

Vocabulary
----------
candidate
    One plan of the grid, under a name.
inner estimate
    Each candidate's result over folds of all cases: what the choice is made by. The best of many results is partly
    luck, so the inner estimate of the winner is optimistic.
nested estimate
    The whole procedure, choice included, is repeated without a part of the cases (an outer fold) and tested on that
    part: honest, because no case that tests had a say in the choice.
one standard error
    Among the candidates whose inner result is within one standard error of the best, the one with the smallest trees
    is chosen.

Invariants
----------
Under a time limit no fit is begun that would probably not end in time. A candidate whose folds were not all finished
counts as not tried; an outer fold that was not finished is left out of the nested estimate. Both are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.printable import printable
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.evaluate.estimate import fold_pairs, stratified_folds
from treewright.evaluate.grids import Grid, grid_for
from treewright.evaluate.resampling import Estimate, Progress, summed_up
from treewright.evaluate.result import Report, percentage
from treewright.evaluate.result import Rows as Table
from treewright.evaluate.runs import FoldRun, Learn, run_pair, score_of
from treewright.evaluate.ways import check_whole
from treewright.plans import Plan, RulePlan

SHARE_TO_CHOOSE = 1 / 3
"""Share of the time limit for the choice itself; the rest is for the nested estimate."""


@dataclass(frozen=True)
class Candidate:
    """A plan with its inner result: pooled score, standard error over the folds, and leaves on average."""

    name: str
    score: float
    standard_error: float
    size: float
    seconds: float


@dataclass(frozen=True)
class Tuned(Report):
    """What was chosen, by what, and how good it is.

    Parameters
    ----------
    chosen : str
        Name of the chosen candidate.
    plan : Plan or RulePlan
        The chosen one, to be fitted to all cases.
    measure : {"accuracy", "rmse"}
    candidates : tuple of Candidate
        Those that were tried, in the order of the grid.
    not_tried : tuple of str
        Names of those that the time did not suffice for.
    nested : Estimate or None
        The honest estimate; None if no outer fold was finished.
    outer_folds : int
        Outer folds that were wanted.
    chosen_in_folds : tuple of str
        What was chosen in each finished outer fold.
    seconds : float
    """

    chosen: str
    plan: Plan | RulePlan
    measure: str
    candidates: tuple[Candidate, ...]
    not_tried: tuple[str, ...]
    nested: Estimate | None
    outer_folds: int
    chosen_in_folds: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...] = field(default=())

    @property
    def inner(self) -> float | None:
        """The optimistic inner result of the chosen candidate; None if none could be tried."""
        return next((one.score for one in self.candidates if one.name == self.chosen), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "chosen": self.chosen,
            "recipe": self.plan.to_dict(),
            "measure": self.measure,
            "inner": self.inner,
            "nested": None if self.nested is None else self.nested.to_dict(),
            "outer_folds": self.outer_folds,
            "chosen_in_folds": list(self.chosen_in_folds),
            "candidates": self.records(),
            "not_tried": list(self.not_tried),
            "seconds": self.seconds,
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each candidate that was tried."""
        return [
            {
                "candidate": one.name,
                self.measure: one.score,
                "standard_error": one.standard_error,
                "size": one.size,
                "seconds": one.seconds,
                "chosen": one.name == self.chosen,
            }
            for one in self.candidates
        ]

    def lines(self) -> list[str]:
        """Return what was chosen and the two estimates."""
        lines = [f"Chosen: {printable(self.chosen)}"]
        name = "accuracy" if self.measure == "accuracy" else "root mean squared error"
        if self.nested is not None:
            between = ""
            if self.nested.low is not None and self.nested.high is not None:
                between = f" ({percentage(self.nested.low)} to {percentage(self.nested.high)})"
            done = len(self.nested.folds)
            folds = f"{done}" if done == self.outer_folds else f"{done} of {self.outer_folds}"
            found = f"{self._shown(self.nested.pooled)}{between}"
            lines.append(f"Nested estimate of the {name} {found}, {folds} outer folds: honest")
        if self.inner is not None:
            lines.append(f"Inner estimate {self._shown(self.inner)}, by which it was chosen: optimistic")
        if self.nested is not None:
            lines.append(f"Baseline {self._shown(self.nested.baseline)}")
        return lines

    def tables(self) -> list[tuple[str, Table]]:
        """Return the candidates."""
        if not self.candidates:
            return []
        rows = [["candidate", self.measure, "standard error", "size", ""]]
        for one in self.candidates:
            error = (
                f"{100 * one.standard_error:.1f} points" if self.measure == "accuracy" else f"{one.standard_error:.3g}"
            )
            mark = "chosen" if one.name == self.chosen else ""
            rows.append([printable(one.name, 60), self._shown(one.score), error, f"{one.size:.1f}", mark])
        return [("Candidates, by inner folds", rows)]

    def _shown(self, score: float) -> str:
        return percentage(score) if self.measure == "accuracy" else f"{score:.4g}"


class _OutOfTimeError(Exception):
    """The next fit would not end in time."""


class _Clock:
    """Says whether there is time for one more fit, after the longest so far, and for the final fit."""

    def __init__(self, limit: float | None, now: Callable[[], float]) -> None:
        self._now = now
        self._start = now()
        self._limit = limit
        self._longest = 0.0
        self.until: float | None = limit

    @property
    def spent(self) -> float:
        return self._now() - self._start

    def set_share(self, share: float) -> None:
        """Allow a share of the limit from now on."""
        self.until = None if self._limit is None else share * self._limit

    def run(self, work: Callable[[], FoldRun]) -> FoldRun:
        """Do some work, or raise if it would end too late."""
        if self.until is not None and self._limit is not None:
            late = self.spent + self._longest > self.until
            if late or self.spent + 2 * self._longest > self._limit:
                raise _OutOfTimeError
        before = self._now()
        done = work()
        self._longest = max(self._longest, self._now() - before)
        return done


def tune(
    dataset: Dataset,
    grid: Grid | str = "c45",
    *,
    inner: int = 5,
    outer: int = 5,
    time_limit: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuned:
    """Choose among plans by cross-validation, and estimate by nested cross-validation what the choice is worth.

    Parameters
    ----------
    dataset : Dataset
    grid : dict of str to Plan, or the name of an algorithm
        The candidates; a name takes the small grid of `grid_for`.
    inner, outer : int
        Folds of the choice, and of the nested estimate around it; fewer where there are fewer cases. 0 outer folds
        leave the nested estimate out.
    time_limit : float or None
        Seconds. A third of it is for the choice.
    seed : int
    progress : callable or None
        Called with fits done and fits in all.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> tuned = tune(sample("restaurant"), {"usual": c45(), "unpruned": c45(prune=False)}, inner=3, outer=3)
    >>> tuned.chosen, [one.name for one in tuned.candidates]
    ('usual', ['usual', 'unpruned'])
    """
    candidates = grid_for(grid, dataset) if isinstance(grid, str) else dict(grid)
    if not candidates:
        raise ParameterError("there is nothing to choose from: the grid is empty")
    check_whole("the number of inner folds", inner, 2)
    check_whole("the number of outer folds", outer, 0)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be a number of seconds above 0, not {time_limit!r}")
    if outer == 1:
        raise ParameterError("the number of outer folds must be 0 or at least 2, not 1")
    if dataset.n_rows < 4:
        raise ParameterError(f"choosing needs four cases at least, and there are {dataset.n_rows}")
    outer = min(outer, dataset.n_rows)
    watch = _Clock(time_limit, clock)
    counter = _Counter(progress, len(candidates) * inner * (outer + 1) + outer)
    watch.set_share(SHARE_TO_CHOOSE if outer else 1.0)
    tried = _tried(dataset, candidates, inner, seed, watch, counter)
    better = -1.0 if _measure(dataset) == "rmse" else 1.0
    chosen = _choice(tried, better) if tried else next(iter(candidates))
    watch.set_share(1.0)
    again = {one.name: candidates[one.name] for one in tried}
    runs, choices = _nested(dataset, again, (inner, outer), seed, watch, counter) if outer and tried else ([], [])
    nested = summed_up(dataset, f"{len(runs)} outer folds", runs) if runs else None
    left = tuple(name for name in candidates if name not in again)
    return Tuned(
        chosen,
        candidates[chosen],
        _measure(dataset),
        tuple(tried),
        left,
        nested,
        outer,
        tuple(choices),
        watch.spent,
        _told(left, len(candidates), len(runs), outer),
    )


class _Counter:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done))


def _tried(
    dataset: Dataset, candidates: Grid, inner: int, seed: int, watch: _Clock, counter: _Counter
) -> list[Candidate]:
    """Return the inner results of the candidates that there was time for."""
    pairs = list(fold_pairs(stratified_folds(dataset, min(inner, dataset.n_rows), seed)))
    found: list[Candidate] = []
    for name, plan in candidates.items():
        runs: list[FoldRun] = []
        learn = Learn(plan)
        for fold, (train, test) in enumerate(pairs, start=1):
            try:
                runs.append(watch.run(partial(run_pair, dataset, learn, fold, train, test)))
            except _OutOfTimeError:
                return found
            counter()
        found.append(_candidate(dataset, name, runs))
    return found


def _candidate(dataset: Dataset, name: str, runs: Sequence[FoldRun]) -> Candidate:
    rows = np.concatenate([run.rows for run in runs])
    pooled = score_of(dataset.take(rows), np.concatenate([run.predicted for run in runs]))
    scores = [run.result.score for run in runs if run.result.score is not None]
    error = float(np.std(scores, ddof=1)) / sqrt(len(scores)) if len(scores) > 1 else 0.0
    sizes = [run.result.size or 0 for run in runs]
    return Candidate(name, pooled or 0.0, error, sum(sizes) / len(sizes), sum(run.result.seconds for run in runs))


def _choice(tried: Sequence[Candidate], better: float) -> str:
    """Return the smallest candidate within one standard error of the best (of equals: the better, then the first)."""
    best = max(tried, key=lambda one: better * one.score)
    near = [one for one in tried if better * one.score >= better * best.score - best.standard_error - 1e-12]
    return min(near, key=lambda one: (one.size, -better * one.score)).name


def _nested(
    dataset: Dataset, candidates: Grid, folds: tuple[int, int], seed: int, watch: _Clock, counter: _Counter
) -> tuple[list[FoldRun], list[str]]:
    """Choose without each outer fold and test the choice on it, while there is time."""
    inner, outer = folds
    better = -1.0 if _measure(dataset) == "rmse" else 1.0
    runs: list[FoldRun] = []
    choices: list[str] = []
    for fold, (train, test) in enumerate(fold_pairs(stratified_folds(dataset, outer, seed + 1)), start=1):
        tried = _tried(dataset.take(train), candidates, inner, seed, watch, counter)
        if len(tried) < len(candidates):
            break
        name = _choice(tried, better)
        learn = Learn(candidates[name])
        try:
            runs.append(watch.run(partial(run_pair, dataset, learn, fold, train, test)))
        except _OutOfTimeError:
            break
        choices.append(name)
        counter()
    return runs, choices


def _told(left: Sequence[str], candidates: int, finished: int, outer: int) -> tuple[str, ...]:
    told = []
    if len(left) == candidates:
        told.append("there was no time to try anything: this is the first of the grid, and nothing is known about it")
    elif left:
        told.append(f"no time to try {len(left)} of {candidates}: {'; '.join(left)}")
    if finished < outer:
        what = "there is no nested estimate" if not finished else f"the nested estimate has {finished} of {outer} folds"
        told.append(f"{what}: the time was over")
    return tuple(told)


def _measure(dataset: Dataset) -> str:
    return "rmse" if dataset.schema.task is Task.REGRESSION else "accuracy"
