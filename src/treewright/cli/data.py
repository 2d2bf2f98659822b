"""treewright data: the inferred schema of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option, reading_options, schema_options, target_option
from treewright.cli.output import note, plural, reading, require_writable, warnings_as_notes, write_json

if TYPE_CHECKING:
    from treewright.data.columns import RawTable
    from treewright.data.infer import Overrides
    from treewright.data.schema import Column, Schema

SHOWN_VALUES = 6


@click.command(
    "data",
    cls=Verb,
    examples=(
        "treewright data --samples",
        "treewright data weather.csv --target play --save schema.json",
        'treewright data weather.csv --ordinal "temperature=cool<mild<hot"',
    ),
)
@click.argument("source", metavar="FILE", required=False, type=FILE)
@target_option
@option(
    "output", "--save", "save", metavar="FILE", type=FILE, help="File to write the schema to, for `train --schema`."
)
@option("data", "--samples", is_flag=True, help="List the bundled tables.")
@schema_options
@reading_options
@json_option
def command(
    source: str | None,
    target: str | None,
    save: str | None,
    samples: bool,
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Show the type, the values and the missing values of each column of FILE."""
    if samples:
        _list_samples(as_json)
        return
    if source is None:
        raise click.UsageError("name a FILE, or --samples to list the bundled tables")
    from dataclasses import replace

    from treewright.data.dataset import encode
    from treewright.data.infer import infer_schema
    from treewright.data.read import read_for, read_raw

    if save is not None:
        require_writable(save, source)
    with warnings_as_notes(), reading(source):
        if schema is not None:
            proposed = schema if target is None else replace(schema, target=target)
            raw = read_for(source, proposed, **how)
        else:
            raw = read_raw(source, kinds=overrides.kinds(target), missing=overrides.markers, **how)
            proposed = infer_schema(raw, target, overrides)
        encode(raw, proposed)
    if save is not None:
        proposed.save(save)
        note(f"schema written to {save}")
    if as_json:
        write_json(proposed.to_dict() | {"rows": raw.n_rows})
    else:
        _print(raw, proposed)


def _print(raw: RawTable, schema: Schema) -> None:
    from treewright.explain.document import aligned
    from treewright.wording import printable

    click.echo(
        f"{printable(raw.source or 'data')}   {plural(raw.n_rows, 'row')}, {plural(len(schema.columns), 'column')}\n"
    )
    rows = [["column", "kind", "missing", "values"]]
    for column in schema.columns:
        role = _role(schema, column)
        kind = f"{column.kind}, {role}" if role else str(column.kind)
        rows.append([printable(column.name, 40), kind, f"{_missing(raw, column):,}", _values(raw, column)])
    for line in aligned(rows, last_left=True):
        click.echo(line)
    if schema.target is None:
        click.echo("\nNo target yet: train with --target COL.")


def _role(schema: Schema, column: Column) -> str:
    if column.name == schema.target:
        return "target"
    if column.name == schema.weight:
        return "weight"
    return "ignored" if column.name in schema.ignored else ""


def _missing(raw: RawTable, column: Column) -> int:
    import numpy as np

    from treewright.data.columns import NumberColumn

    cells = raw.column(column.name)
    return int(np.isnan(cells.values).sum()) if isinstance(cells, NumberColumn) else int((cells.codes < 0).sum())


def _values(raw: RawTable, column: Column) -> str:
    import numpy as np

    from treewright.data.columns import NumberColumn
    from treewright.wording import printable

    if not column.is_numeric:
        joint = " < " if column.kind == "ordinal" else ", "
        shown = joint.join(printable(value, 20) for value in column.values[:SHOWN_VALUES])
        return shown + (f" and {len(column.values) - SHOWN_VALUES:,} more" if len(column.values) > SHOWN_VALUES else "")
    cells = raw.column(column.name)
    known = cells.values[~np.isnan(cells.values)] if isinstance(cells, NumberColumn) else np.zeros(0)
    return f"{known.min():.6g} to {known.max():.6g}" if len(known) else "none"


def _list_samples(as_json: bool) -> None:
    from treewright.data.samples import SAMPLES, sample

    entries = [
        {
            "name": f"sample:{one.name}",
            "rows": len(sample(one.name)),
            "target": one.columns[-1].name,
            "source": one.source,
        }
        for one in SAMPLES.values()
    ]
    if as_json:
        write_json(entries)
        return
    for entry in entries:
        click.echo(f"{entry['name']!s:<24}{entry['rows']!s:>3} rows, target {entry['target']}: {entry['source']}")
