"""Choosing, among the candidate rules of a class, the set with the shortest description.

The description length, in bits, of the rules of a class and their exceptions. The better set of rules has the shorter
message: first the rules, then which of the covered cases have another class (*false positives*), and which of the other
cases have the class (*false negatives*).

Naming an attribute costs the mean information of all attributes, so that an informative attribute costs no more than
the others. Naming a value or threshold costs bits as well. The rules count half (the theory weight): equivalent rules
can be written in many ways, so their plain code is too long.

Numbers are rounded to the chosen precision after every step, see `treewright.learners.c45rules.arithmetic`.

Selecting, among the candidate rules of a class, the set with the shortest description. Up to ten candidates, every
subset is evaluated. More candidates are searched by hill climbing: from a random set, the addition or removal that
saves most bits is made until none saves any. Eleven climbs start from sets that contain, on average, none, a tenth, two
tenths ... all of the candidates, and the best set found wins.

Only counts of cases are needed. For all subsets they follow from the number of cases covered by exactly each set of
candidates; the climb maintains for each candidate the number of cases that it alone covers, or would cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from treewright.learners.c45rules.arithmetic import Floats, Precision, log2, log2s
from treewright.learners.c45rules.cases import RuleCases
from treewright.tree.formula import Condition, Mask, Op

Counts = npt.NDArray[np.int64]

THEORY_WEIGHT = 0.5
TINY = 1e-6
IMPOSSIBLE = 1e6
"""Bits for errors where the code expects none."""


class DescriptionLength:
    """The code for rules over one table.

    Parameters
    ----------
    cases : RuleCases
        The training cases; the code takes its frequencies from them.
    precision : Precision

    Attributes
    ----------
    precision : Precision
    value_bits : array
        Of each attribute.
    naming_bits : float
        The same for every attribute.
    """

    def __init__(self, cases: RuleCases, precision: Precision) -> None:
        self._n = cases.n
        self.precision = precision
        self._n_categories = [len(column.values) for column in cases.dataset.schema.attributes]
        self.value_bits = [self._value_bits(cases, attribute) for attribute in range(len(self._n_categories))]
        self.naming_bits = self._naming_bits()
        self._factorials: Floats = np.zeros(1)

    def _value_bits(self, cases: RuleCases, attribute: int) -> float:
        fl, lg = self.precision.number, self.precision.log2
        column = cases.dataset.columns[attribute]
        n_categories = self._n_categories[attribute]
        if cases.dataset.schema.attributes[attribute].is_numeric:
            # NaN counts as one value; the distinct ones are those that the precision can tell apart.
            different = len(np.unique(self.precision.array(column)))
            return fl(1 + lg(different) / 2) if different > 1 else 0.0
        if n_categories <= 1:
            return 0.0
        bits = 0.0
        for frequency in np.bincount(column + 1, minlength=n_categories + 1)[1:].tolist():
            if frequency:
                bits = fl(bits + frequency / self._n * (lg(self._n) - lg(frequency)))
        return bits

    def _naming_bits(self) -> float:
        fl = self.precision.number
        total = self.precision.running_sum(np.array(self.value_bits))
        naming = 0.0
        for bits in self.value_bits:
            if bits > 0:
                share = fl(bits / total)
                naming = fl(naming - share * log2(share))
        return naming

    def log_factorial(self, n: int) -> float:
        """Return log2 n!, the bits saved because n rules can be sent in any order."""
        return float(self._log_factorials(n)[n])

    def _log_factorials(self, largest: int) -> Floats:
        """Return the logarithms of 0!, 1! ... at least to the largest, made when first needed."""
        if largest >= len(self._factorials):
            logarithms = [self.precision.log2(whole) for whole in range(2 * largest + 2)]
            self._factorials = np.add.accumulate(np.array(logarithms))
        return self._factorials

    def condition_bits(self, condition: Condition) -> float:
        """Return the bits of one condition; a set of categories takes one bit per category of the attribute."""
        attribute = condition.attribute
        operand = self._n_categories[attribute] if condition.op is Op.IN else self.value_bits[attribute]
        return self.precision.number(self.naming_bits + operand)

    def rule_bits(self, conditions: Sequence[Condition]) -> float:
        """Return the bits of one rule: its conditions and their number, minus the bits of their order."""
        fl = self.precision.number
        bits = 0.0
        for condition in conditions:
            bits = fl(bits + self.condition_bits(condition))
        n = len(conditions)
        return fl(bits + self.precision.log2(n) - self.log_factorial(n))

    def theory_bits(self, rule_bits: Floats, sizes: Counts) -> Floats:
        """Return the unweighted bits of sets of rules: the sums of their rules minus the bits of their order."""
        order = self._log_factorials(int(sizes.max(initial=0)))[sizes]
        return self.precision.array(rule_bits - order)

    def total_bits(self, theory_bits: Floats, exception_bits: Floats) -> Floats:
        """Return the length of the whole message."""
        return self.precision.array(THEORY_WEIGHT * theory_bits + exception_bits)

    def exception_bits(self, covered: Counts, false_positives: Counts, false_negatives: Counts) -> Floats:
        """Return the bits that identify the cases which the rules of a class get wrong.

        Parameters
        ----------
        covered, false_positives : arrays of int
            Cases that some rule covers, and those of them that are of another class.
        false_negatives : array of int
            Cases of the class that no rule covers.
        """
        fl = self.precision.array
        half = (false_positives + false_negatives) / 2.0
        # The larger part is coded first, with the errors expected to be shared evenly between both parts; this
        # determines the errors of the other part.
        mostly = covered > self._n / 2.0
        expected_positives = np.where(mostly, half, false_positives)
        expected_negatives = np.where(mostly, false_negatives, half)
        bits = fl(log2(self._n) + self._biased(covered, false_positives, expected_positives))
        return fl(bits + self._biased(self._n - covered, false_negatives, expected_negatives))

    def _biased(self, cases: Counts, errors: Counts, expected: Floats) -> Floats:
        """Return the bits that identify the errors among cases, given the expected number of errors."""
        fl = self.precision.array
        none = expected <= TINY
        every = ~none & (expected >= cases - TINY)
        coded = ~(none | every)
        rate = fl(np.where(coded, expected, 1.0) / np.where(coded, cases, 2))
        bits = fl(-errors * log2s(rate) - (cases - errors) * log2s(fl(1 - rate)))
        sure = np.where(errors == np.where(none, 0, cases), 0.0, IMPOSSIBLE)
        return np.where(coded, bits, sure)


EXHAUSTIVE_LIMIT = 10
"""Up to this many candidates all subsets (1024) are evaluated."""

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
        Which cases have the class that the candidates predict.
    code : DescriptionLength
    numbers : iterator of float
        Source of random numbers; only the climb uses any.
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
    """Evaluate all subsets, numbered in binary with the first candidate as the lowest digit."""
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

    A subset does not cover a case if the complement contains all candidates that do; so the numbers of cases by
    pattern are summed over the subsets of the complement, one candidate after the other.
    """
    within = np.bincount(pattern, minlength=2**candidates)
    for candidate in range(candidates):
        halves = within.reshape(-1, 2, 2**candidate)
        halves[:, 1] += halves[:, 0]
    return within[::-1]


class _Climb:
    """The state of the search: the chosen candidates, and the effect of adding or dropping each."""

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
        """Climb from a starting set until no single change saves bits."""
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
        """Return for each candidate the number of these cases that it covers."""
        tally: Counts = self._by_case[rows].sum(axis=0, dtype=np.int64)
        return tally

    def _counts(self) -> tuple[int, int, int]:
        covered = self._times > 0
        right = int(np.count_nonzero(covered & self._right))
        total = int(np.count_nonzero(covered))
        return total, total - right, int(np.count_nonzero(self._right)) - right

    def _evaluate(self) -> tuple[float, float]:
        """Return the unweighted bits of the chosen rules, and the bits of the whole message."""
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
        """Add or drop a candidate, and update what the others cover alone or would cover."""
        rows = np.flatnonzero(self._covers[candidate])
        times = self._times[rows]
        sign = -1 if self._chosen[candidate] else 1
        # A case that only this candidate covers is covered by no chosen candidate before or after the change.
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
