"""Passes over the partitions of a frame, and how Dask runs them.

Dask's part: graphs that add up in a tree, and errors of a cluster told in our words.

Passes over the partitions of a frame: what each of them does, where its cases are, and what stays with the workers.
"""

from __future__ import annotations

import concurrent.futures
import importlib.util
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from treewright.counting.dask.counting import Request, add_coded, add_numbers, add_steps, counted_part, runs_of
from treewright.counting.dask.partitions import Coding, Steps, all_at, in_bag, routed
from treewright.counting.out_of_core import ROOT
from treewright.counting.row_sampling import Bags
from treewright.errors import EngineError
from treewright.lazy_import import import_extra

FAN_IN = 8
"""Tables that are added up by one task."""

Delayed = Any


def in_a_tree(parts: Sequence[Delayed], add: Callable[..., Delayed], *options: Any) -> Delayed:
    """Add up some at a time until one is left."""
    while True:
        parts = [add(parts[start : start + FAN_IN], *options) for start in range(0, len(parts), FAN_IN)]
        if len(parts) == 1:
            return parts[0]


def computed(what: Delayed, source: str | None) -> Any:
    """Return the result of one task."""
    with told(source):
        return what.compute()


@contextmanager
def told(source: str | None, *more: type[BaseException]) -> Iterator[None]:
    """Turn what a cluster or a file system may do to us into an error of ours; errors in the data stay as they are."""
    lost: tuple[type[BaseException], ...] = (OSError, concurrent.futures.CancelledError, *more)
    if importlib.util.find_spec("distributed") is not None:
        import distributed

        lost = (*lost, distributed.scheduler.KilledWorker, distributed.client.FutureCancelledError)
    try:
        yield
    except lost as error:
        text = str(error).strip()
        place = f"{source}: " if source else ""
        raise EngineError(
            f"{place}Dask cannot count: {text.splitlines()[0] if text else type(error).__name__}"
        ) from None


class Passes:
    """Makes passes.

    Parameters
    ----------
    partitions : list of Delayed
        Coded ones.
    coding : Coding
    bags : Bags or None
        Of the trees of a forest.
    fits : callable
        Tells whether all partitions together are small enough to be kept, as far as is known by then.
    source : str or None
        For messages.
    """

    def __init__(
        self,
        partitions: Sequence[Delayed],
        coding: Coding,
        bags: Bags | None,
        fits: Callable[[], bool],
        source: str | None,
    ) -> None:
        self._dask: Any = import_extra("dask", "dask", "learn with Dask")
        self._all = list(partitions)
        self._coding = coding
        self._bags = bags
        self._fits = fits
        self._source = source
        self._kept = False
        self.parts = self._in_bags()
        self._members: list[Delayed] | None = None
        self._applied: dict[int, Any] = {}
        self.made = 0

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the frame."""
        return len(self._all)

    def _in_bags(self) -> list[Delayed]:
        if self._bags is None:
            return self._all
        bagged = self._dask.delayed(in_bag)
        return [bagged(part, numbers) for numbers in self._bags.numbers for part in self._all]

    def take_all(self, trees: Iterable[int]) -> None:
        """From now on have all cases in the bags of some trees."""
        if self._bags is not None:
            self._bags = self._bags.with_all(trees)
            self.parts, self._members, self._applied = self._in_bags(), None, {}

    def tree_of(self, place: int) -> int:
        """Return the tree that a part belongs to."""
        return ROOT if self._bags is None else place // max(1, len(self._all))

    def of_tree(self, tree: int) -> list[Delayed]:
        """Return the parts of a tree."""
        return [part for place, part in enumerate(self.parts) if self.tree_of(place) == tree]

    # -- members -----------------------------------------------------------------------------------------------------

    def members(self, paths: Iterable[int], tests: Mapping[int, Steps]) -> list[Delayed | None]:
        """Return where the cases of each part are, as far as it concerns some paths; `tests` lead there, by tree."""
        known = {path: step for some in tests.values() for path, step in some.items()}
        elsewhere = any(self._applied.get(path, step) != step for path, step in known.items())
        if elsewhere or any(path in self._applied for path in paths):
            self._members, self._applied = None, {}  # another tree, or a node that was left already
        members = self._members or self._at_roots()
        if all(path in self._applied for path in known):
            return members
        delayed = self._dask.delayed
        shared = {
            tree: delayed({path: step for path, step in some.items() if path not in self._applied}, traverse=False)
            for tree, some in tests.items()
        }
        self._members = [
            delayed(routed)(part, member, shared[self.tree_of(place)]) if self.tree_of(place) in shared else member
            for place, (part, member) in enumerate(zip(self.parts, members, strict=True))
        ]
        self._applied |= known
        return list(self._members)

    def _at_roots(self) -> list[Delayed | None]:
        if self._bags is None:
            return [None] * len(self.parts)
        at_root = self._dask.delayed(all_at)
        return [at_root(part, self.tree_of(place)) for place, part in enumerate(self.parts)]

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
        return in_a_tree([delayed(operator.getitem)(one, key) for one in partial], delayed(add))

    def computed(self, totals: Sequence[Delayed]) -> list[Any]:
        """Compute in one go the answers and what stays with the workers."""
        self.made += 1
        keep = not self._kept and self._fits()
        staying = [*(self._all if keep else []), *(self._members or [])]
        with told(self._source):
            done = self._dask.persist(*staying, *totals)
            answers = list(self._dask.compute(*done[len(staying) :]))
        if keep:
            self._all, self._kept = list(done[: len(self._all)]), True
            self.parts = self._in_bags()
        if self._members is not None:
            self._members = list(done[len(staying) - len(self._members) : len(staying)])
        return answers


def portions(
    paths: Sequence[int], widths: Mapping[int, int], most: int
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Divide a request into nodes and attributes whose tables have at most so many cells, unless one alone has more.

    `widths` are the cells that the table of each attribute has at one node.

    Examples
    --------
    >>> list(portions([7, 8, 9], {0: 2, 1: 2, 2: 8}, 12))
    [([7, 8, 9], [0, 1]), ([7], [2]), ([8], [2]), ([9], [2])]
    """
    portion: list[int] = []
    cells = 0
    for attribute, width in widths.items():
        if portion and cells + width * len(paths) > most:
            yield from _by_nodes(paths, portion, cells, most)
            portion, cells = [], 0
        portion = [*portion, attribute]
        cells += width * len(paths)
    if portion:
        yield from _by_nodes(paths, portion, cells, most)


def _by_nodes(
    paths: Sequence[int], attributes: list[int], cells: int, most: int
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    at_once = max(1, len(paths) * most // max(cells, 1)) if cells > most else len(paths)
    for start in range(0, len(paths), at_once):
        yield list(paths[start : start + at_once]), attributes
