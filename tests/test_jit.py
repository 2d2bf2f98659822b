"""Where compiled code is stored, and kernels without a writable folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treewright import jit

FIT = """
import numpy as np, treewright
X = np.arange(40.0).reshape(20, 2)
model = treewright.CARTClassifier(engine="compiled").fit(X, [0, 1] * 10)
from treewright.jit import cache_folder
print(cache_folder(), model.tree_.n_leaves)
"""


def test_the_folder_is_named_after_the_text_of_the_kernels() -> None:
    folder = jit.cache_folder()
    assert folder is None or folder.name == f"kernels-{jit.fingerprint()}"


def test_the_users_own_folder_is_used_where_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    try:
        assert jit.cache_folder() == tmp_path / f"kernels-{jit.fingerprint()}"
        assert not jit.is_compiled()
    finally:
        jit.cache_folder.cache_clear()


def test_the_cache_of_the_user_takes_over_where_the_package_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit, "__file__", "/proc/nowhere/flags.py")
    assert list(jit.cache_roots())[1] == tmp_path / "treewright"
    jit.cache_folder.cache_clear()
    try:
        assert str(jit.cache_folder()).startswith(str(tmp_path))
    finally:
        jit.cache_folder.cache_clear()


def test_no_cache_directory_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    jit.cache_folder.cache_clear()
    try:
        assert jit.cache_folder() is None
        assert not jit.is_compiled()
    finally:
        jit.cache_folder.cache_clear()


def made_folder(parent: Path, name: str, days: float) -> Path:
    """Make a folder with a file in it, last used some days ago."""
    folder = parent / name
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "walk.nbi").write_bytes(b"code")
    then = time.time() - days * 24 * 3600
    os.utime(folder, (then, then))
    return folder


def test_a_new_folder_of_kernels_sweeps_away_those_that_were_not_used_for_weeks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = made_folder(tmp_path, "kernels-0123456789abcdef", jit.UNUSED_DAYS + 1)
    recent = made_folder(tmp_path, "kernels-fedcba9876543210", jit.UNUSED_DAYS - 1)
    others = [made_folder(tmp_path, name, 1000) for name in ("kernels-of-others", "kernels-0123456789abcdef.old", "x")]
    linked = tmp_path / "kernels-00000000000000ff"
    linked.symlink_to(others[0])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    try:
        made = jit.cache_folder()
    finally:
        jit.cache_folder.cache_clear()
    assert made is not None
    assert made.is_dir()
    assert not old.exists()
    assert all(kept.exists() for kept in (recent, *others, linked))


def test_using_a_folder_of_kernels_keeps_it_from_being_swept_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = made_folder(tmp_path, f"kernels-{jit.fingerprint()}", 1000)
    old = made_folder(tmp_path, "kernels-0123456789abcdef", 1000)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    try:
        assert jit.cache_folder() == mine
    finally:
        jit.cache_folder.cache_clear()
    assert old.exists()  # only a new folder is a reason to look for old ones
    jit.remove_unused(tmp_path)
    assert mine.exists()
    assert not old.exists()


def test_folders_that_may_not_be_removed_are_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = made_folder(tmp_path, "kernels-0123456789abcdef", 1000)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(os, "rmdir", refuse)
    jit.remove_unused(tmp_path)
    assert (old / "inner" / "walk.nbi").exists()
    jit.remove_unused(tmp_path / "nowhere")


@pytest.mark.slow
def test_a_fit_works_without_home_and_without_a_cache_for_compiled_code() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"NUMBA_CACHE_DIR": "/proc/nowhere", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "20"]


def test_comments_docstrings_and_layout_do_not_change_the_hash_of_the_syntax() -> None:
    plain = jit.syntax_hash(b"LIMIT = 3\ndef f(x):\n    return x + LIMIT\n")
    edited = (
        b'"""Module."""\nLIMIT = 3\n"""Why three."""\n\n# above\ndef f(x):\n    """Add."""\n    return (x +\n LIMIT)\n'
    )
    assert jit.syntax_hash(edited) == plain
    assert jit.syntax_hash(b"LIMIT = 4\ndef f(x):\n    return x + LIMIT\n") != plain


def test_the_stored_fingerprint_is_that_of_the_syntax(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    first = jit.fingerprint.__wrapped__()
    (entry,) = (tmp_path / "new").iterdir()
    monkeypatch.setattr(jit, "syntax_hash", None)  # it is not parsed again
    assert jit.fingerprint.__wrapped__() == first == entry.read_text()
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    entry.write_text("damaged")
    assert jit.fingerprint.__wrapped__() == first == entry.read_text()


KERNELS = '''"""A kernel and what it calls."""
import numpy as np
from treewright.jit import kernel, internal

@internal
def square(x):
    """Multiply a number by itself."""
    return x * x

@kernel
def total(values):
    """Add the squares."""
    result = 0.0
    for value in values:
        result += square(value)
    return result

answer = total(np.arange(4.0))
stats = total.stats
print(answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
'''


def test_an_edited_comment_or_docstring_compiles_nothing_again(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(source: str) -> list[str]:
        module = tmp_path / "small.py"
        module.write_text(source)
        done = subprocess.run([sys.executable, module], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run(KERNELS) == ["14.0", "0", "1"]
    assert run(KERNELS) == ["14.0", "1", "0"]
    edited = KERNELS.replace("@internal", "# A comment,\n# of two lines.\n@internal").replace(
        "Add the squares.", "Sum squares."
    )
    assert run(edited) == ["14.0", "1", "0"]
    assert run(edited.replace("x * x", "x + x")) == ["12.0", "0", "1"]
