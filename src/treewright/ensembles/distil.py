"""One readable tree that stands in for a forest: grown from what the forest says.

The forest labels its training cases and as many more that are made from them (Breiman and Shang 1996, "born again
trees"): a made case starts from a training case, and each of its cells is replaced by that of another one with
probability one half. A tree is grown from all of these, and its fidelity (how often it says what the forest says) is
told beside its accuracy and that of the plain tree, which was grown from the training cases themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.ensembles.bootstrap import CASES, drawn, shares, tree_key
from treewright.ensembles.growing import TreeMaker
from treewright.errors import DataError, ParameterError
from treewright.learners.base import TreeLearner
from treewright.learners.recipe import Stopping
from treewright.learners.sampling import child_key
from treewright.plans import Plan, as_plan, c45, cart, provenance_of
from treewright.tree.model import Predictor, TreeModel

REPLACED = 0.5
"""Share of the cells of a made case that come from other cases."""


@dataclass(frozen=True)
class Distilled:
    """The tree that stands in for a forest, and how well it does.

    Parameters
    ----------
    model : TreeModel
        The tree grown from what the forest says.
    plain : TreeModel
        The tree grown from the training cases, by the same plan.
    tested : str
        ``"test"`` if the figures are of cases that none of the models has seen, else ``"training"``.
    fidelity, plain_fidelity : float
        Share of the cases of which the tree says what the forest says; for numbers the share of the variance of the
        forest's answers that the tree explains.
    accuracy, plain_accuracy, forest_accuracy : float
        Share of right answers; for numbers the share of the variance of the target explained.
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
    """Grow one tree from what a forest says.

    Parameters
    ----------
    forest : Predictor
        Any model, mostly a `Forest`.
    data : Dataset
        The cases that it was learned from.
    test : Dataset or None
        Cases that it has not seen, to measure on; without them the figures are of the training cases.
    plan : Plan, Recipe or None
        How trees are grown; C4.5 with its pruning for classes, CART of at most 32 leaves for numbers.
    made : int or None
        Number of made cases; None makes as many as there are training cases, at least 1,000.
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
        raise ParameterError("the forest was learned from other attributes than these data have")
    numbers = data.schema.task is Task.REGRESSION
    chosen = (as_plan(plan) if plan is not None else _usual(numbers=numbers)).for_schema(data.schema)
    cases = with_made_cases(data, max(1000, data.n_rows) if made is None else made, seed)
    labelled = replace(cases, target=_said(forest, cases))
    model = _model(labelled, chosen, data, made=cases.n_rows - data.n_rows)
    plain = _model(data, chosen, data)
    asked = data if test is None else test
    truth = np.zeros(0) if asked.target is None else asked.target
    if len(truth) != asked.n_rows:
        raise DataError("the test cases have no target", source=asked.source)
    answers = {name: _said(one, asked) for name, one in (("f", forest), ("d", model), ("p", plain))}
    return Distilled(
        model,
        plain,
        "training" if test is None else "test",
        _agreement(answers["f"], answers["d"], numbers=numbers),
        _agreement(answers["f"], answers["p"], numbers=numbers),
        _agreement(truth, answers["d"], numbers=numbers),
        _agreement(truth, answers["p"], numbers=numbers),
        _agreement(truth, answers["f"], numbers=numbers),
    )


def with_made_cases(data: Dataset, made: int, seed: int = 0) -> Dataset:
    """Return the cases and so many more, made by mixing them; the made ones have no known target of their own."""
    key = tree_key(seed, 0, CASES)
    begin = drawn(key, data.n_rows, made)
    columns: list[npt.NDArray[Any]] = []
    for place, column in enumerate(data.columns):
        own = child_key(key, place)
        other = drawn(child_key(own, 0), data.n_rows, made)
        replaced = shares(child_key(own, 1), made) < REPLACED
        columns.append(np.concatenate((column, column[np.where(replaced, other, begin)])))
    weights = None if data.weights is None else np.concatenate((data.weights, np.ones(made)))
    return Dataset(data.schema, tuple(columns), data.n_rows + made, None, weights, data.source)


def _usual(*, numbers: bool) -> Plan:
    return cart(stopping=Stopping(max_leaves=32)) if numbers else c45()


def _said(model: Predictor, cases: Dataset) -> npt.NDArray[Any]:
    if cases.schema.task is Task.REGRESSION:
        numbers: npt.NDArray[Any] = model.predict(cases)
        return numbers
    return model.predict_codes(cases).astype(np.int32)


def _model(cases: Dataset, plan: Plan, data: Dataset, **told: int) -> TreeModel:
    tree = TreeMaker(cases, plan).make(None)
    record = provenance_of(data) | told
    return TreeModel(tree, plan.to_dict(), record, {}, None, plan.learner.voting)


def _agreement(first: npt.NDArray[Any], second: npt.NDArray[Any], *, numbers: bool) -> float:
    if not numbers:
        return float(np.mean(first == second))
    around = float(((first - first.mean()) ** 2).sum())
    left = float(((first - second) ** 2).sum())
    return 1.0 - left / around if around > 0 else float(left == 0)
