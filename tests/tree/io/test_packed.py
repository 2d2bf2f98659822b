"""Packed arrays come back bit for bit, in the fewest bytes, and nothing else is taken for one."""

from __future__ import annotations

import binascii
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from treewright.errors import ModelFormatError
from treewright.tree.io.forest_json import DOUBLES, SIGNED, UNSIGNED, decode_array, encode_array
from treewright.tree.io.model_file import with_digests


@given(arrays.arrays(np.float64, st.integers(0, 20)))
def test_doubles_come_back_bit_for_bit(values: Any) -> None:
    again = decode_array({"a": encode_array(values)}, "a", DOUBLES, len(values))
    assert again.tobytes() == values.tobytes()


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_whole_numbers_come_back(values: list[int]) -> None:
    again = decode_array({"a": encode_array(np.array(values, dtype=np.int64))}, "a", (*SIGNED, *UNSIGNED), len(values))
    assert again.tolist() == values


@pytest.mark.parametrize(
    ("values", "type_"),
    [([0, 255], "<u1"), ([256], "<u2"), ([2**16], "<u4"), ([2**32], "<i8"), ([-1], "<i1"), ([-129], "<i2")],
)
def test_the_fewest_bytes_are_taken(values: list[int], type_: str) -> None:
    assert encode_array(np.array(values))["type"] == type_


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "packed array"),
        ([1, 2], "packed array"),
        ({"type": "<u1"}, "packed array"),
        ({"type": "<u1", "data": 5}, "packed array"),
        ({"type": "<u1", "data": "AQ==", "more": 1}, "packed array"),
        ({"type": "<f4", "data": "AQ=="}, "must be of type"),
        ({"type": ["<u1"], "data": "AQ=="}, "must be of type"),
        ({"type": "<u1", "data": "A*=="}, "damaged"),
        ({"type": "<u1", "data": "AQ"}, "damaged"),
        ({"type": "<u1", "data": "\u00e9\ud800"}, "damaged"),
        ({"type": "<u2", "data": "AQ=="}, "1 bytes"),
        ({"type": "<u1", "data": "AQI="}, "2 bytes, expected 1"),
    ],
)
def test_what_is_no_packed_array_is_refused(value: Any, words: str) -> None:
    with pytest.raises(ModelFormatError, match=words):
        decode_array({"a": value}, "a", UNSIGNED, 1)


@pytest.fixture
def _decoded_by_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode short arrays by the kernel, in several slices."""
    monkeypatch.setattr("treewright.tree.io.forest_json.loaded_kernels.kept", True)
    monkeypatch.setattr("treewright.tree.io.forest_json.COMPILED_CHARACTERS", 4)
    monkeypatch.setattr("treewright.tree.io.forest_json.CHARACTERS_PER_SLICE", 8)


@pytest.mark.usefixtures("_decoded_by_kernel")
@pytest.mark.parametrize("size", range(1, 30))
def test_a_kernel_decodes_the_same_bytes(size: int) -> None:
    values = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    assert np.array_equal(decode_array({"a": encode_array(values)}, "a", UNSIGNED, size), values)
    every = np.arange(256, dtype=np.uint8)
    assert np.array_equal(decode_array({"a": encode_array(every)}, "a", UNSIGNED, 256), every)


@pytest.mark.usefixtures("_decoded_by_kernel")
@pytest.mark.parametrize("at", [0, 3, 5, 8, 15, 16, 19, 20, 23])
@pytest.mark.parametrize("character", ["*", "=", " ", "\n", "\x00", "\x80", "\u0101", "-", "_", "\ud800"])
def test_a_kernel_decodes_and_refuses_as_the_standard_library_does(at: int, character: str) -> None:
    text = encode_array(np.arange(18, dtype=np.uint8))["data"]
    assert len(text) == 24
    for damaged in (text[:at] + character + text[at + 1 :], text[:at], text + "=" * (at % 5), text + character):
        try:
            expected: Any = binascii.a2b_base64(damaged, strict_mode=True)
        except ValueError as error:
            expected = re.escape(str(error))
        plain = {"a": {"type": "<u1", "data": damaged}}
        if isinstance(expected, bytes):
            assert decode_array(plain, "a", UNSIGNED).tobytes() == expected
        else:
            with pytest.raises(ModelFormatError, match=expected):
                decode_array(plain, "a", UNSIGNED)


def test_threads_compute_the_same_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    plain: dict[str, Any] = {
        "a": encode_array(np.arange(9)),
        "b": {"c": encode_array(np.arange(3)), "d": [encode_array(np.arange(4))]},
    }
    expected = with_digests(plain)
    monkeypatch.setattr("treewright.tree.io.model_file.PARALLEL_CHARACTERS", 1)
    assert with_digests(plain) == expected
    assert expected["b"]["d"] == plain["b"]["d"]


def test_a_digest_stands_for_the_data_and_changes_with_it() -> None:
    one = with_digests({"trees": {"cut": encode_array(np.array([1.5]))}, "rest": [1]})
    other = with_digests({"trees": {"cut": encode_array(np.array([2.5]))}, "rest": [1]})
    assert one["rest"] == [1]
    assert one["trees"]["cut"]["type"] == "<f8"
    assert one["trees"]["cut"]["sha256"] != other["trees"]["cut"]["sha256"]
