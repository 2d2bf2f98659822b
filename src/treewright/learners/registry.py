"""The registry of algorithms: all that have a name, with the options of each.

The command line, comparisons, tuning, ensembles and the documentation list what is registered here, and nothing else.
An algorithm is registered by one call beside its definition; `treewright.fitting.algorithms` imports all definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from treewright.errors import ParameterError
from treewright.wording import unknown_name

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset


@dataclass(frozen=True)
class AlgorithmOption:
    """An option of an algorithm: its name, what it does, and which values it takes.

    Parameters
    ----------
    name : str
        The name by which `Algorithm.make` takes it.
    help : str
        What it does, in one sentence.
    group : {"tree", "pruning", "ensemble"}
    type : callable
        Reads the value from text; `bool` is an option without a value, which sets `flag_value`.
    flags : tuple of str
        The names on the command line; without any, ``--name``.
    low, high : float or None
        The range of accepted values. The algorithm checks it.
    above_low, below_high : bool
        Whether the limits themselves are refused.
    values : tuple of str, or function that returns one
        The accepted words.
    placeholder : str or None
        The word for the value in help.
    default : str or None
        What holds without the option, as help prints it.
    flag_value : bool
    """

    name: str
    help: str
    group: Literal["tree", "pruning", "ensemble"] = "tree"
    type: Callable[[str], Any] = str
    flags: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above_low: bool = False
    below_high: bool = False
    values: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    placeholder: str | None = None
    default: str | None = None
    flag_value: bool = True


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that has a name.

    Parameters
    ----------
    key : str
        The name, such as "c45".
    make : callable
        Takes options by name and returns what `treewright.fit` learns by. Called without options, it returns the
        algorithm with its defaults.
    options : tuple of AlgorithmOption
        The options that it knows.
    seeded : bool
        Whether `make` takes a `seed`, too.
    makes : {"tree", "rules", "ensemble"}
        What it learns. An ensemble takes the options of the algorithm of its trees (option "base"), too.
    variant : bool
        Whether it is another algorithm with certain options, such as C4.5 in the dialect of Release 8. Variants are
        compared, and not listed where their options are.
    compared : bool
        Whether it is compared where no algorithm is named.
    settings : callable or None
        Takes the cases (or None) and returns named settings that are worth trying, the default first.
    """

    key: str
    make: Callable[..., Any]
    options: tuple[AlgorithmOption, ...] = ()
    seeded: bool = False
    makes: Literal["tree", "rules", "ensemble"] = "tree"
    variant: bool = False
    compared: bool = False
    settings: Callable[[Dataset | None], Mapping[str, Any]] | None = None

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names of the options."""
        return tuple(option.name for option in self.options)

    def learner(self, options: Mapping[str, Any] | None = None, seed: int = 0) -> Any:
        """Return what `treewright.fit` learns by, or refuse an option that the algorithm does not know."""
        given = dict(options or {})
        if self.makes != "ensemble":  # an ensemble passes options on to its trees
            refuse_unknown(self, given)
        return self.make(**given, **({"seed": seed} if self.seeded else {}))


class UnknownOptionError(ParameterError):
    """An option was given to an algorithm that does not know it.

    Parameters
    ----------
    name : str
    algorithm : str
    known_to : tuple of str
        The algorithms that know it.
    """

    def __init__(self, name: str, algorithm: str, known_to: tuple[str, ...]) -> None:
        self.name = name
        self.algorithm = algorithm
        self.known_to = known_to
        super().__init__(self.worded(name))

    def __reduce__(self) -> tuple[type[UnknownOptionError], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.name, self.algorithm, self.known_to)

    def worded(self, spelled: str) -> str:
        """Return the message with the option as the caller spells it."""
        only = f", only of {', '.join(self.known_to)}" if self.known_to else ""
        return f"{spelled} is not an option of {self.algorithm}{only}"


RESERVED = frozenset({"algorithm", "engine", "folds", "jobs", "options", "output", "seed", "source", "target"})
"""Names that options of algorithms cannot have: the commands have options of these names."""

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
    for option in algorithm.options:
        if not isinstance(option, AlgorithmOption):
            raise ParameterError(
                f"options of {algorithm.key} must be AlgorithmOption objects, not {type(option).__name__}; "
                "shared(...) returns a tuple of them"
            )
        if option.name in RESERVED:
            raise ParameterError(f"{option.name!r} is an option of the commands; {algorithm.key} needs another name")
    _ALGORITHMS[algorithm.key] = algorithm
    return algorithm


def unregister(key: str) -> None:
    """Remove an algorithm."""
    del _ALGORITHMS[key]


def algorithms(*, variants: bool = True) -> tuple[Algorithm, ...]:
    """Return all algorithms, variants last."""
    found = sorted(_ALGORITHMS.values(), key=lambda one: one.variant)
    return tuple(one for one in found if variants or not one.variant)


def algorithm_names(*, variants: bool = True) -> tuple[str, ...]:
    """Return the names of all algorithms, those of variants last."""
    return tuple(one.key for one in algorithms(variants=variants))


def tree_algorithms() -> tuple[str, ...]:
    """Return the algorithms of single trees by name.

    Examples
    --------
    >>> import treewright.plans
    >>> tree_algorithms()[:4]
    ('c45', 'id3', 'cart', 'chaid')
    """
    return tuple(one.key for one in algorithms(variants=False) if one.makes == "tree")


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
        if name not in algorithm.option_names:
            known_to = tuple(one.key for one in _ALGORITHMS.values() if name in one.option_names)
            raise UnknownOptionError(name, algorithm.key, known_to)
