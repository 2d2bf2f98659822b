"""Work in threads: its result, its errors, and its end when nobody waits any more."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from treewright._base.interrupt import Stopped, Stopper, apart, watched


def test_a_result_and_an_error_come_through() -> None:
    assert apart(lambda one, other: one + other, 1, 2) == 3
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 / 0)


def test_the_work_is_done_in_another_thread_and_with_the_settings_of_this_one() -> None:
    assert apart(threading.current_thread) is not threading.main_thread()
    with np.errstate(divide="ignore"):
        assert apart(np.geterr)["divide"] == "ignore"


def test_in_another_thread_the_work_stays_where_it_is() -> None:
    found: list[object] = []
    heard: list[int] = []

    def all_here() -> None:
        found.append(apart(threading.current_thread, meanwhile=lambda: heard.append(1)) is threading.current_thread())
        found.append(apart(lambda: 5))

    thread = threading.Thread(target=all_here)
    thread.start()
    thread.join()
    assert found == [True, 5]
    assert heard == [1]


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError])
def test_what_is_raised_while_waiting_stops_the_work(end: type[BaseException]) -> None:
    flags = []

    def work() -> None:
        flags.append(watched())
        while not flags[0][0]:
            time.sleep(0.01)
        raise Stopped

    def meanwhile() -> None:
        raise end

    with pytest.raises(end):
        apart(work, meanwhile=meanwhile, patience=None)
    assert flags[0].tolist() == [True]


def test_work_that_does_not_end_is_left_to_itself() -> None:
    go_on = threading.Event()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apart(go_on.wait, meanwhile=interrupted, patience=0.01)
    go_on.set()


def test_only_what_was_begun_under_a_stopper_is_stopped() -> None:
    one, other = Stopper(), Stopper()
    mine, theirs, nobodys = one.run(watched), other.run(watched), watched()
    one.stop()
    assert (mine.tolist(), theirs.tolist(), nobodys.tolist()) == ([True], [False], [False])
