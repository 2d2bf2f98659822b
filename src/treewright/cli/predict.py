"""treewright predict: a model and new cases in, predictions out as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isnan, sqrt
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option, open_model, reading_options
from treewright.cli.output import json_text, note, percent, plural, reading, require_writable, warnings_as_notes

if TYPE_CHECKING:
    from treewright.data.columns import RawTable
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@click.command(
    "predict",
    cls=Verb,
    examples=(
        "treewright predict weather.model.json new.csv",
        "treewright predict weather.model.json new.csv --proba -o out.csv",
        "treewright predict weather.model.json 'duckdb:///w.db?table=new' --in-database",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.argument("source", metavar="FILE", type=FILE)
@option("output", "-o", "--output", metavar="FILE", type=FILE, default_text="standard output", help="File to write to.")
@option("output", "--proba", is_flag=True, help="Add the probability of each class.")
@option("output", "--keep", is_flag=True, help="Copy the columns of FILE before the prediction.")
@option("engine", "--in-database", is_flag=True, help="Print the SELECT that predicts in the database; FILE is a URL.")
@option("output", "--excel-safe", is_flag=True, help="Quote texts that a spreadsheet would read as a formula.")
@reading_options
@json_option
def command(
    model_file: str,
    source: str,
    output: str | None,
    proba: bool,
    keep: bool,
    in_database: bool,
    excel_safe: bool,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Predict the cases of FILE with MODEL.

    Columns are matched by name. Categories that the training data lacks are treated as missing and counted in a note.
    """
    from treewright.data.read import read_for, require_rows
    from treewright.data.schema import Task
    from treewright.tree.rules import RuleModel

    if output is not None:
        require_writable(output, model_file, source)
    model = open_model(model_file)
    if in_database:
        _write_statement(model, source, output, keep=keep, proba=proba, as_json=as_json)
        return
    if proba and (isinstance(model, RuleModel) or model.schema.task is Task.REGRESSION):
        raise click.UsageError("--proba needs a classification tree or ensemble")
    with warnings_as_notes(), reading(source):
        raw = read_for(source, model.schema, others_as_text=keep, **how)
        require_rows(raw)
        cases = model.cases(raw)
    columns = _columns(model, raw, cases, proba=proba, keep=keep)
    text = _json(columns) if as_json else _csv(columns, excel_safe=excel_safe)
    if output is None:
        click.echo(text.removesuffix("\n"))
    else:
        from treewright.atomic_file import write_atomically

        write_atomically(output, text)
        note(f"{plural(raw.n_rows, 'prediction')} written to {output}")
    _note_accuracy(model, raw, columns["predicted"])


def _write_statement(model: Any, source: str, output: str | None, *, keep: bool, proba: bool, as_json: bool) -> None:
    """Print the SELECT that predicts in the dialect of a table."""
    from treewright.counting.sql.connection import connect
    from treewright.counting.sql.prediction import prediction_statement
    from treewright.data.table_address import Table
    from treewright.tree.model import TreeModel

    if not isinstance(model, TreeModel) or (proba and model.tree.is_regression):
        raise click.UsageError("--in-database is for trees, and --proba for trees of classes")
    connection = connect(Table(source))
    try:
        relation, dialect = connection.relation, connection.dialect
        statement = prediction_statement(model, connection.columns(), relation, dialect, keep=keep, proba=proba)
    finally:
        connection.close()
    text = json_text({"dialect": dialect.name, "statement": statement}) if as_json else f"{statement};"
    if output is None:
        click.echo(text)
        return
    from treewright.atomic_file import write_atomically

    write_atomically(output, text + "\n")
    note(f"SELECT for {dialect.name} written to {output}")


def _columns(
    model: TreeModel | RuleModel | Forest, raw: RawTable, cases: Any, *, proba: bool, keep: bool
) -> dict[str, Sequence[Any]]:
    from treewright.errors import DataError
    from treewright.tree.rules import RuleModel

    columns: dict[str, Sequence[Any]] = {"predicted": model.predict(cases).tolist()}
    if proba and not isinstance(model, RuleModel):
        shares = model.predict_proba(cases)
        for place, label in enumerate(model.schema.classes):
            columns[f"p({label})"] = shares[:, place].tolist()
    if not keep:
        return columns
    for name in columns:
        if name in raw.columns:
            message = "the result would have this column twice; rename it, or leave out --keep"
            raise DataError(message, source=raw.source, column=name)
    return {name: list(_cells(raw, name)) for name in raw.columns} | columns


def _cells(raw: RawTable, name: str) -> Iterator[Any]:
    from treewright.data.columns import NumberColumn, number_text

    column = raw.column(name)
    if isinstance(column, NumberColumn):
        return (None if isnan(value) else number_text(value) for value in column.values.tolist())
    values = (*column.values, None)
    return (values[code] for code in column.codes.tolist())


def _json(columns: dict[str, Sequence[Any]]) -> str:
    names = list(columns)
    return json_text([dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]) + "\n"


def _csv(columns: dict[str, Sequence[Any]], *, excel_safe: bool) -> str:
    def safe(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows: Iterator[Sequence[Any]] = iter(zip(*columns.values(), strict=True))
    for row in (list(columns), *rows):
        writer.writerow([safe(cell) for cell in row] if excel_safe else row)
    return text.getvalue()


def _note_accuracy(model: TreeModel | RuleModel | Forest, raw: RawTable, predicted: Sequence[Any]) -> None:
    """If the file has the target too, say how near the predictions are, on the cases where it is known."""
    target = model.schema.target
    if target is None or target not in raw.columns:
        return
    pairs = [
        (predicted, actual)
        for predicted, actual in zip(predicted, _cells(raw, target), strict=True)
        if actual is not None
    ]
    if not pairs:
        return
    if model.schema.target_column.is_numeric:
        squares = sum((predicted - float(actual)) ** 2 for predicted, actual in pairs)
        note(f"root mean squared error against column {target!r}: {sqrt(squares / len(pairs)):.4g}")
        return
    right = sum(str(predicted) == actual for predicted, actual in pairs)
    note(f"{right:,} of {len(pairs):,} as in column {target!r}: {percent(right / len(pairs))}")
