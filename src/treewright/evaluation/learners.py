"""Learners that can be evaluated: plans, recipes, names of algorithms, estimators, functions; each becomes a `fit`.

`fit` is a function from a dataset to a model. `Learn` wraps a plan; `LearnByEstimator` wraps an estimator with
scikit-learn's interface, ours or another. Named learners are a dict of names and learners, or a list, whose names
follow from its items.

Invariants
----------
`Learn` and `LearnByEstimator` are values: they learn the same from the same cases, in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.evaluation.cross_validation import Fit
from treewright.fitting.algorithms import Learner, as_learner, is_learner
from treewright.learners.base import TreeLearner
from treewright.tree.forest import Forest
from treewright.tree.model import Predictor, Smoothing, TreeModel
from treewright.tree.rules import RuleModel

EXPECTED = "a plan, a recipe, the name of an algorithm, an estimator or a function from a dataset to a model"


@dataclass(frozen=True)
class Learn:
    """A plan as a `fit` function, with its weights, costs and smoothing.

    Parameters
    ----------
    plan : Plan, RulePlan, ForestPlan, BoostPlan or recipe
    class_weights, smoothing, costs, n_jobs, engine
        As in `treewright.fit`; rules take none of the first three.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> Learn(c45())(sample("play-tennis")).tree.n_leaves
    5
    """

    plan: Learner | TreeLearner
    class_weights: Mapping[str, float] | None = None
    smoothing: Smoothing = None
    costs: tuple[tuple[float, ...], ...] | None = None
    n_jobs: int | None = None
    engine: str = "auto"

    def __call__(self, part: Dataset) -> TreeModel | RuleModel | Forest:
        """Train on these cases, without the split traces that only explanations need."""
        from treewright.fitting.learn import fit

        return fit(
            part,
            self.plan,
            class_weights=self.class_weights,
            smoothing=self.smoothing,
            costs=self.costs,
            keep_trace=False,
            engine=self.engine,
            n_jobs=self.n_jobs,
        )


@dataclass(frozen=True)
class LearnByEstimator:
    """An estimator as a `fit` function: Treewright's estimators get the encoded cases, others a dataframe.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.estimators.c45 import C45Classifier
    >>> LearnByEstimator(C45Classifier())(sample("play-tennis")).tree.n_leaves
    5
    """

    estimator: Any

    def __call__(self, part: Dataset) -> Predictor:
        """Fit a copy to these cases."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        copy = clone(self.estimator)
        weights = {} if part.weights is None else {"sample_weight": part.weights}
        if weights and not has_fit_parameter(copy, "sample_weight"):
            raise ParameterError(f"the cases have weights, and {type(copy).__name__} takes none")
        if _is_ours(copy):
            return fitted_model(copy.fit(part.X, part.y, **weights), part.schema)
        return fitted_model(copy.fit(attributes_frame(part), part.y, **weights), part.schema)


class EstimatorModel(Predictor):
    """A fitted estimator of another library with the interface of a model.

    Parameters
    ----------
    estimator : object
        Fitted, with `predict`.
    schema : Schema
        Schema of the cases, with their target.
    """

    def __init__(self, estimator: Any, schema: Schema) -> None:
        self._estimator = estimator
        self._schema = schema

    @property
    def schema(self) -> Schema:
        """The schema of the cases."""
        return self._schema

    def cases(self, data: Any) -> Dataset:
        """Return the cases; raise unless they are a dataset."""
        if not isinstance(data, Dataset):
            raise ParameterError(f"this model takes a dataset, not {type(data).__name__}")
        return data

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predictions of the estimator: labels or numbers."""
        predicted = self._estimator.predict(attributes_frame(self.cases(data)))
        return np.asarray(predicted, dtype=np.float64) if self.schema.task is Task.REGRESSION else np.asarray(predicted)

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return the codes of the predicted classes."""
        return self._class_codes(self.predict(cases))

    def _class_codes(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        strange = [label for label in labels.tolist() if label not in code_of]
        if strange:
            raise DataError(f"the estimator predicts {strange[0]!r}, which is not one of the classes {list(code_of)}")
        return np.array([code_of[label] for label in labels.tolist()], dtype=np.intp)


class ProbabilityModel(EstimatorModel):
    """A fitted estimator that predicts probabilities, too."""

    def predict_proba(self, data: Any) -> npt.NDArray[np.float64]:
        """Return probabilities in the order of the schema, 0 for classes that the estimator does not know."""
        shares = np.asarray(self._estimator.predict_proba(attributes_frame(self.cases(data))), dtype=np.float64)
        wide = np.zeros((len(shares), len(self.schema.classes)))
        wide[:, self._class_codes(np.asarray(self._estimator.classes_))] = shares
        return wide


def fit_of(learner: Any, name: str | None = None) -> Fit:
    """Return a function from a dataset to a model for any kind of learner.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import cart, id3
    >>> [fit_of(one)(sample("play-tennis")).tree.n_leaves for one in ("c45", id3(), Learn(cart()))]
    [5, 5, 7]
    """
    if isinstance(learner, str) or is_learner(learner):
        return Learn(as_learner(learner))
    if is_estimator(learner):
        return LearnByEstimator(learner)
    if not callable(learner) or isinstance(learner, type):
        who = "the learner" if name is None else f"learner {name!r}"
        what = f"the class {learner.__name__}" if isinstance(learner, type) else type(learner).__name__
        raise ParameterError(f"{who} must be {EXPECTED}, not {what}")
    function: Fit = learner
    return function


def plan_of(learner: Any, dataset: Dataset) -> Learner:
    """Return the plan of a learner that has one: a plan, a recipe, a name, a `Learn`, one of our estimators."""
    if isinstance(learner, Learn):
        return plan_of(learner.plan, dataset)
    if isinstance(learner, str) or is_learner(learner):
        return as_learner(learner)
    if is_estimator(learner) and _is_ours(learner):
        from sklearn.base import clone

        fitted = clone(learner).fit(dataset.X, dataset.y)  # some parameters refer to classes, known only after fitting
        own: Learner = fitted._recipe(dataset.n_rows, len(dataset.columns))
        return own
    raise ParameterError(
        "this needs a learner whose pruning can be changed: a plan, a recipe, the name of an algorithm or one of "
        f"Treewright's estimators, not {type(learner).__name__}"
    )


def named_learners(learners: Any) -> dict[str, Any]:
    """Return learners by name; the names of a list follow from its items.

    Examples
    --------
    >>> from treewright.plans import id3
    >>> list(named_learners(["c45", id3(), id3(criterion="gini")]))
    ['c45', 'ID3', 'ID3 (2)']
    """
    if isinstance(learners, Mapping):
        strange = [name for name in learners if not isinstance(name, str)]
        if strange:
            raise ParameterError(f"learners have names that are text, not {strange[0]!r}")
        return dict(learners)
    if isinstance(learners, str) or not isinstance(learners, Iterable):
        raise ParameterError(
            f"learners must be a list such as ['c45', 'cart'], or a dict of names and learners, each {EXPECTED}; "
            f"not {learners!r}"
        )
    found: dict[str, Any] = {}
    for learner in learners:
        name = _name_of(learner)
        same = sum(other == name or other.startswith(f"{name} (") for other in found)
        found[f"{name} ({same + 1})" if same else name] = learner
    return found


def is_estimator(learner: Any) -> bool:
    """Return True if this is an estimator with scikit-learn's interface."""
    return not isinstance(learner, type) and all(hasattr(learner, name) for name in ("fit", "predict", "get_params"))


def fitted_model(estimator: Any, schema: Schema) -> Predictor:
    """Return the model of a fitted estimator, of Treewright or another library."""
    own = getattr(estimator, "model_", None)
    if isinstance(own, Predictor):
        return own
    if _is_ours(estimator):
        raise ParameterError(f"this {type(estimator).__name__} is not fitted; call fit first")
    shares = schema.task is Task.CLASSIFICATION and hasattr(estimator, "predict_proba")
    return ProbabilityModel(estimator, schema) if shares else EstimatorModel(estimator, schema)


def attributes_frame(cases: Dataset) -> Any:
    """Return the attributes as a pandas DataFrame (needs pandas)."""
    return cases.X.to_pandas()


def _is_ours(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("treewright.") and hasattr(estimator, "_recipe")


def _name_of(learner: Any) -> str:
    if isinstance(learner, str):
        return learner
    if isinstance(learner, Learn):
        return _name_of(learner.plan)
    for attribute in ("name", "__name__"):
        name = getattr(learner, attribute, None)
        if isinstance(name, str):
            return name
    return type(learner).__name__
