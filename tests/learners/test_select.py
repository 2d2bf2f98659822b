"""The rules that choose one attribute among the candidates."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.schema import Column, Kind, Schema
from treewright.learners.candidates import SplitCandidate
from treewright.learners.recipe import Choice
from treewright.learners.select import Chosen, average_gain, choose
from treewright.tree.split import Split, SplitStatus

N_CASES = 100


def schema(*values: int) -> Schema:
    """Return attributes with so many categories each; 0 is numeric."""
    columns = [
        Column(f"a{index}", Kind.NOMINAL if n else Kind.NUMERIC, tuple(f"v{code}" for code in range(n)))
        for index, n in enumerate(values)
    ]
    return Schema((*columns, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")


def candidate(
    attribute: int, score: float, info: float = 1.0, status: SplitStatus = SplitStatus.CONSIDERED
) -> SplitCandidate:
    nothing = np.zeros((2, 2), dtype=np.int64)
    return SplitCandidate(attribute, status, nothing, nothing[0], Split.multiway(attribute, 2), score, info)


def winner(chosen: Chosen) -> int | None:
    """Return the attribute of the best candidate."""
    return None if chosen.best is None else chosen.best.attribute


def test_the_highest_score_wins() -> None:
    chosen = choose(Choice.HIGHEST, [candidate(0, 0.1), candidate(1, 0.3), candidate(2, 0.2)], schema(2, 2, 2), N_CASES)
    assert winner(chosen) == 1
    assert [c.status for c in chosen.candidates] == [
        SplitStatus.CONSIDERED,
        SplitStatus.CHOSEN,
        SplitStatus.CONSIDERED,
    ]
    assert chosen.best is chosen.candidates[1]


def test_scores_that_differ_by_rounding_are_equal_and_the_earlier_column_wins() -> None:
    close = [candidate(0, 0.3), candidate(1, 0.3 * (1 + 1e-12))]
    assert winner(choose(Choice.HIGHEST, close, schema(2, 2), N_CASES)) == 0
    distinct = [candidate(0, 0.3), candidate(1, 0.3 * (1 + 1e-6))]
    assert winner(choose(Choice.HIGHEST, distinct, schema(2, 2), N_CASES)) == 1


def test_a_test_without_any_gain_may_win_when_there_is_no_other() -> None:
    assert winner(choose(Choice.HIGHEST, [candidate(0, 0.0)], schema(2), N_CASES)) == 0
    assert winner(choose(Choice.RATIO, [candidate(0, 0.0)], schema(2), N_CASES)) == 0


def test_what_is_not_considered_cannot_win() -> None:
    for rule in Choice:
        chosen = choose(rule, [candidate(0, 0.9, status=SplitStatus.TOO_FEW), candidate(1, 0.1)], schema(2, 2), N_CASES)
        assert winner(chosen) == 1
        assert chosen.candidates[0].status is SplitStatus.TOO_FEW


def test_without_admissible_candidates_there_is_no_winner() -> None:
    for rule in Choice:
        chosen = choose(rule, [candidate(0, 0.0, status=SplitStatus.ONE_VALUE)], schema(2), N_CASES)
        assert winner(chosen) is None
        assert winner(choose(rule, [], schema(2), N_CASES)) is None


def test_c45_takes_the_best_ratio_among_gains_of_at_least_the_average() -> None:
    """The second has the best ratio, 0.5, but its gain is below the average of 0.2."""
    candidates = [candidate(0, 0.3, 1.5), candidate(1, 0.05, 0.1), candidate(2, 0.25, 1.0)]
    chosen = choose(Choice.RATIO, candidates, schema(2, 2, 2), N_CASES)
    assert winner(chosen) == 2
    assert chosen.average_gain == pytest.approx(0.2)
    assert chosen.candidates[1].status is SplitStatus.BELOW_AVERAGE


def test_a_gain_a_thousandth_below_the_average_still_counts() -> None:
    chosen = choose(Choice.RATIO, [candidate(0, 0.2009, 1.0), candidate(1, 0.2, 0.5)], schema(2, 2), N_CASES)
    assert winner(chosen) == 1


def test_without_split_information_there_is_no_ratio() -> None:
    chosen = choose(Choice.RATIO, [candidate(0, 0.2, 0.0005), candidate(1, 0.2, 1.0)], schema(2, 2), N_CASES)
    assert winner(chosen) == 1
    assert chosen.candidates[0].status is SplitStatus.NO_SPLIT_INFORMATION


def test_by_gain_the_ratio_does_not_matter() -> None:
    chosen = choose(Choice.GAIN, [candidate(0, 0.3, 9.0), candidate(1, 0.29, 0.1)], schema(2, 2), N_CASES)
    assert winner(chosen) == 0
    assert chosen.average_gain is None


def test_attributes_of_very_many_values_stay_out_of_the_average_but_may_win() -> None:
    """30 values for 100 cases are many: the average is that of the second alone, and the first wins by its ratio."""
    candidates = [candidate(0, 0.9, 2.0), candidate(1, 0.1, 1.0)]
    assert average_gain(candidates, schema(30, 2), N_CASES) == pytest.approx(0.1)
    assert average_gain(candidates, schema(29, 2), N_CASES) == pytest.approx(0.5)
    assert winner(choose(Choice.RATIO, candidates, schema(30, 2), N_CASES)) == 0


def test_if_all_attributes_have_very_many_values_all_count() -> None:
    candidates = [candidate(0, 0.9), candidate(1, 0.1)]
    assert average_gain(candidates, schema(30, 40), N_CASES) == pytest.approx(0.5)


def test_if_only_attributes_of_very_many_values_have_a_test_none_is_chosen() -> None:
    candidates = [candidate(0, 0.9, 2.0), candidate(1, 0.1, status=SplitStatus.TOO_FEW)]
    assert winner(choose(Choice.RATIO, candidates, schema(30, 2), N_CASES)) is None


def test_many_values_count_where_values_are_grouped() -> None:
    candidates = [candidate(0, 0.9, 2.0), candidate(1, 0.1, 1.0)]
    chosen = choose(Choice.RATIO, candidates, schema(30, 2), N_CASES, include_high_cardinality=True)
    assert chosen.average_gain == pytest.approx(0.5)
