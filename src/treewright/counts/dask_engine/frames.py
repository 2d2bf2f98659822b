"""Dask frames: their files, their names, and the schema that is proposed for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright._base.errors import DataError
from treewright._base.extras import import_extra
from treewright._base.near_names import unknown_name
from treewright.counts.bags import require_unique
from treewright.counts.dask_engine.partitions import Layout, holds_texts
from treewright.counts.dask_engine.profile import add_sights, seen_part
from treewright.counts.dask_engine.running import computed, in_a_tree, told
from treewright.data.frames import raw_table
from treewright.data.infer import CLASS_LIMIT, Overrides, infer_schema
from treewright.data.raw import NumberColumn, RawTable, text_column
from treewright.data.schema import Schema
from treewright.data.table import Table, files_of

PARTITION_ROWS = 1_000_000
"""Row groups of Parquet files are read together up to so many rows."""


def frame_of(table: Table) -> Any:
    """Return the Dask frame of Parquet files."""
    frames = import_extra("dask.dataframe", "dask", "learn with Dask")
    files = files_of(table.path)
    if not files:
        raise DataError("there is no such file", source=table.source)
    if not all(path.endswith(".parquet") for path in files):
        raise DataError("Dask counts Parquet files here", source=table.source)
    pandas, parquet = (
        import_extra("pandas", "dask", "learn with Dask"),
        import_extra("pyarrow.parquet", "dask", "learn with Dask"),
    )
    arrow: Any = import_extra("pyarrow", "dask", "learn with Dask")
    pieces: list[tuple[str, tuple[int, ...]]] = []
    names: list[str] | None = None
    with told(table.source, arrow.ArrowException):
        for path in files:
            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names if names is None else names
                if file.schema_arrow.names != names:
                    raise DataError(f"{path} has other columns than {files[0]}", source=table.source)
                pieces += [(path, groups) for groups in _portions(file.metadata)]
        nothing = parquet.read_schema(files[0]).empty_table()
    meta = nothing.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
    return frames.from_map(_read_groups, pieces, meta=meta, label="treewright-parquet")


def _portions(metadata: Any) -> list[tuple[int, ...]]:
    """Divide the row groups of a file into partitions."""
    portions: list[tuple[int, ...]] = []
    rows = PARTITION_ROWS
    for group in range(metadata.num_row_groups):
        here = metadata.row_group(group).num_rows
        if rows + here > PARTITION_ROWS:
            portions.append(())
            rows = 0
        portions[-1] = (*portions[-1], group)
        rows += here
    return portions or [()]


def _read_groups(piece: tuple[str, tuple[int, ...]], columns: list[str] | None = None) -> Any:
    """Read some row groups; Arrow's types keep whole numbers whole where some are missing."""
    import pandas
    import pyarrow.parquet

    path, groups = piece
    with pyarrow.parquet.ParquetFile(path) as file:
        table = file.read_row_groups(groups, columns=columns)
    return table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)


def layout_of(frame: Any, source: str | None) -> Layout:
    """Return the names of the columns of a frame."""
    labels = tuple(frame.columns)
    names = tuple(raw_table(frame._meta.iloc[:0]).columns)
    return Layout(labels, names, {}, source)


def inferred(
    frame: Any, target: str | None, overrides: Overrides | None, *, nominal_limit: int = 0, source: str | None = None
) -> Schema:
    """Propose the schema that reading the same frame into memory would propose, in one pass."""
    dask: Any = import_extra("dask", "dask", "learn with Dask")
    chosen = overrides or Overrides()
    layout = layout_of(frame, source)
    for name in (target, chosen.weight, *chosen.kinds(target), *chosen.ignore):
        if name is not None and name not in layout.names:
            raise DataError(unknown_name("column", name, layout.names), source=source)
    used = layout.of([name for name in layout.names if name not in chosen.ignore])
    used = replace(used, kinds=chosen.kinds(target))
    few = max(CLASS_LIMIT, nominal_limit)
    partial = [
        dask.delayed(seen_part)(part, used, few, number)
        for number, part in enumerate(frame[list(used.labels)].to_delayed())
    ]
    sight = computed(in_a_tree(partial, dask.delayed(add_sights), few, source), source)
    if sight.n_rows == 0:
        raise DataError("there are no rows to learn from", source=source)
    numeric = set(frame.select_dtypes("number").columns)
    columns = {
        # An ignored column is not looked at: its values, maybe a name for each row, are nobody's business.
        name: sight.columns[name].column()
        if name in sight.columns
        else (NumberColumn(np.zeros(0)) if label in numeric else text_column([]))
        for label, name in zip(layout.labels, layout.names, strict=True)
    }
    return infer_schema(RawTable(columns, sight.n_rows, source), target, overrides, nominal_limit=nominal_limit)


def keyed(frame: Any, layout: Layout, key: str, source: str | None) -> tuple[Any, int]:
    """Return the label of a key and the number of rows; raise unless it names every one of them. It takes one pass."""
    dask: Any = import_extra("dask", "dask", "learn with Dask")
    if key not in layout.names:
        raise DataError(unknown_name("column", key, layout.names), source=source)
    label = layout.labels[layout.names.index(key)]
    column = frame[label]
    if column.dtype.kind not in "iu" and not holds_texts(column):
        message = f"a key is a column of whole numbers or texts, and this one is {column.dtype}"
        raise DataError(message, source=source, column=key)
    with told(source):
        rows, known, different = (int(one) for one in dask.compute(column.size, column.count(), column.nunique()))
    require_unique(rows, known, different, key, source)
    return label, rows
