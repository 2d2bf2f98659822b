"""Evaluate a model on a dataset in one call.

The result is a `ClassificationReport` or a `RegressionReport`. A class that the model never saw in training cannot be
predicted, so every case of it counts as an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.evaluation.classification import ClassificationReport, report_of_codes
from treewright.evaluation.cross_validation import target_of
from treewright.evaluation.learners import fitted_model, is_estimator
from treewright.evaluation.regression import RegressionReport, regression_report
from treewright.tree.model import Predictor


def evaluate_model(model: Any, dataset: Dataset, costs: Any = None) -> ClassificationReport | RegressionReport:
    """Evaluate the predictions of a model on cases with a known target.

    Parameters
    ----------
    model : model or fitted estimator
        An estimator of another library gets the cases as a dataframe.
    dataset : Dataset
        With a target; case weights are used.
    costs : table or mapping ``{(actual, predicted): cost}`` or None
        None takes the costs of the model, if it has any.

    Returns
    -------
    ClassificationReport or RegressionReport

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> report = evaluate_model(fit(weather, ID3()), weather)
    >>> report.accuracy, report.warnings[0]
    (1.0, 'Only 14 cases: fewer than 30 are too few for reliable numbers.')
    """
    target_of(dataset)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to report on", source=dataset.source)
    predictor = _model_of(model, dataset)
    regression = predictor.schema.task is Task.REGRESSION
    if regression is not (dataset.schema.task is Task.REGRESSION):
        kinds = ("numbers", "classes") if regression else ("classes", "numbers")
        raise DataError(f"the model predicts {kinds[0]}, but the target holds {kinds[1]}", source=dataset.source)
    cases = predictor.cases(dataset)
    if regression:
        if costs is not None:
            raise ParameterError("costs are for classes, and this target is a number")
        return regression_report(dataset.target, predictor.predict(cases), dataset.weights)
    known = predictor.schema.classes
    classes, actual = _actual_codes(dataset, known)
    predict_proba = getattr(predictor, "predict_proba", None)
    probabilities = None if predict_proba is None else _widened(predict_proba(cases), len(classes))
    if costs is None:
        costs = _own_costs(predictor, known)
    return report_of_codes(actual, predictor.predict_codes(cases), probabilities, classes, dataset.weights, costs)


def _model_of(model: Any, dataset: Dataset) -> Predictor:
    """Return the model, or that of a fitted estimator."""
    if isinstance(model, Predictor):
        return model
    if is_estimator(model):
        return fitted_model(model, dataset.schema)
    raise ParameterError(f"this must be a model or a fitted estimator, not {_type(model)}")


def _type(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _actual_codes(dataset: Dataset, known: tuple[str, ...]) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    """Return the classes of the model followed by those it does not know, and the actual classes as indices of them."""
    codes = np.zeros(0, np.intp) if dataset.target is None else dataset.target.astype(np.intp)
    present = [dataset.schema.classes[code] for code in np.unique(codes).tolist()]
    classes = (*known, *(label for label in present if label not in known))
    code_of = {label: code for code, label in enumerate(classes)}
    table = np.array([code_of.get(label, -1) for label in dataset.schema.classes], dtype=np.intp)
    return classes, table[codes]


def _widened(shares: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
    """Add columns of zeros for classes that the model does not know."""
    return np.hstack((shares, np.zeros((len(shares), k - shares.shape[1]))))


def _own_costs(model: Predictor, known: tuple[str, ...]) -> dict[tuple[str, str], float] | None:
    """Return the costs of the model by class name, so that unknown classes do not shift them."""
    table = getattr(model, "costs", None)
    if table is None:
        return None
    return {(true, predicted): table[i][j] for i, true in enumerate(known) for j, predicted in enumerate(known)}
