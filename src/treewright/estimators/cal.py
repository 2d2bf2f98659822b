"""The incremental estimators: CAL2 and CAL3.

Categories and classes given by `schema` and `classes` are final. Without a schema the cases are stored: when a new case
has an unknown category or class, all cases are presented again, in their order, to a learner that knows it. The tree is
the same as if it had been known from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from treewright.data.columns import RawTable, TextColumn, numbers_as_text, stacked
from treewright.data.dataset import Dataset, Unseen, encode, labels_of
from treewright.data.infer import infer_schema
from treewright.data.schema import Schema
from treewright.errors import DataError
from treewright.estimators.base import Labels, TreeClassifier, class_labels, label_texts, schema_with_target
from treewright.fitting.case_by_case import begin_case_by_case, fit_case_by_case, model_so_far
from treewright.learners.cal.growing import CaseByCase
from treewright.learners.cal.trace import Run, Step
from treewright.plans import Plan, cal2, cal3
from treewright.tree.model import TreeModel, decoded_table
from treewright.wording import quoted_list


class _CAL(TreeClassifier):
    """Base class of CAL2 and CAL3: training on all cases in turn, or on more cases as they arrive."""

    trace: bool
    prune: Any
    _stored_cases: list[tuple[RawTable, Labels]]
    _learner: CaseByCase
    _model: TreeModel | None

    def _plan(self) -> Plan:
        raise NotImplementedError  # each of the two has its own

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        return self._plan()

    # -- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # a case is presented or not: it has no weight
        """Present the cases in order, in passes, until the learner stops or `max_steps` is reached.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text columns, categories and missing values work without preprocessing; columns are tested in this order.
        y : array of labels

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Present one or more cases, each once, and update the tree.

        Parameters
        ----------
        X : DataFrame, array, or the ``.X`` of `treewright.read`
            With a `schema`, unknown categories count as missing, with a warning. Without one the cases are stored, and
            new categories are added as they occur.
        y : array of labels
        classes : array of labels or None
            All classes; only used in the first call. None takes those of the schema, or those that occur.

        Returns
        -------
        self
        """
        labels = class_labels(self, y)
        if (
            self._given_schema is None
            and not isinstance(X, Dataset)
            and (not hasattr(self, "_learner") or self._stored_cases)
        ):
            return self._present_and_store(X, y, labels, classes)
        if hasattr(self, "_learner"):
            data = self._more_cases(X)
        else:
            data = self._first_cases(
                X, y, self._schema_classes(X, labels) if classes is None else column_or_1d(classes)
            )
        if data.n_rows != len(labels):
            raise DataError(f"X has {data.n_rows} rows, y has {len(labels)}")
        cases = Dataset(data.schema, data.columns, data.n_rows, self._codes(labels), None, data.source)
        if not hasattr(self, "_learner"):
            self._stored_cases = []
            self._learner = begin_case_by_case(cases, self._plan(), keep_trace=self.trace)
        self._learner.learn_once(cases)
        self._model = None
        return self

    def _present_and_store(self, X: Any, y: Any, labels: Labels, classes: Any) -> Self:
        """Present cases without a schema, and store them."""
        first = not hasattr(self, "_learner")
        raw = self._raw(X, reset=first)
        if raw.n_rows != len(labels):
            raise DataError(f"X has {raw.n_rows} rows, y has {len(labels)}")
        if first:
            self._stored_cases = [(raw, labels)]
            self._all_classes = None if classes is None else column_or_1d(classes)
        else:
            self._stored_cases.append((raw, labels))
        if first or self._has_new_values(raw, labels):
            self._restart(y)
        else:
            cases = encode(raw, self.schema_, unseen=Unseen.MISSING, with_target=False)
            self._learner.learn_once(replace(cases, target=self._codes(labels)))
        self._model = None
        return self

    def _has_new_values(self, raw: RawTable, labels: Labels) -> bool:
        if self._all_classes is None and not set(labels.tolist()) <= set(self.classes_.tolist()):
            return True
        for attribute in self.schema_.attributes:
            if attribute.is_numeric:
                continue
            cells = raw.column(attribute.name)
            text = cells if isinstance(cells, TextColumn) else numbers_as_text(cells)
            if not set(text.values) <= set(attribute.values):
                return True
        return False

    def _restart(self, y: Any) -> None:
        """Present all stored cases, in their order, to a new learner that knows all their categories and classes."""
        labels = np.concatenate([one for _, one in self._stored_cases])
        self.classes_ = np.unique(labels if self._all_classes is None else self._all_classes)
        self.n_classes_ = len(self.classes_)
        target = self._target(None, str(getattr(y, "name", None) or "y"), self.classes_)
        self._columns = np.array([target.values.index(text) for text in label_texts(self.classes_)], dtype=np.int32)
        raw = stacked([one for one, _ in self._stored_cases])
        attributes = infer_schema(raw, nominal_limit=self._plan().learner.nominal_limit).columns
        cases = encode(raw, schema_with_target(attributes, target), with_target=False)
        known = replace(cases, target=self._codes(labels))
        self._learner = begin_case_by_case(known, self._plan(), keep_trace=self.trace)
        self._learner.learn_once(known)

    def _schema_classes(self, X: Any, labels: Labels) -> Labels:
        """Return the classes of the schema if it has all these labels, else the labels."""
        schema = self._given_schema or (X.schema if isinstance(X, Dataset) else None)
        if schema is None or schema.target is None or schema.target_column.is_numeric:
            return labels
        schema_labels = labels_of(schema.target_column)
        return schema_labels if set(labels.tolist()) <= set(schema_labels.tolist()) else labels

    def _first_cases(self, X: Any, y: Any, classes: Labels) -> Dataset:
        """Determine classes and columns from the first cases, and encode them."""
        self.classes_ = np.unique(classes)
        target = self._target(X, str(getattr(y, "name", None) or "y"), self.classes_)
        data = self._encoded(X, target, self._plan().learner.nominal_limit)
        self.n_classes_ = len(self.classes_)
        self._columns = np.array([target.values.index(text) for text in label_texts(self.classes_)], dtype=np.int32)
        return data

    def _more_cases(self, X: Any) -> Dataset:
        if isinstance(X, Dataset):
            if X.schema.attributes == self.schema_.attributes:
                return Dataset(self.schema_, X.columns, X.n_rows, source=X.source)
            raw = decoded_table(X)
        else:
            raw = self._raw(X, reset=False)
        return encode(raw, self.schema_, unseen=Unseen.MISSING, with_target=False)

    def _codes(self, labels: Labels) -> Any:
        """Return the labels as class indices."""
        code_of = {text: int(code) for text, code in zip(label_texts(self.classes_), self._columns, strict=True)}
        texts = label_texts(labels)
        strange = sorted({text for text in texts if text not in code_of})
        if strange:
            raise DataError(f"y has classes that the first call did not give: {quoted_list(strange)}")
        return np.array([code_of[text] for text in texts], dtype=np.int32)

    def _train(self, dataset: Dataset, plan: Plan) -> TreeModel:
        self._stored_cases = []
        model, self._learner = fit_case_by_case(dataset, plan, smoothing=self.smoothing, keep_trace=self.trace)
        return model

    # -- prediction --------------------------------------------------------------------------------------------------

    @property  # type: ignore[override]  # an attribute of all others
    def model_(self) -> TreeModel:
        """The current model, which `save` writes; built on first access."""
        if self._model is None:
            self._model = model_so_far(self._learner, self._plan(), smoothing=self.smoothing)
        return self._model

    @model_.setter
    def model_(self, model: TreeModel) -> None:
        self._model = model

    @property
    def schema_(self) -> Schema:
        """The schema of the cases."""
        check_is_fitted(self)
        return self._learner.schema

    @property
    def notation_(self) -> str:
        """The tree on one line: attributes with a subtree for each value in brackets, classes, ``*`` for open leaves.

        The intervals of a numeric column are in ascending order.
        """
        check_is_fitted(self)
        return self._learner.notation

    @property
    def run_(self) -> Run | None:
        """Why `fit` stopped, after how many passes and steps; None before it was called."""
        check_is_fitted(self)
        return self._learner.run

    @property
    def trace_(self) -> list[Step]:
        """Every step so far, with the whole tree after it; only with ``trace=True``."""
        check_is_fitted(self)
        if not self.trace:
            raise AttributeError(f"the steps are recorded only by {type(self).__name__}(trace=True)")
        return self._learner.trace


class CAL2Classifier(_CAL):
    """CAL2 (Unger and Wysotzki 1981): incremental, for classes that do not overlap.

    A leaf takes the class of its first case; a case of another class replaces it by a test of the next column.

    Parameters
    ----------
    max_steps : int or None
        Cases that `fit` presents at most, over all passes; None: until a pass makes no error, or no column is left.
    trace : bool, default False
        Record every step with the whole tree after it; for small data.
    prune : str, pruning method or None
        As for `ID3Classifier`; the model is pruned, not the learner, which goes on from what it has.
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        Types of the columns; None infers them from the (first) cases. Numeric columns are made nominal by entropy with
        the MDL stop, by the (first) cases; whole-number columns of at most 10 values are taken as nominal.

    Attributes
    ----------
    tree_ : Tree
        Counts are those of the learner, over all passes. A case without a needed value is not learned from.
    notation_ : str
        The tree on one line.
    trace_ : list of Step
        With ``trace=True``.
    run_ : Run
        Why `fit` ended.
    schema_ : Schema
    classes_ : array
        Sorted labels.
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> cases = treewright.read("sample:cal2")
    >>> clf = CAL2Classifier(trace=True).fit(cases.X, cases.y)
    >>> clf.notation_
    'x1(x2(A,B),x2(A,B))'
    >>> print(clf.trace_[2])
    3. case 3, at the root (A 2, B 1): split -> x1(B,*)

    Cases may come one at a time:

    >>> clf = CAL2Classifier(schema=cases.schema)
    >>> for case in range(3):
    ...     clf = clf.partial_fit(cases.X[[case]], cases.y[[case]])
    >>> clf.notation_
    'x1(B,*)'
    """

    def __init__(
        self,
        *,
        max_steps: int | None = None,
        trace: bool = False,
        prune: Any = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.max_steps = max_steps
        self.trace = trace
        self.prune = prune
        self.smoothing = smoothing
        self.schema = schema

    def _plan(self) -> Plan:
        return cal2(max_steps=self.max_steps, prune=self.prune)


class CAL3Classifier(_CAL):
    """CAL3 (Unger and Wysotzki 1981): incremental, for classes that overlap.

    A leaf counts its cases. With at least `s1` of them it becomes final if a class has a share of at least `s2`, else a
    test of the next column replaces it.

    Parameters
    ----------
    s1 : int, default 4
        Cases that a leaf counts before a decision; at least 1.
    s2 : float, default 0.7
        Class share that makes a leaf final; above 0.5 and at most 1.
    max_steps : int or None
        Cases that `fit` presents at most, over all passes; None: until a pass changes nothing.
    trace : bool, default False
        Record every step with the whole tree after it; for small data.
    prune : str, pruning method or None
        As for `ID3Classifier`; the model is pruned, not the learner, which goes on from what it has.
    smoothing : None, "laplace" or float
    schema : Schema, dict or None
        As for `CAL2Classifier`, and so are the attributes.

    Examples
    --------
    >>> import treewright
    >>> cases = treewright.read("sample:cal3")
    >>> clf = CAL3Classifier(s1=4, s2=0.7).fit(cases.X, cases.y)
    >>> clf.notation_, float(clf.score(cases.X, cases.y))
    ('x1(A,x2(B,A))', 0.8)
    """

    def __init__(
        self,
        *,
        s1: int = 4,
        s2: float = 0.7,
        max_steps: int | None = None,
        trace: bool = False,
        prune: Any = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.s1 = s1
        self.s2 = s2
        self.max_steps = max_steps
        self.trace = trace
        self.prune = prune
        self.smoothing = smoothing
        self.schema = schema

    def __sklearn_tags__(self) -> Tags:
        """Declare a poor score: by default a leaf is final after four cases, of which one may differ."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]  # scikit-learn has no types
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True
        return tags

    def _plan(self) -> Plan:
        return cal3(s1=self.s1, s2=self.s2, max_steps=self.max_steps, prune=self.prune)
