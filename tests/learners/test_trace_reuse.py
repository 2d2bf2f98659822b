"""After pruning, split traces of unchanged nodes are reused; they are those that a second count would find."""

from __future__ import annotations

from typing import Any

import pytest

from made_tables import made_table
from treewright.counting.numpy import MemoryEngine
from treewright.data.samples import sample
from treewright.fitting.learn import fit
from treewright.learners.grower import grow, reusable_traces, trace_tree
from treewright.learners.recipe import C45, CART, AttributeSampling, MissingPolicy, Recipe, Stopping
from treewright.plans import c45
from treewright.pruning.methods import ChiSquare, Collapse, ErrorBased, Method, prune
from treewright.tree.split import EvaluatedSplit
from treewright.tree.tree import Stop, Tree

RECIPES = (
    C45(),
    C45(subset=True, min_objects=5),
    C45(max_leaves=6),
    C45(max_depth=3, significance=0.2),
    CART(stopping=Stopping(max_leaves=5, min_decrease=0.001)),
    CART(draw=AttributeSampling(1, seed=3)),
)


def plain(trace: tuple[EvaluatedSplit, ...]) -> list[Any]:
    return [
        (one.attribute, one.status, one.split, one.counts.tolist(), one.unknown.tolist(), one.tries, one.p_value)
        for one in trace
    ]


def pruned_in_turn(tree: Tree, methods: tuple[Method, ...], seed: int) -> Tree:
    for method in methods:
        tree = prune(tree, method, made_table(seed))
    return tree


@pytest.mark.parametrize("recipe", RECIPES, ids=range(len(RECIPES)))
@pytest.mark.parametrize(
    "methods", [(Collapse(), ErrorBased(0.25)), (ChiSquare(0.3),), (ErrorBased(0.01, raising=False),)]
)
@pytest.mark.parametrize("cells", [20_000, 60])
def test_reused_traces_are_those_of_a_second_count(recipe: Recipe, methods: tuple[Method, ...], cells: int) -> None:
    fractional = recipe.missing is MissingPolicy.FRACTIONAL
    for seed in range(12):
        data = made_table(seed)
        grown = grow(MemoryEngine(data, fractional=fractional), recipe)
        tree = pruned_in_turn(grown.tree, methods, seed)
        again = trace_tree(MemoryEngine(data, fractional=fractional), recipe, tree, cells=cells)
        reused = trace_tree(MemoryEngine(data, fractional=fractional), recipe, tree, cells=cells, grown=grown)
        assert list(reused) == list(again)
        assert [plain(reused[node]) for node in reused] == [plain(again[node]) for node in again]


def test_c45_counts_no_node_again_that_pruning_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    count = MemoryEngine.count

    def noted(self: MemoryEngine, requests: Any) -> Any:
        counted.append(len(requests))
        return count(self, requests)

    monkeypatch.setattr(MemoryEngine, "count", noted)
    lenses = sample("contact-lenses")
    grown = fit(lenses, C45())
    to_grow, counted[:] = sum(counted), []
    pruned = fit(lenses, c45(confidence=0.01))
    assert pruned.tree.n_nodes < grown.tree.n_nodes
    assert sum(counted) == to_grow
    assert set(pruned.trace) == {0, 2, 3, 4}


def test_nodes_below_a_raised_branch_are_counted_again() -> None:
    unknown = []
    for seed in range(20):
        data = made_table(seed)
        grown = grow(MemoryEngine(data, fractional=True), C45())
        tree = prune(grown.tree, ErrorBased(1.0), data)
        unknown.append(tree.n_nodes - len(reusable_traces(grown.tree, grown.traces, tree)))
    assert 0 in unknown
    assert max(unknown) > 0


def test_a_node_cut_off_by_the_limit_of_leaves_is_counted_again() -> None:
    data = made_table(3)
    grown = grow(MemoryEngine(data, fractional=True), C45(max_leaves=3))
    reuse = reusable_traces(grown.tree, grown.traces, grown.tree)
    cut_off = {node for node in range(grown.tree.n_nodes) if grown.tree.node(node).stop is Stop.LEAVES}
    assert cut_off
    assert set(reuse) == set(range(grown.tree.n_nodes)) - cut_off
