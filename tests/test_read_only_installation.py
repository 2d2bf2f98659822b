"""An installation that cannot be written, no home folder: the kernels are compiled for the process, with one note."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treewright
from treewright.tree.io.model_file import model_to_json

PACKAGE = Path(treewright.__file__).parent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions and terminals of Unix")

FIT = """
import json, sys, treewright
from treewright.jit import cache_folder
from treewright.tree.io.model_file import model_to_json
weather = treewright.sample("play-tennis")
models = [treewright.fit(weather, plan, engine="compiled") for plan in (treewright.id3(), treewright.cart())]
folder = cache_folder()
told = {"folder": folder and str(folder), "package": treewright.__file__}
print(json.dumps(told | {"models": [model_to_json(one) for one in models]}))
"""

ANNOUNCE = """
from treewright.learners.grower import announce_compilation
announce_compilation()
announce_compilation()
"""


def _obedient() -> list[str]:
    """Return what makes a command obey permissions: an administrator has to give up the right to ignore them."""
    if os.getuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("tests run as root, which ignores permissions, and there is no setpriv")
    return [setpriv, "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Copy the package to where nothing can be written, and return the environment that finds it."""
    there = tmp_path / "installed"
    shutil.copytree(PACKAGE, there / "treewright", ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, _ in os.walk(there):
        os.chmod(folder, 0o555)  # noqa: S103
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "PYTHONPATH": str(there), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(there / "missing")}


@pytest.mark.slow
def test_trees_are_grown_by_kernels_where_nothing_can_be_written(installed: dict[str, str]) -> None:
    command = [*_obedient(), sys.executable, "-c", FIT]
    done = subprocess.run(command, env=installed, capture_output=True, text=True, check=False, cwd="/", timeout=900)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["folder"] is None
    assert Path(document["package"]).is_relative_to(installed["PYTHONPATH"])
    weather = treewright.sample("play-tennis")
    for plan, model in zip((treewright.id3(), treewright.cart()), document["models"], strict=True):
        assert model == model_to_json(treewright.fit(weather, plan, engine="interpreted"))
    assert done.stderr == ""  # nothing is written to a pipe


def test_without_a_folder_of_its_own_code_is_kept_in_the_home_folder(installed: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    code = "from treewright.jit import cache_folder; print(cache_folder())"
    done = subprocess.run(
        [*_obedient(), sys.executable, "-c", code],
        env=installed | {"HOME": str(home)}, capture_output=True, text=True, check=True, cwd="/",
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(home / ".cache" / "treewright")


@pytest.mark.slow
def test_the_first_compilation_is_announced_once_on_a_terminal_and_not_in_a_pipe(installed: dict[str, str]) -> None:
    import pty

    command = [*_obedient(), sys.executable, "-c", ANNOUNCE]
    piped = subprocess.run(command, env=installed, capture_output=True, text=True, check=True, cwd="/")
    assert piped.stderr == ""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(command, env=installed, stderr=theirs, check=True, cwd="/")
        os.close(theirs)
        result = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
    assert result.count("compiling the growing kernels, once for this process") == 1
