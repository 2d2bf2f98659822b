"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treewright.atomic_file import write_atomically
from treewright.data.samples import sample
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, ID3
from treewright.tree.io.model_file import load_model, model_to_json

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals and permissions of POSIX")


def test_text_is_written_as_utf8_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "ä\n→\n")
    assert path.read_bytes() == "ä\n→\n".encode()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(folder, "text")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "a.txt", "text")


@POSIX
def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"


@POSIX
def test_permissions_are_kept_and_new_files_get_the_usual_ones(tmp_path: Path) -> None:
    kept, fresh = tmp_path / "kept.txt", tmp_path / "fresh.txt"
    kept.write_text("old", encoding="utf-8")
    kept.chmod(0o640)
    mask = os.umask(0o027)
    try:
        write_atomically(kept, "new")
        write_atomically(fresh, "new")
        assert os.umask(0o027) == 0o027  # asking for the mask does not change it
    finally:
        os.umask(mask)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640


SAVER = """
import os, sys
from treewright.tree.io.model_file import load_model
path, *sources = sys.argv[1:]
models = [load_model(source) for source in sources]
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(path)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


@POSIX
def test_a_process_killed_while_saving_leaves_a_whole_model(tmp_path: Path) -> None:
    models = [fit(sample("play-tennis"), ID3()), fit(sample("restaurant"), C45(min_objects=1))]
    wholes = [model_to_json(model).encode() for model in models]
    sources = [tmp_path / "first.json", tmp_path / "second.json"]
    for source, whole in zip(sources, wholes, strict=True):
        source.write_bytes(whole)
    folder = tmp_path / "models"
    folder.mkdir()
    path = folder / "model.json"
    path.write_bytes(wholes[0])
    written = path.stat().st_mtime_ns
    command = [sys.executable, "-c", SAVER, str(path), *map(str, sources)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for moment in range(20):
            server.stdin.write("save\n")
            server.stdin.flush()
            child = int(server.stdout.readline())
            time.sleep(0.0007 * moment)
            os.kill(child, signal.SIGKILL)
            assert server.stdout.readline() == "ended\n"
            assert path.read_bytes() in wholes
            load_model(path)
            assert all(other.name.endswith(".part") for other in folder.iterdir() if other != path)
        server.stdin.close()
    assert path.stat().st_mtime_ns != written  # something was saved; a file number may be used again


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_atomically(tmp_path / "picture", b"\x89PNG\r\n\x00")
    assert (tmp_path / "picture").read_bytes() == b"\x89PNG\r\n\x00"
