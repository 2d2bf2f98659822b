"""Cost-complexity pruning as in rpart: the cp table, its cross-validation, the choice of cp, and importance.

Invariants
----------
Trees of the table are nested: complexity never rises from a node to its children, so a row keeps exactly the splits
whose complexity is greater than its CP.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.learners.rpart.cases import LEFT, NEITHER, RIGHT, Rows, Sides
from treewright.learners.rpart.growing import RpartData, grow_nodes, prepare
from treewright.learners.rpart.nodes import RpartGrowth, RpartNode, nested, tree_of
from treewright.learners.rpart.options import Rpart
from treewright.learners.rpart.splits import assign_sides
from treewright.parameters import check_whole_number
from treewright.tree.tree import Tree

Floats = npt.NDArray[np.float64]

FIRST_POINT = 10.0
"""The first cp point is this many times the first CP: above every complexity, whichever cases are left out."""


@dataclass(frozen=True)
class CpTable:
    """The sequence of pruned trees, the smallest first.

    Parameters
    ----------
    cp : array of float
        Descending.
    nsplit : array of int
    rel_error : array of float
        Risk on the training cases over that of the root.
    xerror, xstd : array of float or None
        Risk on left-out cases and its standard error, if the table was cross-validated.
    """

    cp: Floats
    nsplit: npt.NDArray[np.int64]
    rel_error: Floats
    xerror: Floats | None = None
    xstd: Floats | None = None

    def __len__(self) -> int:
        return len(self.cp)

    def rows(self) -> list[tuple[float, ...]]:
        """Return the rows: CP, nsplit, rel error and, if the table was cross-validated, xerror and xstd."""
        columns = [self.cp, self.nsplit, self.rel_error]
        if self.xerror is not None and self.xstd is not None:
            columns += [self.xerror, self.xstd]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[float]]) -> CpTable:
        """Restore the table from its rows."""
        columns = [np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)]
        return cls(columns[0], columns[1].astype(np.int64), *columns[2:])

    def __str__(self) -> str:
        """Return the table as rpart prints it.

        Examples
        --------
        >>> print(CpTable(np.array([0.3, 0.01]), np.array([0, 2]), np.array([1.0, 0.4])))
            CP nsplit rel error
        1  0.3      0         1
        2 0.01      2       0.4
        """
        heads = ["", "CP", "nsplit", "rel error", "xerror", "xstd"]
        lines = [[str(number), *(f"{cell:.5g}" for cell in row)] for number, row in enumerate(self.rows(), 1)]
        cells = [heads[: len(lines[0])], *lines]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(" ".join(cell.rjust(width) for cell, width in zip(r, widths, strict=True)) for r in cells)


def cp_table(growth: RpartGrowth) -> CpTable:
    """Return the table of the pruned trees.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.rpart.growing import grow_rpart
    >>> table = cp_table(grow_rpart(sample("play-tennis"), Rpart(min_split=2, cp=0.0)))
    >>> [(round(cp, 4), nsplit, error) for cp, nsplit, error in table.rows()]
    [(0.3, 0, 1.0), (0.1, 2, 0.4), (0.0, 6, 0.0)]
    """
    complexity = np.array(growth.nested_complexity)
    inner = np.array([node.primary is not None for node in growth.nodes])
    risk = np.array([node.risk for node in growth.nodes])
    above = np.full(len(inner), math.inf)
    for index, node in enumerate(growth.nodes):
        if node.primary is not None:
            above[[node.left, node.right]] = complexity[index]
    values = _values(growth)
    nsplit, error = [], []
    for value in values:
        kept = inner & (complexity > value)
        nsplit.append(int(np.count_nonzero(kept)))
        error.append(float(risk[(above > value) & ~kept].sum()))
    relative = [one / growth.root_risk if growth.root_risk > 0 else 1.0 for one in error]
    return CpTable(np.array([growth.relative(value) for value in values]), np.array(nsplit), np.array(relative))


def _values(growth: RpartGrowth) -> list[float]:
    """Return the complexities of the rows, in units of risk, descending."""
    if growth.nodes[0].primary is None:
        return [growth.nodes[0].complexity]
    return sorted({max(value, growth.alpha) for value in growth.nested_complexity}, reverse=True)


def prune_to_cp(growth: RpartGrowth, cp: float) -> Tree:
    """Return the tree that keeps the splits whose complexity is greater than cp.

    Parameters
    ----------
    growth : RpartGrowth
        It is not changed.
    cp : float
        A row's CP gives the row's tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.rpart.growing import grow_rpart
    >>> growth = grow_rpart(sample("play-tennis"), Rpart(min_split=2, cp=0.0))
    >>> prune_to_cp(growth, 0.1).n_leaves, prune_to_cp(growth, 0.3).n_leaves
    (3, 1)
    """
    if isinstance(cp, bool) or not isinstance(cp, (int, float, np.number)) or not cp >= 0:
        raise ParameterError(f"cp must be a number of at least 0, not {cp!r}")
    return tree_of(growth.schema, growth.nodes, [growth.relative(one) > cp for one in growth.nested_complexity])


def cross_validated(
    dataset: Dataset,
    options: Rpart,
    growth: RpartGrowth,
    groups: npt.ArrayLike | None = None,
    folds: int = 10,
    seed: int = 0,
) -> CpTable:
    """Return the cp table with cross-validated errors.

    For each group a tree is grown from the other cases, with alpha and the cp points scaled by their share; it predicts
    the cases of the group after pruning at every cp point. Altered and risk weights stay those of all cases.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    options : Rpart
    growth : RpartGrowth
    groups : array of int or None
        The group of each row. None assigns the cases at random.
    folds : int, default 10
        Number of random groups.
    seed : int, default 0
        Random seed for the groups.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.rpart.growing import grow_rpart
    >>> weather, options = sample("play-tennis"), Rpart(min_split=2, cp=0.0)
    >>> table = cross_validated(weather, options, grow_rpart(weather, options), groups=range(14))
    >>> [round(float(error), 2) for error in table.xerror]
    [1.0, 1.2, 1.4]
    """
    ready = prepare(dataset, options)
    table = cp_table(growth)
    group = _groups(dataset.n_rows, groups, folds, seed)[ready.kept]
    if growth.nodes[0].primary is None and options.faults:
        return replace(table, xerror=np.zeros(1), xstd=np.zeros(1))
    values = _values(growth)
    points = np.array([FIRST_POINT * values[0], *(math.sqrt(a * b) for a, b in pairwise(values))])
    weights = ready.target.weights
    total = float(weights.sum())
    sums, squares = np.zeros(len(points)), np.zeros(len(points))
    for one in np.unique(group):
        rest, left_out = group != one, np.flatnonzero(group == one)
        if not rest.any():
            raise ParameterError("groups must leave cases to grow from: there is only one group")
        share = float(weights[rest].sum()) / total
        nodes, _ = grow_nodes(ready, ready.cases.on(1, rest.astype(np.int8)), options, growth.alpha * share)
        for rows, outcome, chosen in _predictions(ready, nodes, left_out, points * share, faults=options.faults):
            errors = ready.target.errors(rows, np.full(len(rows), float(outcome)), transposed=options.faults)
            sums[chosen] += float((errors * weights[rows]).sum())
            squares[chosen] += float((errors * errors * weights[rows]).sum())
    scale = growth.root_risk if growth.root_risk > 0 else 1.0
    spread = np.sqrt(np.maximum(squares - sums * sums / total, 0.0))
    return replace(table, xerror=sums / scale, xstd=spread / scale)


def _groups(n_rows: int, groups: npt.ArrayLike | None, folds: int, seed: int) -> npt.NDArray[np.int64]:
    if groups is not None:
        given = np.asarray(groups)
        if given.shape != (n_rows,) or given.dtype.kind not in "iu":
            raise ParameterError(f"groups must be {n_rows} whole numbers, one per row")
        return given.astype(np.int64)
    check_whole_number("folds", folds, 2)
    return np.random.default_rng(seed).permutation(np.arange(n_rows, dtype=np.int64) % folds)


def _predictions(
    ready: RpartData, nodes: Sequence[RpartNode], rows: Rows, points: Floats, *, faults: bool
) -> list[tuple[Rows, int | float, npt.NDArray[np.intp]]]:
    """Return what is predicted for which rows at which cp points: rows, outcome of a node, indices of points.

    A case goes further down while the cp point is below the complexity of its node.
    """
    complexity = nested(nodes)
    predictions = []
    waiting = [(0, rows, np.arange(len(points)))]
    while waiting:
        index, here, open_points = waiting.pop()
        node = nodes[index]
        if not len(here) or not len(open_points):
            continue
        going = (points[open_points] < complexity[index]) & (node.primary is not None)
        predictions.append((here, node.outcome, open_points[~going]))
        if not going.any():
            continue
        sides = _sides(ready, node, here)
        if faults:
            sides[sides == NEITHER] = RIGHT
        staying = here[sides == NEITHER]
        predictions.append((staying, node.outcome, open_points[going]))
        waiting.append((node.left, here[sides == LEFT], open_points[going]))
        waiting.append((node.right, here[sides == RIGHT], open_points[going]))
    return predictions


def _sides(ready: RpartData, node: RpartNode, rows: Rows) -> Sides:
    """Return the side of each case: by the primary split, its surrogates, or the default."""
    sides = np.full(len(rows), NEITHER, dtype=np.int8)
    splits = () if node.primary is None else (node.primary, *node.surrogates)
    assign_sides(ready.dataset, rows, sides, splits, node.default)
    return sides


def choose_cp(table: CpTable, rule: Literal["min", "1se"] = "min") -> float:
    """Return the CP of the tree to choose.

    Parameters
    ----------
    table : CpTable
        Cross-validated.
    rule : {"min", "1se"}
        The smallest tree with the least xerror, or the smallest within one standard error of it.

    Examples
    --------
    >>> table = CpTable(np.array([0.5, 0.2, 0.0]), np.array([0, 1, 3]), np.array([1.0, 0.5, 0.1]),
    ...                 np.array([1.1, 0.6, 0.55]), np.array([0.1, 0.1, 0.1]))
    >>> choose_cp(table), choose_cp(table, "1se")
    (0.0, 0.2)
    """
    if rule not in ("min", "1se"):
        raise ParameterError(f"rule must be 'min' or '1se', not {rule!r}")
    if table.xerror is None or table.xstd is None:
        raise ParameterError("the table has no cross-validated errors; see cross_validated")
    best = int(np.argmin(table.xerror))
    bar = float(table.xerror[best]) + (float(table.xstd[best]) if rule == "1se" else 0.0)
    return float(table.cp[np.flatnonzero(table.xerror <= bar)[0]])


def importance(growth: RpartGrowth, cp: float | None = None) -> Floats:
    """Return the importance of each attribute: the improvement of its splits, also as surrogates.

    A surrogate counts with the improvement of its primary split, times its adjusted agreement.

    Parameters
    ----------
    growth : RpartGrowth
    cp : float or None
        Count only the splits of the tree that `prune_to_cp` returns; None counts all.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.rpart.growing import grow_rpart
    >>> growth = grow_rpart(sample("play-tennis"), Rpart(min_split=2, cp=0.0, max_surrogates=0))
    >>> importance(growth).round(3).tolist()
    [3.029, 0.0, 1.8, 1.6]
    """
    result = np.zeros(len(growth.schema.attributes))
    for node, complexity in zip(growth.nodes, growth.nested_complexity, strict=True):
        if node.primary is None or (cp is not None and growth.relative(complexity) <= cp):
            continue
        improved = node.primary.improve * (1.0 if growth.schema.classes else node.risk)
        result[node.primary.attribute] += improved
        for surrogate in node.surrogates:
            result[surrogate.attribute] += improved * surrogate.adjusted
    return result
