"""Dask's part: graphs that add up in a tree, and errors of a cluster told in our words."""

from __future__ import annotations

import concurrent.futures
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treewright._base.errors import EngineError

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
