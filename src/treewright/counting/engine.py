"""The engine protocol, and which engine counts a table out of core.

An engine holds the data and the cases of the open nodes; the grower chooses the splits. A node is a number that the
engine issues, and `split_node` replaces it by its children. Neither rows nor recipes pass between the two.

An out-of-core engine (`OutOfCoreEngine`: a database, a cluster) counts a whole level in one pass over the data and has
further methods that save passes. `engine_over` returns the engine for a table out of core: an address
(`treewright.Table`), a DuckDB relation, a Spark frame or a Dask frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts, FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema, Task
from treewright.data.table_address import Table
from treewright.errors import ParameterError
from treewright.tree.split import Split
from treewright.wording import quoted_list

if TYPE_CHECKING:
    from treewright.counting.row_sampling import BootstrapSamples

Mask = npt.NDArray[np.bool_]
CutCounts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Summary:
    """The target at one node.

    Parameters
    ----------
    weight : float
        Weight of the cases.
    cases : int
        Number of cases, unweighted.
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
        """Count the tables of attributes at open nodes; return one list per request, in the order of the requests."""

    def split_node(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch (empty ones too)."""

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """Count a numeric attribute by intervals from now on."""

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the row numbers of an open node's cases and their weights."""


class RunFilter(Protocol):
    """Selects the runs of numbers that may contain the best cut: only these are counted number by number."""

    @property
    def gap(self) -> float:
        """The least distance of neighbouring numbers that admits a cut between them."""

    def filter_runs(self, node: int, attribute: int, table: FrequencyTable) -> tuple[Mask, CutCounts]:
        """Return for each run whether it is to be counted number by number, and the number of admissible cuts in it."""


class OutOfCoreEngine(Engine, Protocol):
    """Counts where the data are stored; passes over the data are expensive."""

    @property
    def name(self) -> str:
        """Name in messages: DuckDB, PostgreSQL, Spark, Dask."""

    @property
    def source(self) -> str | None:
        """Address of the data, without credentials."""

    @property
    def n_rows(self) -> int:
        """Number of all rows; `n_cases` excludes those of weight zero."""

    @property
    def scans(self) -> int:
        """Number of statements, or passes, that have read the data so far."""

    @property
    def scans_ahead(self) -> int:
        """Maximum number of further scans before the first level is counted."""

    @property
    def scans_per_level(self) -> int:
        """Maximum number of scans per level if its tables fit one result: 2 where numbers are counted by runs."""

    def count(
        self, requests: Sequence[tuple[int, Sequence[int]]], run_filter: RunFilter | None = None
    ) -> list[list[FrequencyTable]]:
        """Count all requests in one pass; without a filter every table is complete."""

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """Bounds of the numeric attributes that are counted by intervals."""

    def use_numbers(self) -> None:
        """Count numeric attributes by their numbers again from now on."""

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute with missing values."""

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Split a node as `split_node` does, with summaries of the children from an earlier run."""

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one pass."""

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Return `largest_value_not_above` for several bounds of several attributes, in one pass."""

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return cases grouped by target and the attributes in `cuts`; None if there are more than `limit` groups.

        Numeric attributes are grouped by the cuts; weights are added up.
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
    bootstraps: BootstrapSamples | None = None,
    row_id: str | None = None,
) -> Any:
    """Return the engine for a table out of core, to be used in a ``with`` statement.

    Parameters
    ----------
    source : Table, DuckDB relation, Spark frame or Dask frame
    target, schema, overrides
        As in `fit_table`.
    nominal_limit : int
        Integer columns with at most this many values are inferred as nominal.
    class_weights : dict of str to float or None
    temporary : bool
        Whether the engine may create temporary tables.
    bootstraps : BootstrapSamples or None
        The bootstrap samples of the trees of a forest.
    row_id : str or None
        A column that identifies each row; it is excluded from the attributes.
    """
    if row_id is not None and schema is None:
        chosen = overrides or Overrides()
        overrides = replace(chosen, ignore=tuple(dict.fromkeys((*chosen.ignore, row_id))))
    elif row_id is not None and schema is not None and row_id in schema.attribute_names:
        schema = replace(schema, ignored=(*schema.ignored, row_id))
    if _counted_by_dask(source):
        return _dask_engine(source, target, schema, overrides, nominal_limit, class_weights, bootstraps)
    from treewright.counting.out_of_core import require_target
    from treewright.counting.sql.connection import connect
    from treewright.counting.sql.engine import SqlEngine
    from treewright.counting.sql.profile import inferred

    connection = connect(source, temporary=temporary)
    try:
        profile = None
        if schema is None:
            schema, profile = inferred(connection, connection.columns(), target, overrides, nominal_limit=nominal_limit)
        elif target is not None:
            schema = replace(schema, target=target)
        require_target(schema)
        factors = None if class_weights is None else class_factors(class_weights, schema)
        return SqlEngine(
            connection, schema, profile=profile, class_factors=factors, temporary=temporary, bootstraps=bootstraps
        )
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
    bootstraps: BootstrapSamples | None,
) -> Any:
    from treewright.counting.dask.engine import DaskEngine
    from treewright.counting.dask.profile import frame_of, inferred

    source_name, frame = (source.source, frame_of(source)) if isinstance(source, Table) else (None, source)
    scans = 0
    if schema is None:
        schema = inferred(frame, target, overrides, nominal_limit=nominal_limit, source=source_name)
        scans = 1
    elif target is not None:
        schema = replace(schema, target=target)
    factors = None if class_weights is None else class_factors(class_weights, schema)
    return DaskEngine(frame, schema, class_factors=factors, source=source_name, scans=scans, bootstraps=bootstraps)


def class_factors(class_weights: Mapping[str, float], schema: Schema) -> list[float]:
    """Return the factors on the weights of the classes, in class order; those that are not given are 1."""
    if schema.task is Task.REGRESSION:
        raise ParameterError("class_weights are for classes, and this target is a number")
    unknown = [name for name in class_weights if name not in schema.classes]
    if unknown:
        raise ParameterError(
            f"class_weights are for the classes {quoted_list(schema.classes)} of {schema.target!r}, "
            f"not for {quoted_list(unknown)}"
        )
    factors = [float(class_weights.get(name, 1.0)) for name in schema.classes]
    if not all(0 <= factor < float("inf") for factor in factors):
        raise ParameterError("class weights must be numbers of at least 0")
    return factors


def is_out_of_core(source: object) -> bool:
    """Return True if `source` is a table that an engine counts out of core; no library is imported.

    Examples
    --------
    >>> is_out_of_core(Table("data/*.parquet")), is_out_of_core([[1, 2]])
    (True, False)
    """
    module = type(source).__module__.split(".")[0].lstrip("_")
    return isinstance(source, Table) or module in ("duckdb", "pyspark", "dask", "dask_expr")
