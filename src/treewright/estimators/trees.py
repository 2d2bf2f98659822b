"""The tree estimators: ID3, C4.5 and CART."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright.data.schema import Schema
from treewright.estimators.base import TreeClassifier, TreeRegressor, cases_from, seed_of
from treewright.grow.recipe import Draw, Stopping
from treewright.plans import Plan, c45, cart, id3


class ID3Classifier(TreeClassifier):
    """ID3 (Quinlan 1986): information gain, one branch per value, no pruning.

    Parameters
    ----------
    criterion : {"gain", "gini", "chi2"}, default "gain"
        What the chosen attribute has most of.
    max_depth, max_leaf_nodes : int or None
    min_samples_split : int or float, default 2
        Cases (or share of all cases) that a node needs to be divided.
    prune : str, pruning method or None
        ``"chi_square"``, ``"mdl"``, ``"reduced_error"``, ``"error_based"``, or a method such as
        `treewright.CostComplexity`; None leaves the tree as it was grown.
    significance : float, default 0.05
        Of chi-square pruning: a test that is not significant at this level is cut.
    bonferroni : bool
        Whether chi-square pruning makes up for the choice among several attributes.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        What the columns are; None infers it. Numeric columns are made nominal by entropy with the MDL stop;
        whole-number columns of at most 10 values are taken as nominal.

    Attributes
    ----------
    tree_ : Tree
    schema_ : Schema
    classes_ : array
        Sorted labels.
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> clf = ID3Classifier().fit(weather.X, weather.y)
    >>> clf.tree_.node(0).attribute.name, float(clf.score(weather.X, weather.y))
    ('Outlook', 1.0)
    """

    def __init__(
        self,
        *,
        criterion: str = "gain",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float = 2,
        prune: Any = None,
        significance: float = 0.05,
        bonferroni: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.prune = prune
        self.significance = significance
        self.bonferroni = bonferroni
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        return id3(
            criterion=self.criterion,
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_cases=max(2, cases_from(self.min_samples_split, n_rows, "min_samples_split")),
            prune=self.prune,
            significance=self.significance,
            bonferroni=self.bonferroni,
        )


class C45Classifier(TreeClassifier):
    """C4.5 (Quinlan 1993): gain ratio, cuts of numbers, fractional cases for missing values, error-based pruning.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}, default "c45"
        Ours (double precision, ties by rule), the tree of Quinlan's Release 8 to the last node, or that of Weka's J48.
    criterion : {"gain_ratio", "gain"}, default "gain_ratio"
    min_objects : float, default 2
        Weight that at least two branches of a test need.
    confidence : float, default 0.25
        Confidence level of pruning, a fraction; smaller prunes more.
    prune : bool, str, pruning method or None
        True: the dialect's own error-based pruning. ``"reduced_error"`` holds out a third of the cases; also
        ``"chi_square"``, ``"mdl"`` or a method such as `treewright.CostComplexity`.
    subset : bool
        Group the values of nominal attributes (dialects c45 and r8).
    binary : bool
        Test one value against the others (dialect j48).
    raising, mdl_correction, collapse : bool
        Subtree raising, the penalty for choosing among cuts, the collapsing of useless tests (dialects c45 and j48).
    max_depth, max_leaf_nodes : int or None
        Limits of growing (dialect c45).
    costs : table or dict or None
        Cost of saying class j of a case of class i, rows and columns in the order of `classes_`, or
        ``{(true, predicted): cost}``; then the class of least expected cost is predicted.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        What the columns are; None infers it.

    Attributes
    ----------
    tree_ : Tree
    schema_ : Schema
    classes_ : array
        Sorted labels.
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> C45Classifier().fit(weather.X, weather.y).predict(weather.X)[:3].tolist()
    ['No', 'No', 'Yes']
    """

    def __init__(
        self,
        *,
        dialect: str = "c45",
        criterion: str = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        prune: Any = True,
        subset: bool = False,
        binary: bool = False,
        raising: bool = True,
        mdl_correction: bool = True,
        collapse: bool = True,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        costs: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.dialect = dialect
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.prune = prune
        self.subset = subset
        self.binary = binary
        self.raising = raising
        self.mdl_correction = mdl_correction
        self.collapse = collapse
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.costs = costs
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        return c45(
            dialect=self.dialect,
            criterion=self.criterion,
            min_objects=self.min_objects,
            confidence=self.confidence,
            prune=self.prune,
            subset=self.subset,
            binary=self.binary,
            raising=self.raising,
            mdl_correction=self.mdl_correction,
            collapse=self.collapse,
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
        )


class _CART:
    """The parameters that CART's classifier and regressor share."""

    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    max_features: int | float | str | None
    random_state: Any
    missing: str
    prune: Any
    ccp_alpha: float

    def _cart(self, criterion: str, n_rows: int, n_attributes: int) -> Plan:
        stopping = Stopping(
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_cases=max(2, cases_from(self.min_samples_split, n_rows, "min_samples_split")),
            min_leaf=cases_from(self.min_samples_leaf, n_rows, "min_samples_leaf"),
            min_share=self.min_weight_fraction_leaf,
            min_decrease=self.min_impurity_decrease,
        )
        draw = None
        if self.max_features is not None:
            draw = Draw(_attributes_drawn(self.max_features, n_attributes), seed_of(self.random_state))
        prune = "cost_complexity" if self.prune is None and self.ccp_alpha > 0 else self.prune
        return cart(
            criterion=criterion,
            missing=self.missing,
            stopping=stopping,
            draw=draw,
            prune=prune,
            alpha=self.ccp_alpha,
        )


class CARTClassifier(_CART, TreeClassifier):
    """CART (Breiman et al. 1984) for classes: binary splits by Gini or entropy.

    Without arguments it grows the full tree, as scikit-learn's does; nominal columns are split by sets of their values.

    Parameters
    ----------
    criterion : {"gini", "entropy", "chi2"}, default "gini"
    max_depth : int or None
    min_samples_split, min_samples_leaf : int or float
        Cases (or share of all cases) that a node needs to be divided, that each branch needs.
    min_weight_fraction_leaf : float
        Share of the weight of all cases that each branch needs.
    max_leaf_nodes : int or None
        Grow best-first up to this many leaves.
    min_impurity_decrease : float
        Least decrease of impurity, weighted by the share of cases in the node.
    max_features : int, float, "sqrt", "log2" or None
        Attributes drawn at each node.
    missing : {"best_side", "majority"}, default "best_side"
        Cases without a value go to the side where they fit best, or to the side of the most cases.
    prune : str, pruning method or None
        As for `ID3Classifier`.
    ccp_alpha : float
        Price of a leaf in cost-complexity pruning by impurity, as scikit-learn has it.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
    random_state : int, RandomState or None
        Only used with `max_features`.
    schema : Schema, dict or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CARTClassifier().fit(X, y)
    >>> clf.tree_.n_nodes, float(clf.score(X, y))
    (17, 1.0)
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        missing: str = "best_side",
        prune: Any = None,
        ccp_alpha: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.missing = missing
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.random_state = random_state
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        allowed = ("gini", "entropy", "chi2")
        if self.criterion not in allowed:
            raise ParameterError(f"criterion must be one of {', '.join(map(repr, allowed))}, not {self.criterion!r}")
        return self._cart(self.criterion, n_rows, n_attributes)


class CARTRegressor(_CART, TreeRegressor):
    """CART (Breiman et al. 1984) for numbers: binary splits by variance.

    Parameters
    ----------
    criterion : {"squared_error"}, default "squared_error"
    max_depth : int or None
    min_samples_split, min_samples_leaf : int or float
    min_weight_fraction_leaf : float
    max_leaf_nodes : int or None
    min_impurity_decrease : float
    max_features : int, float, "sqrt", "log2" or None
    missing : {"best_side", "majority"}, default "best_side"
    prune : str, pruning method or None
    ccp_alpha : float
    random_state : int, RandomState or None
    schema : Schema, dict or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> CARTRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0]).predict([[1.5], [9.0]]).tolist()
    [1.0, 5.0]
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        missing: str = "best_side",
        prune: Any = None,
        ccp_alpha: float = 0.0,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.missing = missing
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        if self.criterion != "squared_error":
            raise ParameterError(f"criterion must be 'squared_error', not {self.criterion!r}")
        return self._cart("variance", n_rows, n_attributes)


def _attributes_drawn(max_features: int | float | str, n_attributes: int) -> int:
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_attributes)))
    if max_features == "log2":
        return max(1, int(np.log2(n_attributes)) + 1 if n_attributes else 1)
    if isinstance(max_features, (bool, str)):
        raise ParameterError(f"max_features must be a number, 'sqrt', 'log2' or None, not {max_features!r}")
    if isinstance(max_features, (int, np.integer)):
        if not 1 <= max_features <= n_attributes:
            raise ParameterError(
                f"max_features must be from 1 to {n_attributes}, the number of attributes, not {max_features}"
            )
        return int(max_features)
    if not 0 < max_features <= 1:
        raise ParameterError(f"max_features as a share must be above 0 and at most 1, not {max_features!r}")
    return max(1, int(max_features * n_attributes))
