"""Drawing depends on the seed and the position of a node, on nothing else."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from treewright.learners.sampling import child_key, mix_bits, root_key, shuffled


@given(st.integers(-(2**70), 2**70), st.integers(0, 60))
def test_an_order_has_every_number_once_and_is_always_the_same(seed: int, n: int) -> None:
    order = shuffled(root_key(seed), n)
    assert sorted(order) == list(range(n))
    assert order == shuffled(root_key(seed), n)


def test_the_first_number_of_splitmix64() -> None:
    """Published by the authors of the generator: state 0 gives 0xE220A8397B1DCDAF first."""
    assert mix_bits(0) == 0xE220A8397B1DCDAF


def test_seeds_give_different_orders() -> None:
    orders = {tuple(shuffled(root_key(seed), 8)) for seed in range(50)}
    assert len(orders) > 45


def test_children_draw_differently_from_each_other_and_from_their_parent() -> None:
    keys = {root_key(3)}
    level = [root_key(3)]
    for _ in range(6):
        level = [child_key(key, branch) for key in level for branch in range(3)]
        keys.update(level)
    assert len(keys) == sum(3**depth for depth in range(7))


def test_every_position_is_sampled_about_equally_often() -> None:
    first = Counter(shuffled(root_key(seed), 5)[0] for seed in range(5000))
    assert all(850 < first[index] < 1150 for index in range(5))
