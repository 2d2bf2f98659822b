"""treewright evaluate: a model and labelled cases in, a report on its predictions out."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option, open_model, parsed_cost, reading_options
from treewright.cli.output import note, reading, require_writable, warnings_as_notes, write_json

if TYPE_CHECKING:
    from treewright.data.columns import RawTable
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Schema
    from treewright.evaluation.report import Report
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel

PLOT_KINDS = ("roc", "pr", "calibration", "confusion")


@click.command(
    "evaluate",
    cls=Verb,
    examples=(
        "treewright evaluate weather.model.json test.csv",
        "treewright evaluate weather.model.json test.csv --plot-kind confusion",
        "treewright evaluate weather.model.json test.csv --cost no,yes=5",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.argument("source", metavar="FILE", type=FILE)
@option(
    "evaluation",
    "--cost",
    "costs",
    multiple=True,
    metavar="ACTUAL,PREDICTED=C",
    help="Cost of this misclassification; others cost 1, or as in the model.",
)
@option("output", "--plot", metavar="FILE", type=FILE, help="File for the figure: .png, .svg or .pdf.")
@option(
    "output",
    "--plot-kind",
    "kind",
    type=click.Choice(PLOT_KINDS),
    metavar="KIND",
    default_text="roc",
    help="Figure to draw; without --plot, drawn as text.",
)
@reading_options
@json_option
def command(
    model_file: str,
    source: str,
    costs: tuple[str, ...],
    plot: str | None,
    kind: str | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Evaluate the predictions of MODEL on FILE, which must contain the target.

    Use data the model was not trained on; training data gives optimistic results.
    """
    from treewright.errors import DataError, ParameterError
    from treewright.evaluation.evaluate_model import evaluate_model

    if plot is not None:
        _require_figure(plot, model_file, source)
    pairs = dict(map(parsed_cost, costs))
    model = open_model(model_file)
    if pairs and model.schema.target_column.is_numeric:
        raise click.UsageError("--cost is for classes, and this model predicts numbers")
    if (plot or kind) and model.schema.target_column.is_numeric:
        raise click.UsageError("--plot is for classes, and this model predicts numbers")
    if (plot or kind) and kind != "confusion" and not hasattr(model, "predict_proba"):
        raise click.UsageError(f"{kind or 'roc'} needs class probabilities, and rules have none: --plot-kind confusion")
    with warnings_as_notes():
        with reading(source):
            data = _data(model, source, how)
        _note_training_cases(model, data)
        report = evaluate_model(model, data, pairs or None)
    drawn, why_not = "", None
    try:
        if plot is not None:
            _save(report, kind or "roc", plot)
        elif kind is not None and not as_json:
            drawn = _text_plot(report, kind)
    except ParameterError as error:  # no such plot of these cases; the report is printed all the same
        plot, why_not = None, error
    if as_json:
        write_json({"source": data.source, "target": data.schema.target, **report.to_dict(), "plot": plot})
    else:
        click.echo(f"{report}\n\n{drawn}" if drawn else str(report))
    if why_not is not None:
        raise DataError(f"nothing was drawn: {why_not}", source=data.source) from why_not
    if plot is not None and not as_json:
        note(f"figure written to {plot}")


def _require_figure(plot: str, *inputs: str) -> None:
    """Raise before the work begins if the figure could not be drawn."""
    from treewright.drawing.figure import SUFFIXES
    from treewright.lazy_import import import_extra

    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.BadParameter(f"{plot!r} does not end in {', '.join(SUFFIXES)}", param_hint="--plot")
    require_writable(plot, *inputs)
    import_extra("matplotlib", "plots", "draw a figure")


def _data(model: TreeModel | RuleModel | Forest, source: str, how: dict[str, Any]) -> Dataset:
    """Read the cases as the model's schema has them, with their truth; attributes may have new values, as always."""
    from treewright.data.dataset import Unseen, encode
    from treewright.data.read import read_for, require_rows
    from treewright.errors import DataError
    from treewright.wording import unknown_name

    schema = model.schema
    raw = read_for(source, schema, **how)
    require_rows(raw)
    if schema.target is None or schema.target not in raw.columns:
        message = unknown_name("column", str(schema.target), raw.columns)
        raise DataError(f"{message}; the target is needed to compare with", source=raw.source)
    return encode(raw, _schema_for(raw, schema), unseen=Unseen.MISSING)


def _schema_for(raw: RawTable, schema: Schema) -> Schema:
    """Return the model's schema with the classes that only these cases have, and without weights they lack."""
    from dataclasses import replace

    from treewright.data.columns import TextColumn, numbers_as_text

    if schema.weight is not None and schema.weight not in raw.columns:
        note(f"note: there is no weight column {schema.weight!r} here: every case has weight 1")
        schema = replace(schema, weight=None, ignored=(*schema.ignored, schema.weight))
    target = schema.target_column
    if target.is_numeric:
        return schema
    cells = raw.column(target.name)
    text = cells if isinstance(cells, TextColumn) else numbers_as_text(cells)
    used = {text.values[code] for code in set(text.codes.tolist()) if code >= 0}
    strange = tuple(value for value in text.values if value in used and value not in target.values)
    if not strange:
        return schema
    from treewright.wording import quoted_list

    classes = "class" if len(strange) == 1 else f"{len(strange)} classes"
    note(f"note: the model never saw the {classes} {quoted_list(strange)}: all mistakes")
    wider = replace(target, values=(*target.values, *strange))
    columns = tuple(wider if column.name == target.name else column for column in schema.columns)
    return replace(schema, columns=columns)


def _note_training_cases(model: TreeModel | RuleModel | Forest, data: Dataset) -> None:
    """Note if the cases have the name and the number of the training cases."""
    trained_on = model.provenance
    if data.source is not None and trained_on.get("source") == data.source and trained_on.get("rows") == data.n_rows:
        note("note: the model seems to have been trained on these cases; results on new cases will be worse")


def _text_plot(report: Report, kind: str) -> str:
    from treewright.drawing.plot_report import report_text_plot
    from treewright.drawing.text_plot import can_draw_braille

    return report_text_plot(report, kind, plain=not can_draw_braille(getattr(sys.stdout, "encoding", None)))


def _save(report: Report, kind: str, plot: str) -> None:
    from treewright.drawing.figure import save_figure
    from treewright.drawing.plot_report import report_figure

    figure = report_figure(report, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a script that the font lacks is drawn as boxes
        save_figure(figure, plot)
