"""Compiled code finds a place to be kept, or does without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treewright.counts.compiled import flags

FIT = """
import numpy as np, treewright
X = np.arange(40.0).reshape(20, 2)
model = treewright.CARTClassifier(engine="compiled").fit(X, [0, 1] * 10)
from treewright.counts.compiled.flags import cache_folder
print(cache_folder(), model.tree_.n_leaves)
"""


def test_the_folder_is_named_after_the_text_of_the_kernels() -> None:
    folder = flags.cache_folder()
    assert folder is None or folder.name == f"kernels-{flags.fingerprint()}"


def test_the_users_own_folder_is_used_where_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    flags.cache_folder.cache_clear()
    try:
        assert flags.cache_folder() == tmp_path / f"kernels-{flags.fingerprint()}"
        assert not flags.is_compiled()
    finally:
        flags.cache_folder.cache_clear()


def test_the_cache_of_the_user_takes_over_where_the_package_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(flags, "__file__", "/proc/nowhere/flags.py")
    assert list(flags._places())[1] == tmp_path / "treewright"
    flags.cache_folder.cache_clear()
    try:
        assert str(flags.cache_folder()).startswith(str(tmp_path))
    finally:
        flags.cache_folder.cache_clear()


def test_no_place_at_all_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    flags.cache_folder.cache_clear()
    try:
        assert flags.cache_folder() is None
        assert not flags.is_compiled()
    finally:
        flags.cache_folder.cache_clear()


@pytest.mark.slow
def test_a_fit_works_without_home_and_without_a_place_for_compiled_code() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"NUMBA_CACHE_DIR": "/proc/nowhere", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "20"]
