"""Options that several verbs share (columns, reading, models, folds, drawing), and how their values are read."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, decorated, option
from treewright.cli.output import note, reading, require_writable, warnings_as_notes

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
        default_text="by its values",
    ),
    option("data", "--missing", multiple=True, metavar="TEXT", help="Text that also marks a missing value."),
)

_SCHEMA_FILE = "Schema saved by `data --save`; replaces the options for columns"

_FORMAT = "File format: csv, tsv, arff, names or parquet."
_DELIMITER = r"Field delimiter of a text file; \t is a tab."
_ENCODING = "Encoding of a text file, such as latin-1."

_READING_OPTIONS = (
    option("data", "--format", "format_", metavar="NAME", default_text="by the suffix", help=_FORMAT),
    option("data", "--delimiter", metavar="CHAR", help=_DELIMITER),
    option("data", "--encoding", metavar="NAME", default_text="UTF-8", help=_ENCODING),
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
            default_text="NAME.model.json",
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
        default_text="automatic",
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
            f"column {data.schema.target!r} is numeric, but {learner.name} predicts classes: "
            "use --algorithm cart, or --task classification if its values are classes"
        )
    return data


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


def parsed_costs(texts: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Read costs of the form ACTUAL,PREDICTED=C.

    Examples
    --------
    >>> parsed_costs(("sick, well=5",))
    {('sick', 'well'): 5.0}
    """
    costs = {}
    for text in texts:
        names, equals, cost = text.rpartition("=")
        actual, comma, predicted = names.partition(",")
        try:
            costs[actual.strip(), predicted.strip()] = float(cost)
        except ValueError:
            equals = ""
        if not equals or not comma:
            raise click.BadParameter(f"{text!r} is not of the form ACTUAL,PREDICTED=COST", param_hint="--cost")
    return costs


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
    from treewright.evaluation.cross_validation import attribute_index
    from treewright.evaluation.resampling import without_attribute

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


FORMS = ("text", "svg", "html", "png", "pdf", "dot", "mermaid", "tikz", "json")
"""As in `treewright.drawing.draw`, which is not imported to print a help page."""

PICTURES = ("png", "pdf")

_OPTIONS = (
    option(
        "output", "-o", "--output", metavar="FILE", type=FILE, help="File to write to; its suffix chooses the format."
    ),
    option(
        "tree",
        "--max-depth",
        "--depth",
        "depth",
        type=click.IntRange(min=0),
        default_text="as many as fit",
        help="Number of levels to show.",
    ),
    option(
        "tree",
        "--max-nodes",
        type=click.IntRange(min=1),
        default_text="120",
        help="Maximum number of nodes in a drawing, largest first.",
    ),
    option("tree", "--all", "everything", is_flag=True, help="Show the whole tree, however large."),
    option("tree", "--node", metavar="root|N", default="root", help="Start at this node (see `show --numbers`)."),
    option("tree", "--tree", "tree_number", type=click.IntRange(min=0), help="Tree of a forest, counted from 0."),
    option(
        "data",
        "--data",
        "source",
        metavar="FILE",
        type=FILE,
        help="Cases for histograms in svg, html, png and pdf drawings.",
    ),
    option("data", "--delimiter", metavar="CHAR", help=r"Field delimiter of --data; \t is a tab."),
    option("data", "--encoding", metavar="NAME", default_text="UTF-8", help="Encoding of --data, such as latin-1."),
    option("output", "--title", default_text="the target", help="Title of a drawing."),
)


@dataclass(frozen=True)
class Wish:
    """Which part of a model to show, and how."""

    output: str | None
    depth: int | None
    max_nodes: int | None
    everything: bool
    node: str
    tree_number: int | None
    source: str | None
    delimiter: str | None
    encoding: str | None
    title: str | None

    @property
    def how(self) -> dict[str, Any]:
        """How the data are read."""
        given = {"delimiter": "\t" if self.delimiter == r"\t" else self.delimiter, "encoding": self.encoding}
        return {name: value for name, value in given.items() if value is not None}

    def form(self, named: str | None) -> str:
        """Return the form by its name, or by the suffix of the file; text if neither is given."""
        from treewright.drawing.draw import form_of

        return named or (form_of(self.output) if self.output is not None else "text")


def drawing_options(function: Function) -> Function:
    """Add what to show; the function gets `wish`."""

    @functools.wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        given = {name: rest.pop(name) for name in Wish.__dataclass_fields__}
        if given["everything"] and (given["depth"] is not None or given["max_nodes"] is not None):
            raise click.UsageError("--all shows every level; it cannot be combined with --depth or --max-nodes")
        return function(*args, wish=Wish(**given), **rest)

    return decorated(wrapper, _OPTIONS)


def open_for(model_file: str, wish: Wish) -> TreeModel | RuleModel | Forest:
    """Read a model; of a forest the tree that is wished for."""
    from treewright.errors import ParameterError
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel

    if wish.output is not None:
        require_writable(wish.output, model_file, wish.source or "")
    model = open_model(model_file)
    if wish.tree_number is None:
        return model
    if not isinstance(model, Forest):
        raise ParameterError("--tree chooses a tree of a forest, but this model is not a forest")
    if wish.tree_number >= model.n_trees:
        raise ParameterError(f"there is no tree {wish.tree_number}; the trees are 0 to {model.n_trees - 1}")
    return TreeModel(model.trees[wish.tree_number], model.recipe, model.provenance)


def node_number(text: str, n_nodes: int) -> int:
    """Return the number of a node that was named on the command line.

    Examples
    --------
    >>> node_number("root", 8), node_number("7", 8)
    (0, 7)
    """
    if text == "root":
        return 0
    if not text.isdecimal() or int(text) >= n_nodes:
        raise click.BadParameter(f"{text!r} is not 'root' or a number from 0 to {n_nodes - 1}", param_hint="--node")
    return int(text)


def drawn(model: TreeModel, form: str, wish: Wish) -> str:
    """Return one form of a tree, or write it where it is to go and return nothing."""
    from treewright.data.read import read
    from treewright.drawing.draw import draw, written

    if form in PICTURES and wish.output is None:
        raise click.UsageError(f"{form} is a binary format: name a file with -o FILE")
    options: dict[str, Any] = {"node": node_number(wish.node, model.tree.n_nodes)}
    if wish.depth is not None:
        options["max_depth"] = wish.depth
    if wish.max_nodes is not None:
        options["max_nodes"] = wish.max_nodes
    if wish.everything and form not in ("text", "json"):
        options["max_nodes"] = None
    if wish.title is not None:
        options["title"] = wish.title
    if wish.source is not None:
        with warnings_as_notes(), reading(wish.source):
            options["data"] = read(wish.source, schema=model.schema, **wish.how)
    if wish.output is None:
        return written(model, form, **options).removesuffix("\n")
    draw(model, wish.output, form=form, **options)
    note(f"Written to {wish.output}")
    return ""
