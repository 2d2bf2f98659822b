"""The description length, in bits, of the rules of a class and their exceptions.

The better set of rules has the shorter message: first the rules, then which of the covered cases have another class
(*false positives*), and which of the other cases have the class (*false negatives*).

Naming an attribute costs the mean information of all attributes, so that an informative attribute costs no more than
the others. Naming a value or threshold costs bits as well. The rules count half (the theory weight): equivalent rules
can be written in many ways, so their plain code is too long.

Numbers are rounded to the chosen precision after every step, see `treewright.rules.arithmetic`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treewright.model.conditions import Condition, Op
from treewright.rules.arithmetic import Floats, Precision, log2, log2s
from treewright.rules.cases import RuleCases

Counts = npt.NDArray[np.int64]

THEORY_WEIGHT = 0.5
TINY = 1e-6
IMPOSSIBLE = 1e6
"""Bits for errors in a place where the code expects none."""


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
        self._declared = [len(column.values) for column in cases.dataset.schema.attributes]
        self.value_bits = [self._value_bits(cases, attribute) for attribute in range(len(self._declared))]
        self.naming_bits = self._naming_bits()
        self._factorials: Floats = np.zeros(1)

    def _value_bits(self, cases: RuleCases, attribute: int) -> float:
        fl, lg = self.precision.number, self.precision.log2
        column = cases.dataset.columns[attribute]
        declared = self._declared[attribute]
        if cases.dataset.schema.attributes[attribute].is_numeric:
            # NaN counts as one value; the distinct ones are those that the precision can tell apart.
            different = len(np.unique(self.precision.array(column)))
            return fl(1 + lg(different) / 2) if different > 1 else 0.0
        if declared <= 1:
            return 0.0
        bits = 0.0
        for frequency in np.bincount(column + 1, minlength=declared + 1)[1:].tolist():
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
        """Return log2 n!: what is saved because n things can be told in any order."""
        return float(self._log_factorials(n)[n])

    def _log_factorials(self, largest: int) -> Floats:
        """Return the logarithms of 0!, 1! ... at least to the largest, made when first needed."""
        if largest >= len(self._factorials):
            logarithms = [self.precision.log2(whole) for whole in range(2 * largest + 2)]
            self._factorials = np.add.accumulate(np.array(logarithms))
        return self._factorials

    def condition_bits(self, condition: Condition) -> float:
        """Return the bits of one condition; a set of values takes one bit per declared value."""
        attribute = condition.attribute
        operand = self._declared[attribute] if condition.op is Op.IN else self.value_bits[attribute]
        return self.precision.number(self.naming_bits + operand)

    def rule_bits(self, conditions: Sequence[Condition]) -> float:
        """Return the bits of one rule: its conditions, and how many they are, less their order."""
        fl = self.precision.number
        bits = 0.0
        for condition in conditions:
            bits = fl(bits + self.condition_bits(condition))
        n = len(conditions)
        return fl(bits + self.precision.log2(n) - self.log_factorial(n))

    def theory_bits(self, rule_bits: Floats, sizes: Counts) -> Floats:
        """Return the bits of sets of rules, not weighted: the sums of their rules less their order."""
        order = self._log_factorials(int(sizes.max(initial=0)))[sizes]
        return self.precision.array(rule_bits - order)

    def total_bits(self, theory_bits: Floats, exception_bits: Floats) -> Floats:
        """Return the length of the whole message."""
        return self.precision.array(THEORY_WEIGHT * theory_bits + exception_bits)

    def exception_bits(self, covered: Counts, false_positives: Counts, false_negatives: Counts) -> Floats:
        """Return the bits that say which cases the rules of a class get wrong.

        Parameters
        ----------
        covered, false_positives : arrays of int
            Cases that some rule covers, and those of them that are of another class.
        false_negatives : array of int
            Cases of the class that no rule covers.
        """
        fl = self.precision.array
        half = (false_positives + false_negatives) / 2.0
        # The larger part is told first, with the errors expected to be shared evenly between both parts; for
        # the other part its errors are known by then.
        mostly = covered > self._n / 2.0
        expected_positives = np.where(mostly, half, false_positives)
        expected_negatives = np.where(mostly, false_negatives, half)
        bits = fl(log2(self._n) + self._biased(covered, false_positives, expected_positives))
        return fl(bits + self._biased(self._n - covered, false_negatives, expected_negatives))

    def _biased(self, cases: Counts, errors: Counts, expected: Floats) -> Floats:
        """Return the bits that single out the errors among cases when so many are expected."""
        fl = self.precision.array
        none = expected <= TINY
        every = ~none & (expected >= cases - TINY)
        coded = ~(none | every)
        rate = fl(np.where(coded, expected, 1.0) / np.where(coded, cases, 2))
        bits = fl(-errors * log2s(rate) - (cases - errors) * log2s(fl(1 - rate)))
        sure = np.where(errors == np.where(none, 0, cases), 0.0, IMPOSSIBLE)
        return np.where(coded, bits, sure)
