"""Memory: the peak is that since it was set back, and systems that report less are supported."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")


@linux
def test_the_peak_sees_what_came_and_went_and_can_be_forgotten() -> None:
    size = 200_000_000
    before = memory.forget_peak()
    if before is None:
        pytest.skip("the peak cannot be set back here")
    block = np.ones(size, dtype=np.uint8)
    del block
    most = memory.peak()
    assert most is not None
    assert size * 0.9 < most - before < size * 1.5
    memory.forget_peak()
    after = memory.peak()
    assert after is not None
    assert after < most - size / 2


@linux
def test_where_the_peak_may_not_be_set_back_that_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "_CLEAR", tmp_path / "no" / "such")
    assert memory.forget_peak() is None


def test_without_a_status_file_the_peak_is_that_since_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "none")
    assert memory.forget_peak() is None
    most = memory.peak()
    assert most is None or most > 10_000_000
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.peak() is None


def test_a_status_file_of_another_kind_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name: python\n")
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    with pytest.raises(LookupError, match="VmHWM"):
        memory.peak()
