"""Compiled code finds a place to be kept, or does without."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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


def made_folder(place: Path, name: str, days: float) -> Path:
    """Make a folder with a file in it, last used some days ago."""
    folder = place / name
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "walk.nbi").write_bytes(b"code")
    then = time.time() - days * 24 * 3600
    os.utime(folder, (then, then))
    return folder


def test_a_new_folder_of_kernels_sweeps_away_those_that_were_not_used_for_weeks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = made_folder(tmp_path, "kernels-0123456789abcdef", flags.UNUSED_DAYS + 1)
    recent = made_folder(tmp_path, "kernels-fedcba9876543210", flags.UNUSED_DAYS - 1)
    others = [made_folder(tmp_path, name, 1000) for name in ("kernels-of-others", "kernels-0123456789abcdef.old", "x")]
    linked = tmp_path / "kernels-00000000000000ff"
    linked.symlink_to(others[0])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    flags.cache_folder.cache_clear()
    try:
        made = flags.cache_folder()
    finally:
        flags.cache_folder.cache_clear()
    assert made is not None
    assert made.is_dir()
    assert not old.exists()
    assert all(kept.exists() for kept in (recent, *others, linked))


def test_using_a_folder_of_kernels_keeps_it_from_being_swept_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = made_folder(tmp_path, f"kernels-{flags.fingerprint()}", 1000)
    old = made_folder(tmp_path, "kernels-0123456789abcdef", 1000)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    flags.cache_folder.cache_clear()
    try:
        assert flags.cache_folder() == mine
    finally:
        flags.cache_folder.cache_clear()
    assert old.exists()  # only a new folder is a reason to look for old ones
    flags.remove_unused(tmp_path)
    assert mine.exists()
    assert not old.exists()


def test_folders_that_may_not_be_removed_are_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = made_folder(tmp_path, "kernels-0123456789abcdef", 1000)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(os, "rmdir", refuse)
    flags.remove_unused(tmp_path)
    assert (old / "inner" / "walk.nbi").exists()
    flags.remove_unused(tmp_path / "nowhere")


@pytest.mark.slow
def test_a_fit_works_without_home_and_without_a_place_for_compiled_code() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"NUMBA_CACHE_DIR": "/proc/nowhere", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "20"]
