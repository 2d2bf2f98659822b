"""The CART estimators: scikit-learn's tree by default, rpart's if one of its options is used.

The options of rpart are ``missing="surrogate"``, `priors`, `loss`, `cp`, `choose` and `faults`. With any of them the
tree is grown as in rpart, and options that rpart does not have (`max_leaf_nodes`, `max_features`, `monotonic`, ...) are
rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from treewright.cart_plan import priors_from
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.estimators.base import TreeClassifier, TreeEstimator, TreeRegressor, cases_from, seed_of
from treewright.learners.criteria import CriterionFunction
from treewright.learners.recipe import AttributeSampling, Stopping
from treewright.plans import Plan, cart, costs_from
from treewright.pruning.cost_complexity import Impurity, cost_complexity_path
from treewright.tree.model import TreeModel
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.learners.rpart.pruning import CpTable

RPART: dict[str, Any] = {"min_samples_split": 20, "cp": 0.01, "max_depth": 30, "missing": "surrogate", "faults": True}
"""The defaults of rpart."""


class GrowthLimits:
    """The limits of CART's growth as estimator parameters; also for the trees of random forests."""

    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    grow_significance: float | None = None

    def _stopping(self, n_rows: int) -> Stopping:
        return Stopping(
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_cases=max(2, cases_from(self.min_samples_split, n_rows, "min_samples_split")),
            min_leaf=cases_from(self.min_samples_leaf, n_rows, "min_samples_leaf"),
            min_share=self.min_weight_fraction_leaf,
            min_decrease=self.min_impurity_decrease,
            significance=self.grow_significance,
        )


class CARTEstimator(GrowthLimits, TreeEstimator):
    """Base class of the CART estimators."""

    criterion: str | CriterionFunction
    max_features: int | float | str | None
    random_state: Any
    missing: str | None
    max_surrogates: int
    priors: Any = None
    loss: Any = None
    cp: float | None
    choose: Literal["min", "1se"] | None
    xval: Any
    faults: bool
    bins: int | None
    monotonic: Any
    prune: Any
    ccp_alpha: float

    @classmethod
    def like_rpart(cls, **overrides: Any) -> Self:
        """Return an estimator with rpart's defaults, which grows the tree that rpart grows.

        These are ``minsplit`` 20, ``minbucket`` a third of it, ``cp`` 0.01, ``maxdepth`` 30 and five surrogates; the
        peculiarities of the program are reproduced (`faults`).

        Parameters
        ----------
        **overrides
            Parameters of the constructor with other values.

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> CARTClassifier.like_rpart(cp=0.001)
        CARTClassifier(cp=0.001, faults=True, max_depth=30, min_samples_leaf=7,
                       min_samples_split=20, missing='surrogate')
        """
        chosen = {**RPART, **overrides}
        split = chosen["min_samples_split"]
        chosen.setdefault(
            "min_samples_leaf", max(1, round(split / 3)) if isinstance(split, (int, np.integer)) else split / 3
        )
        return cls(**chosen)

    def _cart(self, criterion: str | CriterionFunction, n_rows: int, n_attributes: int) -> Plan:
        draw = None
        if self.max_features is not None:
            draw = AttributeSampling(_sampled_attributes(self.max_features, n_attributes), self._seed)
        return cart(
            criterion=criterion,
            missing=self.missing,
            stopping=self._stopping(n_rows),
            draw=draw,
            monotonic=self.monotonic,
            bins=self.bins,
            max_surrogates=self.max_surrogates,
            cp=self.cp,
            choose=self.choose,
            xval=self.xval,
            seed=self._seed,
            faults=self.faults,
            prune="cost_complexity" if self.prune is None and self.ccp_alpha > 0 else self.prune,
            alpha=self.ccp_alpha,
            **self._of_classes(),
        )

    @property
    def _seed(self) -> int:
        """Random seed: 0 unless a random state is given."""
        return 0 if self.random_state is None else seed_of(self.random_state)

    def _of_classes(self) -> dict[str, Any]:
        """Return the options for classes only: priors and losses."""
        return {}

    # -- prediction --------------------------------------------------------------------------------------------------

    @property
    def cp_table_(self) -> CpTable:
        """The sequence of pruned trees and their errors; only with rpart's options."""
        check_is_fitted(self)
        rows = self.model_.recipe.get("cp_table")
        if rows is None:
            raise AttributeError("there is a cp table only with rpart's options (missing='surrogate', cp, choose, ...)")
        from treewright.learners.rpart.pruning import CpTable

        return CpTable.from_rows(rows)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Share of each attribute in the decrease of impurity; with rpart's options surrogates count, too."""
        check_is_fitted(self)
        shares = self.model_.recipe.get("importance")
        return super().feature_importances_ if shares is None else np.array(shares, dtype=np.float64)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the values of `ccp_alpha` at which the tree for these data becomes smaller.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        Bunch
            ``ccp_alphas``, ascending, and ``impurities``, the total impurity of the leaves from there on.

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> path = CARTClassifier().cost_complexity_pruning_path([[1.0], [2.0], [3.0]], ["a", "b", "b"])
        >>> path.ccp_alphas.round(4).tolist(), path.impurities.round(4).tolist()
        ([0.0, 0.4444], [0.0, 0.4444])
        """
        full = clone(self).set_params(ccp_alpha=0.0, prune=None).fit(X, y, sample_weight)
        if "importance" in full.model_.recipe:
            raise ParameterError(
                "the path is by impurity, as in scikit-learn: with rpart's options see cp_table_, "
                "and with criterion='absolute_error' there is no path"
            )
        measure: Impurity = "entropy" if self.criterion == "entropy" else "gini"
        path = cost_complexity_path(full.tree_, "impurity", measure)
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)


def _sampled_attributes(max_features: int | float | str, n_attributes: int) -> int:
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


CLASS_CRITERIA = ("gini", "entropy", "chi2")
NUMBER_CRITERIA = {"squared_error": "variance", "absolute_error": "absolute_error"}


class CARTClassifier(CARTEstimator, TreeClassifier):
    """CART (Breiman et al. 1984) for classes: binary splits by Gini or entropy.

    Without arguments it grows the full tree, as scikit-learn's does; nominal columns are split by sets of their values.
    With one of rpart's options (``missing="surrogate"``, `priors`, `loss`, `cp`, `choose`, `faults`) it grows as rpart.

    Parameters
    ----------
    criterion : {"gini", "entropy", "chi2"} or function, default "gini"
        A function takes the table of a test, branches x classes (doubles, classes in the order of the schema), and
        returns a score: the highest score wins, a score of 0 or less rejects the test. Both engines take it, the
        compiled one compiles it. `feature_importances_` then go by entropy, `ccp_alpha` by Gini.
    max_depth : int or None
    min_samples_split, min_samples_leaf : int or float
        Cases (or share of all cases) that a node needs for a split, that each branch needs.
    min_weight_fraction_leaf : float
        Share of the weight of all cases that each branch needs.
    max_leaf_nodes : int or None
        Grow best-first up to this many leaves.
    min_impurity_decrease : float
        Least decrease of impurity, weighted by the share of cases in the node.
    grow_significance : float or None
        Growing stops where the best test is not significant at this level by chi-square.
    max_features : int, float, "sqrt", "log2" or None
        Attributes sampled at each node.
    missing : {"best_side", "majority", "surrogate"} or None
        Cases without a value go to the side where they fit best, to the side of the most cases, or where other
        attributes send them that agree with the test. None is "surrogate" with rpart's options, else "best_side".
    max_surrogates : int, default 5
        Most surrogate splits of a test.
    priors : dict, array or None
        Share of each class where the tree will be used, by label or in the order of `classes_`; they sum to 1.
    loss : dict, table or None
        Cost of predicting class j for a case of class i: rows and columns in the order of `classes_`, or
        ``{(true, predicted): cost}``. It guides growing, and the class of least expected loss is predicted.
    cp : float or None
        What a split must save, as a share of the root's risk; rpart's own default is 0.01. None grows fully.
    choose : {"min", "1se"} or None
        Prune by cross-validation: to the least error, or to the smallest tree within a standard error of it.
    xval : int, default 10
        Number of groups of that cross-validation.
    faults : bool
        Reproduce the peculiarities of rpart (see `treewright.learners.rpart.growing.Rpart`).
    bins : int or None
        Bin the numbers of each attribute and try only bin borders as cuts; None, the default, tries
        every number.
    monotonic : dict, sequence or None
        By column name, or one for each column: 1 if the probability of the second class may only rise with the column,
        -1 if it may only fall, 0 otherwise. For numeric and ordinal columns, and two classes.
    prune : str, pruning method or None
        As for `ID3Classifier`.
    ccp_alpha : float
        Alpha of cost-complexity pruning by impurity, as in scikit-learn.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
    random_state : int, RandomState or None
        Only used with `max_features` and `choose`.
    schema : Schema, dict or None
    engine : {"auto", "interpreted", "compiled"}
    n_jobs : int or None
    progress : callable or None
        As for `C45Classifier`.

    Attributes
    ----------
    tree_ : Tree
        With ``surrogates``, the surrogate splits of its nodes.
    cp_table_ : CpTable
        With rpart's options: the trees that pruning can give.
    schema_ : Schema
    classes_ : array
        Sorted labels.
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CARTClassifier().fit(X, y)
    >>> clf.tree_.n_nodes, float(clf.score(X, y))
    (17, 1.0)
    >>> print(CARTClassifier(missing="surrogate", cp=0.01).fit(X, y).cp_table_)
        CP nsplit rel error
    1  0.5      0         1
    2 0.44      1       0.5
    3 0.02      2      0.06
    4 0.01      3      0.04
    """

    def __init__(
        self,
        *,
        criterion: str | CriterionFunction = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        grow_significance: float | None = None,
        max_features: int | float | str | None = None,
        missing: str | None = None,
        max_surrogates: int = 5,
        priors: Mapping[Any, float] | Sequence[float] | npt.NDArray[Any] | None = None,
        loss: Any = None,
        cp: float | None = None,
        choose: Literal["min", "1se"] | None = None,
        xval: Any = 10,
        faults: bool = False,
        bins: int | None = None,
        monotonic: Mapping[str, int] | Sequence[int] | None = None,
        prune: Any = None,
        ccp_alpha: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.grow_significance = grow_significance
        self.max_features = max_features
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.priors = priors
        self.loss = loss
        self.cp = cp
        self.choose = choose
        self.xval = xval
        self.faults = faults
        self.bins = bins
        self.monotonic = monotonic
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.random_state = random_state
        self.schema = schema
        self.engine = engine
        self.n_jobs = n_jobs
        self.progress = progress

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        if not callable(self.criterion) and self.criterion not in CLASS_CRITERIA:
            allowed = ", ".join(map(repr, CLASS_CRITERIA))
            hint = did_you_mean(str(self.criterion), CLASS_CRITERIA)
            raise ParameterError(f"criterion must be one of {allowed}, or a function, not {self.criterion!r}{hint}")
        return self._cart(self.criterion, n_rows, n_attributes)

    def _of_classes(self) -> dict[str, Any]:
        labels = self.classes_.tolist()
        return {"priors": priors_from(self.priors, labels), "loss": _loss_from(self.loss, labels)}

    def _train(self, dataset: Dataset, plan: Plan) -> TreeModel:
        """Reorder priors and losses from the order of `classes_` to that of the schema."""
        n_classes = len(dataset.schema.classes)
        return super()._train(dataset, replace(plan, learner=plan.learner.for_class_order(self._columns, n_classes)))


class CARTRegressor(CARTEstimator, TreeRegressor):
    """CART (Breiman et al. 1984) for numbers: binary splits by squared or absolute error.

    Without arguments it grows the full tree, as scikit-learn's does; with one of rpart's options
    (``missing="surrogate"``, `cp`, `choose`, `faults`) it grows as rpart.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error"}, default "squared_error"
        With "absolute_error" leaves say the median; it goes neither with rpart's options nor with `max_features`,
        `monotonic` and pruning.
    max_depth : int or None
    min_samples_split, min_samples_leaf : int or float
    min_weight_fraction_leaf : float
    max_leaf_nodes : int or None
    min_impurity_decrease : float
    max_features : int, float, "sqrt", "log2" or None
    missing : {"best_side", "majority", "surrogate"} or None
        As for `CARTClassifier`, and so on.
    max_surrogates : int, default 5
    cp : float or None
    choose : {"min", "1se"} or None
    xval : int, default 10
    faults : bool
    bins : int or None
        Bin the numbers of each attribute and try only bin borders as cuts; None, the default, tries
        every number.
    monotonic : dict, sequence or None
        By column name, or one for each column: 1 if the prediction may only rise with the column, -1 if only fall.
    prune : str, pruning method or None
    ccp_alpha : float
    random_state : int, RandomState or None
    schema : Schema, dict or None
    engine, n_jobs, progress
        As for `C45Classifier`.

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
        missing: str | None = None,
        max_surrogates: int = 5,
        cp: float | None = None,
        choose: Literal["min", "1se"] | None = None,
        xval: Any = 10,
        faults: bool = False,
        bins: int | None = None,
        monotonic: Mapping[str, int] | Sequence[int] | None = None,
        prune: Any = None,
        ccp_alpha: float = 0.0,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
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
        self.max_surrogates = max_surrogates
        self.cp = cp
        self.choose = choose
        self.xval = xval
        self.faults = faults
        self.bins = bins
        self.monotonic = monotonic
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.schema = schema
        self.engine = engine
        self.n_jobs = n_jobs
        self.progress = progress

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        if self.criterion not in NUMBER_CRITERIA:
            allowed = ", ".join(map(repr, NUMBER_CRITERIA))
            raise ParameterError(f"criterion must be one of {allowed}, not {self.criterion!r}")
        return self._cart(NUMBER_CRITERIA[str(self.criterion)], n_rows, n_attributes)


def _loss_from(loss: Any, labels: list[Any]) -> tuple[tuple[float, ...], ...] | None:
    """Read a loss by pairs of labels, or as a table in the order of the labels."""
    read = costs_from(loss, [str(label) for label in labels])
    if read is not None and (len(read) != len(labels) or any(len(row) != len(labels) for row in read)):
        raise ParameterError(f"loss must be a table of {len(labels)} rows and columns, in the order of classes_")
    return read
