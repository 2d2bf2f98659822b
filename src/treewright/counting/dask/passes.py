"""Passes over the partitions of a frame.

A pass routes the cases of each partition, counts them, and adds up the tables in a tree of tasks. The module also
chooses what the workers persist, and turns errors of a cluster into `EngineError`.
"""

from __future__ import annotations

import concurrent.futures
import importlib.util
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from treewright.counting.dask.counting import Request, add_coded, add_numbers, add_steps, counted_part, runs_of
from treewright.counting.dask.partitions import Coding, Steps, all_at, bootstrap_sample, routed
from treewright.counting.out_of_core import ROOT
from treewright.counting.row_sampling import BootstrapSamples
from treewright.errors import EngineError
from treewright.lazy_import import import_extra

FAN_IN = 8
"""Number of tables that one task adds up."""

Delayed = Any


def tree_reduced(parts: Sequence[Delayed], add: Callable[..., Delayed], *options: Any) -> Delayed:
    """Reduce the results of parts to one, `FAN_IN` at a time."""
    while True:
        parts = [add(parts[start : start + FAN_IN], *options) for start in range(0, len(parts), FAN_IN)]
        if len(parts) == 1:
            return parts[0]


def computed(what: Delayed, source: str | None) -> Any:
    """Return the result of one task."""
    with engine_errors(source):
        return what.compute()


@contextmanager
def engine_errors(source: str | None, *also: type[BaseException]) -> Iterator[None]:
    """Turn errors of a cluster or a file system into `EngineError`; errors in the data are not changed."""
    lost: tuple[type[BaseException], ...] = (OSError, concurrent.futures.CancelledError, *also)
    if importlib.util.find_spec("distributed") is not None:
        import distributed

        lost = (*lost, distributed.scheduler.KilledWorker, distributed.client.FutureCancelledError)
    try:
        yield
    except lost as error:
        text = str(error).strip()
        prefix = f"{source}: " if source else ""
        raise EngineError(
            f"{prefix}Dask cannot count: {text.splitlines()[0] if text else type(error).__name__}"
        ) from None


class Passes:
    """Makes passes over the partitions.

    Parameters
    ----------
    partitions : list of Delayed
        Coded partitions.
    coding : Coding
    bootstraps : BootstrapSamples or None
        Of the trees of a forest.
    fits : callable
        Returns True if the partitions are known to be small enough to be persisted.
    source : str or None
        For messages.
    """

    def __init__(
        self,
        partitions: Sequence[Delayed],
        coding: Coding,
        bootstraps: BootstrapSamples | None,
        fits: Callable[[], bool],
        source: str | None,
    ) -> None:
        self._dask: Any = import_extra("dask", "dask", "learn with Dask")
        self._all = list(partitions)
        self._coding = coding
        self._bootstraps = bootstraps
        self._fits = fits
        self._source = source
        self._kept = False
        self.parts = self._sampled_parts()
        self._members: list[Delayed] | None = None
        self._applied: dict[int, Any] = {}
        self.made = 0

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the frame."""
        return len(self._all)

    def _sampled_parts(self) -> list[Delayed]:
        if self._bootstraps is None:
            return self._all
        sampled = self._dask.delayed(bootstrap_sample)
        return [sampled(part, seeds) for seeds in self._bootstraps.seeds for part in self._all]

    def take_all(self, trees: Iterable[int]) -> None:
        """Replace the bootstrap samples of some trees by all cases, from now on."""
        if self._bootstraps is not None:
            self._bootstraps = self._bootstraps.with_all(trees)
            self.parts, self._members, self._applied = self._sampled_parts(), None, {}

    def tree_of(self, index: int) -> int:
        """Return the tree of a part."""
        return ROOT if self._bootstraps is None else index // max(1, len(self._all))

    def of_tree(self, tree: int) -> list[Delayed]:
        """Return the parts of a tree."""
        return [part for index, part in enumerate(self.parts) if self.tree_of(index) == tree]

    # -- members -----------------------------------------------------------------------------------------------------

    def members(self, paths: Iterable[int], tests: Mapping[int, Steps]) -> list[Delayed | None]:
        """Return the path of each case, part by part, as far as `paths` are concerned; `tests` lead there, by tree."""
        known = {path: step for some in tests.values() for path, step in some.items()}
        elsewhere = any(self._applied.get(path, step) != step for path, step in known.items())
        if elsewhere or any(path in self._applied for path in paths):
            self._members, self._applied = None, {}  # another tree, or a node whose cases have moved on
        members = self._members or self._at_roots()
        if all(path in self._applied for path in known):
            return members
        delayed = self._dask.delayed
        shared = {
            tree: delayed({path: step for path, step in some.items() if path not in self._applied}, traverse=False)
            for tree, some in tests.items()
        }
        self._members = [
            delayed(routed)(part, member, shared[self.tree_of(index)]) if self.tree_of(index) in shared else member
            for index, (part, member) in enumerate(zip(self.parts, members, strict=True))
        ]
        self._applied |= known
        return list(self._members)

    def _at_roots(self) -> list[Delayed | None]:
        if self._bootstraps is None:
            return [None] * len(self.parts)
        at_root = self._dask.delayed(all_at)
        return [at_root(part, self.tree_of(index)) for index, part in enumerate(self.parts)]

    # -- passes ------------------------------------------------------------------------------------------------------

    def counted(self, members: Sequence[Delayed | None], request: Request, gap: float = 0.0) -> list[Any]:
        """Count in one pass: the coded tables, then number tables, then the runs of binned columns."""
        delayed = self._dask.delayed
        shared = delayed(request, traverse=False)
        partial = [
            delayed(counted_part)(part, member, shared) for part, member in zip(self.parts, members, strict=True)
        ]
        totals = [self._sum(partial, "coded", add_coded)]
        totals += [self._sum(partial, ("numbers", one), add_numbers) for one in request.number_tables]
        for attribute in request.steps:
            steps = self._sum(partial, ("steps", attribute), add_steps)
            totals.append(delayed(runs_of)(steps, self._coding.edges[attribute], gap))
        return self.computed(totals)

    def _sum(self, partial: Sequence[Delayed], key: object, add: Callable[..., Any]) -> Delayed:
        delayed = self._dask.delayed
        return tree_reduced([delayed(operator.getitem)(one, key) for one in partial], delayed(add))

    def computed(self, totals: Sequence[Delayed]) -> list[Any]:
        """Compute the results, and persist partitions and paths, in one computation."""
        self.made += 1
        keep = not self._kept and self._fits()
        persisted = [*(self._all if keep else []), *(self._members or [])]
        with engine_errors(self._source):
            done = self._dask.persist(*persisted, *totals)
            results = list(self._dask.compute(*done[len(persisted) :]))
        if keep:
            self._all, self._kept = list(done[: len(self._all)]), True
            self.parts = self._sampled_parts()
        if self._members is not None:
            self._members = list(done[len(persisted) - len(self._members) : len(persisted)])
        return results


def portions(
    paths: Sequence[int], widths: Mapping[int, int], max_cells: int
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Split a request into nodes and attributes whose tables have at most `max_cells` cells, unless one alone has more.

    `widths` are the numbers of cells of the table of each attribute at one node.

    Examples
    --------
    >>> list(portions([7, 8, 9], {0: 2, 1: 2, 2: 8}, 12))
    [([7, 8, 9], [0, 1]), ([7], [2]), ([8], [2]), ([9], [2])]
    """
    portion: list[int] = []
    cells = 0
    for attribute, width in widths.items():
        if portion and cells + width * len(paths) > max_cells:
            yield from _by_nodes(paths, portion, cells, max_cells)
            portion, cells = [], 0
        portion = [*portion, attribute]
        cells += width * len(paths)
    if portion:
        yield from _by_nodes(paths, portion, cells, max_cells)


def _by_nodes(
    paths: Sequence[int], attributes: list[int], cells: int, max_cells: int
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    at_once = max(1, len(paths) * max_cells // max(cells, 1)) if cells > max_cells else len(paths)
    for start in range(0, len(paths), at_once):
        yield list(paths[start : start + at_once]), attributes
