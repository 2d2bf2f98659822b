"""Options that several verbs share (columns, reading, models, folds), and how their values are read."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, option
from treewright.cli.output import reading

if TYPE_CHECKING:
    import numpy.typing as npt

    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.fitting.algorithms import Learner
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel

FILE = click.Path()
"""A file name: nothing is checked, but shells complete it."""

_FORMAT = "File format: csv, tsv, arff, names or parquet."

target_option = option("data", "-t", "--target", metavar="COL", help="Column to predict.")

json_option = option("output", "--json", "as_json", is_flag=True, help="Print the result as JSON.")

fold_column_option = option(
    "evaluation", "--fold-column", metavar="COL", help="Column with the fold of each row; not used as an attribute."
)

jobs_option = option(
    "engine",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    default_text="automatic",
    help="Number of threads or processes.",
)


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


def model_options(function: Function) -> Function:
    """Add where a trained model is saved."""
    add_output = option(
        "output",
        "-o",
        "--output",
        metavar="FILE",
        type=FILE,
        default_text="NAME.model.json",
        help="File to write the model to.",
    )
    return add_output(option("output", "--no-save", is_flag=True, help="Do not save the model.")(function))


def reading_options(function: Function) -> Function:
    """Add how a file is read; the function gets `how`."""

    @option("data", "--format", "format_", metavar="NAME", default_text="by the suffix", help=_FORMAT)
    @option("data", "--delimiter", metavar="CHAR", help=r"Field delimiter of a text file; \t is a tab.")
    @option(
        "data", "--encoding", metavar="NAME", default_text="UTF-8", help="Encoding of a text file, such as latin-1."
    )
    @functools.wraps(function)
    def wrapper(*args: Any, format_: str | None, delimiter: str | None, encoding: str | None, **rest: Any) -> Any:
        how = {"format": format_, "delimiter": "\t" if delimiter == r"\t" else delimiter, "encoding": encoding}
        return function(*args, how={key: value for key, value in how.items() if value is not None}, **rest)

    return wrapper


def schema_options(function: Function, *, several: bool = False) -> Function:
    """Add what the columns are; the function gets `overrides`, and `schema` or, for several files, `schemas`."""
    of_several = "; once for all FILEs or once for each" if several else ""

    @option("data", "--nominal", multiple=True, metavar="COL", help="Treat this column as nominal.")
    @option("data", "--numeric", multiple=True, metavar="COL", help="Treat this column as numeric.")
    @option("data", "--ordinal", multiple=True, metavar='"COL=a<b<c"', help="Treat this column as ordinal.")
    @option("data", "--ignore", multiple=True, metavar="COL", help="Ignore this column.")
    @option("data", "--weight", metavar="COL", help="Column of case weights.")
    @option(
        "data",
        "--task",
        type=click.Choice(["classification", "regression"]),
        help="Type of the target.",
        default_text="by its values",
    )
    @option("data", "--missing", multiple=True, metavar="TEXT", help="Text that also marks a missing value.")
    @option(
        "data",
        "--schema",
        multiple=several,
        metavar="FILE",
        type=FILE,
        help=f"Schema saved by `data --save`; replaces the options for columns{of_several}.",
    )
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
        schema: Any,
        **rest: Any,
    ) -> Any:
        from treewright.data.infer import Overrides
        from treewright.data.schema import Task

        orders = dict(map(_order, ordinal))
        overrides = Overrides(nominal, numeric, orders, ignore, weight, None if task is None else Task(task), missing)
        if several:
            rest["schemas"] = [_schema(path, overrides) for path in schema]
        else:
            rest["schema"] = None if schema is None else _schema(schema, overrides)
        return function(*args, overrides=overrides, **rest)

    return wrapper


def read_cases(
    source: str,
    target: str | None,
    schema: Schema | None,
    overrides: Overrides,
    how: dict[str, Any],
    learner: Learner,
) -> Dataset:
    """Read the cases and make sure that this learner can learn from them."""
    from treewright.data.read import read, require_rows
    from treewright.data.schema import Task

    with reading(source):
        data = read(
            source, target, schema, overrides=overrides, nominal_limit=learner.tree.learner.nominal_limit, **how
        )
    require_rows(data)
    if data.target is None:
        names = ", ".join(column.name for column in data.schema.columns)
        raise click.UsageError(f"name the column to predict: --target COL, one of: {names}")
    if data.schema.task is Task.REGRESSION and Task.REGRESSION not in learner.abilities.tasks:
        raise click.UsageError(
            f"column {data.schema.target!r} is numeric, but {learner.name} can only predict classes: "
            "use --algorithm cart, or --task classification if its values are classes"
        )
    return data


def _order(text: str) -> tuple[str, tuple[str, ...]]:
    """Read the order of the categories of a column, of the form COL=a<b<c."""
    name, equals, order = text.partition("=")
    values = tuple(value.strip() for value in order.split("<"))
    if not name.strip() or not equals or len(values) < 2 or not all(values):
        raise click.BadParameter(f"{text!r} is not of the form COL=a<b<c", param_hint="--ordinal")
    return name.strip(), values


def _schema(path: str, overrides: Overrides) -> Schema:
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema

    if overrides != Overrides():
        raise click.UsageError("--schema describes all columns; it cannot be combined with options for single columns")
    with _read_errors_named(path):
        return Schema.load(path)


def open_model(path: str) -> TreeModel | RuleModel | Forest:
    """Read a model file; one that is not there is bad data, as everywhere."""
    from treewright.tree.io.model_file import load_model

    with _read_errors_named(path):
        return load_model(path)


def open_tree(path: str) -> TreeModel:
    """Read a model file that must hold a tree."""
    from treewright.errors import DataError
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel

    model = open_model(path)
    if not isinstance(model, TreeModel):
        held = "rules" if isinstance(model, RuleModel) else "a forest"
        raise DataError(f"holds {held}, but this verb needs a tree", source=path)
    return model


@contextmanager
def _read_errors_named(path: str) -> Iterator[None]:
    from treewright.errors import DataError
    from treewright.wording import did_you_mean

    try:
        yield
    except FileNotFoundError as error:
        folder, name = os.path.split(path)
        near = did_you_mean(name, os.listdir(folder or os.curdir)) if os.path.isdir(folder or os.curdir) else ""
        raise DataError(f"there is no such file{near}", source=path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=path) from error


def parsed_cost(text: str) -> tuple[tuple[str, str], float]:
    """Read a cost of the form ACTUAL,PREDICTED=C.

    Examples
    --------
    >>> parsed_cost("sick, well=5")
    (('sick', 'well'), 5.0)
    """
    names, equals, cost = text.rpartition("=")
    actual, comma, predicted = names.partition(",")
    with suppress(ValueError):  # of float: refused below, like every other form
        if equals and comma:
            return (actual.strip(), predicted.strip()), float(cost)
    raise click.BadParameter(f"{text!r} is not of the form ACTUAL,PREDICTED=COST", param_hint="--cost")


HEADERS = ("fold", "row")


def folds_from_file(path: str, n_rows: int) -> npt.NDArray[Any]:
    """Read the fold of each row: a name or number a line, or a table with columns `fold` and, if not in order, `row`.

    Rows are numbered from 0 or from 1. Returns whole numbers from 0 on, in the order in which the folds sort.
    """
    from treewright.data.text_file import TextSource
    from treewright.errors import DataError

    try:
        read = list(enumerate(csv.reader(TextSource(path).read_lines()), start=1))
    except csv.Error as error:
        raise DataError(f"is no table of folds: {error}", source=path) from error
    lines = [(number, line) for number, line in read if any(line)]
    names = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    headed = "fold" in names
    if headed:
        lines = lines[1:]
    elif lines and len(lines[0][1]) > 1:
        raise DataError("has several columns; name the one of the folds 'fold', in a first line", source=path, line=1)
    fold_at, row_at = names.index("fold") if headed else 0, names.index("row") if "row" in names else None
    width = len(names) if headed else 1
    found: dict[int, str] = {}
    for position, (number, line) in enumerate(lines):
        if len(line) != width or not line[fold_at].strip():
            raise DataError(f"has {width} cells in a line, and none empty", source=path, line=number)
        row = position if row_at is None else _whole(line[row_at], path, number)
        if row in found:
            raise DataError(f"row {row} has two folds", source=path, line=number)
        found[row] = line[fold_at].strip()
    first = min(found, default=0)
    if len(found) != n_rows or first not in (0, 1) or max(found) != first + n_rows - 1:
        span = "" if row_at is None else f" (from {first:,} to {max(found, default=0):,})"
        raise DataError(f"gives a fold to {len(found):,} rows{span}, and the data have {n_rows:,}", source=path)
    return _codes([found[row] for row in range(first, first + n_rows)])


def folds_from_column(data: Dataset, name: str) -> tuple[Dataset, npt.NDArray[Any]]:
    """Return the data without a column, and the folds in it."""
    import numpy as np

    from treewright.errors import DataError
    from treewright.evaluation.resampling import without_attribute
    from treewright.evaluation.splitters import attribute_index

    column = data.columns[attribute_index(data, name)]
    missing = np.isnan(column) if column.dtype.kind == "f" else column < 0
    if missing.any():
        raise DataError(f"row {int(np.argmax(missing)) + 1:,} has no fold", source=data.source, column=name)
    folds: npt.NDArray[Any] = np.unique(column, return_inverse=True)[1]
    return without_attribute(data, name), folds


def _whole(cell: str, path: str, number: int) -> int:
    from treewright.errors import DataError

    try:
        return int(cell)
    except ValueError as error:
        raise DataError(f"{cell!r} is no number of a row", source=path, line=number) from error


def _codes(names: list[str]) -> npt.NDArray[Any]:
    import numpy as np

    numbers = all(name.lstrip("-").isdigit() for name in names)
    order = sorted(set(names), key=(lambda name: (int(name), name)) if numbers else None)
    code = {name: place for place, name in enumerate(order)}
    return np.array([code[name] for name in names], dtype=np.intp)
