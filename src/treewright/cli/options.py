"""Options that several verbs share, and the functions that read their values."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, decorated, option

if TYPE_CHECKING:
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.model.forest import Forest
    from treewright.model.model import TreeModel
    from treewright.model.rule_model import RuleModel

FILE = click.Path()
"""A file name: nothing is checked, but shells complete it."""

_SCHEMA_OPTIONS = (
    option("data", "--nominal", multiple=True, metavar="COL", help="Treat this column as nominal."),
    option("data", "--numeric", multiple=True, metavar="COL", help="Treat this column as numeric."),
    option("data", "--ordinal", multiple=True, metavar='"COL=a<b<c"', help="Treat this column as ordinal."),
    option("data", "--ignore", multiple=True, metavar="COL", help="Ignore this column."),
    option("data", "--weight", metavar="COL", help="Column of case weights."),
    option(
        "data",
        "--task",
        type=click.Choice(["classification", "regression"]),
        help="Type of the target.",
        usual="by its values",
    ),
    option("data", "--missing", multiple=True, metavar="TEXT", help="Text that also marks a missing value."),
)

_SCHEMA_FILE = "Schema saved by `data --save`; replaces the options for columns"

_FORMAT = "File format: csv, tsv, arff, names or parquet."
_DELIMITER = r"Field delimiter of a text file; \t is a tab."
_ENCODING = "Encoding of a text file, such as latin-1."

_READING_OPTIONS = (
    option("data", "--format", "format_", metavar="NAME", usual="by the suffix", help=_FORMAT),
    option("data", "--delimiter", metavar="CHAR", help=_DELIMITER),
    option("data", "--encoding", metavar="NAME", usual="UTF-8", help=_ENCODING),
)


def target_option(function: Function) -> Function:
    """Add --target."""
    return option("data", "-t", "--target", metavar="COL", help="Column to predict.")(function)


def model_options(function: Function) -> Function:
    """Add where a trained model is saved."""
    options = (
        option(
            "output",
            "-o",
            "--output",
            metavar="FILE",
            type=FILE,
            usual="NAME.model.json",
            help="File to write the model to.",
        ),
        option("output", "--no-save", is_flag=True, help="Do not save the model."),
    )
    return decorated(function, options)


def cost_option(text: str) -> Callable[[Function], Function]:
    """Add --cost; `parsed_costs` reads its values."""
    return option("evaluation", "--cost", "costs", multiple=True, metavar="ACTUAL,PREDICTED=C", help=text)


def fold_column_option(function: Function) -> Function:
    """Add --fold-column."""
    return option(
        "evaluation", "--fold-column", metavar="COL", help="Column with the fold of each row; not used as an attribute."
    )(function)


def jobs_option(function: Function) -> Function:
    """Add --jobs for work that is shared by folds."""
    return option(
        "engine",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        usual="automatic",
        help="Number of threads or processes.",
    )(function)


def seed_option(purpose: str) -> Callable[[Function], Function]:
    """Add --seed, and say what is random."""
    return option(
        "evaluation",
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help=f"Random seed for {purpose}.",
    )


def reading_options(function: Function) -> Function:
    """Add how a file is read; the function gets `how`."""

    @functools.wraps(function)
    def wrapper(*args: Any, format_: str | None, delimiter: str | None, encoding: str | None, **rest: Any) -> Any:
        how = {"format": format_, "delimiter": "\t" if delimiter == r"\t" else delimiter, "encoding": encoding}
        return function(*args, how={key: value for key, value in how.items() if value is not None}, **rest)

    return decorated(wrapper, _READING_OPTIONS)


def schema_options(function: Function) -> Function:
    """Add what the columns are; the function gets `overrides` and `schema`."""

    @functools.wraps(function)
    def wrapper(*args: Any, schema_file: str | None, **rest: Any) -> Any:
        return function(*args, schema=_schema(schema_file, rest["overrides"]), **rest)

    one = option("data", "--schema", "schema_file", metavar="FILE", type=FILE, help=f"{_SCHEMA_FILE}.")
    return decorated(_overrides(wrapper), (*_SCHEMA_OPTIONS, one))


def schemas_options(function: Function) -> Function:
    """Add what the columns of several files are; the function gets `overrides` and `schemas`."""

    @functools.wraps(function)
    def wrapper(*args: Any, schema_files: tuple[str, ...], **rest: Any) -> Any:
        schemas = [_schema(path, rest["overrides"]) for path in schema_files]
        return function(*args, schemas=schemas, **rest)

    text = f"{_SCHEMA_FILE}; once for all FILEs or once for each."
    several = option("data", "--schema", "schema_files", multiple=True, metavar="FILE", type=FILE, help=text)
    return decorated(_overrides(wrapper), (*_SCHEMA_OPTIONS, several))


def _overrides(function: Function) -> Function:
    """Gather the options for single columns."""

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        nominal: tuple[str, ...],
        numeric: tuple[str, ...],
        ordinal: tuple[str, ...],
        ignore: tuple[str, ...],
        weight: str | None,
        task: str | None,
        missing: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        from treewright.data.infer import Overrides
        from treewright.data.schema import Task

        overrides = Overrides(
            nominal, numeric, _orders(ordinal), ignore, weight, None if task is None else Task(task), missing
        )
        return function(*args, overrides=overrides, **rest)

    return wrapper


def json_option(function: Function) -> Function:
    """Add --json."""
    return decorated(function, (option("output", "--json", "as_json", is_flag=True, help="Print the result as JSON."),))


def _orders(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    orders = {}
    for text in texts:
        name, equals, order = text.partition("=")
        values = tuple(value.strip() for value in order.split("<"))
        if not name.strip() or not equals or len(values) < 2 or not all(values):
            raise click.BadParameter(f"{text!r} is not of the form COL=a<b<c", param_hint="--ordinal")
        orders[name.strip()] = values
    return orders


def _schema(path: str | None, overrides: Overrides) -> Schema | None:
    if path is None:
        return None
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema

    if overrides != Overrides():
        raise click.UsageError("--schema describes all columns; it cannot be combined with options for single columns")
    with _telling_what_cannot_be_read(path):
        return Schema.load(path)


def open_model(path: str) -> TreeModel | RuleModel | Forest:
    """Read a model file; one that is not there is bad data, as everywhere."""
    from treewright.model.format import load_model

    with _telling_what_cannot_be_read(path):
        return load_model(path)


def open_tree(path: str) -> TreeModel:
    """Read a model file that must hold a tree."""
    from treewright._base.errors import DataError
    from treewright.model.model import TreeModel
    from treewright.model.rule_model import RuleModel

    model = open_model(path)
    if not isinstance(model, TreeModel):
        held = "rules" if isinstance(model, RuleModel) else "a forest"
        raise DataError(f"holds {held}, but this verb needs a tree", source=path)
    return model


@contextmanager
def _telling_what_cannot_be_read(path: str) -> Iterator[None]:
    from treewright._base.errors import DataError
    from treewright._base.near_names import did_you_mean

    try:
        yield
    except FileNotFoundError as error:
        folder, name = os.path.split(path)
        near = did_you_mean(name, os.listdir(folder or os.curdir)) if os.path.isdir(folder or os.curdir) else ""
        raise DataError(f"there is no such file{near}", source=path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=path) from error


def parsed_costs(texts: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Read costs of the form ACTUAL,PREDICTED=C.

    Examples
    --------
    >>> parsed_costs(("sick, well=5",))
    {('sick', 'well'): 5.0}
    """
    pairs = {}
    for text in texts:
        names, equals, cost = text.rpartition("=")
        actual, comma, predicted = names.partition(",")
        try:
            pairs[actual.strip(), predicted.strip()] = float(cost)
        except ValueError:
            equals = ""
        if not equals or not comma:
            raise click.BadParameter(f"{text!r} is not of the form ACTUAL,PREDICTED=COST", param_hint="--cost")
    return pairs
