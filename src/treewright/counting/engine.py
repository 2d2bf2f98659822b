"""The engine protocol, and which engine counts a table out of core.

What the grower asks of whoever counts. An engine holds the data and the sets of cases that belong to open nodes; the
grower decides. Nodes are numbers that the engine gives out; `divide` turns one into its children. Nothing else passes
between the two: no rows, no recipe.

An engine whose data are outside memory (`DistantEngine`: a database, a cluster) answers the same questions, a whole
level in one pass over the data, and some more that save passes.

From a table outside memory to the engine that counts it. What is a table, and who counts it: an address
(`treewright.Table`), a DuckDB relation, a Spark frame, a Dask frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from treewright.counting.row_sampling import Bags
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema
from treewright.data.table_address import Table
from treewright.errors import ParameterError
from treewright.tree.split import Split

Doubtful = npt.NDArray[np.bool_]
Inside = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Summary:
    """The target at one node.

    Parameters
    ----------
    weight : float
        Weight of the cases.
    cases : int
        Number of cases, whatever they weigh.
    statistics : array
        Weight of each class; or, for a numeric target, weight, sum and sum of squares of the deviations from the mean.
    pure : bool
        Whether all cases have the same target.
    mean, sse : float
        For a numeric target: the mean and the sum of squares around it.
    """

    weight: float
    cases: int
    statistics: Counts
    pure: bool
    mean: float = 0.0
    sse: float = 0.0


class Engine(Protocol):
    """Counts frequency tables for open nodes."""

    @property
    def schema(self) -> Schema:
        """The schema of the data."""

    @property
    def n_cases(self) -> int:
        """Number of training cases."""

    def root(self) -> int:
        """Open the node of all cases."""

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""

    def count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes, one list per request in the order asked."""

    def divide(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch (empty ones too)."""

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """From now on count a numeric attribute by intervals."""

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the row numbers of an open node's cases and their weights."""


class Sieve(Protocol):
    """Tells which runs of numbers may hold the best cut, so that an engine looks only there at single numbers."""

    @property
    def gap(self) -> float:
        """Neighbouring numbers have to be further apart than this for a cut between them to count."""

    def sift(self, node: int, attribute: int, table: FrequencyTable) -> tuple[Doubtful, Inside]:
        """Return for each run whether its numbers have to be looked at one by one, and how many cuts inside count."""


class DistantEngine(Engine, Protocol):
    """Counts where the data are; a pass over them is dear."""

    @property
    def name(self) -> str:
        """What messages call it: DuckDB, PostgreSQL, Spark, Dask."""

    @property
    def source(self) -> str | None:
        """Where the data are, without credentials."""

    @property
    def n_rows(self) -> int:
        """Number of all rows; `n_cases` leaves those of weight zero out."""

    @property
    def scans(self) -> int:
        """Statements, or passes, that have read the data so far."""

    @property
    def scans_ahead(self) -> int:
        """Scans that it takes from now on, at most, before the first level is counted."""

    @property
    def scans_per_level(self) -> int:
        """Scans that a level takes at most, if its tables fit one answer: 2 where numbers are searched by runs."""

    def count(
        self, requests: Sequence[tuple[int, Sequence[int]]], sieve: Sieve | None = None
    ) -> list[list[FrequencyTable]]:
        """Count in one pass for all requests; without a sieve every table is complete."""

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """Bounds of the numeric attributes that are counted by intervals."""

    def use_numbers(self) -> None:
        """From now on count numeric attributes by their numbers again."""

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute that has some."""

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Divide a node as `divide` does, where the children are known from an earlier run."""

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one pass."""

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Answer `largest_value_not_above` for many bounds of many attributes in one pass."""

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return the cases with equal ones put together, told apart by target and the attributes in `cuts` only.

        Numeric attributes are told apart by the cuts; weights are sums. None if there are more than `limit` of them.
        """


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
    from treewright.counting.out_of_core import require_target
    from treewright.counting.sql.connection import connect
    from treewright.counting.sql.engine import SqlEngine
    from treewright.counting.sql.profile import inferred

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
    from treewright.counting.dask.engine import DaskEngine
    from treewright.counting.dask.profile import frame_of, inferred

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
