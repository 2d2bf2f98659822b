"""Learner options of the command line, made of the registry of algorithms.

Every option of every registered algorithm is an option here, once; which algorithm knows it, its default and its values
are those of the registry. Quinlan's letters are accepted beside the long names (-m, -c as a percentage, -g, -s), and
Weka's (-M, -C, -B, -S, -J, -O, -U).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Option

if TYPE_CHECKING:
    from treewright.fitting.algorithms import Learner
    from treewright.learners.registry import Algorithm, AlgorithmOption

_LETTERS = {
    "criterion": (
        Option(
            ["-g", "gain"], group="tree", is_flag=True, same_as=("criterion", "gain"), help="Same as --criterion gain."
        ),
    ),
    "confidence": (
        Option(
            ["-c", "percent"],
            group="pruning",
            type=float,
            metavar="PERCENT",
            same_as=("confidence", None),
            help="Same as --confidence, as a percentage.",
        ),
    ),
    "collapse": (
        Option(
            ["-U", "--no-prune"], group="pruning", is_flag=True, same_as=("prune", None), help="Do not prune the tree."
        ),
    ),
}
"""Short forms, by the option after which help lists them."""


def listed_algorithms(*makes: str) -> tuple[Algorithm, ...]:
    """Return the registered algorithms, all or those that make trees, rules or ensembles."""
    from treewright.fitting.algorithms import algorithms

    return tuple(one for one in algorithms(variants=False) if not makes or one.makes in makes)


def listed_names(*makes: str) -> tuple[str, ...]:
    """Return the names of these algorithms."""
    return tuple(one.key for one in listed_algorithms(*makes))


def learner_parameters() -> Sequence[Option]:
    """Return the options of all registered algorithms."""
    return _parameters(listed_algorithms())


@lru_cache(maxsize=1)
def _parameters(algorithms: tuple[Algorithm, ...]) -> tuple[Option, ...]:
    from treewright.learners.shared_options import SHARED

    known: dict[str, dict[str, AlgorithmOption]] = {name: {} for name in SHARED}
    for algorithm in algorithms:
        for one in algorithm.options:
            known.setdefault(one.name, {})[algorithm.key] = one
    parameters: list[Option] = []
    for name, by_algorithm in known.items():
        if by_algorithm:
            parameters.append(_parameter(SHARED.get(name) or next(iter(by_algorithm.values())), by_algorithm))
            parameters += _LETTERS.get(name, ())
    return tuple(parameters)


def _parameter(one: AlgorithmOption, by_algorithm: dict[str, AlgorithmOption]) -> Option:
    """Return the option of the command line; where all algorithms take the same words, Click refuses others."""
    flags = one.flags or (f"--{one.name.replace('_', '-')}",)
    notes = {key: own.help for key, own in by_algorithm.items() if own.help != one.help}
    defaults = {key: own.default for key, own in by_algorithm.items() if own.default is not None}
    values = {key: own.values() if callable(own.values) else own.values for key, own in by_algorithm.items()}
    how: dict[str, Any] = {"group": one.group, "help": one.help, "known_to": tuple(by_algorithm)}
    if one.type is bool:
        return Option([*flags, one.name], is_flag=True, flag_value=one.flag_value, default=None, **how)
    how |= {"default_text": defaults, "notes": notes, "metavar": one.placeholder}
    if len(set(values.values())) == 1 and any(values.values()):
        return Option([*flags, one.name], type=click.Choice(next(iter(values.values()))), **how)
    if one.low is None and one.high is None:
        read = click.types.FuncParamType(one.type) if one.type not in (int, float, str) else one.type
        return Option([*flags, one.name], type=read, choices={key: own for key, own in values.items() if own}, **how)
    kind = click.IntRange if one.type is int else click.FloatRange
    bounds = kind(one.low, one.high, min_open=one.above_low, max_open=one.below_high)  # type: ignore[arg-type]
    return Option([*flags, one.name], bounds=bounds, **how)


def given_options(values: dict[str, Any], parameters: Sequence[click.Parameter]) -> dict[str, Any]:
    """Take the options of learners out of the values of a command, and return those that were given."""
    options: dict[str, Any] = {}
    letters: dict[str, tuple[str, Any]] = {}
    for one in parameters:
        if not isinstance(one, Option) or one.name is None:
            continue
        if one.same_as is not None:
            value = values.pop(one.name)
            if value is not None and value is not False:
                letters[max(one.opts, key=len)] = one.same_as if one.is_flag else (one.same_as[0], value / 100)
        elif one.known_to is not None:
            value = values.pop(one.name)
            if value is not None:
                options[one.name] = value
    for letter, (name, value) in letters.items():
        if name in options:
            raise click.UsageError(f"{letter} and --{name.replace('_', '-')} mean the same; give one of them")
        options[name] = False if value is None else value
    return options


def learner_for(algorithm: str, options: dict[str, Any], seed: int = 0) -> Learner:
    """Return the learner with the options given; options of other algorithms are refused as they are spelled here."""
    from treewright.fitting.algorithms import as_learner
    from treewright.learners.registry import UnknownOptionError, algorithm_named

    try:
        return as_learner(algorithm_named(algorithm).learner(options, seed))
    except UnknownOptionError as error:
        raise click.UsageError(error.worded(spelled(error.name, options[error.name]))) from error


def spelled(name: str, value: Any) -> str:
    """Return an option as it is typed."""
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
