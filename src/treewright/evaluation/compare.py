"""Compare learners: on one table by the same folds, and over many tables by ranks.

On one table: which learner is better, by how much, and whether that is significant. A learner is a
plan, a recipe, the name of an algorithm, an estimator, or any function that makes a model of a dataset. Its score is
the mean accuracy or root mean squared error over the folds; pooled results count all predictions together. The
corrected resampled t-test over the folds decides about each pair of learners. McNemar's test on the pooled predictions
is reported beside it, and decides only where the folds do not vary. p-values are adjusted for the number of pairs
(Holm); a difference is significant if its adjusted p-value is below alpha, 5 % by default.

Learners over many tables: average ranks, Friedman's test, Nemenyi's critical difference (Demsar 2006).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.evaluation.cross_validation import Fit, fold_splits, stratified_folds, target_of, wilson_interval
from treewright.evaluation.fold_runs import FoldRun, run_splits
from treewright.evaluation.learners import fit_of, named_learners
from treewright.evaluation.report import Rows, html_report, shown_names, text_table
from treewright.evaluation.significance_tests import (
    Friedman,
    McNemar,
    ResampledT,
    corrected_resampled_t,
    friedman,
    groups_within,
    holm,
    mcnemar,
    nemenyi_critical_difference,
    ranks_of,
)
from treewright.evaluation.splitters import given_folds
from treewright.lazy_import import import_extra
from treewright.parameters import check_whole_number
from treewright.wording import printable

NAME_WIDTH = 30
"""Longer names are cut in tables."""


@dataclass(frozen=True)
class LearnerResult:
    """The results of one learner.

    Attributes
    ----------
    name : str
    scores : tuple of float
        Accuracy (or RMSE) of each fold, repeat after repeat.
    score : float
        Their mean.
    pooled : float
        Accuracy (or RMSE) of all predictions together.
    low, high : float or None
        Wilson's interval around the mean accuracy, by the number of cases; None for a number.
    errors : int or None
        Wrong predictions in all; None for a number.
    seconds : float
        Time to train and to predict, all folds together.
    size : float or None
        Mean number of nodes or rules; None for a model that has neither.
    size_of : str
        ``"nodes"``, ``"rules"`` or empty.
    """

    name: str
    scores: tuple[float, ...]
    score: float
    pooled: float
    low: float | None
    high: float | None
    errors: int | None
    seconds: float
    size: float | None
    size_of: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**self.__dict__, "scores": list(self.scores)}


@dataclass(frozen=True)
class PairwiseTest:
    """The significance tests of two learners.

    Attributes
    ----------
    first, second : str
    better : str or None
        Which has the better score; None if both have the same.
    t_test : ResampledT
        Of the differences first minus second over the folds.
    mcnemar : McNemar or None
        Of the pooled predictions (of the first repeat); None for a number.
    p, p_adjusted : float
        The p-value that decides, and the same adjusted for all pairs.
    decided_by : str
    more_than_noise : bool
        True if the difference is significant.
    sentence : str
        The result as a sentence.
    """

    first: str
    second: str
    better: str | None
    t_test: ResampledT
    mcnemar: McNemar | None
    p: float
    p_adjusted: float
    decided_by: str
    more_than_noise: bool
    sentence: str

    @property
    def difference(self) -> float:
        """Mean score of the first minus that of the second."""
        return self.t_test.mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "better": self.better,
            "difference": self.difference,
            "t_test": self.t_test.to_dict(),
            "mcnemar": None if self.mcnemar is None else self.mcnemar.to_dict(),
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "decided_by": self.decided_by,
            "more_than_noise": self.more_than_noise,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Comparison:
    """Learners on one table, best first.

    Attributes
    ----------
    source : str or None
    cases : int
    folds, repeats : int
    measure : str
        ``"accuracy"`` or ``"rmse"``.
    baseline : float
        Accuracy of always predicting the most frequent class; RMSE of always predicting the mean.
    baseline_class : str or None
    learners : tuple of LearnerResult
    pairs : tuple of Pair
        Every two learners; if their scores differ, the better one comes first.
    alpha : float
    """

    source: str | None
    cases: int
    folds: int
    repeats: int
    measure: str
    baseline: float
    baseline_class: str | None
    learners: tuple[LearnerResult, ...]
    pairs: tuple[PairwiseTest, ...]
    alpha: float = 0.05

    @property
    def higher_is_better(self) -> bool:
        """True for accuracy, False for an error."""
        return self.measure == "accuracy"

    @property
    def scores(self) -> dict[str, float]:
        """Mean score of each learner by name."""
        return {one.name: one.score for one in self.learners}

    def learner(self, name: str) -> LearnerResult:
        """Return the results of one learner."""
        for one in self.learners:
            if one.name == name:
                return one
        raise ParameterError(f"there is no learner {name!r}; there are: {', '.join(map(repr, self.scores))}")

    def pair(self, first: str, second: str) -> PairwiseTest:
        """Return the tests of two learners, in any order."""
        for one in self.pairs:
            if {one.first, one.second} == {self.learner(first).name, self.learner(second).name}:
                return one
        raise ParameterError(f"{first!r} is not compared with itself")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The best learner, its lead, and whether that is significant."""
        best = self.learners[0].name
        return (self._headline(), *(pair.sentence for pair in self.pairs if best in (pair.first, pair.second)))

    def _headline(self) -> str:
        best = self.learners[0]
        name = printable(best.name)
        behind = [pair for pair in self.pairs if best.name in (pair.first, pair.second)]
        level = [name, *(printable(other_name(pair, best.name)) for pair in behind if pair.better is None)]
        start = f"{best_text(level)} the best {_MEASURES[self.measure]}, {score_text(best.score, self.measure)}"
        if all(pair.more_than_noise for pair in behind):
            return f"{start}, significantly better than {'the other' if len(behind) == 1 else 'all others'}."
        if len(level) == len(self.learners):
            return f"All learners have the same {_MEASURES[self.measure]}, {score_text(best.score, self.measure)}."
        if not any(pair.more_than_noise for pair in behind):
            return f"{start}, but no difference is statistically significant."
        near = [other_name(pair, best.name) for pair in behind if not pair.more_than_noise]
        return f"{start}; not significantly different from {name}: {', '.join(map(printable, near))}."

    def _baseline_sentence(self) -> str:
        best = self.learners[0]
        if self.baseline_class is None:
            line = f"Always predicting the mean gives {score_text(self.baseline, self.measure)}"
            return f"{line}." if best.pooled < self.baseline else f"{line}: none of them does better."
        line = (
            f'Always predicting "{printable(self.baseline_class, 30)}" gives {score_text(self.baseline, self.measure)}'
        )
        if self.baseline == 1:
            return f"{line}: there is only one class, so every accuracy here is trivial."
        if best.low is not None and best.low > self.baseline:
            return f"{line}."
        return f"{line}: {printable(best.name)} is not significantly better."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "source": self.source,
            "cases": self.cases,
            "folds": self.folds,
            "repeats": self.repeats,
            "measure": self.measure,
            "baseline": self.baseline,
            "baseline_class": self.baseline_class,
            "alpha": self.alpha,
            "learners": [one.to_dict() for one in self.learners],
            "pairs": [one.to_dict() for one in self.pairs],
            "sentences": list(self.sentences),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_dataframe(self, of: str = "learners") -> Any:
        """Return a pandas DataFrame of the ``"learners"``, their ``"folds"`` or the ``"pairs"``."""
        pandas = import_extra("pandas", "dev", "make a DataFrame")
        if of == "folds":
            return pandas.DataFrame({one.name: one.scores for one in self.learners}).rename_axis("fold")
        if of == "pairs":
            names = ("first", "second", "better", "difference", "p", "p_adjusted", "more_than_noise")
            return pandas.DataFrame([{name: getattr(pair, name) for name in names} for pair in self.pairs])
        if of != "learners":
            raise ParameterError(f"of must be 'learners', 'folds' or 'pairs', not {of!r}")
        rows = [one.to_dict() for one in self.learners]
        return pandas.DataFrame(rows).drop(columns="scores").rename(columns={"score": self.measure}).set_index("name")

    def _table(self) -> Rows:
        accuracy = self.higher_is_better
        header = [
            "learner",
            self.measure,
            *(["95 % interval", "errors"] if accuracy else ["pooled"]),
            "size",
            "seconds",
        ]
        rows = []
        names = shown_names([one.name for one in self.learners], NAME_WIDTH)
        for name, one in zip(names, self.learners, strict=True):
            row = [name, score_text(one.score, self.measure)]
            if accuracy:
                row += [f"{100 * (one.low or 0):.1f} to {100 * (one.high or 0):.1f}", f"{one.errors:,}"]
            else:
                row.append(score_text(one.pooled, self.measure))
            row += ["-" if one.size is None else f"{one.size:,.1f} {one.size_of}", f"{one.seconds:.2f}"]
            rows.append(row)
        return [header, *rows]

    def _design_sentence(self) -> str:
        folds = f"{self.folds} folds" if self.repeats == 1 else f"{self.repeats} times {self.folds} folds"
        line = f"{self.cases:,} cases, {folds}, the same for all; {self.measure} and size are means over the folds"
        if self.higher_is_better:
            line += "; McNemar: cases that only one of the two predicts correctly"
        if len(self.pairs) == 1:
            return line
        rest = "intervals and McNemar's p are" if self.higher_is_better else "intervals are"
        return f"{line}; p is adjusted for {len(self.pairs)} pairs, {rest} not"

    def _sentences_below(self) -> list[str]:
        return [*self.sentences, self._baseline_sentence(), f"({self._design_sentence()})"]

    def __str__(self) -> str:
        return "\n".join([text_table(self._table()), "", *self._sentences_below()])

    def _repr_html_(self) -> str:
        return html_report([("Learners", self._table())], self._sentences_below())


def other_name(pair: PairwiseTest, name: str) -> str:
    """Return the other learner of a pair."""
    return pair.second if pair.first == name else pair.first


def best_text(names: Sequence[str]) -> str:
    """Return the best learner, or those with the same best score."""
    return f"{names[0]} has" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} share"


_MEASURES = {"accuracy": "accuracy", "rmse": "root mean squared error"}


def score_text(score: float, measure: str) -> str:
    """Print a score."""
    return f"{100 * score:.1f} %" if measure == "accuracy" else f"{score:.4g}"


def gap_text(test: ResampledT, measure: str) -> str:
    """Print a difference with its interval."""
    if test.spread == 0:  # an interval of width 0 would be misleading
        size = f"{_points(test.mean)} percentage points" if measure == "accuracy" else f"{-test.mean:.4g}"
        return f"{size} on every fold"
    if measure == "accuracy":
        between = f"95 % interval {_points(max(test.low, -1))} to {_points(min(test.high, 1))}"
        return f"{_points(test.mean)} percentage points ({between})"
    return f"{-test.mean:.4g} (95 % interval {-test.high:.4g} to {-test.low:.4g})"


def _points(share: float) -> str:
    """Format a share in percentage points; a small difference is never rounded to 0."""
    points = 100 * share
    return f"{points:.1g}" if 0 < abs(points) < 0.05 else f"{points:.1f}"


def p_text(p: float) -> str:
    """Print a p-value."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


Progress = Callable[[int, int], None]

MCNEMAR = "McNemar's test"


def compare(
    dataset: Dataset,
    learners: Mapping[str, Any] | Iterable[Any],
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    fold_of: Sequence[int] | npt.NDArray[Any] | None = None,
    progress: Progress | None = None,
    alpha: float = 0.05,
    *,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare learners on the same folds of one table.

    Parameters
    ----------
    dataset : Dataset
    learners : dict or list
        Names and plans, recipes, names of algorithms, estimators or functions from a dataset to a model; two at
        least. A list makes the names.
    folds, repeats, seed : int
        Stratified folds, shuffled anew for each repeat.
    fold_of : array of int or None
        The fold of each case, instead of the three above.
    progress : callable or None
        Called with the number of trained models and of all models.
    alpha : float
        A difference is significant if its adjusted p-value is below alpha.
    n_jobs : int or None
        Number of threads or processes, as in `estimate`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> result = compare(sample("play-tennis"), {"ID3": "id3", "C4.5": c45()}, folds=7)
    >>> sorted(result.scores), result.pairs[0].more_than_noise
    (['C4.5', 'ID3'], False)
    >>> sorted(compare(sample("play-tennis"), ["id3", "c45"], folds=7).scores)
    ['c45', 'id3']
    """
    target_of(dataset)
    fits = _fits(learners)
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, not {alpha!r}")
    check_whole_number("repeats", repeats, 1)
    if n_jobs not in (None, -1):
        check_whole_number("n_jobs", n_jobs, 1)
    if fold_of is None:
        check_whole_number("the number of folds", folds, 2)
        parts = [stratified_folds(dataset, folds, _seed(seed, repeat)) for repeat in range(repeats)]
    else:
        if repeats != 1:
            raise ParameterError("given folds are used once; leave repeats at 1")
        parts = [given_folds(fold_of, dataset.n_rows)]
        folds = int(parts[0].max()) + 1
    tally = {name: _Tally(dataset) for name in fits}
    number = folds * repeats
    for index, (name, fit) in enumerate(fits.items()):
        pairs = enumerate((pair for part in parts for pair in fold_splits(part)), start=1)
        runs = []
        with _named_in_errors(name):
            for run in run_splits(dataset, fit, pairs, number, n_jobs):
                runs.append(run)
                if progress is not None:
                    progress(index * number + len(runs), len(fits) * number)
        for run in runs:
            tally[name].add(run)
    accuracy = dataset.schema.task is Task.CLASSIFICATION
    found = [one.result(name) for name, one in tally.items()]
    found.sort(key=lambda one: -round(one.score, 12) if accuracy else round(one.score, 12))  # equal ones as given
    baseline, baseline_class = _baseline(dataset)
    tests = _pairwise_tests(found, tally, dataset.n_rows, folds, alpha)
    measure = "accuracy" if accuracy else "rmse"
    return Comparison(
        dataset.source,
        dataset.n_rows,
        folds,
        repeats,
        measure,
        baseline,
        baseline_class,
        tuple(found),
        tests,
        alpha,
    )


class _Tally:
    """Collects the results of one learner over the folds."""

    def __init__(self, dataset: Dataset) -> None:
        self.numbers = dataset.schema.task is Task.REGRESSION
        self.actual: npt.NDArray[Any] = np.zeros(0) if dataset.target is None else np.asarray(dataset.target)
        self.weights = dataset.case_weights
        self.scores: list[float] = []
        self.sizes: list[tuple[int | None, str]] = []
        self.seconds = 0.0
        self.losses: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = []
        """For each fold the cases and their losses: 1 for a wrong class, or the squared error."""

    def add(self, run: FoldRun) -> None:
        actual = self.actual[run.rows]
        loss = np.square(run.predicted - actual) if self.numbers else (run.predicted != actual).astype(np.float64)
        self.seconds += run.result.seconds
        self.losses.append((run.rows, loss))
        self.scores.append(self._score(run.rows, loss))
        self.sizes.append((run.size, run.size_of))

    def _score(self, rows: npt.NDArray[np.intp], loss: npt.NDArray[np.float64]) -> float:
        weights = self.weights[rows]
        if not weights.sum() > 0:
            raise DataError("all cases of a fold have weight 0; use fewer folds")
        mean = float(np.average(loss, weights=weights))
        return sqrt(mean) if self.numbers else 1 - mean

    def right(self) -> npt.NDArray[np.bool_]:
        """Return which cases of positive weight were right in the first repeat, which tests every case once."""
        result = np.zeros(len(self.actual), dtype=np.bool_)
        tested = 0
        for rows, loss in self.losses:
            if tested == len(self.actual):
                break
            result[rows] = loss == 0
            tested += len(rows)
        return result[self.weights > 0]

    def result(self, name: str) -> LearnerResult:
        rows = np.concatenate([rows for rows, _ in self.losses])
        loss = np.concatenate([loss for _, loss in self.losses])
        pooled, mean = self._score(rows, loss), float(np.mean(self.scores))
        low = high = errors = None
        if not self.numbers:
            # Repeats test the same cases again: the interval is that of one pass, of its effective size (Kish).
            effective = float(self.weights.sum() ** 2 / np.square(self.weights).sum())
            low, high = wilson_interval(mean * effective, effective)
            errors = int(np.count_nonzero(loss[self.weights[rows] > 0]))
        units = {unit for _, unit in self.sizes}
        unit = units.pop() if len(units) == 1 else ""
        size = float(np.mean([size or 0 for size, _ in self.sizes])) if unit else None
        return LearnerResult(name, tuple(self.scores), mean, pooled, low, high, errors, self.seconds, size, unit)


def _fits(learners: Any) -> dict[str, Fit]:
    named = named_learners(learners)
    if len(named) < 2:
        raise ParameterError(f"a comparison needs at least two learners, not {len(named)}")
    return {name: fit_of(learner, name) for name, learner in named.items()}


@contextmanager
def _named_in_errors(name: str) -> Iterator[None]:
    """Add the name of the learner to its errors."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"learner {name!r}: {error}") from error
    except DataError as error:
        raise DataError(f"learner {name!r}: {error}") from error


def _seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat; the first has the folds of `cross_validate`."""
    return seed if repeat == 0 or seed < 0 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _baseline(dataset: Dataset) -> tuple[float, str | None]:
    actual = np.zeros(0) if dataset.target is None else dataset.target
    weights = np.ones(len(actual)) if dataset.weights is None else dataset.weights
    if dataset.schema.task is Task.REGRESSION:
        mean = np.average(actual, weights=weights)
        return sqrt(float(np.average((actual - mean) ** 2, weights=weights))), None
    counts = np.bincount(actual.astype(np.intp), weights, len(dataset.schema.classes))
    most = int(np.argmax(counts))
    return float(counts[most] / counts.sum()), dataset.schema.classes[most]


def _pairwise_tests(
    found: Sequence[LearnerResult], tally: Mapping[str, _Tally], cases: int, folds: int, alpha: float
) -> tuple[PairwiseTest, ...]:
    n_test = cases / folds
    drafts: list[tuple[LearnerResult, LearnerResult, ResampledT, McNemar | None, float, str]] = []
    right = {one.name: tally[one.name].right() for one in found if one.errors is not None}
    for first, second in combinations(found, 2):
        test = corrected_resampled_t(np.subtract(first.scores, second.scores), cases - n_test, n_test)
        other = None
        if right:
            a, b = right[first.name], right[second.name]
            other = mcnemar(int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a)))
        p, decided_by = test.p, "corrected resampled t-test"
        if test.spread == 0 and test.mean != 0:  # equal differences on all folds: t is not defined
            p, decided_by = (1.0, "nothing: the folds do not spread") if other is None else (other.p, MCNEMAR)
        drafts.append((first, second, test, other, p, decided_by))
    adjusted = holm([draft[4] for draft in drafts])
    measure = "accuracy" if right else "rmse"
    return tuple(
        _pairwise_test(*draft, p_adjusted, measure, alpha) for draft, p_adjusted in zip(drafts, adjusted, strict=True)
    )


def _pairwise_test(
    first: LearnerResult,
    second: LearnerResult,
    test: ResampledT,
    other: McNemar | None,
    p: float,
    decided_by: str,
    p_adjusted: float,
    measure: str,
    alpha: float,
) -> PairwiseTest:
    same = abs(test.mean) < 1e-12
    better = None if same else first.name  # they come sorted
    beyond = not same and p_adjusted < alpha
    if same and first.scores == second.scores:
        sentence = f"{printable(first.name)} and {printable(second.name)} are equal on every fold."
    elif same:
        sentence = f"{printable(first.name)} and {printable(second.name)} are equal on average."
    else:
        sentence = (
            f"{printable(first.name)} is ahead of {printable(second.name)} by {gap_text(test, measure)}: "
            f"{'significant' if beyond else 'not significant'} "
            f"({_probabilities(p_adjusted, decided_by, other)})."
        )
    return PairwiseTest(first.name, second.name, better, test, other, p, p_adjusted, decided_by, beyond, sentence)


def _probabilities(p_adjusted: float, decided_by: str, other: McNemar | None) -> str:
    """Return the deciding p-value and that of McNemar's test."""
    if other is None:
        return p_text(p_adjusted)
    counts = f"McNemar {other.only_first:,} to {other.only_second:,}"
    if decided_by == MCNEMAR:
        return f"{counts}, {p_text(p_adjusted)}"
    return f"{p_text(p_adjusted)}; {counts}, {p_text(other.p)}"


@dataclass(frozen=True)
class ManyComparison:
    """Learners over several tables.

    Attributes
    ----------
    datasets, learners : tuple of str
        Names; learners in the order of their average rank.
    scores, ranks : tuple of tuples
        Tables by learners.
    average_ranks : tuple of float
    friedman : Friedman
    critical_difference : float
        Of Nemenyi's test at alpha.
    groups : tuple of tuples of str
        Learners whose ranks do not differ significantly by Nemenyi's test; groups overlap.
    alpha : float
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    ranks: tuple[tuple[float, ...], ...]
    average_ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    alpha: float = 0.05

    @property
    def differ(self) -> bool:
        """True if the test of Friedman, Iman and Davenport is significant at alpha."""
        return self.friedman.p < self.alpha

    @property
    def sentences(self) -> tuple[str, ...]:
        """The learner with the best rank, and whether that is significant."""
        test, best = self.friedman, self.learners[0]
        test_text = f"F({test.df1}, {test.df2}) = {test.f:.2f}, {p_text(test.p)}"
        ahead = [name for name in self.learners[1:] if not any({best, name} <= set(group) for group in self.groups)]
        ranked = zip(self.learners, self.average_ranks, strict=True)
        level = [printable(name) for name, rank in ranked if rank == self.average_ranks[0]]
        first = f"{best_text(level)} the best average rank, {self.average_ranks[0]:.2f}"
        if len(level) == len(self.learners):
            first = f"All learners have the same average rank, {self.average_ranks[0]:.2f}"
        if not self.differ:
            return (f"{first}; over these tables no difference is statistically significant (Friedman, {test_text}).",)
        beyond = f"Ranks {self.critical_difference:.2f} apart differ significantly (Nemenyi at {self.alpha:.0%})"
        whom = (
            f"significantly better than {', '.join(map(printable, ahead))}"
            if ahead
            else "but not significantly better than any other"
        )
        return f"{first}, {whom}.", f"{beyond}; the learners are not all equal (Friedman, {test_text})."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "datasets": list(self.datasets),
            "learners": list(self.learners),
            "scores": [list(row) for row in self.scores],
            "ranks": [list(row) for row in self.ranks],
            "average_ranks": dict(zip(self.learners, self.average_ranks, strict=True)),
            "friedman": self.friedman.to_dict(),
            "critical_difference": self.critical_difference,
            "groups": [list(group) for group in self.groups],
            "alpha": self.alpha,
            "sentences": list(self.sentences),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_dataframe(self, of: str = "scores") -> Any:
        """Return a pandas DataFrame of the ``"scores"`` or ``"ranks"``: tables by learners."""
        pandas = import_extra("pandas", "dev", "make a DataFrame")
        if of not in ("scores", "ranks"):
            raise ParameterError(f"of must be 'scores' or 'ranks', not {of!r}")
        rows = self.scores if of == "scores" else self.ranks
        return pandas.DataFrame(rows, index=list(self.datasets), columns=list(self.learners))

    def _table(self) -> Rows:
        header = ["table", *shown_names(self.learners, NAME_WIDTH)]
        rows = [
            [name, *(f"{score:.4g} ({rank:g})" for score, rank in zip(row, ranked, strict=True))]
            for name, row, ranked in zip(shown_names(self.datasets, NAME_WIDTH), self.scores, self.ranks, strict=True)
        ]
        return [header, *rows, ["average rank", *(f"{rank:.2f}" for rank in self.average_ranks)]]

    def __str__(self) -> str:
        return "\n".join([text_table(self._table()), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_report([("Scores and (ranks)", self._table())], self.sentences)


def compare_over(
    datasets: Mapping[str, Comparison] | Mapping[str, Mapping[str, float]] | Any,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> ManyComparison:
    """Compare learners over several tables by their ranks (Friedman, Nemenyi; Demsar 2006).

    Parameters
    ----------
    datasets : dict or DataFrame
        Table names and their comparisons, or the score of each learner on each table (tables are rows).
    higher_is_better : bool
        Direction of a table of scores; a `Comparison` has its own.
    alpha : float

    Examples
    --------
    >>> result = compare_over({"a": {"x": 0.9, "y": 0.8}, "b": {"x": 0.7, "y": 0.7}, "c": {"x": 0.6, "y": 0.5}})
    >>> result.learners, [round(rank, 2) for rank in result.average_ranks], result.differ
    (('x', 'y'), [1.17, 1.83], False)
    """
    if not isinstance(datasets, Mapping) and not hasattr(datasets, "to_dict"):
        raise ParameterError(
            "this takes a dict of tables and their comparisons (or scores by learner), or a DataFrame of scores, "
            f"not {type(datasets).__name__}"
        )
    table: Mapping[Any, Any] = datasets if isinstance(datasets, Mapping) else datasets.to_dict(orient="index")
    if len(table) < 2:
        raise ParameterError(f"learners are ranked over at least two tables, not {len(table)}")
    scores: list[list[float]] = []
    ranks: list[list[float]] = []
    names: list[str] = []
    for name, one in table.items():
        of_table = one.scores if isinstance(one, Comparison) else {str(key): float(value) for key, value in one.items()}
        up = one.higher_is_better if isinstance(one, Comparison) else higher_is_better
        if not names:
            names = list(of_table)
        if set(of_table) != set(names):
            differing = ", ".join(map(repr, sorted(set(of_table) ^ set(names))))
            raise ParameterError(f"every table needs a score of every learner; {name!r} differs in {differing}")
        scores.append([of_table[key] for key in names])
        ranks.extend(ranks_of([scores[-1]], higher_is_better=up).tolist())
    test = friedman(ranks)
    difference = nemenyi_critical_difference(len(names), len(table), alpha)
    order = sorted(range(len(names)), key=lambda i: (test.ranks[i], i))
    groups = groups_within(test.ranks, difference)
    return ManyComparison(
        tuple(str(name) for name in table),
        tuple(names[i] for i in order),
        tuple(tuple(row[i] for i in order) for row in scores),
        tuple(tuple(row[i] for i in order) for row in ranks),
        tuple(test.ranks[i] for i in order),
        test,
        difference,
        tuple(tuple(names[i] for i in group) for group in groups),
        alpha,
    )
