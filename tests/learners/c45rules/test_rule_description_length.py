import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_trees import SCHEMA, table
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.c45rules.arithmetic import Precision
from treewright.learners.c45rules.cases import RuleCases
from treewright.learners.c45rules.select import DescriptionLength
from treewright.tree.formula import Condition

WEATHER = Schema(
    (
        Column("outlook", Kind.NOMINAL, ("sunny", "overcast", "rainy")),
        Column("temperature", Kind.NUMERIC),
        Column("humidity", Kind.NUMERIC),
        Column("windy", Kind.NOMINAL, ("TRUE", "FALSE")),
        Column("play", Kind.NOMINAL, ("yes", "no")),
    ),
    target="play",
)

ROWS = """
sunny 85 85 FALSE no
sunny 80 90 TRUE no
overcast 83 86 FALSE yes
rainy 70 96 FALSE yes
rainy 68 80 FALSE yes
rainy 65 70 TRUE no
overcast 64 65 TRUE yes
sunny 72 95 FALSE no
sunny 69 70 FALSE yes
rainy 75 80 FALSE yes
sunny 75 70 TRUE yes
overcast 72 90 TRUE yes
overcast 81 75 FALSE yes
rainy 71 91 TRUE no
"""


def weather_code(precision: Precision = Precision.SINGLE) -> DescriptionLength:
    rows = [line.split() for line in ROWS.strip().splitlines()]
    cells = [(outlook, float(t), float(h), windy, play) for outlook, t, h, windy, play in rows]
    return DescriptionLength(RuleCases(table(WEATHER, cells)), precision)


def test_bits_of_the_weather_data() -> None:
    code = weather_code()
    assert [f"{bits:.7g}" for bits in code.value_bits] == ["1.577406", "2.792481", "2.660964", "0.9852281"]
    assert f"{code.naming_bits:.7g}" == "1.891329"
    assert f"{code.rule_bits([Condition.equals(0, 1)]):.7g}" == "3.468735"
    sunny, humid = Condition.equals(0, 0), Condition.above(2, 75.0)
    assert f"{code.rule_bits([sunny, humid]):.7g}" == "8.021029"


def test_double_precision_agrees_to_seven_digits() -> None:
    single, double = weather_code(), weather_code(Precision.DOUBLE)
    assert double.value_bits == pytest.approx(single.value_bits, rel=1e-6)
    assert double.naming_bits == pytest.approx(single.naming_bits, rel=1e-6)


def test_a_set_of_values_takes_a_bit_for_each_category() -> None:
    code = weather_code(Precision.DOUBLE)
    assert code.condition_bits(Condition.one_of(0, (0, 1))) == pytest.approx(code.naming_bits + 3)


def test_uninformative_columns_take_no_bits() -> None:
    schema = Schema(
        (
            Column("one", Kind.NOMINAL, ("x",)),
            Column("same", Kind.NUMERIC),
            Column("missing", Kind.NUMERIC),
            Column("y", Kind.NOMINAL, ("a", "b")),
        ),
        target="y",
    )
    cases = RuleCases(table(schema, [("x", 1.0, 1.0, "a"), (None, 1.0, None, "b"), (None, 1.0, None, "b")]))
    code = DescriptionLength(cases, Precision.DOUBLE)
    # A single category is no choice; missing counts as one more value of a number, once.
    assert code.value_bits == [0.0, 0.0, 1.5]
    assert code.naming_bits == 0.0


def test_numbers_that_single_precision_cannot_distinguish_are_one_value() -> None:
    rows = [("red", 0.1, "no", 0.0, "a"), ("red", 0.1 + 1e-12, "no", 0.0, "a")]
    cases = RuleCases(table(SCHEMA, rows))
    assert DescriptionLength(cases, Precision.SINGLE).value_bits[1] == 0.0
    assert DescriptionLength(cases, Precision.DOUBLE).value_bits[1] == 1.5


def test_log_factorials() -> None:
    code = weather_code(Precision.DOUBLE)
    assert code.log_factorial(0) == code.log_factorial(1) == 0.0
    assert code.log_factorial(5) == pytest.approx(np.log2(120))
    assert code.log_factorial(60) == pytest.approx(np.log2(np.arange(1, 61)).sum())


def exceptions(covered: int, positives: int, negatives: int) -> float:
    arrays = (np.array([count]) for count in (covered, positives, negatives))
    return float(weather_code(Precision.DOUBLE).exception_bits(*arrays)[0])


def test_exceptions() -> None:
    assert exceptions(0, 0, 0) == pytest.approx(np.log2(14))
    assert exceptions(14, 0, 0) == pytest.approx(np.log2(14))
    assert exceptions(14, 14, 0) > 0
    # 9 of 14 are not covered: their rate is half of the 9 errors expected among 14 cases.
    rate = 4.5 / 14
    assert exceptions(0, 0, 9) == pytest.approx(np.log2(14) - 9 * np.log2(rate) - 5 * np.log2(1 - rate))
    # Most are covered: the errors among the covered come first, shared evenly.
    rate = 1.5 / 10
    expected = np.log2(14) - 1 * np.log2(rate) - 9 * np.log2(1 - rate) - 2 * np.log2(0.5) - 2 * np.log2(0.5)
    assert exceptions(10, 1, 2) == pytest.approx(expected)
    # Half or fewer are covered: the errors among the others come first, shared evenly.
    assert exceptions(1, 0, 12) == pytest.approx(np.log2(14) - 12 * np.log2(6 / 13) - 1 * np.log2(7 / 13))
    assert exceptions(7, 7, 0) == pytest.approx(np.log2(14) - 7 * np.log2(1 - 3.5 / 7))
    # All that are covered are errors, and are known to be.
    assert exceptions(2, 2, 1) == pytest.approx(np.log2(14) - np.log2(1.5 / 12) - 11 * np.log2(1 - 1.5 / 12))
    assert exceptions(13, 12, 1) == pytest.approx(np.log2(14) - 12 * np.log2(0.5) - np.log2(0.5))


def test_counts_that_cannot_be_cost_more_than_anything() -> None:
    assert exceptions(2, 5, 0) > 1e6


@given(st.integers(0, 14), st.integers(0, 14), st.integers(0, 14), st.sampled_from(Precision))
def test_no_message_is_shorter_than_nothing(covered: int, positives: int, negatives: int, precision: Precision) -> None:
    counts = (
        np.array([covered]),
        np.array([min(positives, covered)]),
        np.array([min(negatives, 14 - covered)]),
    )
    bits = weather_code(precision).exception_bits(*counts)
    assert np.isfinite(bits).all()
    assert bits[0] >= 0
