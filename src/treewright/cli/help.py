"""Help pages: examples after the usage line, then the options in groups; plain text in a pipe, styled on a terminal.

Every option names its group where it is declared (`option`), and every verb lists the groups in the order of `GROUPS`.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import click
import click.shell_completion

Group = Literal["data", "tree", "pruning", "ensemble", "evaluation", "engine", "output", "help"]
GROUPS: tuple[Group, ...] = get_args(Group)

WIDEST = 120
"""Columns of a page at most: longer lines are hard to read."""

NAMES_WIDTH = 34
"""Columns for the names of options at most; the text of an option with longer names starts on the next line."""

Range = click.IntRange | click.FloatRange
Function = Callable[..., Any]


if TYPE_CHECKING:
    TextType = click.ParamType[str, Any]
else:
    TextType = click.ParamType  # not generic in older versions of Click


@dataclass(eq=False)
class Name(TextType):
    """A name out of those that there are when it is read; the error for another lists them and suggests the nearest.

    Parameters
    ----------
    names : callable
        Returns the names.
    """

    names: Callable[[], Sequence[str]]
    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from treewright.wording import did_you_mean

        names = self.names()
        if value not in names:
            hint = did_you_mean(str(value), names)
            self.fail(f"{value!r} is not one of {', '.join(names)}{hint}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Return the names that begin so."""
        found = [name for name in self.names() if name.startswith(incomplete)]
        return [click.shell_completion.CompletionItem(name) for name in found]


class Option(click.Option):
    """An option that knows its group, and its help for each algorithm.

    Parameters
    ----------
    group : str
        One of `GROUPS`.
    bounds : click.IntRange, click.FloatRange or None
        Values that the library accepts. They are only shown: the library checks them and words the error.
    default_text : str, function that returns one, dict of str by algorithm, or None
        What holds if the option is not given, where Click does not know it.
    choices : dict of sequences of str, or of functions that return one, by algorithm
        Values that each algorithm accepts.
    notes : dict of str by algorithm
        Help that replaces the general one.
    same_as : tuple of str or None
        The option, and the value of it, that this letter abbreviates; a value of None is any.
    list_values : bool
        Whether the help lists the values of a choice.
    known_to : tuple of str or None
        The algorithms that know it; None for an option that belongs to the verb.
    """

    def __init__(
        self,
        *args: Any,
        group: Group,
        bounds: Range | None = None,
        default_text: str | Callable[[], str] | Mapping[str, str] | None = None,
        choices: Mapping[str, Sequence[str] | Callable[[], Sequence[str]]] | None = None,
        notes: Mapping[str, str] | None = None,
        same_as: tuple[str, str | None] | None = None,
        list_values: bool = True,
        known_to: Sequence[str] | None = None,
        **attrs: Any,
    ) -> None:
        if bounds is not None:
            attrs.setdefault("type", int if isinstance(bounds, click.IntRange) else float)
        super().__init__(*args, **attrs)
        self.group = group
        self.bounds = bounds if bounds is not None else self.type if isinstance(self.type, Range) else None
        self.default_text = default_text
        self.choices = choices or {}
        self.notes = notes or {}
        self.same_as = same_as
        self.list_values = list_values
        self.known_to = known_to

    @property
    def names(self) -> str:
        """The names and the placeholder of the value, as in ``-t, --target COL``."""
        names = ", ".join([*self.opts, *self.secondary_opts])
        return names if self.is_flag else f"{names} {self.placeholder}"

    @property
    def placeholder(self) -> str:
        """The word for the value."""
        if self.metavar is not None:
            return self.metavar
        if isinstance(self.type, (click.Choice, Name)):
            return "NAME"
        return {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}.get(self.type.name, "TEXT")

    def text(self, algorithm: str | None = None, *, ranges: bool = False) -> str:
        """Return the help, and in brackets the values, the range and the default."""
        clause = self.notes.get(algorithm or "", self.help or "")
        parts = [self._values(algorithm), self._range() if ranges else "", self._default(algorithm)]
        known = "; ".join(part for part in [*parts, "repeatable" if self.multiple else ""] if part)
        return f"{clause} [{known}]" if known else clause

    def choices_of(self, algorithm: str) -> Sequence[str]:
        """Return the values that an algorithm accepts; empty if they are not listed."""
        found = self.choices.get(algorithm, ())
        return found() if callable(found) else found

    def _values(self, algorithm: str | None) -> str:
        if algorithm is not None and algorithm in self.choices:
            return ", ".join(self.choices_of(algorithm))
        if not isinstance(self.type, (click.Choice, Name)) or not self.list_values:
            return ""
        return ", ".join(map(str, self.type.names() if isinstance(self.type, Name) else self.type.choices))

    def _range(self) -> str:
        if self.bounds is None:
            return ""
        low, high = self.bounds.min, self.bounds.max
        left = "" if low is None else f"{low:g} {'<' if self.bounds.min_open else '<='} "
        right = "" if high is None else f" {'<' if self.bounds.max_open else '<='} {high:,}"
        name = self.placeholder if self.placeholder.isalpha() else "value"
        if left and not right:
            return f"{name} {'>' if self.bounds.min_open else '>='} {low:g}"
        return f"{left}{name}{right}"

    def _default(self, algorithm: str | None) -> str:
        if isinstance(self.default_text, str) or callable(self.default_text):
            return f"default {self.default_text if isinstance(self.default_text, str) else self.default_text()}"
        if self.default_text is not None:
            return (
                f"default {self.default_text[algorithm]}"
                if algorithm is not None and algorithm in self.default_text
                else ""
            )
        return f"default {self.default}" if self.show_default and self.default is not None else ""


def option(group: Group, *names: str, **attrs: Any) -> Callable[[Function], Function]:
    """Declare an option of a group; further arguments are those of `click.option` and of `Option`."""
    return click.option(*names, cls=Option, group=group, **attrs)


@dataclass(frozen=True)
class Section:
    """Rows under a heading: a name and its text."""

    title: str
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """The parts of a help page, in the order in which they are printed.

    Parameters
    ----------
    usage : str
    examples : sequence of str
        Commands that run as they are.
    paragraphs : sequence of str
    sections : sequence of Section
    lines : Section or None
        Rows that are cut to one line each.
    """

    usage: str
    examples: Sequence[str] = ()
    paragraphs: Sequence[str] = ()
    sections: Sequence[Section] = ()
    lines: Section | None = None


class Verb(click.Command):
    """A verb of the command line.

    Parameters
    ----------
    examples : sequence of str
        Typical commands.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.examples = examples

    def get_help(self, ctx: click.Context) -> str:
        """Return the help page."""
        return printed(self.page(ctx))

    def page(self, ctx: click.Context) -> Page:
        """Return the parts of the help page."""
        return Page(usage_line(ctx), self.examples, paragraphs(self.help), self.sections(ctx))

    def sections(self, ctx: click.Context) -> list[Section]:
        """Return the options in their groups."""
        return in_groups(self.get_params(ctx))


def in_groups(
    parameters: Sequence[click.Parameter], text: Callable[[Option], str] = lambda option: option.text()
) -> list[Section]:
    """Return the options, by group, in the order of `GROUPS`; Click's own options are help."""
    rows: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
    for parameter in parameters:
        if isinstance(parameter, Option):
            rows[parameter.group].append((parameter.names, text(parameter)))
        elif isinstance(parameter, click.Option):
            rows["help"].append((", ".join(parameter.opts), parameter.help or ""))
    return [Section(group.capitalize(), rows[group]) for group in GROUPS if rows[group]]


def usage_line(ctx: click.Context) -> str:
    """Return the command with the placeholders of its arguments."""
    return " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])


def paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a docstring, each in one line."""
    return [" ".join(part.split()) for part in (text or "").split("\n\n") if part.strip()]


def printed(page: Page) -> str:
    """Return a page as wide as the terminal: styled there, plain text for a pipe or a terminal without UTF-8."""
    width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    return _styled(page, width) if _takes_style() else plain(page, width)


def _takes_style() -> bool:
    stream = sys.stdout
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"


def plain(page: Page, width: int) -> str:
    """Return a page as plain text."""
    parts = [_filled(f"Usage: {page.usage}", width, "       ")]
    if page.examples:
        parts.append("\n".join(["Examples:", *(f"  {example}" for example in page.examples)]))
    parts += [_filled(paragraph, width) for paragraph in page.paragraphs]
    column = _column([name for section in page.sections for name, _ in section.rows])
    lines = []
    for section in page.sections:
        lines += [f"{section.title}:", *(line for row in section.rows for line in _row(*row, column, width))]
    if page.lines is not None:
        lines += [f"{page.lines.title}:", *(f"  {line}" for line in _cut(page.lines, width - 2))]
    return "\n\n".join([*parts, "\n".join(lines)])


def _filled(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def _column(names: Sequence[str]) -> int:
    return max((len(name) for name in names if len(name) <= NAMES_WIDTH), default=0) + 2


def _row(name: str, text: str, column: int, width: int) -> list[str]:
    indent = " " * (column + 2)
    if len(name) + 2 > column:
        return [f"  {name}", *_filled(indent + text, width, indent).split("\n")]
    return _filled(f"  {name:<{column}}{text}", width, indent).split("\n")


def _cut(section: Section, width: int) -> list[str]:
    """Return a line for each row, with as many whole words as fit."""
    column = _column([name for name, _ in section.rows])
    return [
        f"{name:<{column}}{textwrap.shorten(text, max(width - column, 5), placeholder=' ...', break_on_hyphens=False)}"
        for name, text in section.rows
    ]


def _styled(page: Page, width: int) -> str:
    from rich.console import Console, Group, RenderableType
    from rich.highlighter import RegexHighlighter
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text
    from rich.theme import Theme

    class Names(RegexHighlighter):
        base_style = "help."
        highlights = (r"(?P<option>(?<![\w-])--?[A-Za-z][\w-]*)", r"(?P<remark> \[[^\[\]]*\]$)", r"(?P<remark>  # .*)")

    styled = Names()
    theme = Theme({"help.option": "cyan", "help.remark": "dim", "rule.line": "dim", "rule.text": "bold"})
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=width, theme=theme, highlight=False)
    indented = (0, 0, 0, 2)

    def heading(title: str) -> Rule:
        return Rule(title, align="left")

    parts: list[RenderableType] = [Text.assemble(("Usage: ", "yellow"), (page.usage, "bold")), ""]
    if page.examples:
        parts += [heading("Examples"), Padding(styled("\n".join(page.examples)), indented), ""]
    for paragraph in page.paragraphs:
        parts += [styled(paragraph), ""]
    column = _column([name for section in page.sections for name, _ in section.rows])
    for section in page.sections:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=column - 2, overflow="fold")
        table.add_column()
        for name, meaning in section.rows:
            table.add_row(styled(name), styled(meaning))
        parts += [heading(section.title), Padding(table, indented)]
    if page.lines is not None:
        parts += [heading(page.lines.title), Padding(styled("\n".join(_cut(page.lines, width - 2))), indented)]
    console.print(Group(*parts))
    return text.getvalue().rstrip("\n")
