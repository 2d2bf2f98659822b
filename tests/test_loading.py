"""Garbage is looked for again after loading, whatever happened, unless the user had turned that off."""

from __future__ import annotations

import gc

import pytest

from treewright.lazy_import import garbage_collection_paused


def test_the_search_for_garbage_goes_on_after_a_failed_import() -> None:
    with pytest.raises(ImportError), garbage_collection_paused():
        raise ImportError
    assert gc.isenabled()


def test_a_user_who_turned_the_search_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with garbage_collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
