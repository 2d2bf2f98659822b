"""Names that documents of version 0.1 showed work in this version, with a note of the new one."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import treewright as tw
from treewright.data.samples import sample


@pytest.mark.parametrize(
    ("module", "name"), [("criteria", "gini_decrease"), ("criteria", "information_gain"), ("recipe", "Stopping")]
)
def test_former_modules_hand_out_the_same_names(module: str, name: str) -> None:
    former, present = (importlib.import_module(f"treewright.{package}.{module}") for package in ("grow", "learners"))
    with pytest.warns(DeprecationWarning, match=f"treewright.grow.{module} is now treewright.learners.{module}"):
        assert getattr(former, name) is getattr(present, name)
    with pytest.raises(AttributeError):
        former.there_is_no_such_name  # noqa: B018


def test_former_parameter_and_attributes_work_with_a_note() -> None:
    with pytest.warns(DeprecationWarning, match="keep_working is called keep_trace"):
        model: Any = tw.fit(sample("play-tennis"), tw.c45(), keep_working=False)
    assert not model.trace
    with pytest.warns(DeprecationWarning, match=r"TreeModel\.working is now TreeModel\.trace"):
        assert model.working == model.trace
    forest: Any = tw.fit(sample("play-tennis"), tw.forest(trees=2))
    with pytest.warns(DeprecationWarning, match="packed"):
        assert forest.grove is forest.packed
