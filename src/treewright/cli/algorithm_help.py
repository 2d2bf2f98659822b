"""Help on the options of one algorithm: of the default one in `--help`, of any one in `--help-algorithm NAME`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

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
from treewright.cli.learners import given_options, learner_parameters

DEFAULT = "c45"
"""The algorithm that is used if none is named."""


def options_of(algorithm: str) -> tuple[str, ...]:
    """Return the options that an algorithm knows, in the order of help.

    Examples
    --------
    >>> options_of("cal2"), options_of("cal3")
    (('max_steps',), ('s1', 's2', 'max_steps'))
    """
    return tuple(str(one.name) for one in learner_parameters() if one.known_to and algorithm in one.known_to)


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
    return is_known(meant, algorithm, others) and (value is None or value in meant.choices.get(algorithm, (value,)))


class LearnerVerb(Verb):
    """A verb that takes the options of learners, and lists those of one algorithm.

    Its function gets the options that were given as `options`.

    Parameters
    ----------
    algorithm : str
        The algorithm whose options `--help` lists.
    """

    def __init__(self, *args: Any, algorithm: str = DEFAULT, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.algorithm = algorithm

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the verb, and those of all algorithms that are registered now."""
        own = super().get_params(ctx)
        last = len(self.params)
        return [*own[:last], *learner_parameters(), *own[last:]]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, with the options of learners in one dictionary."""
        with click.core.augment_usage_errors(ctx):
            ctx.params["options"] = given_options(ctx.params, learner_parameters())
        return super().invoke(ctx)

    def page(self, ctx: click.Context) -> Page:
        """Return the page with the options of all algorithms or of this one, and a line for each other algorithm."""
        parameters = self.get_params(ctx)
        shown = [one for one in parameters if not is_learner_option(one) or is_known(one, self.algorithm, parameters)]
        sections = in_groups(shown, lambda one: one.text(self.algorithm))
        return Page(usage_line(ctx), self.examples, paragraphs(self.help), sections, self._others(parameters))

    def _others(self, parameters: Sequence[click.Parameter]) -> Section | None:
        """Return the options that only other algorithms know, where the verb has other algorithms."""
        offered = [one.type.choices for one in parameters if one.name == "algorithm" and isinstance(one.type, Name)]
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
        Section("Options of the trees, by --base", _names_of_options(parameters, one.type.choices, ()))
        for one in known
        if one.name == "base" and isinstance(one.type, click.Choice)
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
