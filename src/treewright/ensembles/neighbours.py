"""Cases that share leaves: the embedding in leaves, the proximity of cases, and quantiles of a numeric target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.ensembles.plan import ForestPlan, bagging
from treewright.ensembles.random_forest import CaseSampling, digest_of
from treewright.errors import ParameterError
from treewright.tree.forest import Forest
from treewright.tree.tree import LEAF

Floats = npt.NDArray[np.float64]

MAX_PROXIMITY_CELLS = 500_000_000
"""Maximum number of cells of a proximity matrix (4 GB)."""

CELLS_AT_ONCE = 20_000_000
"""Maximum number of cells of the weights of neighbours in memory."""


def embedding(forest: Forest, cases: Dataset) -> Any:
    """Return the leaves of the cases as a sparse matrix of ones (SciPy CSR, cases x leaves of all trees).

    A case that stays at an inner node of a tree has no leaf there; a fractional case has that of its largest fraction.
    """
    from scipy.sparse import csr_matrix

    nodes = forest.nodes(cases)
    at_leaf = forest.packed.attribute[nodes] == LEAF
    rows = np.repeat(np.arange(cases.n_rows), at_leaf.sum(axis=1))
    columns = forest.packed.leaf_number[nodes[at_leaf]]
    shape = (cases.n_rows, int(forest.packed.leaf_starts[-1]))
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def proximity(forest: Forest, cases: Dataset, others: Dataset | None = None) -> Floats:
    """Return the proximity of cases to others, or among themselves."""
    second = cases if others is None else others
    if cases.n_rows * second.n_rows > MAX_PROXIMITY_CELLS:
        raise ParameterError(
            f"the proximity of {cases.n_rows:,} and {second.n_rows:,} cases has too many cells "
            f"(at most {MAX_PROXIMITY_CELLS:,})"
        )
    mine = forest.nodes(cases)
    theirs = mine if others is None else forest.nodes(second)
    shared = _membership(forest, mine) @ _membership(forest, theirs).T
    result: Floats = shared.toarray() / forest.n_trees
    return result


def _membership(forest: Forest, nodes: npt.NDArray[np.int64]) -> Any:
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(nodes)), nodes.shape[1])
    return csr_matrix((np.ones(nodes.size), (rows, nodes.ravel())), shape=(len(nodes), forest.packed.n_nodes))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The training cases in every leaf of a regression forest.

    Parameters
    ----------
    forest : Forest
    members : sparse matrix, nodes x training cases
        Weight of each case as a share of the weight of the leaf; cases are sorted by target.
    target : array
        The targets, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.dataset import Dataset
    >>> from treewright.data.schema import Column, Kind, Schema
    >>> from treewright.ensembles.plan import forest
    >>> from treewright.fitting.learn import fit
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    >>> x = np.repeat([0.0, 1.0], 50)
    >>> data = Dataset(schema, (x,), 100, x * 10 + np.tile(np.arange(50.0), 2))
    >>> plan = forest(trees=20)
    >>> near = neighbours(fit(data, plan), data, plan)
    >>> near.quantiles(data.take([0, 99]), (0.5,)).round().ravel().tolist()
    [25.0, 33.0]
    """

    forest: Forest
    members: Any
    target: Floats

    def quantiles(self, cases: Dataset, wanted: tuple[float, ...]) -> Floats:
        """Return the quantiles of the target of each case (cases x quantiles).

        The quantile q is the least target at which the cumulative weight of the neighbours is at least q.
        """
        if not wanted or not all(0 <= one <= 1 for one in wanted):
            raise ParameterError(f"quantiles must be numbers from 0 to 1, not {wanted!r}")
        result = np.empty((cases.n_rows, len(wanted)))
        nodes = self.forest.nodes(cases)
        size = max(1, CELLS_AT_ONCE // max(1, len(self.target)))
        for first in range(0, cases.n_rows, size):
            part = nodes[first : first + size]
            weights = np.asarray((_membership(self.forest, part) @ self.members).todense())
            reached = np.cumsum(weights, axis=1)
            for index, share in enumerate(wanted):
                least = (share * reached[:, -1] * (1 - 1e-12))[:, None]
                result[first : first + size, index] = self.target[np.argmax((reached >= least) & (weights > 0), axis=1)]
        return result


def neighbours(forest: Forest, dataset: Dataset, plan: ForestPlan | None = None) -> Neighbours:
    """Find the training cases in the leaves of a regression forest, including a loaded one.

    Parameters
    ----------
    forest : Forest
    dataset : Dataset
        The training cases of the forest; its file stores only a digest of them, which is checked.
    plan : ForestPlan or None
        The plan of the forest; None uses the recipe that the forest stores.
    """
    from scipy.sparse import csr_matrix

    if not forest.is_regression or dataset.target is None:
        raise ParameterError("quantiles require a numeric target, but this forest predicts classes")
    if plan is None:
        if forest.provenance.get("data") != digest_of(dataset):
            raise ParameterError("these are not the training cases of the forest, in their order")
        plan = _sampling_plan_of(forest)
    sampling = CaseSampling(plan, dataset)
    order = np.argsort(dataset.target, kind="stable")
    nodes = forest.nodes(dataset)[order]
    own = dataset.case_weights
    weights = np.stack([own * sampling.counts(tree) for tree in range(forest.n_trees)], axis=1)[order]
    in_node = np.bincount(nodes.ravel(), weights.ravel(), forest.packed.n_nodes)
    share = weights / np.where(in_node > 0, in_node, 1.0)[nodes]
    columns = np.repeat(np.arange(dataset.n_rows), forest.n_trees)
    shape = (forest.packed.n_nodes, dataset.n_rows)
    members = csr_matrix((share.ravel(), (nodes.ravel(), columns)), shape=shape)
    members.eliminate_zeros()
    return Neighbours(forest, members, dataset.target[order].astype(np.float64))


def _sampling_plan_of(forest: Forest) -> ForestPlan:
    """Return a plan with the same bootstrap samples as a forest; the kind of its trees does not matter."""
    recipe = forest.recipe
    if recipe.get("ensemble") != "forest":
        raise ParameterError("quantiles require bagged trees or a random forest")
    names = ("bootstrap", "max_samples", "seed")
    return bagging(trees=forest.n_trees, **{name: recipe[name] for name in names})
