"""Learner options of the command line, made of the registry of algorithms, and help on them.

Every option of every registered algorithm is an option here, once; which algorithm knows it, its default and its values
are those of the registry. Quinlan's letters are accepted beside the long names (-m, -c as a percentage, -g, -s), and
Weka's (-M, -C, -B, -S, -J, -O, -U). `--help` lists the options of the default algorithm, `--help-algorithm NAME` those
of any one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from treewright.cli.help import (
    Function,
    Name,
    Option,
    Page,
    Section,
    Verb,
    in_groups,
    option,
    paragraphs,
    printed,
    usage_line,
)

if TYPE_CHECKING:
    from treewright.fitting.algorithms import Learner
    from treewright.learners.registry import Algorithm, AlgorithmOption

DEFAULT = "c45"
"""The algorithm that is used if none is named."""

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


def listed_names(*makes: str) -> tuple[str, ...]:
    """Return the names of the registered algorithms, all or those that make trees, rules or ensembles."""
    from treewright.fitting.algorithms import algorithms

    return tuple(one.key for one in algorithms(variants=False) if not makes or one.makes in makes)


@lru_cache(maxsize=1)
def learner_parameters(algorithms: tuple[Algorithm, ...]) -> tuple[Option, ...]:
    """Return the options of these algorithms: the same objects when Click asks again."""
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
    values = {key: own.values for key, own in by_algorithm.items() if own.values}
    how: dict[str, Any] = {"group": one.group, "help": one.help, "known_to": tuple(by_algorithm)}
    if one.type is bool:
        return Option([*flags, one.name], is_flag=True, flag_value=one.flag_value, default=None, **how)
    how |= {"default_text": defaults, "notes": notes, "metavar": one.placeholder}
    common = next(iter(values.values()), ())
    if len(values) == len(by_algorithm) and len(set(values.values())) == 1 and not callable(common):
        return Option([*flags, one.name], type=click.Choice(common), **how)
    if one.low is None and one.high is None:
        read = click.types.FuncParamType(one.type) if one.type not in (int, float, str) else one.type
        return Option([*flags, one.name], type=read, choices=values, **how)
    kind = click.IntRange if one.type is int else click.FloatRange
    bounds = kind(one.low, one.high, min_open=one.above_low, max_open=one.below_high)  # type: ignore[arg-type]
    return Option([*flags, one.name], bounds=bounds, **how)


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


def options_of(algorithm: str) -> tuple[str, ...]:
    """Return the options that an algorithm knows, in the order of help.

    Examples
    --------
    >>> options_of("cal2"), options_of("cal3")
    (('max_steps',), ('s1', 's2', 'max_steps'))
    """
    from treewright.fitting.algorithms import algorithms

    parameters = learner_parameters(algorithms(variants=False))
    return tuple(str(one.name) for one in parameters if one.known_to and algorithm in one.known_to)


def is_learner_option(parameter: click.Parameter) -> bool:
    """Return True if a parameter belongs to some algorithms only."""
    return isinstance(parameter, Option) and (parameter.known_to is not None or parameter.same_as is not None)


def is_known(parameter: click.Parameter, algorithm: str, others: Sequence[click.Parameter]) -> bool:
    """Return True if an algorithm knows an option, or accepts what its letter abbreviates."""
    if not isinstance(parameter, Option):
        return False
    if parameter.same_as is None:
        return parameter.known_to is not None and algorithm in parameter.known_to
    name, value = parameter.same_as
    [meant] = [other for other in others if isinstance(other, Option) and other.name == name]
    return is_known(meant, algorithm, others) and (
        value is None or algorithm not in meant.choices or value in meant.choices_of(algorithm)
    )


class LearnerVerb(Verb):
    """A verb that takes the options of learners, and lists those of one algorithm.

    Its function gets the options that were given as `options`.
    """

    algorithm = DEFAULT
    """The algorithm whose options `--help` lists."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the verb, and those of all algorithms that are registered now."""
        from treewright.fitting.algorithms import algorithms

        own = super().get_params(ctx)
        last = len(self.params)
        return [*own[:last], *learner_parameters(algorithms(variants=False)), *own[last:]]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, with the options of learners that were given in one dictionary."""
        options: dict[str, Any] = {}
        letters: dict[str, tuple[str, Any]] = {}
        for one in self.get_params(ctx):
            if not isinstance(one, Option) or one.name is None:
                continue
            if one.same_as is not None:
                value = ctx.params.pop(one.name)
                if value is not None and value is not False:
                    letters[max(one.opts, key=len)] = one.same_as if one.is_flag else (one.same_as[0], value / 100)
            elif one.known_to is not None:
                value = ctx.params.pop(one.name)
                # None is also the value of a word: `--max-features all`.
                if value is not None or ctx.get_parameter_source(one.name) is ParameterSource.COMMANDLINE:
                    options[one.name] = value
        for letter, (name, value) in letters.items():
            if name in options:
                raise click.UsageError(f"{letter} and --{name.replace('_', '-')} mean the same; give one of them", ctx)
            options[name] = False if value is None else value
        ctx.params["options"] = options
        return super().invoke(ctx)

    def page(self, ctx: click.Context) -> Page:
        """Return the page with the options of all algorithms or of this one, and a line for each other algorithm."""
        parameters = self.get_params(ctx)
        shown = [one for one in parameters if not is_learner_option(one) or is_known(one, self.algorithm, parameters)]
        sections = in_groups(shown, lambda one: one.text(self.algorithm))
        return Page(usage_line(ctx), self.examples, paragraphs(self.help), sections, self._others(parameters))

    def _others(self, parameters: Sequence[click.Parameter]) -> Section | None:
        """Return the options that only other algorithms know, where the verb has other algorithms."""
        offered = [one.type.names() for one in parameters if one.name == "algorithm" and isinstance(one.type, Name)]
        if not offered:
            return None
        others = [name for name in offered[0] if name != self.algorithm]
        rows = _names_of_options(parameters, others, options_of(self.algorithm))
        return Section("Options of other algorithms (see --help-algorithm NAME)", rows)


def algorithm_page(ctx: click.Context, algorithm: str) -> Page:
    """Return the page with exactly the options that an algorithm knows; an ensemble knows those of its trees, too."""
    parameters = ctx.command.get_params(ctx)
    known = [one for one in parameters if is_learner_option(one) and is_known(one, algorithm, parameters)]
    usage = " ".join([ctx.command_path, f"--algorithm {algorithm}", *ctx.command.collect_usage_pieces(ctx)])
    words = [f"Options of {algorithm}. {ctx.command_path} --help lists the options that all algorithms share."]
    sections = in_groups(known, lambda one: one.text(algorithm, ranges=True))
    sections += [
        Section("Options of the trees, by --base", _names_of_options(parameters, one.choices_of(algorithm), ()))
        for one in known
        if isinstance(one, Option) and one.name == "base" and algorithm in one.choices
    ]
    return Page(usage, (), words, sections)


def _names_of_options(
    parameters: Sequence[click.Parameter], algorithms: Sequence[str], without: Sequence[str]
) -> list[tuple[str, str]]:
    """Return each algorithm with the long names of its options."""
    long_names = {one.name: max(one.opts, key=len) for one in parameters}
    return [
        (name, " ".join(long_names[one] for one in options_of(name) if one not in without) or "no further options")
        for name in algorithms
    ]


def algorithm_options(
    names: Callable[[], Sequence[str]],
    *,
    show_default: bool = True,
    page: Callable[[click.Context, str], Page] = algorithm_page,
    text: str = "List the options of this algorithm and exit.",
) -> Callable[[Function], Function]:
    """Add --algorithm with these names, and --help-algorithm, which prints the page of an algorithm and ends."""

    def show(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None and not ctx.resilient_parsing:
            click.echo(printed(page(ctx, value)))
            ctx.exit()

    name = Name(names)
    default: dict[str, Any] = {"default": DEFAULT, "show_default": True} if show_default else {"default_text": DEFAULT}
    # The help of verbs with learner options lists the algorithms in a section of their own.
    listed = {"list_values": page is not algorithm_page}
    add = option("tree", "-a", "--algorithm", type=name, help="Learning algorithm.", **listed, **default)
    add_help = option(
        "help",
        "--help-algorithm",
        type=name,
        list_values=False,
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=show,
        help=text,
    )
    return lambda function: add(add_help(function))
