"""When a kernel sends cases down trees, and when NumPy does. The leaves are the same.

A kernel is quicker, but loading it takes time: half a second where no kernel was used before, some hundredths where
others were. So it depends on what is loaded how many cases it takes. And all nodes have to be made ready for it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset

MANY_VISITS = 1_000_000
"""Cases times trees from which on a kernel is used, whatever it takes to load it."""

MANY_FOR_LOADED_ENGINE = 100_000
"""The same where kernels have grown trees already, and compiled code is kept."""

MANY_FOR_LOADED_KERNEL = 1_000
"""The same where the kernel was used already."""

NODES_PER_VISIT = 32
"""So many nodes are made ready for the kernel in the time of one visit by NumPy."""

_KERNELS = "treewright.counts.compiled.routing"  # a room above: only asked, never needed
_ENGINE = "treewright.counts.compiled.flags"


def by_kernel(visits: int, nodes: int) -> bool:
    """Say whether a kernel is to send so many cases (times trees) down trees of so many nodes.

    Examples
    --------
    >>> by_kernel(100, 50), by_kernel(10**9, 50)
    (False, True)
    """
    if visits * NODES_PER_VISIT < nodes:
        return False
    if visits >= MANY_VISITS:
        return True
    if _KERNELS in sys.modules:
        return visits >= MANY_FOR_LOADED_KERNEL
    if visits < MANY_FOR_LOADED_ENGINE or _ENGINE not in sys.modules:
        return False
    return sys.modules[_ENGINE].cache_folder() is not None


def ends(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> npt.NDArray[np.int32]:
    """Return by a kernel the nodes in which cases end, for every root.

    Parameters
    ----------
    trees : Tree or PackedForest
    roots : array of int
    cases : Dataset
    first, last : int
        The cases from `first` to before `last`.

    Returns
    -------
    array, cases x roots
        -1 for cases that have to go the long way.
    """
    found: npt.NDArray[np.int32] = _routing().ends_of(trees, roots, cases, first, last)
    return found


def sums(
    trees: Any,
    roots: npt.NDArray[Any],
    cases: Dataset,
    number: npt.NDArray[np.int32],
    said: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return by a kernel what the leaves of all trees say, times the weights, added up tree by tree.

    Parameters
    ----------
    trees : Tree or PackedForest
    roots : array of int
    cases : Dataset
    number : array of int
        Row in `said` of each node.
    said : array, rows x statements
    weights : array
        Of the trees.

    Returns
    -------
    array, cases x statements
        NaN for cases that have to go the long way.
    """
    found: npt.NDArray[np.float64] = _routing().sums_of(trees, roots, cases, number, said, weights)
    return found


def _routing() -> Any:
    return importlib.import_module(_KERNELS)
