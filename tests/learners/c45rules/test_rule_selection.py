from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_trees import random_cases
from treewright.learners.c45rules.arithmetic import Floats, Precision, release8_integers, release8_numbers
from treewright.learners.c45rules.cases import RuleCases
from treewright.learners.c45rules.select import TRIALS, DescriptionLength, choose_rules, seeded_numbers


def test_the_numbers_of_release_8() -> None:
    assert list(islice(release8_integers(), 4)) == [1804289383, 846930886, 1681692777, 1714636915]
    assert next(release8_numbers()) == 1804289383 / 2**31
    assert all(0 <= number < 1 for number in islice(release8_numbers(), 1000))


def test_seeded_numbers() -> None:
    first, again, other = (list(islice(seeded_numbers(seed), 600)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert all(0 <= number < 1 for number in first)


class Naive:
    """The same choices, everything counted anew for every set."""

    def __init__(self, covers: np.ndarray, bits: Floats, right: np.ndarray, code: DescriptionLength) -> None:
        self.covers, self.bits, self.right, self.code = covers, bits, right, code
        self.fl = code.precision.number

    def exceptions(self, chosen: list[bool]) -> float:
        covered = self.covers[chosen].any(axis=0)
        counts = covered.sum(), (covered & ~self.right).sum(), (~covered & self.right).sum()
        return float(self.code.exception_bits(*(np.array([one]) for one in counts))[0])

    def value(self, chosen: list[bool]) -> tuple[float, float]:
        total = 0.0
        for bits in self.bits[chosen].tolist():
            total = self.fl(total + bits)
        rules = self.fl(total - self.code.log_factorial(sum(chosen)))
        return rules, self.fl(0.5 * rules + self.exceptions(chosen))

    def best_of_all(self) -> list[int]:
        n = len(self.covers)
        subsets = [[bool(number >> bit & 1) for bit in range(n)] for number in range(2**n)]
        best = min(subsets, key=lambda chosen: self.value(chosen)[1])
        return [index for index in range(n) if best[index]]

    def climbed(self, numbers: Iterator[float]) -> list[int]:
        n, lg, fl = len(self.covers), self.code.precision.log2, self.fl
        best, best_total = [False] * n, np.inf
        for trial in range(TRIALS):
            chosen = [next(numbers) < fl(trial / 10) for _ in range(n)]
            while True:
                rules, total = self.value(chosen)
                if total < best_total:
                    best, best_total = list(chosen), total
                savings = []
                for index in range(n):
                    changed = list(chosen)
                    changed[index] = not changed[index]
                    size, bits = sum(chosen), float(self.bits[index])
                    dropped, added = fl(fl(rules - bits) + lg(size)), fl(fl(rules + bits) - lg(size + 1))
                    new = dropped if chosen[index] else added
                    savings.append(fl(total - (self.exceptions(changed) + 0.5 * new)))
                change = int(np.argmax(savings))
                if savings[change] <= 0:
                    break
                chosen[change] = not chosen[change]
        return [index for index in range(n) if best[index]]


def problem(seed: int, candidates: int, precision: Precision) -> Naive:
    rng = np.random.default_rng(seed)
    cases = RuleCases(random_cases(rng, 60))
    right = cases.classes == 0
    covers = rng.random((candidates, 60)) < np.where(right, 0.25, 0.04)
    bits = precision.array(rng.random(candidates) * 8)
    return Naive(covers, bits, right, DescriptionLength(cases, precision))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.sampled_from(Precision))
def test_all_subsets_are_looked_at(seed: int, candidates: int, precision: Precision) -> None:
    naive = problem(seed, candidates, precision)
    found = choose_rules(naive.covers, naive.bits, naive.right, naive.code, iter(()))
    assert found == naive.best_of_all()


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(11, 16), st.sampled_from(Precision))
def test_the_climb_counts_as_the_naive_one(seed: int, candidates: int, precision: Precision) -> None:
    naive = problem(seed, candidates, precision)
    found = choose_rules(naive.covers, naive.bits, naive.right, naive.code, seeded_numbers(seed))
    assert found == naive.climbed(seeded_numbers(seed))


def test_one_number_is_drawn_for_each_candidate_and_trial() -> None:
    naive = problem(3, 12, Precision.SINGLE)
    drawn = count()
    numbers = ((next(drawn) % 10) / 10 for _ in iter(int, 1))
    choose_rules(naive.covers, naive.bits, naive.right, naive.code, numbers)
    assert next(drawn) == TRIALS * 12


def test_up_to_ten_candidates_draw_nothing() -> None:
    naive = problem(3, 10, Precision.SINGLE)
    choose_rules(naive.covers, naive.bits, naive.right, naive.code, iter(()))
    eleven = problem(3, 11, Precision.SINGLE)
    with pytest.raises(StopIteration):
        choose_rules(eleven.covers, eleven.bits, eleven.right, eleven.code, iter(()))
