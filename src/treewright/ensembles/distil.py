"""Distil a forest into one readable tree that is grown from the predictions of the forest.

The forest labels its training cases and as many artificial ones (Breiman and Shang 1996, "born again trees"). An
artificial case is a copy of a training case in which each cell is replaced, with probability one half, by the cell of
another training case. A tree is grown from all of them. Reported are its fidelity (how often it predicts the same as
the forest), its accuracy, and the same for a plain tree grown from the training cases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.ensembles.bootstrap import CASES, sampled_rows, shares, tree_key
from treewright.ensembles.growing import TreeMaker
from treewright.errors import DataError, ParameterError
from treewright.learners.base import TreeLearner
from treewright.learners.recipe import Stopping
from treewright.learners.sampling import child_key
from treewright.plans import Plan, as_plan, c45, cart, provenance
from treewright.tree.model import Predictor, TreeModel

REPLACED = 0.5
"""Share of the cells of an artificial case that come from other cases."""


@dataclass(frozen=True)
class Distilled:
    """The tree distilled from a forest, with its fidelity and accuracy.

    Parameters
    ----------
    model : TreeModel
        The tree grown from the predictions of the forest.
    plain : TreeModel
        The tree grown from the training cases, by the same plan.
    tested : str
        ``"test"`` if the figures are of cases that no model was trained on, else ``"training"``.
    fidelity, plain_fidelity : float
        Share of the cases for which tree and forest predict the same; for regression, the share of the variance of
        the predictions of the forest that the tree explains.
    accuracy, plain_accuracy, forest_accuracy : float
        Share of correct predictions; for regression, the share of the variance of the target that is explained.
    """

    model: TreeModel
    plain: TreeModel
    tested: str
    fidelity: float
    plain_fidelity: float
    accuracy: float
    plain_accuracy: float
    forest_accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tested": self.tested,
            "forest": {"accuracy": self.forest_accuracy},
            "distilled": {"accuracy": self.accuracy, "fidelity": self.fidelity, "leaves": self.model.tree.n_leaves},
            "plain": {
                "accuracy": self.plain_accuracy,
                "fidelity": self.plain_fidelity,
                "leaves": self.plain.tree.n_leaves,
            },
        }

    def __str__(self) -> str:
        where = "unseen cases" if self.tested == "test" else "the training cases, which flatter all of them"
        rows = [
            ("forest", self.forest_accuracy, None, None),
            ("distilled tree", self.accuracy, self.fidelity, self.model.tree.n_leaves),
            ("plain tree", self.plain_accuracy, self.plain_fidelity, self.plain.tree.n_leaves),
        ]
        lines = [f"{'':<16}{'accuracy':>10}{'fidelity':>10}{'leaves':>8}"]
        for name, accuracy, fidelity, leaves in rows:
            rest = "" if fidelity is None else f"{100 * fidelity:>8.1f} %{leaves:>8,}"
            lines.append(f"{name:<16}{100 * accuracy:>8.1f} %{rest}")
        return "\n".join([*lines, f"on {where}"])


def distil(
    forest: Predictor,
    data: Dataset,
    *,
    test: Dataset | None = None,
    plan: Plan | TreeLearner | None = None,
    made: int | None = None,
    seed: int = 0,
) -> Distilled:
    """Grow one tree from the predictions of a forest.

    Parameters
    ----------
    forest : Predictor
        Any model, usually a `Forest`.
    data : Dataset
        The training cases of the forest.
    test : Dataset or None
        Cases to evaluate on; None evaluates on the training cases.
    plan : Plan, Recipe or None
        How trees are grown; by default C4.5 with its pruning, or for regression CART with at most 32 leaves.
    made : int or None
        Number of artificial cases; by default that of the training cases, at least 1,000.
    seed : int

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import forest
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> found = distil(fit(weather, forest(trees=50)), weather)
    >>> found.fidelity, found.plain_fidelity
    (1.0, 1.0)
    """
    if data.target is None or data.n_rows == 0:
        raise DataError("there are no training cases with a target", source=data.source)
    if made is not None and (isinstance(made, bool) or not isinstance(made, int) or made < 0):
        raise ParameterError(f"made must be a whole number of at least 0, or None, not {made!r}")
    if forest.schema.attributes != data.schema.attributes:
        raise ParameterError("the attributes of the forest differ from those of the data")
    numbers = data.schema.task is Task.REGRESSION
    chosen = (as_plan(plan) if plan is not None else _default_plan(numbers=numbers)).for_schema(data.schema)
    cases = with_artificial_cases(data, max(1000, data.n_rows) if made is None else made, seed)
    labelled = replace(cases, target=_predicted(forest, cases))
    model = _model(labelled, chosen, data, made=cases.n_rows - data.n_rows)
    plain = _model(data, chosen, data)
    evaluated = data if test is None else test
    actual = np.zeros(0) if evaluated.target is None else evaluated.target
    if len(actual) != evaluated.n_rows:
        raise DataError("the test cases have no target", source=evaluated.source)
    predictions = {name: _predicted(one, evaluated) for name, one in (("f", forest), ("d", model), ("p", plain))}
    return Distilled(
        model,
        plain,
        "training" if test is None else "test",
        _agreement(predictions["f"], predictions["d"], numbers=numbers),
        _agreement(predictions["f"], predictions["p"], numbers=numbers),
        _agreement(actual, predictions["d"], numbers=numbers),
        _agreement(actual, predictions["p"], numbers=numbers),
        _agreement(actual, predictions["f"], numbers=numbers),
    )


def with_artificial_cases(data: Dataset, made: int, seed: int = 0) -> Dataset:
    """Return the cases, followed by `made` artificial ones that mix them; the result has no target."""
    key = tree_key(seed, 0, CASES)
    begin = sampled_rows(key, data.n_rows, made)
    columns: list[npt.NDArray[Any]] = []
    for index, column in enumerate(data.columns):
        own = child_key(key, index)
        other = sampled_rows(child_key(own, 0), data.n_rows, made)
        replaced = shares(child_key(own, 1), made) < REPLACED
        columns.append(np.concatenate((column, column[np.where(replaced, other, begin)])))
    weights = None if data.weights is None else np.concatenate((data.weights, np.ones(made)))
    return Dataset(data.schema, tuple(columns), data.n_rows + made, None, weights, data.source)


def _default_plan(*, numbers: bool) -> Plan:
    return cart(stopping=Stopping(max_leaves=32)) if numbers else c45()


def _predicted(model: Predictor, cases: Dataset) -> npt.NDArray[Any]:
    if cases.schema.task is Task.REGRESSION:
        numbers: npt.NDArray[Any] = model.predict(cases)
        return numbers
    return model.predict_codes(cases).astype(np.int32)


def _model(cases: Dataset, plan: Plan, data: Dataset, **more: int) -> TreeModel:
    tree = TreeMaker(cases, plan).make(None)
    record = provenance(data.n_rows, data.source) | more
    return TreeModel(tree, plan.to_dict(), record, {}, None, plan.learner.voting)


def _agreement(first: npt.NDArray[Any], second: npt.NDArray[Any], *, numbers: bool) -> float:
    if not numbers:
        return float(np.mean(first == second))
    around = float(((first - first.mean()) ** 2).sum())
    residual = float(((first - second) ** 2).sum())
    return 1.0 - residual / around if around > 0 else float(residual == 0)
