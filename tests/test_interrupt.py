"""Work in a worker thread: its result, its errors, and its cancellation."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from treewright.concurrency import Cancelled, CancelToken, cancel_flag, run_in_worker


def test_a_result_and_an_error_come_through() -> None:
    assert run_in_worker(lambda one, other: one + other, 1, 2) == 3
    with pytest.raises(ZeroDivisionError):
        run_in_worker(lambda: 1 / 0)


def test_the_work_runs_in_another_thread_with_the_context_of_this_one() -> None:
    assert run_in_worker(threading.current_thread) is not threading.main_thread()
    with np.errstate(divide="ignore"):
        assert run_in_worker(np.geterr)["divide"] == "ignore"


def test_in_other_threads_than_the_main_one_the_work_runs_in_the_current_thread() -> None:
    found: list[object] = []
    polled: list[int] = []

    def all_here() -> None:
        found.append(
            run_in_worker(threading.current_thread, on_poll=lambda: polled.append(1)) is threading.current_thread()
        )
        found.append(run_in_worker(lambda: 5))

    thread = threading.Thread(target=all_here)
    thread.start()
    thread.join()
    assert found == [True, 5]
    assert polled == [1]


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError])
def test_an_exception_while_waiting_cancels_the_work(end: type[BaseException]) -> None:
    flags = []

    def work() -> None:
        flags.append(cancel_flag())
        while not flags[0][0]:
            time.sleep(0.01)
        raise Cancelled

    def on_poll() -> None:
        raise end

    with pytest.raises(end):
        run_in_worker(work, on_poll=on_poll, grace=None)
    assert flags[0].tolist() == [True]


def test_the_caller_stops_waiting_for_work_that_does_not_end() -> None:
    go_on = threading.Event()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_worker(go_on.wait, on_poll=interrupted, grace=0.01)
    go_on.set()


def test_only_work_started_under_a_token_is_cancelled() -> None:
    one, other = CancelToken(), CancelToken()
    mine, theirs, nobodys = one.run(cancel_flag), other.run(cancel_flag), cancel_flag()
    one.cancel()
    assert (mine.tolist(), theirs.tolist(), nobodys.tolist()) == ([True], [False], [False])
