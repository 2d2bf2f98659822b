"""A model as a SELECT statement: prediction inside the database.

Invariant: the statement predicts the same as `TreeModel.predict`. NULL, NaN and values that are not categories of the
schema are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from treewright.counting.sql.dialect import Dialect, StoredColumn
from treewright.counting.sql.statements import ROOT, Statements
from treewright.errors import DataError, ParameterError
from treewright.tree.model import TreeModel, Voting, first_maximum, node_probabilities
from treewright.tree.split import FRACTIONAL, STAY
from treewright.tree.tree import Tree
from treewright.wording import did_you_mean, quoted_list

Floats = npt.NDArray[np.float64]

PREDICTED = "predicted"

MAX_SELECT_LEAVES = 1000
"""Maximum number of leaves for fractional rows: each leaf is a column, and databases limit their number."""


def prediction_statement(
    model: TreeModel,
    columns: Sequence[StoredColumn],
    relation: str,
    dialect: Dialect,
    *,
    keep: bool = False,
    proba: bool = False,
) -> str:
    """Return the SELECT that predicts every row of a relation.

    Parameters
    ----------
    model : TreeModel
        Without surrogates, voting by shares.
    columns : sequence of StoredColumn
        Of the relation.
    relation : str
        SQL of the relation in FROM.
    dialect : Dialect
    keep : bool
        Whether to return the columns of the relation before the prediction.
    proba : bool
        Whether to return the probability of each class after the prediction.
    """
    _require_writable(model)
    names = [column.name for column in columns]
    absent = [name for name in model.schema.attribute_names if name not in names]
    if absent:
        hint = did_you_mean(absent[0], names)
        raise DataError(f"without the columns {quoted_list(absent)}{hint}; there are {quoted_list(names)}")
    writer = _Writer(model, columns, relation, dialect)
    kept = columns if keep else ()
    added = [PREDICTED, *((f"p({label})" for label in model.schema.classes) if proba else ())]
    for name in added:
        if keep and name in names:
            raise DataError("the result would contain this column twice; omit --keep", column=name)
    picks = [f"o{index} AS {dialect.quoted(column.stored)}" for index, column in enumerate(kept)]
    picks += [f"{writer.prediction()} AS {dialect.quoted(PREDICTED)}"]
    if proba:
        picks += [f"{writer.probability(code)} AS {dialect.quoted(name)}" for code, name in enumerate(added[1:])]
    return f"SELECT {', '.join(picks)} FROM ({writer.layers(kept)}) z"


def _require_writable(model: TreeModel) -> None:
    if model.tree.surrogates:
        raise ParameterError("a tree with surrogates cannot be written as a SELECT; predict without --in-database")
    if model.voting is not Voting.SHARES:
        raise ParameterError(
            "Release 8 and J48 predict with 32-bit arithmetic, which SQL does not have; use dialect 'c45'"
        )
    splits = [model.tree.split(node) for node in range(model.tree.n_nodes)]
    if model.tree.n_leaves > MAX_SELECT_LEAVES and any(
        split is not None and split.missing == FRACTIONAL for split in splits
    ):
        raise ParameterError(
            f"the tree has {model.tree.n_leaves:,} leaves, and rows with a missing value may reach all of them: "
            f"a SELECT supports at most {MAX_SELECT_LEAVES:,}"
        )
    if any(split.missing == STAY for split in splits if split is not None):
        raise ParameterError(
            "a tree whose cases stay at inner nodes cannot be written as a SELECT; predict without --in-database"
        )


class _Writer:
    """Writes the SELECT of one model in one dialect."""

    def __init__(self, model: TreeModel, columns: Sequence[StoredColumn], relation: str, dialect: Dialect) -> None:
        self._model = model
        self._tree = model.tree
        self._dialect = dialect
        schema = replace(model.schema, weight=None)
        self._statements = Statements(dialect, relation, schema, columns)
        self._paths = _paths(self._tree, self._statements)
        self._leaves = [node for node in range(self._tree.n_nodes) if self._tree.split(node) is None]
        tested = {split.attribute for split in map(self._tree.split, range(self._tree.n_nodes)) if split is not None}
        self._tested = sorted(tested)
        self._has_fractional = any(
            split.missing == FRACTIONAL
            for split in map(self._tree.split, range(self._tree.n_nodes))
            if split is not None
        )

    def layers(self, kept: Sequence[StoredColumn]) -> str:
        """Return the rows with the columns of the prediction: attributes, kept columns, and fractions at leaves."""
        picks = [f"{self._statements.column(index)} AS c{index}" for index in self._tested]
        picks += [f"{self._dialect.quoted(column.stored)} AS o{index}" for index, column in enumerate(kept)]
        rows = f"SELECT {', '.join(picks) or '1 AS one'} FROM {self._statements.relation}"
        if not self._has_fractional:
            return rows
        known = " AND ".join(self._is_known(attribute) for attribute in self._tested)
        rows = f"SELECT r.*, CASE WHEN {known} THEN 1 ELSE 0 END AS whole FROM ({rows}) r"
        shares = ", ".join(f"CASE WHEN whole = 0 THEN {self._share(leaf)} END AS s{leaf}" for leaf in self._leaves)
        rows = f"SELECT t.*, {shares} FROM ({rows}) t"
        total = " + ".join(f"s{leaf}" for leaf in self._leaves)
        rows = f"SELECT u.*, {total} AS whole_share FROM ({rows}) u"
        means = ", ".join(
            f"{self._weighted_mean(scores)} AS w{index}" for index, scores in enumerate(self._node_scores())
        )
        return f"SELECT v.*, {means} FROM ({rows}) v"

    def _node_scores(self) -> list[Floats]:
        """Return the columns whose means over leaves decide: the predicted number, or a score of each class."""
        if self._tree.is_regression:
            return [self._tree.outcome.astype(np.float64)]
        # Without costs smoothing changes probabilities but not the predicted class.
        shares = node_probabilities(self._tree, self._model.smoothing if self._model.costs is not None else None)
        scores = shares if self._model.costs is None else -(shares @ np.array(self._model.costs))
        return list(scores.T)

    def prediction(self) -> str:
        """Return the expression of the predicted class or number."""
        scores = self._node_scores()
        if self._tree.is_regression:
            return self._by_leaf(lambda leaf: self._dialect.number(scores[0][leaf]), "w0")
        codes = first_maximum(np.stack(scores, axis=1))
        best = f"GREATEST({', '.join(f'w{code}' for code in range(len(scores)))})" if len(scores) > 1 else "w0"
        bound = f"{best} - {self._dialect.number(1e-12)} * ABS({best})"
        cases = [f"WHEN w{code} >= {bound} THEN {self._label(code)}" for code in range(len(scores))]
        return self._by_leaf(lambda leaf: self._label(int(codes[leaf])), f"CASE {' '.join(cases)} END")

    def probability(self, code: int) -> str:
        """Return the expression of the probability of a class."""
        shares = node_probabilities(self._tree, self._model.smoothing)[:, code]
        return self._by_leaf(lambda leaf: self._dialect.number(shares[leaf]), self._weighted_mean(shares))

    def _label(self, code: int) -> str:
        column = self._model.schema.target_column
        stored = next((one for one in self._statements.known if one.name == column.name), None)
        literal = None if stored is None else stored.literal(column.values[code], self._dialect)
        return self._dialect.text(column.values[code]) if literal is None else literal

    def _by_leaf(self, of_leaf: Callable[[int], str], mean: str) -> str:
        """Return the expression by leaf for unit-weight rows, and `mean` for fractional rows."""
        whole = self._statements.member({self._paths[leaf]: of_leaf(leaf) for leaf in self._leaves})
        if not self._has_fractional:
            return whole
        return f"CASE WHEN whole = 1 THEN {whole} ELSE {mean} END"

    def _is_known(self, attribute: int) -> str:
        column = self._model.schema.attributes[attribute]
        if column.is_numeric:
            return f"c{attribute} IS NOT NULL"
        stored = self._statements.stored[attribute]
        literals = [one for value in column.values if (one := stored.literal(value, self._dialect)) is not None]
        return f"(c{attribute} IS NOT NULL AND c{attribute} IN ({', '.join(literals)}))" if literals else "(1 = 0)"

    def _weighted_mean(self, of_node: Floats) -> str:
        """Return the mean over leaves, weighted by the fractions of a row that reach them."""
        number = self._dialect.number
        parts = [f"{number(of_node[leaf])} * s{leaf}" for leaf in self._leaves if of_node[leaf] != 0]
        return f"({' + '.join(parts) or number(0)}) / whole_share"

    def _share(self, leaf: int) -> str:
        """Return the fraction of a row that reaches a leaf."""
        factors = []
        for node, branch in self._tree.node(leaf).path:
            split = self._tree.split(node)
            if split is None:
                continue
            condition = self._statements.condition(split, branch)
            if split.missing != FRACTIONAL:
                factors.append(f"CASE WHEN {condition} THEN 1 ELSE 0 END")
                continue
            share = _branch_share(self._tree, node, branch)
            others = " OR ".join(self._statements.condition(split, other) for other in range(split.n_branches))
            factors.append(f"CASE WHEN {condition} THEN 1 WHEN {others} THEN 0 ELSE {self._dialect.number(share)} END")
        return f"({' * '.join(factors)})" if factors else "1"


def _branch_share(tree: Tree, node: int, branch: int) -> float:
    """Return the fraction of a row that a branch gets, as in `treewright.tree.route`."""
    children = tree.children_of(node)
    total = float(tree.weight[children].sum())
    if total <= 0:
        return 1.0 / len(children)
    measure = float(tree.weight[node]) if tree.weight[node] > 0 else total
    return float(tree.weight[children[branch]]) / measure


def _paths(tree: Tree, statements: Statements) -> dict[int, int]:
    """Return the path of every node."""
    paths = {0: ROOT}
    for node in range(tree.n_nodes):  # parents come before their children
        split = tree.split(node)
        if split is not None:
            for branch, child in enumerate(tree.children_of(node).tolist()):
                paths[child] = statements.path_below(paths[node], split, branch)
    return paths
