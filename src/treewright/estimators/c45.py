"""The estimators of ID3, C4.5 and C4.5rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.estimators.base import TableClassifier, TreeClassifier, cases_from
from treewright.fitting.learn import fit as fit_model
from treewright.learners.criteria import CriterionFunction
from treewright.plans import Plan, RulePlan, c45, c45_rules, id3
from treewright.tree.rules import RuleModel, RuleSet


class ID3Classifier(TreeClassifier):
    """ID3 (Quinlan 1986): information gain, one branch per value, no pruning.

    Parameters
    ----------
    criterion : {"gain", "gini", "chi2"} or function, default "gain"
        Score that is maximised; a function as for `CARTClassifier`.
    max_depth, max_leaf_nodes : int or None
    min_samples_split : int or float, default 2
        Cases (or share of all cases) that a node needs for a split.
    min_impurity_decrease : float
        Least score of the chosen test times the share of all cases in the node.
    grow_significance : float or None
        Growing stops where the best test is not significant at this level by chi-square.
    prune : str, pruning method or None
        ``"chi_square"``, ``"mdl"``, ``"reduced_error"``, ``"error_based"``, or a method such as
        `treewright.CostComplexity`; None leaves the tree as it was grown.
    significance : float, default 0.05
        Of chi-square pruning: a test that is not significant at this level is cut.
    bonferroni : bool
        Whether chi-square pruning makes up for the choice among several attributes.
    ccp_alpha : float
        Alpha of cost-complexity pruning, the penalty per leaf.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        Types of the columns; None infers them. Numeric columns are made nominal by entropy with the MDL stop;
        whole-number columns of at most 10 values are taken as nominal.
    engine : {"auto", "interpreted", "compiled"}
        Engine that grows the tree; "auto" chooses by the size of the data. The tree is the same.
    n_jobs : int or None
        Threads of the compiled engine; None and -1 for all processors that the process may use. The tree is the same
        for any number.
    progress : callable or None
        Called with the number of cases in finished leaves and of all, never falling; the last call has all of them.
        What it raises ends the growth.

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
        criterion: str | CriterionFunction = "gain",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float = 2,
        min_impurity_decrease: float = 0.0,
        grow_significance: float | None = None,
        prune: Any = None,
        significance: float = 0.05,
        bonferroni: bool = False,
        ccp_alpha: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.grow_significance = grow_significance
        self.prune = prune
        self.significance = significance
        self.bonferroni = bonferroni
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.schema = schema
        self.engine = engine
        self.n_jobs = n_jobs
        self.progress = progress

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        return id3(
            criterion=self.criterion,
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_cases=max(2, cases_from(self.min_samples_split, n_rows, "min_samples_split")),
            min_decrease=self.min_impurity_decrease,
            grow_significance=self.grow_significance,
            prune=self.prune,
            significance=self.significance,
            bonferroni=self.bonferroni,
            alpha=self.ccp_alpha,
        )


class C45Classifier(TreeClassifier):
    """C4.5 (Quinlan 1993): gain ratio, cuts of numbers, fractional cases for missing values, error-based pruning.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}, default "c45"
        Ours (double precision, ties by rule), the tree of Quinlan's Release 8 to the last node, or that of Weka's J48.
    criterion : {"gain_ratio", "gain"} or function, default "gain_ratio"
        A function as for `CARTClassifier` (dialect c45): the highest score is taken, with no correction of cuts.
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
    bins : int or None
        Bin the numbers of each attribute and try only bin borders as cuts; None, the default, tries
        every number (dialect c45).
    max_depth, max_leaf_nodes : int or None
        Limits of growing (dialect c45).
    grow_significance : float or None
        Growing stops where the best test is not significant at this level by chi-square (dialect c45).
    ccp_alpha : float
        Alpha of ``prune="cost_complexity"``, the penalty per leaf.
    costs : table or dict or None
        Cost of predicting class j for a case of class i, rows and columns in the order of `classes_`, or
        ``{(true, predicted): cost}``; then the class of least expected cost is predicted.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        Types of the columns; None infers them.
    engine : {"auto", "interpreted", "compiled"}
        Engine that grows the tree; "auto" chooses by the size of the data. The tree is the same.
    n_jobs : int or None
        Threads of the compiled engine; None and -1 for all processors that the process may use. The tree is the same
        for any number.
    progress : callable or None
        Called with the number of cases in finished leaves and of all, never falling; the last call has all of them.
        What it raises ends the growth.

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
        criterion: str | CriterionFunction = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        prune: Any = True,
        subset: bool = False,
        binary: bool = False,
        raising: bool = True,
        mdl_correction: bool = True,
        collapse: bool = True,
        bins: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        grow_significance: float | None = None,
        ccp_alpha: float = 0.0,
        costs: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
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
        self.bins = bins
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.grow_significance = grow_significance
        self.ccp_alpha = ccp_alpha
        self.costs = costs
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.schema = schema
        self.engine = engine
        self.n_jobs = n_jobs
        self.progress = progress

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
            bins=self.bins,
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            grow_significance=self.grow_significance,
            alpha=self.ccp_alpha,
        )


class C45RulesClassifier(TableClassifier):
    """C4.5rules (Quinlan 1993): the paths of an unpruned tree, generalised, chosen and put in order.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}, default "c45"
        The tree that the rules come from. ``"r8"`` gives the rules of Quinlan's program one by one, its
        pseudo-random search included; the others search with a seed of their own.
    criterion : {"gain_ratio", "gain"}, default "gain_ratio"
    min_objects : float, default 2
    confidence : float, default 0.25
        Confidence level of the error estimates, a fraction; smaller generalises more.
    subset : bool
        Group the values of nominal attributes (dialects c45 and r8).
    validation : float or None
        Hold out this share of the cases, drop what does not lower the accuracy there and sort by it, instead of
        C4.5rules' estimates.
    random_state : int
        Seed of the search and of the held-out part.
    schema : Schema, dict or None

    Attributes
    ----------
    rules_ : RuleSet
        Prints as IF ... THEN ...
    classes_ : array
        Sorted labels.
    model_ : RuleModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> clf = C45RulesClassifier(dialect="r8").fit(weather.X, weather.y)
    >>> print(clf.rules_)
    1  IF Outlook = Sunny AND Humidity = High THEN No  [covers 3, used 3, wrong 0, estimated accuracy 63.0 %]
    2  IF Outlook = Rain AND Wind = Strong THEN No  [covers 2, used 2, wrong 0, estimated accuracy 50.0 %]
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 70.7 %]
    4  IF Humidity = Normal THEN Yes  [covers 7, used 4, wrong 0, estimated accuracy 66.2 %]
    5  IF Outlook = Rain AND Wind = Weak THEN Yes  [covers 3, used 1, wrong 0, estimated accuracy 63.0 %]
    DEFAULT Yes
    """

    model_: RuleModel

    def __init__(
        self,
        *,
        dialect: str = "c45",
        criterion: str = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        subset: bool = False,
        validation: float | None = None,
        random_state: int = 0,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.dialect = dialect
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.subset = subset
        self.validation = validation
        self.random_state = random_state
        self.schema = schema

    @property
    def rules_(self) -> RuleSet:
        """The learned rules, in firing order."""
        return self.model_.rules

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # C4.5rules takes no case weights
        """Induce the rules.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text columns, categories and missing values work without preprocessing.
        y : array of labels

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def _recipe(self, n_rows: int, n_attributes: int) -> RulePlan:
        return c45_rules(
            dialect=self.dialect,
            criterion=self.criterion,
            min_objects=self.min_objects,
            confidence=self.confidence,
            subset=self.subset,
            seed=self.random_state,
            validation=self.validation,
        )

    def _train(self, dataset: Dataset, plan: RulePlan) -> RuleModel:
        return fit_model(dataset, plan)
