"""From a table outside memory to the engine that counts it.

What is a table, and who counts it: an address (`treewright.Table`), a DuckDB relation, a Spark frame, a Dask frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treewright._base.errors import ParameterError
from treewright.counts.bags import Bags
from treewright.data.infer import Overrides
from treewright.data.schema import Schema
from treewright.data.table import Table


def engine_over(
    source: Any,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    *,
    nominal_limit: int = 0,
    class_weights: Mapping[str, float] | None = None,
    temporary: bool = False,
    bags: Bags | None = None,
    key: str | None = None,
) -> Any:
    """Return the engine for a table outside memory, to be used in a ``with`` statement.

    Parameters
    ----------
    source : Table, DuckDB relation, Spark frame or Dask frame
    target, schema, overrides
        As in `fit_table`.
    nominal_limit : int
        Whole-number columns with at most this many values are inferred as nominal.
    class_weights : dict of str to float or None
    temporary : bool
        Whether temporary tables may be made.
    bags : Bags or None
        Of the trees of a forest.
    key : str or None
        A column that names each row, and is no attribute therefore.
    """
    if key is not None and schema is None:
        chosen = overrides or Overrides()
        overrides = replace(chosen, ignore=tuple(dict.fromkeys((*chosen.ignore, key))))
    elif key is not None and schema is not None and key in schema.attribute_names:
        schema = replace(schema, ignored=(*schema.ignored, key))
    if _counted_by_dask(source):
        return _dask_engine(source, target, schema, overrides, nominal_limit, class_weights, bags)
    from treewright.counts.outside import require_target
    from treewright.counts.sql.connect import connect
    from treewright.counts.sql.engine import SqlEngine
    from treewright.counts.sql.profile import inferred

    connection = connect(source, temporary=temporary)
    try:
        facts = None
        if schema is None:
            schema, facts = inferred(connection, connection.columns(), target, overrides, nominal_limit=nominal_limit)
        elif target is not None:
            schema = replace(schema, target=target)
        require_target(schema)
        factors = None if class_weights is None else _factors(class_weights, schema)
        return SqlEngine(connection, schema, facts=facts, class_factors=factors, temporary=temporary, bags=bags)
    except BaseException:
        connection.close()
        raise


def _counted_by_dask(source: object) -> bool:
    if isinstance(source, Table):
        return source.engine == "dask"
    return type(source).__module__.split(".")[0] in ("dask", "dask_expr")


def _dask_engine(
    source: Any,
    target: str | None,
    schema: Schema | None,
    overrides: Overrides | None,
    nominal_limit: int,
    class_weights: Mapping[str, float] | None,
    bags: Bags | None,
) -> Any:
    from treewright.counts.dask_engine.engine import DaskEngine
    from treewright.counts.dask_engine.frames import frame_of, inferred

    told, frame = (source.source, frame_of(source)) if isinstance(source, Table) else (None, source)
    scans = 0
    if schema is None:
        schema = inferred(frame, target, overrides, nominal_limit=nominal_limit, source=told)
        scans = 1
    elif target is not None:
        schema = replace(schema, target=target)
    factors = None if class_weights is None else _factors(class_weights, schema)
    return DaskEngine(frame, schema, class_factors=factors, source=told, scans=scans, bags=bags)


def _factors(class_weights: Mapping[str, float], schema: Schema) -> list[float]:
    factors = [float(class_weights.get(name, 1.0)) for name in schema.classes]
    if not all(0 <= factor < float("inf") for factor in factors):
        raise ParameterError("class weights must be numbers of at least 0")
    return factors


def is_outside_memory(source: object) -> bool:
    """Tell whether `fit_table` is the way to learn from something, without importing any library.

    Examples
    --------
    >>> is_outside_memory(Table("data/*.parquet")), is_outside_memory([[1, 2]])
    (True, False)
    """
    module = type(source).__module__.split(".")[0].lstrip("_")
    return isinstance(source, Table) or module in ("duckdb", "pyspark", "dask", "dask_expr")
