"""The weights of the cases and the votes of the trees, from round to round of boosting.

Vocabulary
----------
tally
    What boosting knows between rounds: how much each case weighs, what the last tree said, and the votes of all. Over
    many cases kernels do the same in fewer passes; the numbers are the same to the last bit.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from math import exp, log
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.model.model import first_maximum

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.integer[Any]]

MANY_CASES = 20_000
"""From so many on a tally is kept by kernels, if kernels grow the trees."""


def alpha_of(error: float, classes: int) -> float:
    """Return the weight of a tree with this share of mistakes.

    Examples
    --------
    >>> round(alpha_of(0.1, 2), 4), round(alpha_of(0.1, 3), 4)
    (1.0986, 2.8904)
    """
    if classes <= 2:
        return 0.5 * log((1 - error) / error)
    return log((1 - error) / error) + log(classes - 1)


def updated(weights: Floats, wrong: Mask, alpha: float, classes: int) -> Floats:
    """Return the weights after a round, with the same sum.

    Examples
    --------
    >>> updated(np.ones(4), np.array([True, False, False, False]), alpha_of(0.25, 2), 2).round(4).tolist()
    [2.0, 0.6667, 0.6667, 0.6667]
    """
    factor = np.where(wrong, exp(alpha), exp(-alpha) if classes <= 2 else 1.0)
    new = weights * factor
    scaled: Floats = new * (weights.sum() / new.sum())
    return scaled


def midway(weights: Floats, wrong: Mask) -> Floats:
    """Return the weights after a round of the midway rule, with the same sum.

    Examples
    --------
    >>> midway(np.ones(4), np.array([True, False, False, False])).round(4).tolist()
    [1.5, 0.8333, 0.8333, 0.8333]
    """
    total, mistaken = float(weights.sum()), float(weights[wrong].sum())
    moved = (total / 2 - mistaken) / 2
    return np.where(wrong, weights + moved / np.count_nonzero(wrong), weights * (1 - moved / (total - mistaken)))


class Tally:
    """Weights, mistakes and votes.

    Parameters
    ----------
    target : array of int
        The class of each case.
    begin : array
        The weights at the beginning.
    classes : int
        Declared classes.

    Examples
    --------
    >>> tally = Tally(np.array([0, 1, 1, 1]), np.ones(4), 2)
    >>> tally.judge(np.array([1, 1, 1, 1]))
    0.25
    >>> tally.vote(1.0)
    >>> tally.mistakes
    [0.25]
    >>> tally.multiply(alpha_of(0.25, 2), 2)
    >>> tally.weights.round(4).tolist()
    [2.0, 0.6667, 0.6667, 0.6667]
    """

    def __init__(self, target: npt.NDArray[np.generic], begin: Floats, classes: int) -> None:
        self._target, self._begin = target, begin
        self._total = float(begin.sum())
        self.weights = begin
        self._votes = np.zeros((len(target), classes))
        self._said: Codes = np.zeros(0, dtype=np.intp)
        self._wrong: Mask = np.zeros(0, dtype=bool)
        self._mistakes: list[float] = []

    @property
    def mistakes(self) -> list[float]:
        """After each tree that voted: the share of mistakes of all votes so far, by the first weights."""
        return self._mistakes

    def reset(self) -> None:
        """Go back to the weights of the beginning."""
        self.weights = self._begin

    def judge(self, said: Codes) -> float:
        """Note which class a tree says of each case; return the weighted share of its mistakes."""
        self._said, self._wrong = said, said != self._target
        return float(self.weights[self._wrong].sum() / self.weights.sum())

    def judge_leaves(self, said: Codes, leaves: npt.NDArray[np.int32]) -> float:
        """Do the same by what leaves say, and the leaf of each case."""
        return self.judge(said[leaves])

    def vote(self, alpha: float) -> None:
        """Add the votes of the last tree, and note the mistakes of all."""
        self._votes[np.arange(len(self._said)), self._said] += alpha
        wrong = first_maximum(self._votes) != self._target
        self._mistakes.append(float(self._begin[wrong].sum() / self._total))

    def multiply(self, alpha: float, classes: int) -> None:
        """Weigh the cases anew, as `updated` does."""
        self.weights = updated(self.weights, self._wrong, alpha, classes)

    def move_midway(self) -> None:
        """Weigh the cases anew by the midway rule."""
        self.weights = midway(self.weights, self._wrong & (self.weights > 0))


class QuickTally(Tally):
    """The same by kernels; votes are added up in a thread, while the next tree grows."""

    def __init__(self, target: npt.NDArray[np.generic], begin: Floats, classes: int) -> None:
        super().__init__(target, begin, classes)
        self._wrong = np.zeros(len(target), dtype=bool)
        self._kept = np.empty(len(target))
        self._room = [np.empty(len(target)), np.empty(len(target))]
        self._kept_of_votes = np.empty(len(target))
        self._voting = ThreadPoolExecutor(1)
        self._later: list[Future[float]] = []

    @property
    def mistakes(self) -> list[float]:
        """After each tree that voted: the share of mistakes of all votes so far, by the first weights."""
        return [one.result() for one in self._later]

    def judge_leaves(self, said: Codes, leaves: npt.NDArray[np.int32]) -> float:
        """Do the same by what leaves say, and the leaf of each case."""
        return self.judge(said.astype(np.int32).take(leaves, mode="clip"))  # "clip" is quicker than to check

    def judge(self, said: Codes) -> float:
        """Note which class a tree says of each case; return the weighted share of its mistakes."""
        from treewright.grow.compiled.boosting import note_mistakes

        self._said = said
        n = note_mistakes(said, self._target, self.weights, self._wrong, self._kept)
        return float(self._kept[:n].sum() / self.weights.sum())

    def vote(self, alpha: float) -> None:
        """Add the votes of the last tree, and note the mistakes of all."""
        self._later.append(self._voting.submit(self._cast, self._said, alpha))

    def _cast(self, said: Codes, alpha: float) -> float:
        from treewright.grow.compiled.boosting import cast_votes

        n = cast_votes(said, self._target, alpha, self._votes, self._begin, self._kept_of_votes)
        return float(self._kept_of_votes[:n].sum() / self._total)

    def multiply(self, alpha: float, classes: int) -> None:
        """Weigh the cases anew, as `updated` does."""
        from treewright.grow.compiled.boosting import weigh_anew

        new = next(room for room in self._room if room is not self.weights)
        weigh_anew(self.weights, self._wrong, exp(alpha), exp(-alpha) if classes <= 2 else 1.0, new)
        new *= self.weights.sum() / new.sum()
        self.weights = new
