"""A transformer that discretises numbers into intervals.

A number equal to the bound of two intervals belongs to the lower one.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.learners.discretise import (
    chi_merge_bounds,
    equal_frequency_bounds,
    equal_width_bounds,
    interval_labels,
    mdl_bounds,
)
from treewright.wording import did_you_mean

Floats = npt.NDArray[np.float64]

METHODS = ("mdl", "equal_width", "equal_frequency", "chi_merge")

BY_CLASSES = ("mdl", "chi_merge")
"""The methods that use the classes."""


class Discretiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Discretises the numbers of each column into intervals.

    Parameters
    ----------
    method : {"mdl", "equal_width", "equal_frequency", "chi_merge"}, default "mdl"
        By entropy as long as the description length falls (Fayyad and Irani 1993; what ID3 does with numbers); bins of
        the same width; bins of about the same number of cases; or neighbours merged that do not differ significantly
        in their classes (Kerber 1992). The first and the last need `y`.
    bins : int or None, default 10
        How many of equal width or frequency. ChiMerge makes at most so many; None sets it no limit.
    significance : float, default 0.05
        Of ChiMerge; smaller makes fewer intervals.
    labels : bool, default False
        Whether `transform` returns the intervals as texts (None for missing) or as numbers from 0 (NaN for missing).

    Attributes
    ----------
    bounds_ : list of arrays
        The ascending inner bounds of each column; none where there is one interval only.
    n_features_in_ : int
    feature_names_in_ : array
        Where the columns have names.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0], [4.0, np.nan], [8.0, 5.0], [9.0, 6.0]])
    >>> cut = Discretiser(method="chi_merge").fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> [bounds.tolist() for bounds in cut.bounds_]
    [[3.5], []]
    >>> cut.transform([[3.5, 1.0], [3.6, np.nan]]).tolist()
    [[0.0, 0.0], [1.0, nan]]
    >>> cut.set_params(labels=True).transform([[3.5, 1.0]]).tolist()
    [['<= 3.5', 'any']]
    """

    bounds_: list[Floats]

    def __init__(
        self, *, method: str = "mdl", bins: int | None = 10, significance: float = 0.05, labels: bool = False
    ) -> None:
        self.method = method
        self.bins = bins
        self.significance = significance
        self.labels = labels

    def __sklearn_tags__(self) -> Tags:
        """Declare support for missing values, and whether a target is required."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]  # scikit-learn has no types
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.method in BY_CLASSES
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bounds of each column.

        Parameters
        ----------
        X : table of numbers
            A dataframe, an array, or the ``.X`` of `treewright.read`; NaN is missing.
        y : array of labels or None
            Only used by the methods that need classes.

        Returns
        -------
        self
        """
        if self.method not in METHODS:
            hint = did_you_mean(str(self.method), METHODS)
            raise ParameterError(f"method must be one of {', '.join(map(repr, METHODS))}, not {self.method!r}{hint}")
        by_classes = self.method in BY_CLASSES
        if by_classes and y is None:
            raise DataError(f"Discretiser by {self.method!r} requires y to be passed, but the target y is None")
        numbers = self._numbers(X, reset=True)
        codes = _class_codes(y, numbers) if by_classes else np.zeros(len(numbers), dtype=np.int32)
        self.bounds_ = [np.array(self._bounds(table), dtype=np.float64) for table in _tables(numbers, codes)]
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the interval of each number.

        Parameters
        ----------
        X : table of numbers

        Returns
        -------
        array
            Numbers of intervals from 0, or texts; see `labels`.
        """
        check_is_fitted(self)
        numbers = self._numbers(X, reset=False)
        codes = np.empty_like(numbers)
        for column, bounds in enumerate(self.bounds_):
            codes[:, column] = np.searchsorted(bounds, numbers[:, column], side="left")
        missing = np.isnan(numbers)
        codes[missing] = np.nan
        return self._texts(codes, missing) if self.labels else codes

    def _texts(self, codes: Floats, missing: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        texts = np.full(codes.shape, None, dtype=object)
        for column, bounds in enumerate(self.bounds_):
            names = np.array(interval_labels(tuple(bounds.tolist())), dtype=object)
            known = ~missing[:, column]
            texts[known, column] = names[codes[known, column].astype(np.intp)]
        return texts

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        if isinstance(X, Dataset):
            X = _array_of(X)
        numbers: Floats = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        return numbers

    def _bounds(self, table: FrequencyTable) -> tuple[float, ...]:
        bins = int(self.bins) if isinstance(self.bins, np.integer) else self.bins
        match self.method:
            case "mdl":
                return mdl_bounds(table)
            case "chi_merge":
                return chi_merge_bounds(table, self.significance, bins)
        if bins is None:
            raise ParameterError(f"bins must be a whole number of at least 1 for {self.method!r}, not None")
        return (equal_width_bounds if self.method == "equal_width" else equal_frequency_bounds)(table, bins)


def _array_of(data: Dataset) -> Floats:
    texts = [column.name for column in data.schema.attributes if not column.is_numeric]
    if texts:
        raise DataError("discretisation needs numbers, and this column has none", column=texts[0])
    return np.column_stack(data.columns).astype(np.float64)


def _class_codes(y: Any, numbers: Floats) -> npt.NDArray[np.int32]:
    labels = column_or_1d(y, warn=True)
    check_consistent_length(numbers, labels)
    check_classification_targets(labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _tables(numbers: Floats, codes: npt.NDArray[np.int32]) -> list[FrequencyTable]:
    """Count the classes of every number, column by column."""
    names = tuple(f"x{column}" for column in range(numbers.shape[1]))
    classes = tuple(map(str, range(int(codes.max()) + 1)))
    schema = Schema(
        (*(Column(name, Kind.NUMERIC) for name in names), Column("y", Kind.NOMINAL, classes)),
        target="y",
    )
    engine = MemoryEngine(Dataset(schema, tuple(numbers.T), len(numbers), codes))
    [tables] = engine.count([(engine.root(), range(len(names)))])
    return tables
