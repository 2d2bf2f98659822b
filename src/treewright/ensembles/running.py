"""Grow trees in parallel and in order, by threads or by the backend configured in joblib, until interrupted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from treewright.concurrency import GRACE_SECONDS, CancelToken, processors
from treewright.errors import ParameterError
from treewright.parameters import check_jobs
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.tree.forest import Forest

Item = TypeVar("Item")
Result = TypeVar("Result")

Job = Callable[[int], Tree]
"""Makes the tree with a given number."""

Trees = Generator[Tree, None, None]

Progress = Callable[[int, int], None]
"""Called with the number of finished trees and of all trees."""


class Interrupted(KeyboardInterrupt):
    """Raised by Ctrl-C while a forest grows; `forest` has the finished trees."""

    def __init__(self, forest: Forest, wanted: int) -> None:
        super().__init__(f"interrupted: {forest.n_trees} of {wanted} trees are finished and kept")
        self.forest = forest


def run_trees(
    job: Job,
    first: int,
    last: int,
    *,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> tuple[list[Tree], bool]:
    """Make the trees from `first` up to, but not including, `last`; return them, and whether Ctrl-C ended the run.

    Parameters
    ----------
    job : callable
        Must be picklable to be sent to other processes.
    first, last : int
    n_jobs : int or None
        Threads; -1 uses all processors. None uses the setting of ``joblib.parallel_config``, else one thread.
    time_limit : float or None
        Seconds after which no further tree is started; at least one is made.
    progress : callable or None
    """
    check_time_limit(time_limit)
    start = time.monotonic()
    trees: list[Tree] = []
    made = _made(job, first, last, n_jobs)
    try:
        for tree in made:
            trees.append(tree)
            if progress is not None:
                progress(first + len(trees), last)
            if time_limit is not None and time.monotonic() - start >= time_limit:
                break
    except KeyboardInterrupt:
        return trees, True
    finally:
        made.close()
    return trees, False


def check_time_limit(seconds: float | None) -> None:
    """Raise unless `seconds` is None or a positive number."""
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0):
        raise ParameterError(f"time_limit must be a positive number of seconds or None, not {seconds!r}")


def threads_for(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for in this process, also if trees grow in other processes.

    Examples
    --------
    >>> threads_for(2), threads_for(None)
    (2, 1)
    """
    backend, jobs = _configured(n_jobs)
    return 1 if backend is not None else jobs


def _made(job: Job, first: int, last: int, n_jobs: int | None) -> Trees:
    """Return a generator of the trees in order."""
    backend, jobs = _configured(n_jobs)
    if backend is not None:
        return _by_joblib(backend, job, first, last, jobs)
    return by_threads(job, range(first, last), jobs)


def _configured(n_jobs: int | None) -> tuple[Any, int]:
    """Return joblib if it is configured to use other than threads, and the number of jobs."""
    check_jobs(n_jobs)
    joblib = sys.modules.get("joblib")  # without an import it is not configured
    configured = 1
    if joblib is not None:
        backend, configured = joblib.parallel.get_active_backend(prefer="threads")
        if not getattr(backend, "supports_sharedmem", False):
            return joblib, configured if n_jobs is None else n_jobs
    jobs = configured if n_jobs is None else n_jobs
    cores = processors()
    return None, jobs if jobs is not None and jobs > 0 else max(1, cores + 1 + (jobs or -1))


def by_threads(job: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> Generator[Result, None, None]:
    """Yield the result of a job for each item, in order, by threads.

    Even a single job runs in a separate thread: Ctrl-C reaches the main thread, which must not be inside a kernel.

    Examples
    --------
    >>> list(by_threads(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    from concurrent.futures import Future, ThreadPoolExecutor, wait

    left = iter(items)
    pool = ThreadPoolExecutor(n_jobs)
    token = CancelToken()
    waiting: list[Future[Result]] = []
    try:
        # A few more items than threads: no thread waits, and little work is lost if the run ends early.
        ahead = n_jobs + 2 if n_jobs > 1 else 1
        waiting += [pool.submit(token.context().run, job, item) for item in islice(left, ahead)]
        while waiting:
            made = waiting.pop(0).result()
            waiting += [pool.submit(token.context().run, job, item) for item in islice(left, 1)]
            yield made
    finally:
        token.cancel()  # the remaining trees are not needed
        pool.shutdown(wait=False, cancel_futures=True)
        wait(waiting, timeout=GRACE_SECONDS)


def _by_joblib(joblib: Any, job: Job, first: int, last: int, n_jobs: int | None) -> Trees:
    """Submit trees in batches, so that the run can end between them."""
    with joblib.Parallel(n_jobs=n_jobs) as parallel:
        size = 4 * max(1, joblib.effective_n_jobs(n_jobs))
        for start in count(first, size):
            if start >= last:
                return
            yield from parallel(joblib.delayed(job)(number) for number in range(start, min(start + size, last)))
