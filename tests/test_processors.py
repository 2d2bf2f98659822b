"""How many processors a process may use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treewright.concurrency import processors

ALL = processors(Path("/nowhere"))


def test_without_limits_it_is_what_the_process_may_run_on() -> None:
    assert 1 <= ALL <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [("150000 100000\n", min(ALL, 2)), ("50000 100000\n", 1), ("max 100000\n", ALL), ("nonsense\n", ALL), ("", ALL)],
)
def test_a_container_of_the_second_version_limits_it(tmp_path: Path, content: str, expected: int) -> None:
    (tmp_path / "cpu.max").write_text(content)
    assert processors(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [("100000", 1), ("-1", ALL)])
def test_a_container_of_the_first_version_limits_it(tmp_path: Path, quota: str, expected: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota + "\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert processors(tmp_path) == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be set here")
def test_a_process_that_is_bound_to_one_processor_uses_one_thread() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from treewright.learners.grower import threads; print(threads(None), threads(-1), threads(3))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "3"]
