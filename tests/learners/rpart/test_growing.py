"""rpart's growing: splits and surrogates against reference implementations, hand-made and recorded trees."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_sets import load_json, load_set, set_names
from random_tables import datasets
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.learners.rpart.cases import LEFT, NEITHER, RIGHT, ClassTarget, quicksort_order
from treewright.learners.rpart.growing import RpartData, grow_rpart, prepare
from treewright.learners.rpart.nodes import RpartGrowth, RpartSplit, SubsetSearch, cut_between
from treewright.learners.rpart.options import Rpart
from treewright.learners.rpart.splits import SUBSET_LIMIT, SplitSearch, find_surrogates
from treewright.tree.route import main_leaves
from treewright.tree.split import STAY
from treewright.tree.tree import Stop, Tree

CLASSES = ("a", "b", "c")
VALUES = ("u", "v", "w", "x")
SMALL = Rpart(min_split=2, min_bucket=1, cp=0.0)


def dataset(
    columns: dict[str, list[Any]],
    target: list[Any],
    weights: list[float] | None = None,
    values: tuple[str, ...] = VALUES,
) -> Dataset:
    """Make a dataset: floats are numbers, ints codes of nominal values; so is the target."""
    described: list[Column] = []
    encoded: list[npt.NDArray[np.float64] | npt.NDArray[np.int32]] = []
    for name, cells in columns.items():
        numeric = any(isinstance(cell, float) for cell in cells)
        described.append(Column(name, Kind.NUMERIC) if numeric else Column(name, Kind.NOMINAL, values))
        encoded.append(np.array(cells, np.float64) if numeric else np.array(cells, np.int32))
    regression = any(isinstance(one, float) for one in target)
    goal = Column("y", Kind.NUMERIC) if regression else Column("y", Kind.NOMINAL, CLASSES)
    return Dataset(
        Schema((*described, goal), target="y"),
        tuple(encoded),
        len(target),
        np.array(target, np.float64) if regression else np.array(target, np.int32),
        None if weights is None else np.array(weights),
    )


# -- the search for splits and its reference implementation ------------------------------------------------------------

Case = tuple[Any, Any, float]
"""Value, target (class or number) and weight of a case."""


class Reference:
    """The measures of a split, computed plainly."""

    def __init__(self, ready: RpartData, criterion: str, risk: float) -> None:
        self.ready, self.criterion, self.risk = ready, criterion, risk

    def cases(self, attribute: int) -> list[Case]:
        """Return the cases with a value of the attribute."""
        target = self.ready.target
        y = target.classes if isinstance(target, ClassTarget) else target.numbers
        cells = self.ready.dataset.columns[attribute].tolist()
        triples = zip(cells, y.tolist(), target.weights.tolist(), strict=True)
        return [case for case in triples if not (math.isnan(case[0]) or case[0] == -1)]

    def cost(self, part: list[Case]) -> float:
        """Return P times the impurity of some cases."""
        target = self.ready.target
        assert isinstance(target, ClassTarget)
        altered = target.altered.tolist()
        sums = [sum(altered[y] * w for _, y, w in part if y == code) for code in range(target.n_classes)]
        total = float(sum(sums))
        shares: list[float] = [one / total for one in sums if one > 0]
        if self.criterion == "gini":
            return total * sum(q * (1 - q) for q in shares)
        return -total * sum(q * math.log(q) for q in shares)

    def improve(self, left: list[Case], right: list[Case]) -> float:
        if isinstance(self.ready.target, ClassTarget):
            return self.cost(left + right) - self.cost(left) - self.cost(right)
        mean = weighted_mean(left + right)
        parts = (left, right)
        explained = sum(sum((y - mean) * w for _, y, w in p) ** 2 / sum(w for *_, w in p) for p in parts)
        return float(explained) / self.risk

    def partitions(self, attribute: int, least: int) -> list[tuple[list[Case], list[Case]]]:
        """Return every partition of the cases that the search has to look at."""
        cases = self.cases(attribute)
        found = sorted({case[0] for case in cases})
        target = self.ready.target
        if self.ready.dataset.schema.attributes[attribute].is_numeric:
            sides = [set(found[:n]) for n in range(1, len(found))]
        elif not isinstance(target, ClassTarget) or target.n_classes == 2:
            found.sort(key=lambda value: self.height([case for case in cases if case[0] == value]))
            sides = [set(found[:n]) for n in range(1, len(found))]
        else:
            sides = [set(some) for n in range(1, len(found)) for some in combinations(found, n)]
        pairs = [([c for c in cases if c[0] in side], [c for c in cases if c[0] not in side]) for side in sides]
        return [pair for pair in pairs if min(map(len, pair)) >= least]

    def height(self, part: list[Case]) -> float:
        """Return what values are ordered by: the share of the first class, or the mean."""
        target = self.ready.target
        if not isinstance(target, ClassTarget):
            return weighted_mean(part)
        weights = [target.altered[y] * w for _, y, w in part]
        return float(sum(w for w, (_, y, _) in zip(weights, part, strict=True) if y == 0) / sum(weights))


def weighted_mean(part: list[Case]) -> float:
    return float(sum(y * w for _, y, w in part) / sum(w for *_, w in part))


@st.composite
def small_datasets(draw: st.DrawFn, *, regression: bool) -> Dataset:
    n = draw(st.integers(2, 14))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n, max_size=n))

    number = st.sampled_from([-2.0, 0.0, 1.0, 2.0, 3.5, math.nan])
    value = st.integers(-1, 3)
    y = st.sampled_from([0.0, 1.0, 2.5, 4.0]) if regression else st.integers(0, draw(st.integers(1, 2)))
    return dataset(
        {"x": column(number), "f": column(value), "z": column(number), "g": column(value)},
        column(y),
        column(st.sampled_from([0.5, 1.0, 2.0])) if draw(st.booleans()) else None,
    )


def search_of(ready: RpartData, criterion: str, least: int) -> SplitSearch:
    return SplitSearch(ready.table, ready.target, criterion, least, kept=9, exact=False)


def check_splits(data: Dataset, options: Rpart) -> None:
    try:
        ready = prepare(data, options)
    except DataError:
        return  # all attributes missing everywhere
    risk = ready.target.value(ready.cases.first).risk
    if risk == 0:
        return
    splits = search_of(ready, options.criterion, options.least_bucket).best(ready.cases, risk)
    assert [split.improve for split in splits] == sorted((split.improve for split in splits), reverse=True)
    reference = Reference(ready, options.criterion, risk)
    found = {split.attribute: split for split in splits}
    for attribute in range(len(data.columns)):
        cases = reference.cases(attribute)
        best = max(
            (reference.improve(*parts) for parts in reference.partitions(attribute, options.least_bucket)), default=0.0
        )
        if attribute not in found:
            assert best < 1e-9
            continue
        split = found[attribute]
        assert split.count == len(cases)
        assert split.improve == pytest.approx(best, abs=1e-9)
        known = ready.dataset.columns[attribute][split.route(ready.dataset.columns[attribute]) >= 0]
        assert known.tolist() == [case[0] for case in cases]
        sides = split.route(known).tolist()
        left = [case for case, side in zip(cases, sides, strict=True) if side == LEFT]
        right = [case for case, side in zip(cases, sides, strict=True) if side == RIGHT]
        assert reference.improve(left, right) == pytest.approx(best, abs=1e-9)
        if best > 1e-6:
            if not isinstance(ready.target, ClassTarget):
                assert weighted_mean(left) < weighted_mean(right)
            elif ready.target.n_classes == 2:
                assert reference.height(left) > reference.height(
                    right
                )  # more of the first class: a smaller mean class number
        if split.cut is not None:
            below = max(case[0] for case in cases if case[0] <= split.cut)
            above = min(case[0] for case in cases if case[0] > split.cut)
            assert split.cut == (below + above) / 2


@settings(max_examples=150)
@given(small_datasets(regression=False), st.sampled_from(["gini", "information"]), st.integers(1, 3))
def test_splits_of_classes_are_those_of_the_reference_implementation(data: Dataset, criterion: Any, least: int) -> None:
    check_splits(data, Rpart(criterion, min_bucket=least))


@settings(max_examples=75)
@given(small_datasets(regression=False), st.sampled_from(["gini", "information"]))
def test_so_are_those_with_priors_and_losses(data: Dataset, criterion: Any) -> None:
    loss = ((0.0, 1.0, 4.0), (2.0, 0.0, 1.0), (1.0, 3.0, 0.0))
    check_splits(data, Rpart(criterion, min_bucket=1, priors=(0.2, 0.5, 0.3), loss=loss))


@settings(max_examples=150)
@given(small_datasets(regression=True))
def test_splits_of_numbers_are_those_of_the_reference_implementation(data: Dataset) -> None:
    check_splits(data, Rpart("variance", min_bucket=1))


def test_an_attribute_without_any_value_is_passed_over() -> None:
    nothing: dict[str, list[Any]] = {"x": [1.0, 1.0, 2.0, 2.0], "empty": [math.nan] * 4, "none": [-1] * 4}
    for y, criterion in (([0, 0, 1, 1], "gini"), ([0.0, 0.0, 1.0, 1.0], "variance")):
        root = grow_rpart(dataset(nothing, y), replace(SMALL, criterion=criterion)).nodes[0]  # type: ignore[arg-type]
        assert root.primary is not None
        assert (root.primary.attribute, root.competitors, root.surrogates) == (0, (), ())


def test_the_first_of_equal_attributes_and_the_lowest_of_equal_cuts_win() -> None:
    x = [1.0, 2.0, 3.0, 4.0]
    growth = grow_rpart(dataset({"x": x, "again": x}, [0, 1, 1, 0]), SMALL)
    root = growth.nodes[0]
    assert root.primary is not None
    assert (root.primary.attribute, root.primary.cut) == (0, 1.5)
    assert [split.attribute for split in root.competitors] == [1]


def test_too_many_values_are_split_by_the_orders_of_the_classes() -> None:
    values = tuple(f"v{code}" for code in range(SUBSET_LIMIT + 1))
    codes = [code for code in range(len(values)) for _ in range(6)]
    y = [(code % 3 if copy < 5 else (code + 1) % 3) for code in range(len(values)) for copy in range(6)]
    many = grow_rpart(dataset({"f": codes}, y, values=values), SMALL)
    assert many.subset_search is SubsetSearch.ORDERED
    few = grow_rpart(dataset({"f": codes[6:]}, y[6:], values=values), SMALL)
    assert few.subset_search is SubsetSearch.EXHAUSTIVE
    root = many.nodes[0].primary
    assert root is not None
    assert {values[code] for code, side in enumerate(root.sides) if side == LEFT} == set(values[0::3])


# -- surrogates and their reference implementation ---------------------------------------------------------------------


def plain_surrogate(
    column: Column, cells: list[Any], sides: list[int], weights: list[float], *, faults: bool
) -> tuple[float, Any, int] | None:
    """Return agreement, cut (or sides of values) and side of lower numbers; None if nothing is found."""
    here = [(x, s, w) for x, s, w in zip(cells, sides, weights, strict=True) if not (math.isnan(x) or x == -1)]
    placed = [case for case in here if case[1] >= 0]
    per_side = [sum(w for _, s, w in placed if s == side) for side in (LEFT, RIGHT)]
    if column.is_numeric:
        best: tuple[float, Any, int] | None = None
        most = max(per_side)
        for low, high in pairwise(sorted({x for x, *_ in here})):
            if min(sum(x <= low for x, *_ in placed), sum(x > low for x, *_ in placed)) < 2:
                continue
            for lower in (RIGHT, LEFT):
                agreement = sum(w for x, s, w in placed if (s == lower) == (x <= low))
                if agreement > most:
                    most, best = agreement, (agreement, (low + high) / 2, lower)
        return best
    goes = [NEITHER] * len(column.values)
    for value in {x for x, *_ in placed}:
        left, right = (sum(w for x, s, w in placed if x == value and s == side) for side in (LEFT, RIGHT))
        if left == right:
            left, right = per_side
        goes[value] = LEFT if left > right else RIGHT
    agreeing = [(w, goes[x]) for x, s, w in placed if goes[x] == s]
    if faults:
        accepted = len(agreeing) >= 2 and len(placed) - len(agreeing) >= 2
    else:
        accepted = all(sum(goes[x] == side for x, *_ in placed) >= 2 for side in (LEFT, RIGHT))
    if not accepted or len(set(goes) - {NEITHER}) < 2:
        return None
    return sum(w for w, _ in agreeing), tuple(goes), LEFT


@settings(max_examples=200)
@given(small_datasets(regression=False), st.data(), st.booleans())
def test_surrogates_are_those_of_the_reference_implementation(
    data: Dataset, random: st.DataObject, faults: bool
) -> None:
    try:
        ready = prepare(data, Rpart())
    except DataError:
        return
    n = len(ready.cases)
    sides = random.draw(st.lists(st.sampled_from([LEFT, RIGHT, LEFT, RIGHT, NEITHER]), min_size=n, max_size=n))
    weights = ready.target.weights.tolist()
    totals = [sum(w for w, s in zip(weights, sides, strict=True) if s == side) for side in (LEFT, RIGHT)]
    if min(totals) == 0:
        return
    found = find_surrogates(
        ready.table, ready.cases, np.array(sides, np.int8), ready.target.weights, primary=2, limit=3, faults=faults
    )
    expected = []
    majority = max(totals) / sum(totals)
    for attribute in (0, 1, 3):
        column = data.schema.attributes[attribute]
        cells = ready.dataset.columns[attribute].tolist()
        plain = plain_surrogate(column, cells, sides, weights, faults=faults)
        if plain is not None and (plain[0] / sum(totals) - majority) / (1 - majority) > 1e-10:
            expected.append((-plain[0] / sum(totals), attribute, plain[1], plain[2]))
    expected.sort(key=lambda one: one[:2])
    got = [(-one.improve, one.attribute, one.sides if one.cut is None else one.cut, one.lower) for one in found]
    assert got == expected


PERFECT = dataset(
    {"f": [0] * 5 + [1] * 5 + [-1], "g": [2] * 5 + [3] * 5 + [2]},
    [0] * 5 + [1] * 5 + [0],
)


def test_a_perfect_nominal_surrogate_is_refused_only_with_the_fault() -> None:
    fine = grow_rpart(PERFECT, SMALL).nodes[0]
    assert fine.primary is not None
    assert fine.primary.attribute == 1  # both are perfect, but g knows one case more
    rest = replace(PERFECT, columns=(PERFECT.columns[0], np.where(np.arange(11) == 9, -1, PERFECT.columns[1])))
    fine = grow_rpart(rest, SMALL).nodes[0]
    assert [(one.attribute, one.count, one.improve, one.adjusted) for one in fine.surrogates] == [(1, 1, 0.9, 0.8)]
    assert grow_rpart(rest, replace(SMALL, faults=True)).nodes[0].surrogates == ()


# -- sending cases -----------------------------------------------------------------------------------------------------


def test_cases_without_a_value_follow_surrogates_then_the_default() -> None:
    x = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, math.nan, math.nan]
    z = [5.0, 5.0, 6.0, 3.0, 3.0, 3.0, 4.0, 7.0, math.nan]
    f = [0, 0, 0, 0, 0, 0, 0, 0, 0]
    growth = grow_rpart(dataset({"x": x, "z": z, "f": f}, [0, 0, 0, 1, 1, 1, 1, 0, 1]), SMALL)
    # z knows one case more and is the better split; without it x is the one.
    assert growth.nodes[0].primary is not None
    assert growth.nodes[0].primary.attribute == 1
    later = grow_rpart(dataset({"x": x, "z": [*z[:6], math.nan, *z[7:]], "f": f}, [0, 0, 0, 1, 1, 1, 1, 0, 1]), SMALL)
    root = later.nodes[0]
    assert root.primary is not None
    assert (root.primary.attribute, root.primary.count, root.default) == (0, 7, RIGHT)
    assert [(one.attribute, one.cut, one.lower, one.count) for one in root.surrogates] == [(1, 4.0, RIGHT, 1)]
    assert [later.nodes[index].cases for index in (root.left, root.right)] == [4, 5]
    tree = later.tree
    assert (tree.missing[0], tree.surrogates[0][0].reversed) == (1, True)
    assert main_leaves(tree, later_cases(later, x, z, f)).tolist() == [1, 1, 1, 2, 2, 2, 2, 1, 2]


def later_cases(growth: RpartGrowth, x: list[float], z: list[float], f: list[int]) -> Dataset:
    return Dataset(growth.schema, (np.array(x), np.array(z), np.array(f, dtype=np.int32)), len(x))


def test_without_surrogates_cases_stay_only_with_the_fault() -> None:
    data = dataset({"x": [1.0, 1.0, 2.0, 2.0, 2.0, math.nan], "f": [0] * 6}, [0, 0, 1, 1, 1, 0])
    plain, odd = (grow_rpart(data, replace(SMALL, max_surrogates=0, faults=faults)) for faults in (False, True))
    assert [node.cases for node in plain.nodes] == [6, 2, 4]
    assert [node.cases for node in odd.nodes] == [6, 2, 3]
    assert odd.nodes[0].default == NEITHER
    assert odd.tree.missing[0] == plain.tree.missing[0] == 1  # predicting goes to the branch with more cases


def test_where_both_branches_have_as_many_cases_they_stay() -> None:
    data = dataset({"x": [1.0, 1.0, 2.0, 2.0, math.nan], "f": [0] * 5}, [0, 0, 1, 1, 0])
    growth = grow_rpart(data, SMALL)
    assert growth.nodes[0].default == NEITHER
    assert [node.cases for node in growth.nodes] == [5, 2, 2]
    assert growth.tree.missing[0] == STAY


def test_a_number_that_is_the_cut_goes_up_only_with_the_fault() -> None:
    data = dataset({"x": [1.0, 1.0, 3.0, 3.0]}, [1, 1, 0, 0])
    new = dataset({"x": [2.0]}, [0])
    outcomes = []
    for faults in (False, True):
        growth = grow_rpart(data, replace(SMALL, faults=faults))
        assert growth.nodes[0].primary is not None
        assert (growth.nodes[0].primary.cut, growth.nodes[0].primary.lower) == (2.0, RIGHT)
        outcomes.append(int(growth.tree.outcome[main_leaves(growth.tree, new)][0]))
    assert outcomes == [1, 0]


def test_cuts_split_whatever_numbers_are_there() -> None:
    tiny = math.nextafter(1.0, 2.0)
    for low, high in ((1.0, tiny), (tiny, math.nextafter(tiny, 2.0)), (1e308, 1.7e308), (-1.7e308, 1.7e308)):
        data = dataset({"x": [low, low, high, high]}, [0, 0, 1, 1])
        for faults in (False, True):
            tree = grow_rpart(data, replace(SMALL, faults=faults)).tree
            assert main_leaves(tree, data).tolist() == [1, 1, 2, 2]
    assert cut_between(-1.0, 1.0, exact=False) == (0.0, False)


# -- growing -----------------------------------------------------------------------------------------------------------


def test_a_tree_by_hand() -> None:
    x = [float(n) for n in range(1, 11)]
    growth = grow_rpart(dataset({"x": x}, [0, 0, 0, 0, 1, 1, 1, 0, 1, 1]), SMALL)
    # Cutting at 4.5 leaves a pure side and 1 in 6; then 8 is cut out, which takes two splits.
    assert [(node.number, node.cases, node.risk, node.complexity) for node in growth.nodes] == [
        (1, 10, 5.0, 4.0),
        (2, 4, 0.0, 0.0),
        (3, 6, 1.0, 0.5),
        (6, 3, 1.0, 1.0),
        (12, 1, 0.0, 0.0),
        (13, 2, 0.0, 0.0),
        (7, 3, 0.0, 0.0),
    ]
    frame = growth.frame()
    assert frame["complexity"] == pytest.approx([0.8, 0, 0.1, 0.1, 0, 0, 0])  # nowhere more than above
    assert growth.nodes[0].primary is not None
    # 10 * 1/2 - 0 - 6 * 2 * (1/6)(5/6)
    assert growth.nodes[0].primary.improve == pytest.approx(5 - 10 / 6)


def test_a_split_that_saves_no_errors_is_taken_back() -> None:
    # Both sides of any cut keep class a: Gini improves, risk does not.
    data = dataset({"x": [float(n) for n in range(20)]}, [0] * 12 + [1, 0] * 4)
    growth = grow_rpart(data, Rpart(min_split=10, min_bucket=5))
    assert (len(growth.nodes), growth.nodes[0].complexity, growth.nodes[0].stop) == (1, 0.0, Stop.SMALL_GAIN)


def test_limits_are_kept() -> None:
    data = dataset(
        {"x": [float(n % 17) for n in range(60)], "f": [n % 4 for n in range(60)]}, [n % 3 for n in range(60)]
    )
    assert grow_rpart(data, replace(SMALL, max_depth=3)).tree.depth == 3
    assert grow_rpart(data, replace(SMALL, max_depth=0)).nodes[0].stop is Stop.DEPTH
    assert grow_rpart(data, replace(SMALL, min_split=61)).nodes[0].stop is Stop.TOO_FEW
    buckets = grow_rpart(data, replace(SMALL, min_bucket=9))
    assert min(node.cases for node in buckets.nodes) >= 9
    assert grow_rpart(data, replace(SMALL, min_bucket=31)).nodes[0].stop is Stop.NO_GAIN
    assert max(len(node.competitors) for node in grow_rpart(data, replace(SMALL, competitors=0)).nodes) == 0
    assert grow_rpart(data.take([0, 3, 6]), SMALL).nodes[0].stop is Stop.PURE


def test_numbers_are_predicted_by_means() -> None:
    growth = grow_rpart(
        dataset({"x": [1.0, 2.0, 3.0, 4.0]}, [1.0, 3.0, 7.0, 9.0]), replace(SMALL, criterion="variance")
    )
    root = growth.nodes[0]
    assert (root.outcome, root.risk) == (5.0, 40.0)
    assert root.primary is not None
    assert (root.primary.cut, root.primary.improve) == (2.5, 0.9)
    assert growth.tree.outcome.tolist() == [5.0, 2.0, 1.0, 3.0, 8.0, 7.0, 9.0]
    assert growth.tree.sse is not None
    assert growth.tree.sse.tolist() == [40.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0]


def test_equal_numbers_are_split_only_with_the_fault() -> None:
    # Three times 0.1 does not have the mean 0.1 in doubles.
    data = dataset({"x": [1.0, 2.0, 3.0]}, [0.1, 0.1, 0.1])
    assert grow_rpart(data, replace(SMALL, criterion="variance")).nodes[0].risk == 0.0
    assert grow_rpart(data, replace(SMALL, criterion="variance", faults=True)).nodes[0].risk > 0.0


def test_weights_multiply_risks_and_improvements() -> None:
    data = load_like_iris()
    heavy = replace(data, weights=np.full(data.n_rows, 3.0))
    light, weighted = grow_rpart(data, Rpart()), grow_rpart(heavy, Rpart())
    assert [node.number for node in light.nodes] == [node.number for node in weighted.nodes]
    for one, other in zip(light.nodes, weighted.nodes, strict=True):
        assert other.risk == 3 * one.risk
        assert other.weight == 3 * one.cases
        if one.primary is not None and other.primary is not None:
            assert other.primary.improve == pytest.approx(3 * one.primary.improve)
            assert other.primary.cut == one.primary.cut


def load_like_iris() -> Dataset:
    random = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 30)
    columns = {f"x{index}": (y * (index + 1) + random.normal(size=90)).round(1).tolist() for index in range(3)}
    return dataset(columns, y.tolist())


def test_uninformative_cases_are_left_out() -> None:
    data = dataset({"x": [1.0, 2.0, math.nan, 2.0], "f": [0, 1, -1, 1]}, [0, 1, 1, 0], [1.0, 1.0, 1.0, 0.0])
    assert grow_rpart(data, SMALL).nodes[0].cases == 2


def test_classes_without_cases_take_no_part() -> None:
    data = dataset({"f": [0, 1, 2, 3] * 5}, [0, 2, 2, 0] * 5)
    growth = grow_rpart(data, replace(SMALL, priors=(0.25, 0.5, 0.25)))
    assert growth.tree.counts.tolist() == [[10, 0, 10], [10, 0, 0], [0, 0, 10]]
    assert growth.nodes[0].risk == 10.0
    with pytest.raises(ParameterError, match="without cases"):
        grow_rpart(data, replace(SMALL, priors=(0.0, 1.0, 0.0)))


def test_a_class_with_prior_zero_costs_nothing() -> None:
    data = dataset({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, [2, 2, 2, 0, 0, 1])
    growth = grow_rpart(data, replace(SMALL, priors=(0.5, 0.5, 0.0)))
    assert growth.nodes[0].risk == 3.0
    assert np.isfinite([node.risk for node in growth.nodes]).all()


def test_a_chain_of_a_thousand_nodes_grows() -> None:
    data = dataset({"x": np.arange(1100.0).tolist()}, [n % 2 for n in range(1100)])
    growth = grow_rpart(data, replace(SMALL, max_depth=10_000))
    assert growth.tree.depth > 1000


@given(datasets(), st.booleans())
def test_every_growth_makes_a_valid_tree(data: Dataset, faults: bool) -> None:
    options = replace(SMALL, criterion="gini" if data.schema.classes else "variance", faults=faults)
    try:
        growth = grow_rpart(data, options)
    except DataError:
        return
    tree = growth.tree
    assert len(tree) == len(growth.nodes)
    assert sorted(tree.weight.tolist()) == sorted(node.weight for node in growth.nodes)
    assert all(side in (LEFT, RIGHT, NEITHER) for node in growth.nodes for side in [node.default])


@given(st.lists(st.integers(0, 9), max_size=60))
def test_the_sort_sorts(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.float64)
    order = quicksort_order(values)
    assert sorted(order.tolist()) == list(range(len(numbers)))
    assert values[order].tolist() == sorted(numbers)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"criterion": "entropy"}, "'gini', 'information', 'variance'"),
        ({"min_split": 0}, "at least 1"),
        ({"min_bucket": 1.5}, "whole number"),
        ({"max_depth": True}, "whole number"),
        ({"competitors": -1}, "at least 0"),
        ({"max_surrogates": -1}, "at least 0"),
        ({"cp": -0.1}, "at least 0"),
        ({"cp": math.nan}, "at least 0"),
        ({"faults": 1}, "True or False"),
        ({"priors": (0.5, 0.6)}, "sum to 1"),
        ({"priors": (1.5, -0.5)}, "at least 0"),
        ({"priors": [0.5, 0.5]}, "tuple"),
        ({"priors": (0.5, 0.5), "criterion": "variance"}, "are for classification"),
        ({"loss": ((0.0, 1.0),)}, "square"),
        ({"loss": ((1.0, 1.0), (1.0, 0.0))}, "diagonal"),
        ({"loss": ((0.0, 0.0), (1.0, 0.0))}, "every row"),
        ({"loss": ((0.0, 1.0), (1.0, 0.0)), "criterion": "variance"}, "are for classification"),
    ],
)
def test_bad_options_are_refused_with_what_is_allowed(options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        Rpart(**options)


def test_data_that_cannot_be_learned_from_are_refused() -> None:
    weather = sample("play-tennis")
    with pytest.raises(DataError, match="have none"):
        grow_rpart(weather.X, Rpart())
    with pytest.raises(DataError, match="no cases"):
        grow_rpart(weather.take([]), Rpart())
    with pytest.raises(ParameterError, match="'gini' or 'information'"):
        grow_rpart(weather, Rpart("variance"))
    with pytest.raises(ParameterError, match="'variance' for a numeric target"):
        grow_rpart(dataset({"x": [1.0]}, [1.0]), Rpart())
    with pytest.raises(ParameterError, match="2 numbers"):
        grow_rpart(weather, Rpart(priors=(0.2, 0.3, 0.5)))
    with pytest.raises(ParameterError, match="2 rows"):
        grow_rpart(weather, Rpart(loss=((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))))
    with pytest.raises(DataError, match="too large"):
        grow_rpart(dataset({"x": [1.0, 2.0]}, [1e200, 0.0]), Rpart("variance"))
    with pytest.raises(ParameterError, match="no threshold"):
        _ = RpartSplit(0, 1, 1.0, sides=(LEFT, RIGHT)).threshold


# -- the original program ----------------------------------------------------------------------------------------------

NO_EXTRAS = {"competitors": 0, "max_surrogates": 0}
RUNS: dict[str, dict[str, Any]] = {
    "default": {},
    "information": {"criterion": "information"},
    "full": {"min_split": 2, "min_bucket": 1, "cp": 0.0, **NO_EXTRAS},
    "cp0_minsplit20": {"cp": 0.0, **NO_EXTRAS},
}
BIG = 5000
"""Sets with more rows are slow."""


def options_of(name: str, run: str) -> Rpart:
    options = Rpart(**RUNS[run], faults=True)
    return replace(options, criterion="variance") if load_set(name).schema.target_column.is_numeric else options


def recorded_sets() -> list[Any]:
    names = set_names(having="rpart.json")
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (load_json(name, "schema.json")["rows"] > BIG)) for name in names
    ]


def column(values: Any) -> list[Any]:
    """Return a recorded column; one of a single entry was recorded without its list."""
    return values if isinstance(values, list) else [values]


def predictions(tree: Tree, cases: Dataset) -> npt.NDArray[Any]:
    return tree.outcome[main_leaves(tree, cases)]


def split_row(split: RpartSplit) -> tuple[Any, ...]:
    return f"A{split.attribute}", split.count, split.ncat, split.csplit


@pytest.mark.oracle
@pytest.mark.parametrize("name", recorded_sets())
def test_the_same_trees(name: str) -> None:
    cases = load_set(name)
    for run, recorded in load_json(name, "rpart.json")["runs"].items():
        growth = grow_rpart(cases, options_of(name, run))
        frame, expected = growth.frame(), recorded["frame"]
        variables = ["<leaf>" if n.primary is None else f"A{n.primary.attribute}" for n in growth.nodes]
        assert variables == column(expected["var"])
        for key in ("node", "n", "ncompete", "nsurrogate"):
            assert frame[key] == column(expected[key])
        for key in ("wt", "dev", "complexity"):
            assert frame[key] == pytest.approx(column(expected[key]), rel=1e-9, abs=1e-9)
        if cases.schema.classes:
            assert frame["yval"] == column(expected["yval"])
            counts = np.array([node.counts for node in growth.nodes])
            assert counts[:, counts[0] > 0].tolist() == expected["class_counts"]
            assert np.count_nonzero(predictions(growth.tree, cases) != cases.target) == recorded["train_errors"]
        else:
            assert frame["yval"] == pytest.approx(column(expected["yval"]), rel=1e-9)
            error = np.mean((predictions(growth.tree, cases) - cases.target) ** 2)
            assert error == pytest.approx(recorded["train_mse"], rel=1e-9, abs=1e-9)
        if "splits" in recorded:
            check_split_rows(growth, recorded)


def check_split_rows(growth: RpartGrowth, recorded: dict[str, Any]) -> None:
    splits = [
        split
        for node in growth.nodes
        if node.primary is not None
        for split in (node.primary, *node.competitors, *node.surrogates)
    ]
    rows = recorded["splits"]["rows"]
    expected = []
    for variable, (count, ncat, _, index, _) in zip(column(recorded["splits"]["var"]), rows, strict=True):
        nominal = abs(ncat) > 1
        expected.append((variable, count, ncat, tuple(recorded["csplit"][index - 1][:ncat]) if nominal else ()))
    assert [split_row(split) for split in splits] == expected
    numbers = [(s.improve, s.adjusted, row[3] if s.cut is None else s.cut) for s, row in zip(splits, rows, strict=True)]
    assert np.array(numbers) == pytest.approx(np.array([(r[2], r[4], r[3]) for r in rows]), rel=1e-9, abs=1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("options", "improve", "cut"),
    [
        (Rpart(priors=(0.3, 0.7)), 51.97709, 123.5),
        (Rpart(loss=((0.0, 1.0), (5.0, 0.0))), 47.03838, 111.5),
    ],
)
def test_priors_and_losses_as_checked(options: Rpart, improve: float, cut: float) -> None:
    growth = grow_rpart(load_set("diabetes"), options)
    root = growth.nodes[0].primary
    assert root is not None
    assert (growth.schema.attribute_names[root.attribute], root.cut) == ("plas", cut)
    assert root.improve == pytest.approx(improve, abs=5e-6)


@pytest.mark.oracle
@pytest.mark.skipif(not set_names(), reason="the recorded results are not here; set TREEWRIGHT_ORACLE to their folder")
def test_all_runs_are_here() -> None:
    runs = [run for name in set_names(having="rpart.json") for run in load_json(name, "rpart.json")["runs"].values()]
    assert (len(runs), sum("splits" in run for run in runs)) == (159, 108)
