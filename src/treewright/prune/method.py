"""Pruning methods as values, and the one function that applies them.

Each method is a frozen dataclass with its parameters; `prune` carries it out. A method that needs cases says which: the ones the
tree was grown from, or others that were held out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.model.tree import Tree
from treewright.prune.collapse import collapse
from treewright.prune.error_based import prune_error_based


class Method(Protocol):
    """A way to prune."""

    def describe(self) -> str:
        """Say it in a few words."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""


@dataclass(frozen=True)
class Collapse:
    """Remove tests that do not lower the training errors (C4.5)."""

    def describe(self) -> str:
        """Say it in a few words."""
        return "collapsed"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {"method": "collapse"}


@dataclass(frozen=True)
class ErrorBased:
    """C4.5's pruning by pessimistic error estimates.

    Parameters
    ----------
    confidence : float
        Above 0 and at most 1; smaller prunes more.
    raising : bool
        Whether a node may be replaced by its largest branch.
    """

    confidence: float = 0.25
    raising: bool = True

    def __post_init__(self) -> None:
        number = isinstance(self.confidence, (int, float)) and not isinstance(self.confidence, bool)
        if not number or not 0 < self.confidence <= 1:
            raise ParameterError(f"confidence must be a number above 0 and at most 1, not {self.confidence!r}")

    def describe(self) -> str:
        """Say it in a few words."""
        return f"pruned at confidence {100 * self.confidence:g} %"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {"method": "error_based", **asdict(self)}


@dataclass(frozen=True)
class ReducedError:
    """Prune what does not lower the errors on cases that were held out.

    Parameters
    ----------
    share : float
        Of the cases that are held out.
    seed : int
        Decides which.
    """

    share: float = 1 / 3
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParameterError(f"share must be a number between 0 and 1, not {self.share!r}")

    def describe(self) -> str:
        """Say it in a few words."""
        return f"pruned by {100 * self.share:.0f} % of the cases, held out"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {"method": "reduced_error", **asdict(self)}


def prune(tree: Tree, method: Method, training: Dataset | None = None, validation: Dataset | None = None) -> Tree:
    """Return the pruned tree."""
    if isinstance(method, Collapse):
        return collapse(tree)
    if isinstance(method, ErrorBased):
        if training is None:
            raise ParameterError("error-based pruning needs the training cases")
        return prune_error_based(tree, training, method.confidence, raising=method.raising)
    if isinstance(method, ReducedError):
        from treewright.prune.reduced_error import prune_reduced_error

        if validation is None:
            raise ParameterError("reduced-error pruning needs cases that were held out")
        return prune_reduced_error(tree, validation)
    raise ParameterError(f"{method!r} is not a pruning method")


def split_off(dataset: Dataset, share: float, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Divide cases into a part to grow from and a part to validate on, every class in proportion."""
    if dataset.target is None:
        raise ParameterError("there is no target to divide along")
    mixed = np.random.default_rng(seed).permutation(dataset.n_rows)
    dealt = mixed[np.argsort(dataset.target[mixed], kind="stable")]
    places = np.arange(dataset.n_rows)
    held = np.floor((places + 1) * share) > np.floor(places * share)
    if held.all() or not held.any():
        raise ParameterError(f"{dataset.n_rows} cases are too few to hold out {100 * share:.0f} % of them")
    return dataset.take(np.sort(dealt[~held])), dataset.take(np.sort(dealt[held]))
