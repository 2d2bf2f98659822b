"""treewright predict: a model and new cases in, predictions out as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import rich_click as click

from treewright.cli.options import json_option, reading_options
from treewright.cli.output import note, percent, say, say_json, warnings_as_notes

if TYPE_CHECKING:
    from treewright.data.raw import RawTable
    from treewright.model.model import TreeModel

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@click.command("predict")
@click.argument("model_file", metavar="MODEL")
@click.argument("source", metavar="FILE")
@click.option("-o", "--output", metavar="FILE", help="Write the CSV there instead of standard output.")
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--keep", is_flag=True, help="Repeat the columns of FILE before the prediction.")
@click.option("--excel-safe", is_flag=True, help="Prefix texts that a spreadsheet would take for a formula.")
@reading_options
@json_option
def command(
    model_file: str,
    source: str,
    output: str | None,
    proba: bool,
    keep: bool,
    excel_safe: bool,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Predict the cases of FILE with MODEL.

    Columns are matched by name; values never seen while learning count as missing, and are counted in a note.
    """
    from treewright.data.tables import read_for, require_rows
    from treewright.model.format import load_model

    model = load_model(model_file)
    raw = read_for(source, model.schema, **how)
    require_rows(raw)
    with warnings_as_notes():
        cases = model.cases(raw)
    columns = _columns(model, raw, cases, proba=proba, keep=keep)
    if as_json:
        names = list(columns)
        say_json([dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)])
    else:
        text = _csv(columns, excel_safe=excel_safe)
        if output is None:
            say(text.rstrip("\n"))
        else:
            from treewright._base.atomic_file import write_atomically

            write_atomically(output, text)
            note(f"{raw.n_rows:,} predictions written to {output}")
    _tell_accuracy(model, raw, columns["predicted"])


def _columns(model: TreeModel, raw: RawTable, cases: Any, *, proba: bool, keep: bool) -> dict[str, Sequence[Any]]:
    columns: dict[str, Sequence[Any]] = {}
    if keep:
        columns |= {name: list(_cells(raw, name)) for name in raw.columns}
    columns["predicted"] = model.predict(cases).tolist()
    if proba and not model.tree.is_regression:
        shares = model.predict_proba(cases)
        for place, label in enumerate(model.schema.classes):
            columns[f"p({label})"] = shares[:, place].tolist()
    return columns


def _cells(raw: RawTable, name: str) -> Iterator[Any]:
    from treewright.data.raw import NumberColumn, number_text

    column = raw.column(name)
    if isinstance(column, NumberColumn):
        return (None if isnan(value) else number_text(value) for value in column.values.tolist())
    values = (*column.values, None)
    return (values[code] for code in column.codes.tolist())


def _csv(columns: dict[str, Sequence[Any]], *, excel_safe: bool) -> str:
    def safe(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows: Iterator[Sequence[Any]] = iter(zip(*columns.values(), strict=True))
    for row in (list(columns), *rows):
        writer.writerow([safe(cell) for cell in row] if excel_safe else row)
    return text.getvalue()


def _tell_accuracy(model: TreeModel, raw: RawTable, predicted: Sequence[Any]) -> None:
    """If the file has the target too, say how many were right."""
    target = model.schema.target
    if target is None or target not in raw.columns or model.tree.is_regression:
        return
    truth = [str(cell) for cell in _cells(raw, target)]
    right = sum(str(said) == true for said, true in zip(predicted, truth, strict=True))
    note(f"{right:,} of {len(truth):,} as in column {target!r}: {percent(right / len(truth))}")
