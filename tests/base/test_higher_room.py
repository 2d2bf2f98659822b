"""Forms that a higher room makes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import treewright
from treewright._base import higher_room


def test_form_is_made_by_the_module_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(higher_room, "_makers", {})
    higher_room.made_by("json", "dumps")
    assert higher_room.made("dumps", [1], indent=None) == "[1]"


def test_every_form_of_a_model_has_a_maker() -> None:
    model = treewright.fit(treewright.sample("cal2"), treewright.ID3())
    for name in higher_room._makers:
        if name != "draw":
            assert higher_room.made(name, model)


def test_the_room_of_the_drawings_is_not_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, treewright\n"
        "model = treewright.fit(treewright.sample('cal2'), treewright.ID3())\n"
        "print('treewright.show' in sys.modules)\n"
        "model.to_svg()\n"
        "print(*[name for name in ('matplotlib', 'sklearn', 'treewright.show.svg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "treewright.show.svg"]
