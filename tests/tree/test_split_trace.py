"""The split trace: what a model keeps of the splits that were evaluated."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.samples import sample
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, ID3
from treewright.tree.split import EvaluatedSplit, SplitStatus


def test_the_size_of_an_entry_is_its_counted_cells() -> None:
    assert EvaluatedSplit(0, SplitStatus.CHOSEN, None, np.zeros((3, 2)), np.zeros(2)).cells == 8


def test_every_inner_node_keeps_the_status_of_every_attribute_and_chose_one() -> None:
    for recipe in (ID3(), C45(min_objects=1)):
        model = fit(sample("restaurant"), recipe)
        inner = [node.index for node in model.tree if not node.is_leaf]
        assert set(inner) <= set(model.trace)
        for node in inner:
            entries = model.trace[node]
            assert [entry.attribute for entry in entries] == list(range(10))
            (chosen,) = [entry for entry in entries if entry.status is SplitStatus.CHOSEN]
            assert chosen.split == model.tree.split(node)


def test_the_counts_are_those_of_the_branches() -> None:
    model = fit(sample("play-tennis"), ID3())
    (outlook,) = [entry for entry in model.trace[0] if entry.status is SplitStatus.CHOSEN]
    assert outlook.counts.tolist() == [[2, 3], [4, 0], [3, 2]]
    assert outlook.counts.tolist() == [model.tree.counts[child].tolist() for child in model.tree.children_of(0)]
    (used,) = [entry for entry in model.trace[1] if entry.status is SplitStatus.USED_ABOVE]
    assert used.split is None


def test_the_former_name_of_the_trace_reads_with_a_warning() -> None:
    model = fit(sample("play-tennis"), ID3())
    with pytest.warns(DeprecationWarning, match=r"TreeModel\.trace"):
        former = model.working
    assert former is model.trace
