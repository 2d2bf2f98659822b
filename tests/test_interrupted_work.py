"""Ctrl-C while a large tree, its pruning or a forest is in the making: answered soon, and nothing is broken.

Seconds are only bounded generously, as machines are busy at times; without an answer the work would take far longer.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent by signals"),
]

SOON = 20.0
"""Seconds within which a process has to end, on the busiest machine; the answer itself takes about half a second."""

CHILD = """
import sys, numpy as np, treewright
learner, rows = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, 28))
y = (X[:, :5].sum(axis=1) + 3 * rng.normal(size=rows) > 0).astype(int)
def difference(table):
    return abs(table[0, 0] / table[:, 0].sum() - table[0, 1] / table[:, 1].sum())
made = {
    "cart": lambda: treewright.CARTClassifier(engine="compiled"),
    "cart-one-thread": lambda: treewright.CARTClassifier(engine="compiled", n_jobs=1),
    "c45": lambda: treewright.C45Classifier(engine="compiled"),
    "own": lambda: treewright.CARTClassifier(engine="compiled", criterion=difference, max_depth=4),
    "forest": lambda: treewright.RandomForestClassifier(n_estimators=100, n_jobs=2),
    "boosting": lambda: treewright.AdaBoostClassifier(n_estimators=100),
}[learner]
made().fit(X[:2000], y[:2000])
print("begun", flush=True)
try:
    while True:
        made().fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    made().fit(X[:2000], y[:2000])
    print("and fits again", flush=True)
"""


@pytest.mark.parametrize("seconds", [0.2, 2.0])
@pytest.mark.parametrize("learner", ["cart", "cart-one-thread", "c45", "own", "forest", "boosting"])
def test_an_interrupt_is_raised_while_kernels_work_and_the_next_fit_works(learner: str, seconds: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, learner, "400000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        result, errors = process.communicate(timeout=SOON)
    assert result == "interrupted\nand fits again\n", errors
    assert process.returncode == 0


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 28))
    y = np.where(X[:, :5].sum(axis=1) + 3 * rng.normal(size=len(X)) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    parquet.write_table(arrow.table({**{f"x{i}": X[:, i] for i in range(28)}, "y": y}), path)
    return path


@pytest.mark.parametrize("algorithm", ["cart", "c45", "forest"])
@pytest.mark.parametrize("seconds", [1.0, 3.0])
def test_the_command_line_ends_with_one_line_and_130(large_file: Path, algorithm: str, seconds: float) -> None:
    command = [sys.executable, "-m", "treewright", "train", str(large_file), "--target", "y", "--algorithm", algorithm]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        result, errors = process.communicate(timeout=SOON)
    assert process.returncode == 130, (result, errors)
    assert errors.splitlines()[-1] == "treewright: interrupted"
    assert "Traceback" not in errors
