"""Settings that all tests share, and the tier that each test belongs to.

`make test` runs the tests that are not marked ``full``, `make test-all` those that are. Tests are ``full``
where a short one protects the same code; what is ``slow`` or needs a browser or a server is ``full`` always, and so are
the recorded sets beyond `SHORT_SETS`.
"""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import settings

# A shell starts background jobs with Ctrl-C ignored, and so would be what a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines that run tests are busy at times: a slow example is no failure.
settings.register_profile("short", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None)
settings.load_profile(os.environ.get("TREEWRIGHT_HYPOTHESIS", "short"))

SHORT_SETS = ("labor", "cpu", "iris", "contact-lenses", "monks-1", "breast-cancer", "diabetes")
"""Recorded sets of the short tier, the best first: a test that reads many runs with the first two that it has."""

SETS_PER_TEST = 2

FULL = ("slow", "browser", "server")
"""Marks of tests that are in the full tier only."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the full tier; leave out of the coverage what a copy without the recorded sets cannot run."""
    recorded: dict[str, list[tuple[pytest.Item, str]]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("oracle") is not None:
            item.add_marker(pytest.mark.no_cover)
            name = _set_of(item)
            if name is not None:
                recorded[item.nodeid.partition("[")[0]].append((item, name))
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        if any(item.get_closest_marker(mark) is not None for mark in FULL):
            item.add_marker("full")
    for tests in recorded.values():
        short = _first_of(name for item, name in tests if item.get_closest_marker("full") is None)
        for item, name in tests:
            if name not in short:
                item.add_marker("full")


def _set_of(item: pytest.Item) -> str | None:
    """Return the recorded set that a test is run with, if it has one as a parameter."""
    parameters = getattr(item, "callspec", None)
    values = {} if parameters is None else parameters.params
    if isinstance(values.get("folder"), Path):
        return str(values["folder"].name)
    name = values.get("name")
    return name if isinstance(name, str) else None


def _first_of(names: Iterable[str]) -> list[str]:
    there = set(names)
    return [name for name in SHORT_SETS if name in there][:SETS_PER_TEST]
