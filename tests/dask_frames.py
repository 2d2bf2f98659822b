"""Datasets as Dask frames, and a cluster of two workers, for tests."""

from __future__ import annotations

import atexit
import functools
import importlib.util
from typing import Any

from database_tables import cells_of
from servers import absent
from treewright.counting.dask.engine import DaskEngine
from treewright.data.dataset import Dataset


def dask_frame(dataset: Dataset, partitions: int = 3) -> Any:
    """Return the decoded rows of a dataset in some partitions; skip the test where there is no Dask."""
    if importlib.util.find_spec("dask") is None:
        absent("Dask (dask and distributed)")
    import dask.dataframe
    import pandas

    arrays = {
        name: pandas.array(cells, dtype="float64" if numeric else "str") for name, numeric, cells in cells_of(dataset)
    }
    return dask.dataframe.from_pandas(pandas.DataFrame(arrays), npartitions=partitions, sort=False)


def dask_engine(dataset: Dataset, partitions: int = 3, **options: Any) -> DaskEngine:
    """Return an engine over the rows of a dataset in a Dask frame."""
    return DaskEngine(dask_frame(dataset, partitions), dataset.schema, source=dataset.source, **options)


@functools.cache
def cluster() -> Any:
    """Return the client of a cluster of two workers, one for all tests; it is not the default client."""
    if importlib.util.find_spec("distributed") is None:
        absent("Dask (dask and distributed)")
    import distributed

    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GiB"
    )
    client = distributed.Client(local, set_as_default=False)

    def stop() -> None:
        client.close()
        local.close()

    atexit.register(stop)
    return client
