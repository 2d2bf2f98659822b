from typing import Any

import pytest

from small_trees import SCHEMA, table
from treewright.errors import ParameterError
from treewright.tree.formula import Condition, ConditionMasks, Op

RED, BIG, SMALL = Condition.equals(0, 0), Condition.above(1, 3.5), Condition.at_most(1, 3.5)
NOT_RED = Condition.one_of(0, (2, 1))

CASES = table(
    SCHEMA,
    [
        ("red", 4.0, "no", 1.0, "a"),
        ("red", 3.5, "no", 1.0, "b"),
        ("blue", None, "no", 1.0, "b"),
        (None, 9.0, "no", 1.0, "c"),
    ],
)


def test_a_missing_value_fails_every_condition() -> None:
    assert RED.matches(CASES).tolist() == [True, True, False, False]
    assert NOT_RED.matches(CASES).tolist() == [False, False, True, False]
    assert BIG.matches(CASES).tolist() == [True, False, False, True]
    assert SMALL.matches(CASES).tolist() == [False, True, False, False]


def test_masks_are_kept_and_cannot_be_changed() -> None:
    masks = ConditionMasks(CASES)
    assert masks[RED] is masks[Condition.equals(0, 0)]
    assert not masks[RED].flags.writeable
    assert masks.all_of(()).all()
    assert masks.all_of((RED, BIG)).tolist() == [True, False, False, False]


def test_only_so_many_masks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.tree.formula.CACHE_BYTES", 0)
    masks = ConditionMasks(CASES)
    first = masks[RED]
    for cut in range(63):
        assert masks[Condition.above(1, cut)].tolist() == Condition.above(1, cut).matches(CASES).tolist()
    assert masks[RED] is first
    for cut in range(64):
        assert masks[Condition.at_most(1, cut)].tolist() == Condition.at_most(1, cut).matches(CASES).tolist()
    assert masks[RED] is not first
    assert masks[RED].tolist() == first.tolist()


def test_values_are_sorted_and_unique() -> None:
    assert Condition.one_of(0, [2, 1, 2]).values == (1, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Condition.equals(-1, 0),
        lambda: Condition.equals(0, -1),
        lambda: Condition.one_of(0, ()),
        lambda: Condition.at_most(0, float("nan")),
        lambda: Condition.above(0, float("inf")),
        lambda: Condition(0, Op.AT_MOST),
        lambda: Condition(0, Op.EQUALS, cut=1.0),
        lambda: Condition(0, Op.EQUALS, values=(0, 1)),
        lambda: Condition(0, Op.IN, values=(1, 0)),
        lambda: Condition(0, Op.ABOVE, cut=1.0, values=(1,)),
    ],
)
def test_impossible_conditions_are_refused(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()
