"""Ctrl-C is one line and exit code 130 from the first moment, also while modules are imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

INTERRUPTED = """
from treewright.cli import entry, main
main.main = lambda: {how}
entry.main()
"""


@pytest.mark.parametrize("how", ["(_ for _ in ()).throw(KeyboardInterrupt)", 'exec("raise KeyboardInterrupt")'])
def test_an_interrupt_ends_with_130_wherever_it_comes(tmp_path: Path, how: str) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED.format(how=how), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, "treewright: interrupted\n")
