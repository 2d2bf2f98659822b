"""The tidy tree: nothing overlaps, parents stand in the middle, equal subtrees look equal, depth costs no stack."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treewright.drawing.layout import x_positions


def levels_of(parents: list[int]) -> list[int]:
    levels: list[int] = []
    for parent in parents:
        levels.append(levels[parent] + 1 if parent >= 0 else 0)
    return levels


def depth_first(parents: list[int]) -> list[int]:
    """Number the nodes of any tree depth first, as a view model has them."""
    below: list[list[int]] = [[] for _ in parents]
    for node in range(1, len(parents)):
        below[parents[node]].append(node)
    order, waiting = [], [(0, -1)]
    while waiting:
        node, parent = waiting.pop()
        order.append(parent)
        waiting += [(child, len(order) - 1) for child in reversed(below[node])]
    return order


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    n = draw(st.integers(1, 60))
    parents = [-1] + [draw(st.integers(max(0, node - 8), node - 1)) for node in range(1, n)]
    return depth_first(parents), draw(st.lists(st.sampled_from([1.0, 5.0, 20.0, 90.0]), min_size=n, max_size=n))


def check(parents: list[int], breadths: list[float], gap: float) -> None:
    """Check what a tidy tree promises, by looking at all pairs."""
    middles = x_positions(parents, breadths, gap)
    assert min(middle - breadth / 2 for middle, breadth in zip(middles, breadths, strict=True)) == pytest.approx(0)
    levels = levels_of(parents)
    rows: dict[int, list[int]] = {}
    for node, level in enumerate(levels):
        rows.setdefault(level, []).append(node)
    for row in rows.values():  # depth first order is the order from left to right
        for one, other in itertools.pairwise(row):
            distance = (middles[other] - breadths[other] / 2) - (middles[one] + breadths[one] / 2)
            assert distance >= gap - 1e-6
    below: dict[int, list[int]] = {}
    for node in range(1, len(parents)):
        below.setdefault(parents[node], []).append(node)
    for parent, children in below.items():
        assert middles[parent] == pytest.approx((middles[children[0]] + middles[children[-1]]) / 2)


@settings(max_examples=300, deadline=None)
@given(trees(), st.sampled_from([0.0, 3.0]))
@example(([-1], [7.0]), 0.0)
def test_no_boxes_overlap_and_parents_stand_in_the_middle(tree: tuple[list[int], list[float]], gap: float) -> None:
    check(*tree, gap)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_mirrored_tree_is_the_mirrored_picture(tree: tuple[list[int], list[float]]) -> None:
    parents, _ = tree
    breadths = [10.0] * len(parents)
    below: list[list[int]] = [[] for _ in parents]
    for node in range(1, len(parents)):
        below[parents[node]].append(node)
    turned, names, waiting = [], [], [(0, -1)]
    while waiting:
        node, parent = waiting.pop()
        turned.append(parent)
        names.append(node)
        waiting += [(child, len(turned) - 1) for child in below[node]]  # the last child is popped first
    there = x_positions(parents, breadths, 2.0)
    back = x_positions(turned, breadths, 2.0)
    # Both are as narrow as can be; where small subtrees stand between two large ones may differ.
    assert max(there) == pytest.approx(max(back))
    assert there[0] == pytest.approx(max(back) + 5.0 - back[0])
    assert sorted(names) == list(range(len(parents)))


def test_equal_subtrees_look_equal() -> None:
    parents = [-1, 0, 1, 1, 0, 0, 5, 5]
    middles = x_positions(parents, [10.0] * 8, 2.0)
    assert middles[2] - middles[1] == middles[6] - middles[5]
    assert middles[3] - middles[1] == middles[7] - middles[5]


def test_small_subtrees_between_large_ones_are_spread_evenly() -> None:
    # Two wide families with three single children between them.
    parents = [-1, 0, *[1] * 9, 0, 0, 0, 0, *[14] * 9]
    middles = x_positions(parents, [10.0] * len(parents), 2.0)
    positions = [middles[node] for node in (1, 11, 12, 13, 14)]
    steps = [right - left for left, right in itertools.pairwise(positions)]
    assert steps == pytest.approx([steps[0]] * 4)


def test_chain_is_one_line() -> None:
    assert x_positions([-1, 0, 1, 2], [4.0, 8.0, 2.0, 6.0], 1.0) == [4.0] * 4


def test_depth_of_thousands_and_width_of_thousands_are_laid_out() -> None:
    n = 30_000
    assert x_positions([-1, *range(n - 1)], [10.0] * n)[-1] == 5.0
    wide = x_positions([-1] + [0] * n, [10.0] * (n + 1), 2.0)
    assert wide[1] == 5.0
    assert wide[-1] == pytest.approx(5.0 + 12.0 * (n - 1))
    comb = [-1]
    for _ in range(n // 2):
        comb += [len(comb) - 1, len(comb) - 1]
    assert len(x_positions(comb, [10.0] * len(comb))) == len(comb)


def test_random_large_tree_keeps_its_promises() -> None:
    rng = random.Random(4)  # noqa: S311
    parents = depth_first([-1] + [rng.randrange(max(0, node - 200), node) for node in range(1, 3000)])
    check(parents, [rng.choice([5.0, 50.0, 120.0]) for _ in parents], 14.0)
