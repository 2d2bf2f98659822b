"""The learners of CART beside the shared grower: rpart's, and the one by absolute error.

And which options mean which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.counting.numpy import engine_for
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Grown, Run, SplitTraces, TreeLearner, as_tuples
from treewright.learners.criteria import CriterionFunction
from treewright.learners.grower import trace_tree
from treewright.learners.median_cart import MedianCart, grow_median_cart
from treewright.learners.monotonic import constraints_from
from treewright.learners.recipe import (
    CART,
    AttributeSampling,
    MissingPolicy,
    Recipe,
    Stopping,
    for_regression,
    require_numeric_criterion,
)
from treewright.learners.rpart.options import Rpart
from treewright.pruning.methods import ErrorBased, Method
from treewright.tree.tree import Tree
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.learners.rpart.nodes import RpartGrowth
    from treewright.learners.rpart.pruning import CpTable

MISSING = {"best_side": MissingPolicy.LEARNED, "majority": MissingPolicy.MAJORITY}
"""What `missing` may be for trees of the shared grower and by absolute error."""

RPART_CRITERIA: dict[str, Literal["gini", "information", "variance"]] = {
    "gini": "gini",
    "entropy": "information",
    "variance": "variance",
}
"""Our names of rpart's criteria."""

CHOICES = ("min", "1se")

DEFAULT_FOLDS, DEFAULT_SURROGATES = 10, 5
"""Other numbers are refused where nothing is cross-validated, or no surrogate is looked for."""


class CartProgram(TreeLearner):
    """What rpart's CART and CART by absolute error share."""

    @property
    def title(self) -> str:
        """The name for people."""
        return "CART"

    def trace(self, grown: Grown, cases: Dataset, tree: Tree, task: Task, run: Run) -> SplitTraces:
        """Return the split traces, with the cases sent where the tree sends them, also by its surrogates."""
        return trace_tree(engine_for(cases, tree, fractional=False), self.reference(task), tree)


@dataclass(frozen=True)
class RpartLearner(CartProgram):
    """CART as rpart has it, with the choice of cp.

    Parameters
    ----------
    options : Rpart
    choose : {"min", "1se"} or None
        Prune to the tree of least cross-validated error, or to the smallest within a standard error of it; None leaves
        the tree as it was grown.
    folds : int or tuple of int
        Of the cross-validation: how many, or the group of each case. It is made for `choose`, and where rpart itself is
        reproduced (`faults`); 0 makes none.
    seed : int
        Decides its groups.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> grown = RpartLearner(Rpart(min_split=2, cp=0.0), choose="1se", folds=7).grow(sample("play-tennis"), Run())
    >>> grown.tree.n_leaves, len(grown.statistics["cp_table"])
    (1, 3)
    """

    options: Rpart = field(default_factory=Rpart)
    choose: Literal["min", "1se"] | None = None
    folds: int | tuple[int, ...] = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.choose is not None and self.choose not in CHOICES:
            raise ParameterError(f"choose must be None, 'min' or '1se', not {self.choose!r}")
        if isinstance(self.folds, tuple):
            if len(set(self.folds)) < 2:
                raise ParameterError("xval must tell at least two groups of cases apart")
            return
        if isinstance(self.folds, bool) or not isinstance(self.folds, (int, np.integer)) or self.folds < 0:
            raise ParameterError(
                f"xval must be a whole number of at least 0 or a group for each case, not {self.folds!r:.60}"
            )
        if self.choose is not None and self.folds < 2:
            raise ParameterError(f"choose={self.choose!r} needs xval of at least 2 groups, not {self.folds!r}")

    @property
    def abilities(self) -> Abilities:
        """What it can take: classes and numbers."""
        return Abilities(tasks=frozenset(Task))

    @property
    def order(self) -> str:
        """Each branch to its end."""
        return "depth"

    @property
    def max_depth(self) -> int | None:
        """The largest depth to which it grows."""
        return self.options.max_depth

    @property
    def prunes_itself(self) -> bool:
        """True: splits that do not save cp are removed."""
        return True

    @property
    def loss(self) -> tuple[tuple[float, ...], ...] | None:
        """The costs of mistakes that splits are chosen by."""
        return self.options.loss

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by our name."""
        return next(ours for ours, theirs in RPART_CRITERIA.items() if theirs == self.options.criterion)

    def reference(self, task: Task) -> Recipe:
        """Return the recipe that scores splits in traces; it does not know losses."""
        options = self.options
        stopping = Stopping(options.max_depth, None, max(2, options.min_split), options.least_bucket)
        return CART(criterion=self.criterion_for(task), missing=MissingPolicy.MAJORITY, stopping=stopping)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> RpartLearner:
        """Make the learner again from the options in a model file."""
        plain = {name: as_tuples(value) for name, value in options.items()}
        own = Rpart(**{name: as_tuples(value) for name, value in dict(plain["options"]).items()})
        return cls(own, plain.get("choose"), plain.get("folds", 10), plain.get("seed", 0))

    def for_class_order(self, codes: npt.NDArray[np.integer[Any]], n_classes: int) -> RpartLearner:
        """Return the learner with priors and losses in category order."""
        options = self.options
        if options.priors is not None:
            priors = np.zeros(n_classes)
            priors[codes] = options.priors
            options = replace(options, priors=tuple(priors.tolist()))
        if options.loss is not None:
            loss = 1.0 - np.eye(n_classes)
            loss[np.ix_(codes, codes)] = options.loss
            options = replace(options, loss=tuple(tuple(row) for row in loss.tolist()))
        return replace(self, options=options)

    def for_task(self, task: Task, target: str | None = None) -> RpartLearner:
        """Return the learner with the criterion of a numeric target, if it is one."""
        if task is Task.CLASSIFICATION:
            return self
        require_numeric_criterion(self.criterion_for(task), ("gini", "variance"), target)
        return replace(self, options=replace(self.options, criterion="variance"))

    @property
    def relearnable(self) -> bool:
        """False: groups of cross-validation, losses and priors are those of certain cases."""
        return False

    def trace_notes(self) -> tuple[str, ...]:
        """Return a note where losses decided."""
        return () if self.options.loss is None else ("losses",)

    def words(self) -> list[str]:
        """Return the options that matter in a few words each."""
        options = self.options
        words = [self.criterion_for(Task.CLASSIFICATION)]
        words += [f"{options.max_surrogates} surrogates at most"] if options.max_surrogates else []
        words += [name for name, given in (("priors", options.priors), ("losses", options.loss)) if given is not None]
        words += [f"cp {options.cp:g}"] if options.cp else []
        rules = {"min": "the least error", "1se": "the least error and its standard error"}
        words += [f"pruned to {rules[self.choose]} in {self.folds} groups"] if self.choose is not None else []
        return words

    def _cross_validated(self, dataset: Dataset, growth: RpartGrowth) -> CpTable:
        """Return the cp table with cross-validated errors; groups of cases may have been given."""
        from treewright.learners.rpart.pruning import cross_validated

        if isinstance(self.folds, int):
            folds = min(self.folds, dataset.n_rows)
            return cross_validated(dataset, self.options, growth, folds=folds, seed=self.seed)
        if len(self.folds) != dataset.n_rows:
            raise ParameterError(f"xval has {len(self.folds)} groups for {dataset.n_rows} cases")
        return cross_validated(dataset, self.options, growth, groups=np.array(self.folds))

    def growth(self, dataset: Dataset) -> RpartGrowth:
        """Return the tree before cp is chosen, with what rpart computes on the way."""
        from treewright.learners.rpart.growing import grow_rpart

        return grow_rpart(dataset, self.options)

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before cp is chosen."""
        return self.growth(cases).tree

    def counted(self, cases: Dataset, tree: Tree) -> Dataset:
        """Return the usable cases, weighted so that the shares of the root are the priors."""
        from treewright.learners.rpart.growing import usable_cases

        cases = cases.take(usable_cases(cases))
        if self.options.priors is None:
            return cases
        own = np.bincount(np.asarray(cases.target), cases.weights, len(tree.schema.classes)).astype(np.float64)
        factors = np.divide(tree.counts[0], own, out=np.zeros_like(own), where=own > 0)
        weights = cases.case_weights
        return replace(cases, weights=weights * factors[cases.target])

    def grow(self, dataset: Dataset, run: Run) -> Grown:
        """Grow, and prune by the choice of cp."""
        from treewright.learners.rpart.growing import usable_cases
        from treewright.learners.rpart.pruning import choose_cp, cp_table, importance, prune_to_cp

        options = self.options
        growth = self.growth(dataset)
        tree, cp, table = growth.tree, None, cp_table(growth)
        if self.choose is not None or (options.faults and self.folds not in (0, 1) and dataset.n_rows > 1):
            table = self._cross_validated(dataset, growth)
        if self.choose is not None:
            cp = choose_cp(table, self.choose)
            tree = prune_to_cp(growth, cp)
        statistics = {
            "cp_table": [list(row) for row in table.rows()],
            "importance": _shares(importance(growth, cp)),
            "subset_search": str(growth.subset_search),
        }
        cases = dataset.take(usable_cases(dataset))
        if options.priors is None:
            return Grown(tree, traced=False, cases=cases, statistics=statistics)
        return _with_priors(tree, statistics, cases, options.priors)


@dataclass(frozen=True)
class MedianLearner(CartProgram):
    """CART by absolute error.

    Parameters
    ----------
    options : MedianCart
    """

    options: MedianCart = field(default_factory=MedianCart)

    @property
    def abilities(self) -> Abilities:
        """What it can take: numbers."""
        return Abilities(tasks=frozenset({Task.REGRESSION}))

    @property
    def order(self) -> str:
        """Level by level or, under a limit on leaves, the node of the highest gain first."""
        return "levels" if self.options.stopping.max_leaves is None else "best"

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by name."""
        return "absolute_error"

    def reference(self, task: Task) -> Recipe:
        """Return the recipe that scores splits in traces: by squared error, which frequency tables can tell."""
        return for_regression(CART(missing=self.options.missing, stopping=self.options.stopping))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> MedianLearner:
        """Make the learner again from the options in a model file."""
        own = dict(options["options"])
        return cls(MedianCart(Stopping(**dict(own["stopping"])), MissingPolicy(own["missing"])))

    def for_task(self, task: Task, target: str | None = None) -> MedianLearner:
        """Return the learner itself; classes have no absolute error."""
        if task is Task.CLASSIFICATION:
            raise ParameterError("absolute_error is for a numeric target; this one has classes")
        return self

    @property
    def relearnable(self) -> bool:
        """False: a report estimates by squared error."""
        return False

    def trace_notes(self) -> tuple[str, ...]:
        """Return a note that traces are by squared error."""
        return ("squared_error",)

    def words(self) -> list[str]:
        """Return the criterion."""
        return ["absolute error"]

    def grow(self, dataset: Dataset, run: Run) -> Grown:
        """Grow by absolute error."""
        growth = grow_median_cart(dataset, self.options)
        return Grown(growth.tree, traced=False, statistics={"importance": _shares(growth.importance)})


def _shares(amounts: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    total = float(amounts.sum())
    return [float(amount) / total if total > 0 else 0.0 for amount in amounts]


def _with_priors(tree: Tree, statistics: dict[str, Any], cases: Dataset, priors: tuple[float, ...]) -> Grown:
    """Let cases weigh in the tree by the prior of their class over its share: shares of leaves become probabilities."""
    counts = tree.counts[0].astype(np.float64)
    present = counts > 0
    prior = np.where(present, np.array(priors, dtype=np.float64), 0.0)
    factor = np.divide(prior / prior.sum() * counts.sum(), counts, out=np.zeros_like(counts), where=present)
    weighted = tree.counts * factor
    own = cases.case_weights
    return Grown(
        replace(tree, counts=weighted, weight=weighted.sum(axis=1)),
        traced=False,
        cases=replace(cases, weights=own * factor[cases.target]),
        statistics=statistics,
    )


# -- from options to a learner -----------------------------------------------------------------------------------------


def cart_learner(
    *,
    criterion: str | CriterionFunction = "gini",
    missing: str | None = None,
    stopping: Stopping | None = None,
    draw: AttributeSampling | None = None,
    monotonic: Mapping[Any, int] | Sequence[int] | None = None,
    max_surrogates: int = DEFAULT_SURROGATES,
    priors: tuple[float, ...] | None = None,
    loss: tuple[tuple[float, ...], ...] | None = None,
    cp: float | None = None,
    choose: Literal["min", "1se"] | None = None,
    xval: int | Sequence[int] = DEFAULT_FOLDS,
    seed: int = 0,
    faults: bool = False,
    bins: int | None = None,
    pruning: Sequence[Method] = (),
) -> Recipe | RpartLearner | MedianLearner:
    """Return the learner that options of CART mean; those that do not go together are refused.

    Parameters
    ----------
    criterion : {"gini", "entropy", "chi2", "variance", "absolute_error"} or function
        A function of the table: see `treewright.learners.criteria`; not with rpart's options.
    missing : {"best_side", "majority", "surrogate"} or None
        Where cases without a value go. None is "surrogate" with rpart's options, else "best_side".
    stopping : Stopping or None
    draw : AttributeSampling or None
    monotonic : dict by name, sequence with a number for each column, or None
        1: the prediction may only rise with the column, -1: only fall.
    max_surrogates : int
    priors, loss : tuples in declared order, or None
    cp : float or None
        What a split must save, as a share of the root's risk.
    choose, xval, seed
        The cross-validated choice of cp: its rule, its number of groups, and what decides the groups.
    faults : bool
        Reproduce what is odd in rpart.
    bins : int or None
        Try only the borders of as many bins as cuts; not with rpart's options.
    pruning : sequence of pruning methods
        What is to follow; neither rpart nor absolute error can be combined with any.

    Examples
    --------
    >>> type(cart_learner()).__name__, type(cart_learner(cp=0.01)).__name__
    ('Recipe', 'RpartLearner')
    """
    allowed = (*MISSING, "surrogate")
    if missing is not None and missing not in allowed:
        hint = did_you_mean(str(missing), allowed)
        raise ParameterError(f"missing must be one of {', '.join(map(repr, allowed))}, not {missing!r}{hint}")
    limits = stopping or Stopping()
    of_rpart = {
        "missing='surrogate'": missing == "surrogate",
        "priors": priors is not None,
        "loss": loss is not None,
        "cp": cp is not None,
        "choose": choose is not None,
        "faults": bool(faults),
    }
    because = next((name for name, given in of_rpart.items() if given), None)
    if choose is None and not faults and (np.ndim(xval) > 0 or xval != DEFAULT_FOLDS):
        raise ParameterError(
            f"xval={xval!r:.60} has an effect only where cp is chosen: add choose='min' or '1se' (--choose)"
        )
    if max_surrogates != DEFAULT_SURROGATES and (missing == "majority" or because is None):
        raise ParameterError(
            f"max_surrogates={max_surrogates!r} has an effect only with missing='surrogate' "
            "(--missing-values surrogate)"
        )
    constraints = constraints_from(monotonic)
    if constraints and any(isinstance(method, ErrorBased) and method.raising for method in pruning):
        raise ParameterError("raising puts branches where they may break the order: monotonic goes with raising=False")
    others = {
        "max_features": draw is not None,
        "monotonic": bool(constraints),
        "bins": bins is not None,
    }
    if because is None:
        policy = MISSING[missing or "best_side"]
        if criterion == "absolute_error":
            _refuse(others | {"pruning (prune, ccp_alpha)": bool(pruning)}, "criterion='absolute_error'")
            return MedianLearner(MedianCart(limits, policy))
        return CART(criterion=criterion, missing=policy, stopping=limits, draw=draw, monotonic=constraints, bins=bins)
    others |= {
        "max_leaf_nodes": limits.max_leaves is not None,
        "a significance of growing": limits.significance is not None,
        "min_weight_fraction_leaf": limits.min_share > 0,
        "min_impurity_decrease": limits.min_decrease > 0,
        "missing='best_side'": missing == "best_side",
        f"criterion={criterion!r}": callable(criterion) or criterion not in RPART_CRITERIA,
    }
    _refuse(others, because)
    options = Rpart(
        criterion=RPART_CRITERIA[str(criterion)],
        min_split=limits.min_cases,
        min_bucket=limits.min_leaf,
        cp=0.0 if cp is None else _plain(cp),
        max_depth=limits.max_depth,
        competitors=0,
        max_surrogates=0 if missing == "majority" else _plain(max_surrogates),
        priors=priors,
        loss=loss,
        faults=_plain(faults),
    )
    folds = _plain(xval) if np.ndim(xval) == 0 else tuple(int(group) for group in np.asarray(xval).ravel())
    return RpartLearner(options, choose, folds, seed)


def _plain(value: Any) -> Any:
    """Return the number of Python's own for one of NumPy's, which a model file has no form for."""
    return value.item() if isinstance(value, np.generic) else value


def _refuse(others: Mapping[str, bool], because: str) -> None:
    for name, given in others.items():
        if given:
            raise ParameterError(f"{name} cannot be combined with {because}")


def priors_from(priors: Any, labels: list[Any]) -> tuple[float, ...] | None:
    """Read priors given by label, or in the order of the labels.

    Examples
    --------
    >>> priors_from({"well": 0.9, "sick": 0.1}, ["sick", "well"])
    (0.1, 0.9)
    """
    if priors is None:
        return None
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise ParameterError(f"priors must have a number for each of the classes {labels}, not for {list(priors)}")
        priors = [priors[label] for label in labels]
    try:
        read = tuple(float(prior) for prior in priors)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"priors must be numbers: {error}") from error
    if len(read) != len(labels):
        raise ParameterError(f"priors must be {len(labels)} numbers, one for each of {labels}, not {len(read)}")
    return read
