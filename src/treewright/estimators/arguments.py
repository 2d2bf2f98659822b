"""Validation of estimator arguments in the forms that scikit-learn allows: tables, labels, weights, seeds, sizes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isnan
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, column_or_1d

from treewright._base.errors import DataError, ParameterError
from treewright.data.dataset import Dataset
from treewright.data.raw import number_text
from treewright.data.schema import Column, LabelType, Schema

Labels = npt.NDArray[Any]


def is_frame(X: Any) -> bool:
    """Return True if X is a dataframe of any library."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def width_of(X: Any) -> int:
    """Return the number of columns of anything that can be fitted; rows of plain lists have no shape."""
    if isinstance(X, Mapping) and not issparse(X):
        return len(X)
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple, np.ndarray)):
        return len(X[0])
    shape = getattr(X, "shape", None)
    return int(shape[1]) if shape is not None and len(shape) == 2 else 1


def class_labels(estimator: BaseEstimator, y: Any) -> Labels:
    """Return the labels of the cases; raise where one is missing, or where they are no classes."""
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    labels: Labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "O":
        missing = [row for row, label in enumerate(labels.tolist()) if _is_missing(label)]
        if missing:
            raise DataError(f"y contains NaN or None in row {missing[0]}: every case needs its class")
    check_classification_targets(labels)
    return labels


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and isnan(label)) or type(label).__name__ in ("NAType", "NaTType")


def target_numbers(estimator: BaseEstimator, y: Any) -> npt.NDArray[np.float64]:
    """Return the numbers to be predicted; raise where one is missing or infinite."""
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    given: Labels = column_or_1d(y, warn=True)
    if given.dtype.kind == "c":
        raise DataError("Complex data not supported: y must hold real numbers")
    try:
        numbers: npt.NDArray[np.float64] = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"y must hold numbers: {error}") from error
    assert_all_finite(numbers, input_name="y")
    return numbers


def case_weights(data: Dataset, sample_weight: Any) -> npt.NDArray[np.float64]:
    """Return the weight of each case, one where none is given."""
    if sample_weight is None:
        return np.ones(data.n_rows)
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, np.empty((data.n_rows, 0)), dtype=np.float64, ensure_non_negative=True
    )
    return weights


def label_type(classes: Labels) -> LabelType:
    """Return what labels were before they became text."""
    return {
        "b": LabelType.BOOLEAN,
        "i": LabelType.INTEGER,
        "u": LabelType.INTEGER,
        "f": LabelType.NUMBER,
    }.get(classes.dtype.kind, LabelType.TEXT)


def label_texts(classes: Labels) -> list[str]:
    """Return labels as a schema declares them."""
    if classes.dtype.kind == "f":
        return [number_text(label) for label in classes.tolist()]
    return [str(label) for label in classes.tolist()]


def schema_with_target(attributes: tuple[Column, ...], target: Column) -> Schema:
    """Return the schema of attributes and target, whose name is made different from theirs."""
    names = {column.name for column in attributes}
    while target.name in names:
        target = Column(f"{target.name}_", target.kind, target.values, target.labels)
    return Schema((*attributes, target), target=target.name)


def seed_of(random_state: Any) -> int:
    """Return an integer seed for our hash functions from any form of scikit-learn's `random_state`.

    Examples
    --------
    >>> seed_of(0), seed_of(np.random.RandomState(0))
    (209652396, 209652396)
    """
    return _seed_of_number(random_state) if isinstance(random_state, int) else _drawn_seed(random_state)


@lru_cache(maxsize=64)  # a generator takes as long to make as a small tree to grow
def _seed_of_number(random_state: int) -> int:
    return _drawn_seed(random_state)


def _drawn_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


def cases_from(value: Any, n_rows: int, name: str) -> int:
    """Return a number of cases given as such or as a share of all.

    Examples
    --------
    >>> cases_from(5, 100, "min_samples_leaf"), cases_from(0.1, 25, "min_samples_leaf")
    (5, 3)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, (float, np.floating)) and 0 < value <= 1:
        return int(np.ceil(value * n_rows))
    raise ParameterError(f"{name} must be a whole number or a share above 0 and at most 1, not {value!r}")
