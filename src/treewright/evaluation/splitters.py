"""CV splitters: folds, groups, repeats, hold-out, leave-one-out and the bootstrap.

A CV splitter makes train/test splits of the cases. It is a value: the same splitter and the same cases always give the
same splits.

Invariants: No case is in both the training and the test rows of a split, and neither of them is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import DataError, ParameterError
from treewright.evaluation.cross_validation import Rows, fold_splits, stratified_folds, target_of
from treewright.parameters import check_whole_number
from treewright.wording import unknown_name

Splits = Iterator[tuple[Rows, Rows]]


class Splitter(Protocol):
    """A CV splitter: it makes train/test splits of the cases."""

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield training and test rows."""

    def number(self, dataset: Dataset) -> int:
        """Return the number of train/test splits."""

    def describe(self) -> str:
        """Return a short description."""


@dataclass(frozen=True)
class HoldOut:
    """Hold out a share of the cases for testing, sampled evenly from every class (or along a numeric target).

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> [(train, test)] = HoldOut(0.25).pairs(sample("play-tennis"))
    >>> len(train), len(test)
    (11, 3)
    """

    share: float = 1 / 3
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, (int, float)) or not 0 < self.share < 1:
            raise ParameterError(f"the share to hold out must be a number between 0 and 1, not {self.share!r}")
        _check_seed(self.seed)

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield the only train/test split."""
        shuffled = np.random.default_rng(self.seed).permutation(dataset.n_rows)
        ordered = shuffled[np.argsort(target_of(dataset)[shuffled], kind="stable")]
        positions = np.arange(dataset.n_rows)
        held = np.floor((positions + 1) * self.share) > np.floor(positions * self.share)
        if held.all() or not held.any():
            raise ParameterError(f"{dataset.n_rows} cases are too few to hold out {100 * self.share:.0f} % of them")
        yield np.sort(ordered[~held]), np.sort(ordered[held])

    def number(self, dataset: Dataset) -> int:
        """Return 1."""
        return 1

    def describe(self) -> str:
        """Return a short description."""
        return f"hold-out of {100 * self.share:.0f} %"


@dataclass(frozen=True)
class KFold:
    """k-fold cross-validation: each fold is predicted by a model trained on the others.

    Parameters
    ----------
    k : int
        From 2 to the number of cases.
    stratified : bool
        Assign the cases class by class (or along a numeric target): folds differ by at most one case of a class.
    seed : int

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> [len(test) for _, test in KFold(5).pairs(sample("play-tennis"))]
    [3, 3, 3, 3, 2]
    """

    k: int = 10
    stratified: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("the number of folds", self.k, 2)
        _check_seed(self.seed)

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each fold."""
        if self.stratified:
            yield from fold_splits(stratified_folds(dataset, self.k, self.seed))
            return
        _require_at_most(self.k, dataset.n_rows, "folds", "cases")
        folds = np.empty(dataset.n_rows, dtype=np.intp)
        folds[np.random.default_rng(self.seed).permutation(dataset.n_rows)] = np.arange(dataset.n_rows) % self.k
        yield from fold_splits(folds)

    def number(self, dataset: Dataset) -> int:
        """Return the number of folds."""
        return self.k

    def describe(self) -> str:
        """Return a short description."""
        return f"{self.k} folds{'' if self.stratified else ', not stratified'}"


@dataclass(frozen=True)
class Repeated:
    """Repeated stratified folds, shuffled anew for each repeat.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> len(list(Repeated(5, times=3).pairs(sample("play-tennis"))))
    15
    """

    k: int = 10
    times: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("the number of folds", self.k, 2)
        check_whole_number("the number of repeats", self.times, 1)
        _check_seed(self.seed)

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each fold of each repeat."""
        for seed in seeds(self.seed, self.times):
            yield from fold_splits(stratified_folds(dataset, self.k, seed))

    def number(self, dataset: Dataset) -> int:
        """Return the folds of all repeats."""
        return self.k * self.times

    def describe(self) -> str:
        """Return a short description."""
        return f"{self.k} folds, {self.times} times"


@dataclass(frozen=True)
class Grouped:
    """Folds that keep groups together: the cases with the same value in a column, such as those of one patient.

    The largest groups come first, each goes to the fold that is smallest so far. Cases without a value are one group.
    `estimate` does not train on the column.

    Parameters
    ----------
    k : int
        From 2 to the number of groups.
    column : str
        An attribute of the data.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> [len(test) for _, test in Grouped(2, "Outlook").pairs(sample("play-tennis"))]
    [9, 5]
    """

    k: int
    column: str

    def __post_init__(self) -> None:
        check_whole_number("the number of folds", self.k, 2)

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each fold."""
        codes = dataset.columns[attribute_index(dataset, self.column)]
        _, group = np.unique(codes, return_inverse=True)
        sizes = np.bincount(group)
        _require_at_most(self.k, len(sizes), "folds", f"groups by {self.column!r}")
        filled = np.zeros(self.k, dtype=np.intp)
        fold_of = np.zeros(len(sizes), dtype=np.intp)
        for one in np.argsort(-sizes, kind="stable").tolist():
            fold_of[one] = np.argmin(filled)
            filled[fold_of[one]] += sizes[one]
        yield from fold_splits(fold_of[group])

    def number(self, dataset: Dataset) -> int:
        """Return the number of folds."""
        return self.k

    def describe(self) -> str:
        """Return a short description."""
        return f"{self.k} folds grouped by {self.column}"


@dataclass(frozen=True, eq=False)
class GivenFolds:
    """Given folds, such as those of another program or a paper.

    Parameters
    ----------
    fold_of : sequence of int
        The fold of each case, any numbers; folds are tested in ascending order.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> [test.tolist() for _, test in GivenFolds([1, 2] * 7).pairs(sample("play-tennis"))][0]
    [0, 2, 4, 6, 8, 10, 12]
    """

    fold_of: Sequence[int] | npt.NDArray[Any]

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each fold."""
        yield from fold_splits(given_folds(self.fold_of, dataset.n_rows))

    def number(self, dataset: Dataset) -> int:
        """Return the number of folds."""
        return int(given_folds(self.fold_of, dataset.n_rows).max()) + 1

    def describe(self) -> str:
        """Return a short description."""
        return f"{len(np.unique(self.fold_of))} given folds"


def given_folds(fold_of: Any, n_rows: int) -> Rows:
    """Return given folds renumbered from 0, in ascending order.

    Examples
    --------
    >>> given_folds([7, 3, 7], 3).tolist()
    [1, 0, 1]
    """
    given = np.asarray(fold_of)
    if given.shape != (n_rows,) or given.dtype.kind not in "iu":
        raise ParameterError(f"fold_of must hold a whole number for each of the {n_rows:,} cases")
    numbers, codes = np.unique(given, return_inverse=True)
    if len(numbers) < 2:
        raise ParameterError("fold_of must have at least two folds")
    return codes.astype(np.intp)


@dataclass(frozen=True)
class LeaveOneOut:
    """Predict every case by a model of all the others."""

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each case."""
        if dataset.n_rows < 2:
            raise ParameterError(f"leave-one-out needs at least two cases, not {dataset.n_rows}")
        yield from fold_splits(np.arange(dataset.n_rows))

    def number(self, dataset: Dataset) -> int:
        """Return the number of cases."""
        return dataset.n_rows

    def describe(self) -> str:
        """Return a short description."""
        return "leave-one-out"


@dataclass(frozen=True)
class Bootstrap632:
    """Train on a bootstrap sample of as many cases as there are, and test on the cases not in it."""

    times: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("the number of bootstrap samples", self.times, 1)
        _check_seed(self.seed)

    def pairs(self, dataset: Dataset) -> Splits:
        """Yield one train/test split for each sample; rows repeat, and a sample with all cases is drawn anew."""
        n = dataset.n_rows
        if n < 2:
            raise ParameterError(f"a bootstrap needs at least two cases, not {n}")
        draw = np.random.default_rng(self.seed)
        for _ in range(self.times):
            left_out = np.zeros(0, dtype=np.intp)
            while len(left_out) == 0:
                rows = np.sort(draw.integers(0, n, n))
                left_out = np.setdiff1d(np.arange(n), rows)
            yield rows, left_out

    def number(self, dataset: Dataset) -> int:
        """Return the number of samples."""
        return self.times

    def describe(self) -> str:
        """Return a short description."""
        return f".632 bootstrap of {self.times} samples"


def as_splitter(splitter: Any, dataset: Dataset) -> Splitter:
    """Return a CV splitter: None means ten folds, a number that many folds.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> as_splitter(None, sample("play-tennis")), as_splitter(5, sample("play-tennis")).k
    (KFold(k=10, stratified=True, seed=0), 5)
    """
    if splitter is None:
        return KFold(min(10, dataset.n_rows))
    if isinstance(splitter, (int, np.integer)) and not isinstance(splitter, bool):
        return KFold(int(splitter))
    if isinstance(splitter, type) or not all(hasattr(splitter, name) for name in ("pairs", "number", "describe")):
        names = "KFold, Repeated, Grouped, GivenFolds, LeaveOneOut, HoldOut, Bootstrap632"
        raise ParameterError(f"a CV splitter is a number of folds or one of {names}, not {splitter!r}")
    found: Splitter = splitter
    return found


def seeds(seed: int, number: int) -> list[int]:
    """Return `number` different seeds derived from one."""
    return [int(one) for one in np.random.SeedSequence(seed).generate_state(number)]


def attribute_index(dataset: Dataset, name: str) -> int:
    """Return the index of an attribute among the columns."""
    if name not in dataset.schema.attribute_names:
        raise DataError(unknown_name("attribute", name, dataset.schema.attribute_names), source=dataset.source)
    return dataset.schema.attribute_names.index(name)


def _check_seed(seed: object) -> None:
    check_whole_number("seed", seed, 0)


def _require_at_most(k: int, n: int, what: str, of: str) -> None:
    if not k <= n:
        raise ParameterError(f"the number of {what} must be at most the number of {of}, {n}, not {k}")
