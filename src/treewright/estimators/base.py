"""Base classes of all estimators: validation of arguments, data conversion, fitting, and prediction.

Arguments may have all forms that scikit-learn allows: tables, labels, weights, seeds, sizes. The order of classes and
categories in the schema breaks ties; `classes_` is sorted, as scikit-learn requires.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isnan
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from treewright.data.columns import RawTable, number_text
from treewright.data.dataset import Dataset, encode
from treewright.data.frames import raw_table
from treewright.data.infer import infer_schema
from treewright.data.schema import Column, Kind, LabelType, Schema
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit as fit_model
from treewright.plans import Plan, costs_from
from treewright.tree.model import Predictor, TreeModel
from treewright.tree.output_methods import Explained, TreeForms
from treewright.tree.route import all_visits
from treewright.tree.rules import RuleModel
from treewright.tree.tree import Tree

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
    """Return the labels of the cases; raise if one is missing, or if they are not classes."""
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
    """Return the numeric target; raise if a value is missing or infinite."""
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
    """Return the weight of each case, 1 if none are given."""
    if sample_weight is None:
        return np.ones(data.n_rows)
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, np.empty((data.n_rows, 0)), dtype=np.float64, ensure_non_negative=True
    )
    return weights


def label_type(classes: Labels) -> LabelType:
    """Return the type of labels before they became text."""
    return {
        "b": LabelType.BOOLEAN,
        "i": LabelType.INTEGER,
        "u": LabelType.INTEGER,
        "f": LabelType.NUMBER,
    }.get(classes.dtype.kind, LabelType.TEXT)


def label_texts(classes: Labels) -> list[str]:
    """Return labels as the category texts of a schema."""
    if classes.dtype.kind == "f":
        return [number_text(label) for label in classes.tolist()]
    return [str(label) for label in classes.tolist()]


def schema_with_target(attributes: tuple[Column, ...], target: Column) -> Schema:
    """Return the schema of attributes and target; the target is renamed if an attribute has its name."""
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
    return _seed_of_number(random_state) if isinstance(random_state, int) else _seed_from_generator(random_state)


@lru_cache(maxsize=64)  # making a generator takes as long as growing a small tree
def _seed_of_number(random_state: int) -> int:
    return _seed_from_generator(random_state)


def _seed_from_generator(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


def cases_from(value: Any, n_rows: int, name: str) -> int:
    """Return a number of cases, given as a number or as a share of all.

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


class TableEstimator(BaseEstimator):
    """Base class of all estimators; subclasses define the plan."""

    schema: Schema | Mapping[str, Any] | None
    model_: Predictor

    def __sklearn_tags__(self) -> Tags:
        """Declare support for strings, categories and missing values."""
        tags: Tags = BaseEstimator.__sklearn_tags__(self)
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _recipe(self, n_rows: int, n_attributes: int) -> Any:
        raise NotImplementedError  # every estimator has its own

    def _train(self, dataset: Dataset, plan: Any) -> Predictor:
        raise NotImplementedError  # every estimator has its own

    # -- taking data -------------------------------------------------------------------------------------------------

    def _raw(self, X: Any, *, reset: bool) -> RawTable:
        """Return the columns of a dataframe or array, with scikit-learn's own checks."""
        if isinstance(X, Mapping) and not issparse(X):  # one sparse format is a mapping, too
            raw = raw_table(X)
            if reset:
                self.n_features_in_ = len(raw.columns)
                self.feature_names_in_ = np.array(list(raw.columns), dtype=object)
            return raw
        if is_frame(X):
            if reset:
                validate_data(self, X, skip_check_array=True)
            return raw_table(X)
        array = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)  # raw_table looks for infinity
        names = self._given_schema.attribute_names if reset and self._given_schema is not None else None
        if not reset:
            names = self.schema_.attribute_names
        if names is not None and len(names) != array.shape[1]:
            raise DataError(f"the schema has {len(names)} attributes, the data have {array.shape[1]} columns")
        return raw_table(array, names=names)

    @property
    def _given_schema(self) -> Schema | None:
        schema = self.schema
        return Schema.from_dict(schema) if isinstance(schema, Mapping) else schema

    def _encoded(self, X: Any, target: Column, nominal_limit: int) -> Dataset:
        """Encode the attributes by the given schema, by that of the dataset, or by an inferred one."""
        given = self._given_schema
        if isinstance(X, Dataset):
            self.n_features_in_ = len(X.columns)
            self.feature_names_in_ = np.array(X.schema.attribute_names, dtype=object)
            if given is None or given.attributes == X.schema.attributes:
                return Dataset(schema_with_target(X.schema.attributes, target), X.columns, X.n_rows, source=X.source)
            raise DataError("the data were read with another schema than the estimator's")
        raw = self._raw(X, reset=True)
        attributes = given.attributes if given is not None else infer_schema(raw, nominal_limit=nominal_limit).columns
        return encode(raw, schema_with_target(attributes, target), with_target=False)

    def _cases(self, X: Any) -> Dataset:
        check_is_fitted(self)
        return self.model_.cases(X if isinstance(X, Dataset) else self._raw(X, reset=False))

    # -- prediction --------------------------------------------------------------------------------------------------

    @property
    def schema_(self) -> Schema:
        """The schema of the training data."""
        return self.model_.schema

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model; `treewright.load` reads it back, without scikit-learn."""
        check_is_fitted(self)
        self.model_.save(path)

    # -- in a notebook -----------------------------------------------------------------------------------------------

    def _has_drawing(self) -> bool:
        """Return True if the estimator has a tree or rules that a notebook can show."""
        return hasattr(self, "model_") and isinstance(self.model_, (TreeModel, RuleModel))

    def _repr_html_inner(self) -> Any:
        """Return the fitted model with the parameters folded; before fitting, scikit-learn's display."""
        if not self._has_drawing():
            return BaseEstimator._repr_html_inner(self)
        from treewright.drawing.notebook import notebook_html  # drawing is not needed to learn

        return notebook_html(self, BaseEstimator.get_params(self, deep=False))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = BaseEstimator._repr_mimebundle_(self, **kwargs)
        if "text/html" in bundle and self._has_drawing():
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class TreeEstimator(Explained, TreeForms, TableEstimator):
    """Base of the tree estimators."""

    model_: TreeModel
    engine: str = "auto"
    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None

    @property
    def tree_(self) -> Tree:
        """The fitted tree."""
        check_is_fitted(self)
        return self.model_.tree

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Share of each attribute in the decrease of impurity."""
        check_is_fitted(self)
        from treewright.explain.attribute import impurity_importance

        return impurity_importance(self.model_.tree, str(self.model_.recipe.get("criterion")))

    def get_depth(self) -> int:
        """Return the depth of the tree."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each case; a fractional case counts for the leaf with its largest share."""
        cases = self._cases(X)
        return self.model_.apply(cases)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return a sparse matrix, cases x nodes, of the share of each case that passes a node."""
        cases = self._cases(X)
        visits = list(all_visits(self.tree_, cases))
        rows = np.concatenate([visit.rows for visit in visits])
        nodes = np.concatenate([visit.nodes for visit in visits])
        shares = np.concatenate([visit.shares for visit in visits])
        return csr_matrix((shares, (rows, nodes)), shape=(cases.n_rows, self.tree_.n_nodes))


class TableClassifier(ClassifierMixin, TableEstimator):
    """Base of the classifiers."""

    class_weight: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text columns, categories and missing values work without preprocessing.
        y : array of labels
        sample_weight : array or None

        Returns
        -------
        self
        """
        labels = class_labels(self, y)
        name = str(getattr(y, "name", None) or "y")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        target = self._target(X, name, self.classes_)
        recipe = self._recipe(len(labels), width_of(X))
        data = self._encoded(X, target, recipe.tree.learner.nominal_limit)
        if data.n_rows != len(labels):
            raise DataError(f"X has {data.n_rows} rows, y has {len(labels)}")
        class_codes = np.array([target.values.index(text) for text in label_texts(self.classes_)], dtype=np.int32)
        weights = self._weights(data, labels, sample_weight)
        self.n_classes_ = len(self.classes_)
        fitted = Dataset(data.schema, data.columns, data.n_rows, class_codes[codes], weights, data.source)
        self._columns = class_codes
        self.model_ = self._train(fitted, recipe)
        return self

    def _target(self, X: Any, name: str, classes: Labels) -> Column:
        """Return the target column of the schema if it has all these labels, else one with the sorted labels."""
        texts = label_texts(classes)
        schema = self._given_schema or (X.schema if isinstance(X, Dataset) else None)
        if schema is not None and schema.target is not None:
            column = schema.target_column
            strange = [text for text in texts if text not in column.values]
            if self._given_schema is not None and (column.is_numeric or strange):
                raise DataError(f"classes {strange} of y are not declared: {list(column.values)}", column=column.name)
            if not strange:
                return Column(column.name, Kind.NOMINAL, column.values, label_type(classes))
        return Column(name, Kind.NOMINAL, tuple(texts), label_type(classes))

    @property
    def _case_class_weight(self) -> Any:
        """The class weights that multiply the weights of the cases."""
        return self.class_weight

    def _weights(self, data: Dataset, labels: Labels, sample_weight: Any) -> npt.NDArray[np.float64] | None:
        class_weight = self._case_class_weight
        if sample_weight is None and class_weight is None:
            return None
        weights = case_weights(data, sample_weight)
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, labels)
        if not np.any(weights > 0):
            raise DataError("all weights are zero, so there are no cases to train on")
        return weights

    def _in_order_of_classes(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Reorder columns from the class order of the schema to that of `classes_`."""
        same = shares.shape[1] == len(self._columns) and np.array_equal(self._columns, np.arange(len(self._columns)))
        return shares if same else shares[:, self._columns]

    def predict(self, X: Any) -> Labels:
        """Return the class of each case."""
        cases = self._cases(X)
        codes = self.model_.predict_codes(cases)
        back = np.zeros(len(self.schema_.classes), dtype=np.intp)
        back[self._columns] = np.arange(len(self._columns))
        return self.classes_[back[codes]]


class TreeClassifier(TreeEstimator, TableClassifier):
    """Base of the classifiers that are one tree."""

    smoothing: str | float | None
    costs: Any = None

    def _train(self, dataset: Dataset, plan: Plan) -> TreeModel:
        return fit_model(
            dataset,
            plan,
            smoothing=self.smoothing,
            costs=self._costs_in_schema_order(dataset),
            engine=self.engine,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

    def _costs_in_schema_order(self, dataset: Dataset) -> tuple[tuple[float, ...], ...] | None:
        """Reorder costs from the order of `classes_` to the class order of the schema."""
        costs = costs_from(self.costs, label_texts(self.classes_))
        if costs is None:
            return None
        k = len(self.classes_)
        if len(costs) != k or any(len(row) != k for row in costs):
            raise ParameterError(f"costs must be a table of {k} rows and {k} columns, in the order of classes_")
        table = 1.0 - np.eye(len(dataset.schema.classes))
        table[np.ix_(self._columns, self._columns)] = costs
        return tuple(tuple(row) for row in table.tolist())

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        cases = self._cases(X)
        return self._in_order_of_classes(self.model_.predict_proba(cases))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the logarithm of `predict_proba`; -inf for a class of probability 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class TableRegressor(RegressorMixin, TableEstimator):
    """Base of the regressors."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text columns, categories and missing values work without preprocessing.
        y : array of numbers
        sample_weight : array or None

        Returns
        -------
        self
        """
        numbers = target_numbers(self, y)
        schema = self._given_schema or (X.schema if isinstance(X, Dataset) else None)
        name = schema.target if schema is not None and schema.target else str(getattr(y, "name", None) or "y")
        recipe = self._recipe(len(numbers), width_of(X))
        data = self._encoded(X, Column(name, Kind.NUMERIC), recipe.tree.learner.nominal_limit)
        if data.n_rows != len(numbers):
            raise DataError(f"X has {data.n_rows} rows, y has {len(numbers)}")
        weights = None if sample_weight is None else case_weights(data, sample_weight)
        if weights is not None and not np.any(weights > 0):
            raise DataError("all weights are zero, so there are no cases to train on")
        fitted = Dataset(data.schema, data.columns, data.n_rows, numbers, weights, data.source)
        self.model_ = self._train(fitted, recipe)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the predicted number of each case."""
        cases = self._cases(X)
        return self.model_.predict(cases)


class TreeRegressor(TreeEstimator, TableRegressor):
    """Base of the regressors that are one tree."""

    def _train(self, dataset: Dataset, plan: Plan) -> TreeModel:
        return fit_model(dataset, plan, engine=self.engine, n_jobs=self.n_jobs, progress=self.progress)
