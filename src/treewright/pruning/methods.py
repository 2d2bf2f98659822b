"""Pruning methods as values, and the one function that applies them.

Invariants
----------
A method is validated at construction, and `pruner_named` restores it from its `to_dict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.parameters import check_flag, check_share, check_whole_number
from treewright.pruning.chi_square import prune_chi_square
from treewright.pruning.collapse import collapse, simplify
from treewright.pruning.cost_complexity import Impurity, Risk, check_measure, prune_cost_complexity
from treewright.pruning.error_based import prune_error_based
from treewright.pruning.mdl import prune_mdl
from treewright.pruning.reduced_error import prune_reduced_error
from treewright.tree.tree import Tree
from treewright.wording import did_you_mean, quoted_list


@dataclass(frozen=True)
class Method:
    """A pruning method with its options."""

    name: ClassVar[str]
    """Its name in model files and options."""

    def describe(self) -> str:
        """Return a short description."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {"method": self.name, **asdict(self)}


@dataclass(frozen=True)
class Collapse(Method):
    """Remove splits that do not lower the training errors (C4.5)."""

    name = "collapse"

    def describe(self) -> str:
        """Return a short description."""
        return "collapsed"


@dataclass(frozen=True)
class ErrorBased(Method):
    """C4.5's pruning by pessimistic error estimates.

    Parameters
    ----------
    confidence : float
        Above 0 and at most 1; smaller prunes more.
    raising : bool
        Whether a node may be replaced by its largest branch.
    """

    name = "error_based"
    confidence: float = 0.25
    raising: bool = True

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence, plain=True)
        check_flag("raising", self.raising, plain=True)

    def describe(self) -> str:
        """Return a short description."""
        return f"pruned at confidence {100 * self.confidence:g} %"


@dataclass(frozen=True)
class ReducedError(Method):
    """Prune the splits that do not lower the errors on held-out cases.

    Parameters
    ----------
    share : float
        Share of the cases that are held out, between 0 and 1.
    seed : int
        Random seed for the choice of these cases.
    """

    name = "reduced_error"
    share: float = 1 / 3
    seed: int = 0

    def __post_init__(self) -> None:
        _check_share("share", self.share)
        check_whole_number("seed", self.seed, 0, plain=True)

    def describe(self) -> str:
        """Return a short description."""
        return f"pruned by {100 * self.share:.0f} % of the cases, held out"


@dataclass(frozen=True)
class ChiSquare(Method):
    """Prune the lowest splits whose branches do not differ significantly.

    Parameters
    ----------
    significance : float
        Between 0 and 1; smaller prunes more.
    bonferroni : bool
        Whether p-values are corrected for the number of attributes.
    """

    name = "chi_square"
    significance: float = 0.05
    bonferroni: bool = False

    def __post_init__(self) -> None:
        _check_share("significance", self.significance)
        check_flag("bonferroni", self.bonferroni, plain=True)

    def describe(self) -> str:
        """Return a short description."""
        adjusted = ", Bonferroni" if self.bonferroni else ""
        return f"pruned by chi-square at {100 * self.significance:g} %{adjusted}"


@dataclass(frozen=True)
class MDL(Method):
    """Prune the splits that do not shorten the description of tree and classes."""

    name = "mdl"

    def describe(self) -> str:
        """Return a short description."""
        return "pruned by description length"


@dataclass(frozen=True)
class CostComplexity(Method):
    """Prune the weakest links, up to a complexity cost per leaf.

    Parameters
    ----------
    alpha : float
        The cost of a leaf, at least 0; greater prunes more.
    risk : {"impurity", "errors"}
    criterion : {"gini", "entropy"}
        The impurity of classes.
    """

    name = "cost_complexity"
    alpha: float
    risk: Risk = "impurity"
    criterion: Impurity = "gini"

    def __post_init__(self) -> None:
        is_number = isinstance(self.alpha, (int, float)) and not isinstance(self.alpha, bool)
        if not is_number or not 0 <= self.alpha < float("inf"):
            raise ParameterError(f"alpha must be a number of at least 0, not {self.alpha!r}")
        check_measure(self.risk, self.criterion)

    def describe(self) -> str:
        """Return a short description."""
        return f"pruned at ccp_alpha {self.alpha:g}"


@dataclass(frozen=True)
class Simplify(Method):
    """Remove the splits whose leaves all predict the same."""

    name = "simplify"

    def describe(self) -> str:
        """Return a short description."""
        return "simplified"


PRUNERS: dict[str, type[Method]] = {
    method.name: method for method in (Collapse, Simplify, ErrorBased, ReducedError, ChiSquare, MDL, CostComplexity)
}
"""Pruning methods by name."""


def pruner_named(name: str, **parameters: Any) -> Method:
    """Return a pruning method by its name; hyphens count as underscores.

    Examples
    --------
    >>> pruner_named("chi-square", significance=0.01)
    ChiSquare(significance=0.01, bonferroni=False)
    >>> plain = ErrorBased(0.1).to_dict()
    >>> pruner_named(plain.pop("method"), **plain)
    ErrorBased(confidence=0.1, raising=True)
    """
    pruner = PRUNERS.get(str(name).replace("-", "_"))
    if pruner is None:
        names = ", ".join(repr(one) for one in PRUNERS)
        raise ParameterError(
            f"the pruning method must be one of {names}, not {name!r}{did_you_mean(str(name), PRUNERS)}"
        )
    known = [field.name for field in fields(pruner)]
    for parameter in parameters:
        if parameter not in known:
            allowed = f"; it has {quoted_list(known)}" if known else ""
            hint = did_you_mean(parameter, known)
            raise ParameterError(f"{pruner.__name__} has no parameter {parameter!r}{hint}{allowed}")
    if pruner is CostComplexity and "alpha" not in parameters:
        raise ParameterError("CostComplexity needs 'alpha', the cost of a leaf: a number of at least 0")
    return pruner(**parameters)


def prune(
    tree: Tree,
    method: Method,
    training: Dataset | None = None,
    validation: Dataset | None = None,
    *,
    engine: str = "auto",
) -> Tree:
    """Return the pruned tree.

    Parameters
    ----------
    tree : Tree
        It is not changed.
    method : Method
    training : Dataset or None
        The cases the tree was grown from; `ErrorBased` needs them.
    validation : Dataset or None
        Held-out cases; `ReducedError` needs them.
    engine : str
        "interpreted", "compiled", or "auto" to choose by the size of the data; the tree is the same. Only `ErrorBased`
        has kernels.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("contact-lenses"), ID3()).tree
    >>> [len(prune(tree, method)) for method in (Collapse(), MDL(), ChiSquare(0.05), ChiSquare(0.001))]
    [15, 5, 5, 3]
    """
    match method:
        case Collapse():
            return collapse(tree)
        case Simplify():
            return simplify(tree)
        case ErrorBased(confidence, raising):
            if training is None:
                raise ParameterError("error-based pruning needs the cases that the tree was grown from")
            return prune_error_based(tree, training, confidence, raising=raising, engine=engine)
        case ReducedError():
            if validation is None:
                raise ParameterError("reduced-error pruning needs cases that were held out")
            return prune_reduced_error(tree, validation)
        case ChiSquare(significance, bonferroni):
            return prune_chi_square(tree, significance, bonferroni=bonferroni)
        case MDL():
            return prune_mdl(tree)
        case CostComplexity(alpha, risk, criterion):
            return prune_cost_complexity(tree, alpha, risk, criterion)
        case _:
            raise ParameterError(
                f"{method!r} is not a pruning method; there are {quoted_list(one.__name__ for one in PRUNERS.values())}"
            )


def split_off(dataset: Dataset, share: float, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Split cases into a part to grow from and a part to validate on, stratified by class.

    A numeric target is stratified over its range. Both parts keep the order of the cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> grow_part, held_out = split_off(sample("play-tennis"), 1 / 3)
    >>> len(grow_part), len(held_out), sorted(held_out.y.tolist())
    (10, 4, ['No', 'Yes', 'Yes', 'Yes'])
    """
    _check_share("share", share)
    if dataset.target is None:
        raise ParameterError("there is no target to stratify by")
    shuffled = np.random.default_rng(seed).permutation(dataset.n_rows)
    dealt = shuffled[np.argsort(dataset.target[shuffled], kind="stable")]
    ranks = np.arange(dataset.n_rows)
    held = np.floor((ranks + 1) * share) > np.floor(ranks * share)
    if held.all() or not held.any():
        raise ParameterError(f"{dataset.n_rows} cases are too few to hold out {100 * share:.0f} % of them")
    return dataset.take(np.sort(dealt[~held])), dataset.take(np.sort(dealt[held]))


def _check_share(name: str, value: object) -> None:
    if not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ParameterError(f"{name} must be a number between 0 and 1, not {value!r}")


def pruning_from(
    prune: bool | str | Method | None,
    *,
    confidence: float = 0.25,
    raising: bool = True,
    significance: float = 0.05,
    bonferroni: bool = False,
    alpha: float | None = None,
    criterion: str = "gini",
) -> tuple[Method, ...]:
    """Return the pruning methods that the options of an estimator or command select.

    If no method is given, an option implies its method; an option of a method other than the given one raises an
    error, since it would have no effect.

    Parameters
    ----------
    prune : bool, str, pruning method or None
        True is error-based; a name uses its parameters below; a method is used as it is; False prunes by none.
    confidence, raising : of error-based pruning
    significance, bonferroni : of chi-square pruning
    alpha, criterion : of cost-complexity pruning, which needs an alpha

    Examples
    --------
    >>> pruning_from("chi_square", significance=0.01)
    (ChiSquare(significance=0.01, bonferroni=False),)
    >>> pruning_from(None, alpha=0.1)
    (CostComplexity(alpha=0.1, risk='impurity', criterion='gini'),)
    """
    options: dict[type[Method], dict[str, Any]] = {
        ErrorBased: {"confidence": confidence, "raising": raising},
        ChiSquare: {"significance": significance, "bonferroni": bonferroni},
        CostComplexity: {"alpha": alpha or None},
    }
    given = {  # the options that are not the defaults
        method.name: {option: value for option, value in own.items() if value != getattr(method, option, None)}
        for method, own in options.items()
    }
    if prune is None:
        prune = implied_method(given)
    if prune is True:
        prune = "error_based"
    name = prune.replace("-", "_") if isinstance(prune, str) else ""
    for method, own in given.items():
        if own and method != name:
            option, value = next(iter(own.items()))
            spelled = f"{option}={value!r}" if option != "alpha" else f"alpha={value!r} (an estimator's ccp_alpha)"
            instead = (
                "leave out one of them" if prune is False else f"add that (--prune {method}), or leave the option out"
            )
            other = ", not with prune=False (--no-prune)" if prune is False else ""
            raise ParameterError(f"{spelled} has an effect only on prune={method!r}{other}: {instead}")
    if prune is False or prune is None:
        return ()
    if not isinstance(prune, str):
        if not isinstance(prune, tuple(PRUNERS.values())):
            names = ", ".join(map(repr, PRUNERS))
            raise ParameterError(f"prune must be True, False, None, a pruning method or one of {names}, not {prune!r}")
        return (prune,)
    own = given.get(name, {})
    if name == "cost_complexity":
        if not own:
            raise ParameterError(
                "prune='cost_complexity' needs alpha, the cost of a leaf, above 0 (an estimator's ccp_alpha)"
            )
        own["criterion"] = "entropy" if criterion == "entropy" else "gini"
    return (pruner_named(name, **own),)


def implied_method(given: Mapping[str, Iterable[str]]) -> str | None:
    """Return the pruning method whose options were given, None if there are none; raise if they are of several.

    Parameters
    ----------
    given : dict of str to names
        The options that were given, by method, as they were typed.

    Examples
    --------
    >>> implied_method({"chi_square": ["significance"], "cost_complexity": []})
    'chi_square'
    """
    named = {method: [*options] for method, options in given.items()}
    methods = [method for method, options in named.items() if options]
    if len(methods) > 1:
        names = [name for options in named.values() for name in options]
        raise ParameterError(f"{quoted_list(names)} are options of different pruning methods: keep those of one")
    return methods[0] if methods else None
