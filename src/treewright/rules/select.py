"""Selecting, among the candidate rules of a class, the set with the shortest description.

Up to ten candidates, every subset is evaluated. More candidates are searched by hill climbing: from a random set, the
addition or removal that saves most bits is made until none saves any. Eleven climbs start from sets that contain, on
average, none, a tenth, two tenths ... all of the candidates, and the best set found wins.

Only counts of cases are needed. For all subsets they follow from the number of cases covered by exactly each set of
candidates; the climb maintains for each candidate the number of cases that it alone covers, or would cover.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from treewright.model.conditions import Mask
from treewright.rules.arithmetic import Floats
from treewright.rules.description_length import THEORY_WEIGHT, Counts, DescriptionLength

EXHAUSTIVE_LIMIT = 10
"""So many candidates have 1024 subsets."""

TRIALS = 11
"""Starting densities 0, 0.1, ... 1."""


def seeded_numbers(seed: int) -> Iterator[float]:
    """Yield random numbers from 0 to below 1, the same for the same seed on every machine."""
    generator = np.random.default_rng(seed)
    while True:
        yield from generator.random(256).tolist()


def choose_rules(
    covers: npt.NDArray[np.bool_],
    rule_bits: Floats,
    of_class: Mask,
    code: DescriptionLength,
    numbers: Iterator[float],
) -> list[int]:
    """Return the indices, ascending, of the candidates to keep.

    Parameters
    ----------
    covers : array of bool, candidates x cases
    rule_bits : array
        Of each candidate.
    of_class : array of bool
        Which cases are of the class that the candidates say.
    code : DescriptionLength
    numbers : iterator of float
        Where random numbers come from; only the climb takes any.
    """
    if len(covers) <= EXHAUSTIVE_LIMIT:
        return _best_of_all(covers, rule_bits, of_class, code)
    climb = _Climb(covers, rule_bits, of_class, code)
    for trial in range(TRIALS):
        density = code.precision.number(trial / (TRIALS - 1))
        climb.run(np.array([next(numbers) < density for _ in covers]))
    return np.flatnonzero(climb.best).tolist()


def _best_of_all(
    covers: npt.NDArray[np.bool_], rule_bits: Floats, of_class: Mask, code: DescriptionLength
) -> list[int]:
    """Look at all subsets, numbered in binary with the first candidate as the lowest digit."""
    sums, sizes = np.zeros(1), np.zeros(1, dtype=np.int64)
    for bits in rule_bits.tolist():  # each pass doubles the subsets, the new candidate being added last
        sums = np.concatenate((sums, code.precision.array(sums + bits)))
        sizes = np.concatenate((sizes, sizes + 1))
    pattern = np.zeros(covers.shape[1], dtype=np.int64)
    for candidate, mask in enumerate(covers):
        pattern += mask.astype(np.int64) << candidate
    missed_right = _uncovered(pattern[of_class], len(covers))
    missed_wrong = _uncovered(pattern[~of_class], len(covers))
    positives = np.count_nonzero(~of_class) - missed_wrong
    covered = covers.shape[1] - missed_right - missed_wrong
    theory = code.theory_bits(sums, sizes)
    totals = code.total_bits(theory, code.exception_bits(covered, positives, missed_right))
    best = int(np.argmin(totals))
    return [candidate for candidate in range(len(covers)) if best >> candidate & 1]


def _uncovered(pattern: Counts, candidates: int) -> Counts:
    """Count, for each subset of candidates, the cases that none of them covers.

    A case is missed by a subset when the candidates that do cover it all lie outside; so the numbers of cases
    by pattern are summed over the parts of the complement, one candidate after the other.
    """
    within = np.bincount(pattern, minlength=2**candidates)
    for candidate in range(candidates):
        pairs = within.reshape(-1, 2, 2**candidate)
        pairs[:, 1] += pairs[:, 0]
    return within[::-1]


class _Climb:
    """The state of the search: which candidates are in, and what adding or dropping each would change."""

    def __init__(
        self,
        covers: npt.NDArray[np.bool_],
        rule_bits: Floats,
        of_class: Mask,
        code: DescriptionLength,
    ) -> None:
        self._covers = covers
        self._by_case = np.ascontiguousarray(covers.T)
        self._bits = rule_bits
        self._right = of_class
        self._code = code
        self._precision = code.precision
        self.best: npt.NDArray[np.bool_] = np.zeros(len(covers), dtype=np.bool_)
        self._best_total = np.inf

    def run(self, start: npt.NDArray[np.bool_]) -> None:
        """Climb from a starting set to where no single change saves anything."""
        self._start(start)
        while True:
            theory, total = self._evaluate()
            if total < self._best_total:
                self._best_total, self.best = total, self._chosen.copy()
            savings = self._savings(theory, total)
            change = int(np.argmax(savings))
            if savings[change] <= 0:
                return
            self._flip(change)

    def _start(self, chosen: npt.NDArray[np.bool_]) -> None:
        self._chosen = chosen.copy()
        self._times = self._covers[chosen].sum(axis=0, dtype=np.int32)
        none, once = self._times == 0, self._times == 1
        self._free_right, self._free_wrong = self._tally(none & self._right), self._tally(none & ~self._right)
        self._sole_right, self._sole_wrong = self._tally(once & self._right), self._tally(once & ~self._right)

    def _tally(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Counts:
        """Count for each candidate how many of these cases it covers."""
        tally: Counts = self._by_case[rows].sum(axis=0, dtype=np.int64)
        return tally

    def _counts(self) -> tuple[int, int, int]:
        covered = self._times > 0
        right = int(np.count_nonzero(covered & self._right))
        total = int(np.count_nonzero(covered))
        return total, total - right, int(np.count_nonzero(self._right)) - right

    def _evaluate(self) -> tuple[float, float]:
        """Return the bits of the rules that are in, not weighted, and of the whole message."""
        rules = self._precision.running_sum(self._bits[self._chosen])
        theory = self._code.theory_bits(np.array([rules]), np.array([np.count_nonzero(self._chosen)]))
        exceptions = self._code.exception_bits(*(np.array([count]) for count in self._counts()))
        return float(theory[0]), float(self._code.total_bits(theory, exceptions)[0])

    def _savings(self, theory: float, total: float) -> Floats:
        covered, positives, negatives = self._counts()
        chosen, fl, lg = self._chosen, self._precision.array, self._precision.log2
        size = int(np.count_nonzero(chosen))
        exceptions = self._code.exception_bits(
            covered + np.where(chosen, -(self._sole_right + self._sole_wrong), self._free_right + self._free_wrong),
            positives + np.where(chosen, -self._sole_wrong, self._free_wrong),
            negatives + np.where(chosen, self._sole_right, -self._free_right),
        )
        rules = np.where(
            chosen,
            fl(fl(theory - self._bits) + lg(size)),
            fl(fl(theory + self._bits) - lg(size + 1)),
        )
        return fl(total - (exceptions + THEORY_WEIGHT * rules))

    def _flip(self, candidate: int) -> None:
        """Add or drop a candidate, and update what the others cover alone or would."""
        rows = np.flatnonzero(self._covers[candidate])
        times = self._times[rows]
        sign = -1 if self._chosen[candidate] else 1
        # A case that is covered once only because of this candidate was, or is afterwards, covered by none.
        edge = rows[times == (1 if sign < 0 else 0)]
        right, wrong = self._by_class(edge)
        self._free_right -= sign * right
        self._free_wrong -= sign * wrong
        self._sole_right += sign * right
        self._sole_wrong += sign * wrong
        right, wrong = self._by_class(rows[times == (2 if sign < 0 else 1)])
        self._sole_right -= sign * right
        self._sole_wrong -= sign * wrong
        self._times[rows] += sign
        self._chosen[candidate] = sign > 0

    def _by_class(self, rows: npt.NDArray[np.intp]) -> tuple[Counts, Counts]:
        of_class = self._right[rows]
        return self._tally(rows[of_class]), self._tally(rows[~of_class])
