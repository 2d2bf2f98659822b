"""Tune the parameters of a learner: a grid, the choice, and an unbiased estimate of its performance.

A grid has a few settings of an algorithm. The default setting comes first, because it is tried first when time is
short. For a numeric target the ccp_alpha of cost-complexity pruning is a share of the variance, so that a grid does not
depend on the unit of the target.

A candidate is a named plan of
the grid. Its inner estimate is the cross-validated result that the choice is based on; for the winner it is optimistic,
because the best of many results is partly luck. The nested estimate repeats the whole procedure, choice included,
without an outer fold and tests on that fold, so no test case influences the choice. A round is one inner fold predicted
by every candidate: all candidates are measured on the same folds. Among the candidates within one standard error of the
best, the one with the smallest trees is chosen.

Invariants: Under a time limit no fit and no outer fold starts that would probably not end in time. The first round
shows what a round costs; then as many rounds are made, in the choice and in every outer fold alike, as leave time for a
nested estimate. A candidate without a first round counts as not tried. The result lists what was left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.evaluation.cross_validation import Rows, fold_splits, stratified_folds, target_of
from treewright.evaluation.fold_runs import FoldRun, run_split, score_of
from treewright.evaluation.learners import Learn, named_learners, plan_of
from treewright.evaluation.report import Report, percentage
from treewright.evaluation.report import Rows as Table
from treewright.evaluation.resampling import Estimate, Progress, estimate_of_runs
from treewright.fitting.algorithms import Learner
from treewright.learners.registry import algorithm_named, algorithms
from treewright.parameters import check_whole_number
from treewright.plans import Plan, RulePlan
from treewright.wording import did_you_mean, printable

Grid = Mapping[str, Plan | RulePlan]
Plans = dict[str, Plan | RulePlan]


def grid_for(algorithm: str, dataset: Dataset | None = None) -> Plans:
    """Return the small grid of an algorithm.

    Parameters
    ----------
    algorithm : str
        One of `tuned_algorithms`.
    dataset : Dataset or None
        The cases; for a numeric target the variance scales ccp_alpha.

    Examples
    --------
    >>> list(grid_for("c45"))[:2]
    ['confidence 25 %, 2 objects', 'confidence 10 %, 2 objects']
    """
    tuned = tuned_algorithms()
    if algorithm not in tuned:
        hint = did_you_mean(algorithm, tuned)
        raise ParameterError(f"there are grids for {', '.join(tuned)}, not for {algorithm!r}{hint}")
    settings = algorithm_named(algorithm).settings
    return {} if settings is None else dict(settings(dataset))


def tuned_algorithms() -> tuple[str, ...]:
    """Return the algorithms that have settings to choose from."""
    return tuple(one.key for one in algorithms() if one.settings is not None)


@dataclass(frozen=True)
class TuningCandidate:
    """A plan with its inner result: pooled score, standard error over the folds, and mean number of leaves."""

    name: str
    score: float
    standard_error: float
    size: float
    seconds: float


@dataclass(frozen=True)
class Tuned(Report):
    """The chosen plan, the results of all candidates, and the nested estimate.

    Parameters
    ----------
    chosen : str
        Name of the chosen candidate.
    plan : Plan, RulePlan, ForestPlan or BoostPlan
        The chosen plan, to be fitted to all cases.
    measure : {"accuracy", "rmse"}
    candidates : tuple of Candidate
        The candidates that were tried, in the order of the grid.
    not_tried : tuple of str
        Names of the candidates not tried within the time limit.
    nested : Estimate or None
        The unbiased estimate; None if no outer fold was finished.
    inner_folds : int
        Rounds by which the candidates were compared.
    outer_folds : int
        Requested number of outer folds.
    chosen_in_folds : tuple of str
        The candidate chosen in each finished outer fold.
    seconds : float
    """

    chosen: str
    plan: Learner
    measure: str
    candidates: tuple[TuningCandidate, ...]
    not_tried: tuple[str, ...]
    nested: Estimate | None
    inner_folds: int
    outer_folds: int
    chosen_in_folds: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...] = field(default=())

    @property
    def inner(self) -> float | None:
        """The inner result of the chosen candidate, usually optimistic; None if none was tried."""
        return next((one.score for one in self.candidates if one.name == self.chosen), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "chosen": self.chosen,
            "recipe": self.plan.to_dict(),
            "measure": self.measure,
            "inner": self.inner,
            "nested": None if self.nested is None else self.nested.to_dict(),
            "inner_folds": self.inner_folds,
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
        """Return the choice and the two estimates."""
        lines = [f"Chosen: {printable(self.chosen)}"]
        name = "accuracy" if self.measure == "accuracy" else "root mean squared error"
        if self.nested is not None:
            between = ""
            if self.nested.low is not None and self.nested.high is not None:
                between = f" ({percentage(self.nested.low)} to {percentage(self.nested.high)})"
            done = len(self.nested.folds)
            folds = f"{done}" if done == self.outer_folds else f"{done} of {self.outer_folds}"
            found = f"{self._shown(self.nested.pooled)}{between}"
            lines.append(f"Nested estimate of the {name} {found}, {folds} outer folds: unbiased")
        if self.inner is not None:
            lines.append(f"Inner estimate {self._shown(self.inner)}, used to choose it: {self._inner_bias()}")
        if self.nested is not None:
            lines.append(f"Baseline {self._shown(self.nested.baseline)}")
        return lines

    def _inner_bias(self) -> str:
        if self.nested is None or self.inner is None:
            return "usually optimistic"
        up = self.measure == "accuracy"
        better = self.inner > self.nested.pooled if up else self.inner < self.nested.pooled
        return "optimistic" if better else "usually optimistic, here no better than the nested estimate"

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


Candidates = Mapping[str, Learner]

LEAST_OUTER = 2
"""Outer folds to keep; rounds of the choice are reduced to make time for them."""


class _OutOfTimeError(Exception):
    """The next fit would not end in time."""


class _Clock:
    """Checks the time left, with the final fit reserved: as long as the longest fit so far."""

    def __init__(self, limit: float | None, now: Callable[[], float]) -> None:
        self._now = now
        self._start = now()
        self.limit = limit
        self.longest = 0.0

    @property
    def spent(self) -> float:
        return self._now() - self._start

    def allows(self, seconds: float, again: int = 0) -> bool:
        """Return True if there is time for so many more seconds, and then to repeat everything `again` times."""
        if self.limit is None:
            return True
        return (self.spent + seconds + self.longest) * (again + 1) <= self.limit

    def run(self, work: Callable[[], FoldRun], again: int = 0) -> FoldRun:
        """Do some work; raise if it would probably exceed the time limit."""
        if not self.allows(self.longest, again):
            raise _OutOfTimeError
        before = self._now()
        done = work()
        self.longest = max(self.longest, self._now() - before)
        return done


def tune(
    dataset: Dataset,
    grid: Any = "c45",
    *,
    inner: int = 5,
    outer: int = 5,
    time_limit: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuned:
    """Choose among plans by cross-validation, and estimate the performance of the choice by nested cross-validation.

    Parameters
    ----------
    dataset : Dataset
    grid : dict or list of plans, recipes or our estimators, or the name of an algorithm
        The candidates; a name takes the small grid of `grid_for`.
    inner, outer : int
        Folds of the choice, and of the nested estimate; fewer if there are fewer cases. With 0 outer folds there is no
        nested estimate.
    time_limit : float or None
        In seconds. If time is short, there are fewer inner folds, then fewer outer ones, then fewer candidates.
    seed : int
    progress : callable or None
        Called with the number of finished fits and of all fits.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> tuned = tune(sample("restaurant"), {"default": c45(), "unpruned": c45(prune=False)}, inner=3, outer=3)
    >>> tuned.chosen, [one.name for one in tuned.candidates]
    ('default', ['default', 'unpruned'])
    """
    target_of(dataset)
    candidates = _candidates(grid, dataset)
    check_whole_number("the number of inner folds", inner, 2)
    check_whole_number("the number of outer folds", outer, 0)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be a number of seconds above 0, not {time_limit!r}")
    if outer == 1:
        raise ParameterError("the number of outer folds must be 0 or at least 2, not 1")
    n = dataset.n_rows
    if n < 4:
        raise ParameterError(f"tuning needs at least four cases, and there {'is' if n == 1 else 'are'} {n}")
    requested = (inner, outer)
    outer = min(outer, n)
    inner = min(inner, n - -(-n // outer) if outer else n)  # as many as the training part of an outer fold has cases
    watch = _Clock(time_limit, clock)
    counter = _Counter(progress, len(candidates) * inner * (outer + 1) + outer)
    runs_of, rounds = _race(dataset, candidates, (inner, outer), seed, watch, counter)
    counter.total = len(runs_of) * rounds * (outer + 1) + outer
    tried = [_candidate(dataset, name, runs) for name, runs in runs_of.items()]
    better = -1.0 if _measure(dataset) == "rmse" else 1.0
    chosen = _choice(tried, better) if tried else next(iter(candidates))
    again = {one.name: candidates[one.name] for one in tried}
    runs, choices = (
        _nested(dataset, again, (inner, rounds, outer), seed, watch, counter) if outer and tried else ([], [])
    )
    nested = estimate_of_runs(dataset, f"{len(runs)} outer folds", runs) if runs else None
    left = tuple(name for name in candidates if name not in again)
    few = [] if (inner, outer) == requested else [_few(n, requested, (inner, outer))]
    return Tuned(
        chosen,
        candidates[chosen],
        _measure(dataset),
        tuple(tried),
        left,
        nested,
        rounds,
        outer,
        tuple(choices),
        watch.spent,
        (*few, *_time_limit_warnings(left, len(candidates), (rounds, inner), (len(runs), outer))),
    )


def _candidates(grid: Any, dataset: Dataset) -> Candidates:
    if isinstance(grid, str):
        return grid_for(grid, dataset)
    named = {name: plan_of(learner, dataset) for name, learner in named_learners(grid).items()}
    if not named:
        raise ParameterError("there is nothing to choose from: the grid is empty")
    return named


class _Counter:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self.total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self.total, self._done))


def _race(
    dataset: Dataset,
    candidates: Candidates,
    folds: tuple[int, int],
    seed: int,
    watch: _Clock,
    counter: _Counter,
) -> tuple[dict[str, list[FoldRun]], int]:
    """Return the runs of the candidates tried within the time limit, and the number of rounds."""
    inner, outer = folds
    splits = list(fold_splits(stratified_folds(dataset, inner, seed)))
    runs = _round(dataset, candidates, 1, splits[0], watch, counter, again=min(outer, 1))
    last = watch.spent
    found = {name: [run] for name, run in runs.items()}
    done = min(1, len(found))
    while len(runs) == len(candidates) and done < _rounds(last, done, inner, outer, watch):
        before = watch.spent
        runs = _round(dataset, candidates, done + 1, splits[done], watch, counter)
        last = watch.spent - before  # the first rounds may take longer than the others
        if len(runs) == len(candidates):
            done += 1
            for name, run in runs.items():
                found[name].append(run)
    return found, done


def _round(
    dataset: Dataset,
    candidates: Candidates,
    fold: int,
    split: tuple[Rows, Rows],
    watch: _Clock,
    counter: _Counter,
    *,
    again: int = 0,
) -> dict[str, FoldRun]:
    """Predict one fold by each candidate in turn, until the time limit."""
    found: dict[str, FoldRun] = {}
    for name, plan in candidates.items():
        try:
            found[name] = watch.run(partial(run_split, dataset, Learn(plan), fold, *split), again)
        except _OutOfTimeError:
            break
        counter()
    return found


def _rounds(last: float, done: int, inner: int, outer: int, watch: _Clock) -> int:
    """Return the number of rounds, including those done, that leaves time for some outer folds.

    A further round is expected to take as long as the last one.
    """
    several = range(inner, max(done, 2) - 1, -1)
    # A choice by one fold is poor, but a choice without an unbiased estimate is worse.
    for least, possible in ((LEAST_OUTER, several), (1, several), (1, (done,)), (0, several)):
        for rounds in possible:
            if watch.allows((rounds - done) * last + min(least, outer) * (rounds * last + watch.longest)):
                return rounds
    return done


def _candidate(dataset: Dataset, name: str, runs: Sequence[FoldRun]) -> TuningCandidate:
    rows = np.concatenate([run.rows for run in runs])
    pooled = score_of(dataset.take(rows), np.concatenate([run.predicted for run in runs]))
    scores = [run.result.score for run in runs if run.result.score is not None]
    error = float(np.std(scores, ddof=1)) / sqrt(len(scores)) if len(scores) > 1 else 0.0
    sizes = [run.result.size or 0 for run in runs]
    return TuningCandidate(name, pooled or 0.0, error, sum(sizes) / len(sizes), sum(run.result.seconds for run in runs))


def _choice(tried: Sequence[TuningCandidate], better: float) -> str:
    """Return the smallest candidate within one standard error of the best (of equals: the better, then the first)."""
    best = max(tried, key=lambda one: better * one.score)
    near = [one for one in tried if better * one.score >= better * best.score - best.standard_error - 1e-12]
    return min(near, key=lambda one: (one.size, -better * one.score)).name


def _nested(
    dataset: Dataset, candidates: Candidates, folds: tuple[int, int, int], seed: int, watch: _Clock, counter: _Counter
) -> tuple[list[FoldRun], list[str]]:
    """Choose without each outer fold and test the choice on it, until the time limit."""
    inner, rounds, outer = folds
    better = -1.0 if _measure(dataset) == "rmse" else 1.0
    runs: list[FoldRun] = []
    choices: list[str] = []
    expected = watch.spent + watch.longest  # the choice again, among fewer cases, and a fit
    for fold, (train, test) in enumerate(fold_splits(stratified_folds(dataset, outer, seed + 1)), start=1):
        before = watch.spent
        if not watch.allows(expected):
            break
        part = dataset.take(train)
        found: dict[str, list[FoldRun]] = {name: [] for name in candidates}
        for round_number, split in enumerate(list(fold_splits(stratified_folds(part, inner, seed)))[:rounds], start=1):
            for name, run in _round(part, candidates, round_number, split, watch, counter).items():
                found[name].append(run)
        if any(len(one) < rounds for one in found.values()):
            break
        name = _choice([_candidate(part, name, one) for name, one in found.items()], better)
        try:
            runs.append(watch.run(partial(run_split, dataset, Learn(candidates[name]), fold, train, test)))
        except _OutOfTimeError:
            break
        choices.append(name)
        counter()
        expected = watch.spent - before
    return runs, choices


def _few(n: int, requested: tuple[int, int], used: tuple[int, int]) -> str:
    kinds = zip(("inner", "outer"), requested, used, strict=True)
    changes = [f"{now} {kind} folds instead of {before}" for kind, before, now in kinds if now != before]
    return f"there are only {n} cases: {' and '.join(changes)}"


def _time_limit_warnings(
    left: Sequence[str], candidates: int, rounds: tuple[int, int], outer: tuple[int, int]
) -> tuple[str, ...]:
    messages = []
    if len(left) == candidates:
        messages.append(
            "the time limit was too short to try any candidate: this is the first one of the grid, without an estimate"
        )
    elif left:
        messages.append(f"{len(left)} of {candidates} candidates not tried within the time limit: {'; '.join(left)}")
    if 0 < rounds[0] < rounds[1]:
        messages.append(f"the choice is based on {rounds[0]} of {rounds[1]} inner folds: the time limit was reached")
    if outer[0] < outer[1]:
        some = f"the nested estimate has {outer[0]} of {outer[1]} folds"
        messages.append(f"{some if outer[0] else 'there is no nested estimate'}: the time limit was reached")
    return tuple(messages)


def _measure(dataset: Dataset) -> str:
    return "rmse" if dataset.schema.task is Task.REGRESSION else "accuracy"
