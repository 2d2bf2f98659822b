"""The registry of algorithms: all that can be asked for by name.

The command line, comparisons, tuning, ensembles and the documentation list what is registered here. An algorithm is
registered by one call, beside its definition; `treewright.fitting.algorithms` imports all definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treewright.errors import ParameterError
from treewright.wording import unknown_name


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that can be asked for by name.

    Parameters
    ----------
    key : str
        The name, such as "c45".
    make : callable
        Takes options by name and returns what `treewright.fit` learns by.
    options : tuple of str
        The options that it knows; `make` takes them by these names.
    seeded : bool
        Whether `make` takes a `seed`, too.
    makes : {"tree", "rules", "ensemble"}
        What it learns. An ensemble takes the options of the algorithm of its trees (option "base"), too.
    variant : bool
        Whether it is another algorithm with certain options, such as C4.5 in the dialect of Release 8. Variants are not
        listed by the command line, which has these options.
    """

    key: str
    make: Callable[..., Any]
    options: tuple[str, ...] = ()
    seeded: bool = False
    makes: str = "tree"
    variant: bool = False


_ALGORITHMS: dict[str, Algorithm] = {}


def register(algorithm: Algorithm) -> Algorithm:
    """Add an algorithm.

    Examples
    --------
    >>> from treewright.learners.recipe import ID3
    >>> register(Algorithm("shallow-id3", lambda: ID3(max_depth=2))).key in algorithm_names()
    True
    >>> unregister("shallow-id3")
    """
    if algorithm.key in _ALGORITHMS:
        raise ParameterError(f"there is an algorithm {algorithm.key!r} already")
    _ALGORITHMS[algorithm.key] = algorithm
    return algorithm


def unregister(key: str) -> None:
    """Remove an algorithm."""
    del _ALGORITHMS[key]


def algorithm_names(*, variants: bool = True) -> tuple[str, ...]:
    """Return the names of all algorithms, those of variants last."""
    own = [one.key for one in _ALGORITHMS.values() if not one.variant]
    return (*own, *(one.key for one in _ALGORITHMS.values() if one.variant and variants))


def algorithm_named(key: str) -> Algorithm:
    """Return an algorithm by its name.

    Examples
    --------
    >>> import treewright.plans
    >>> algorithm_named("r8").make().name
    'C4.5 Release 8'
    """
    if key not in _ALGORITHMS:
        raise ParameterError(unknown_name("algorithm", key, algorithm_names()))
    return _ALGORITHMS[key]


def refuse_unknown(algorithm: Algorithm, options: Iterable[str]) -> None:
    """Raise if an algorithm does not know an option; the message says which algorithms do."""
    for name in options:
        if name not in algorithm.options:
            known = [one.key for one in _ALGORITHMS.values() if name in one.options]
            only = f", only of {', '.join(known)}" if known else ""
            raise ParameterError(f"{name} is not an option of {algorithm.key}{only}")
