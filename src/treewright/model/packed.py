"""Arrays inside JSON: little-endian bytes as base64, in the smallest type that holds them.

A packed array is ``{"type": "<u2", "data": "..."}``. Its length is not stored; the reader knows how many numbers to
expect. Reading validates everything: another type, a character outside base64, or a wrong number of bytes raises
`ModelFormatError`.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ModelFormatError

UNSIGNED = ("<u1", "<u2", "<u4", "<i8")
SIGNED = ("<i1", "<i2", "<i4")
DOUBLES = ("<f8",)


def encode_array(values: npt.NDArray[Any]) -> dict[str, str]:
    """Return an array as plain data; integers use the smallest type that holds them.

    Examples
    --------
    >>> encode_array(np.array([1, 2, 300])), encode_array(np.array([-1, 5]))
    ({'type': '<u2', 'data': 'AQACACwB'}, {'type': '<i1', 'data': '/wU='})
    """
    type_ = "<f8" if values.dtype.kind == "f" else _smallest(values)
    data = np.ascontiguousarray(values, dtype=type_).tobytes()
    return {"type": type_, "data": binascii.b2a_base64(data, newline=False).decode("ascii")}


def _smallest(values: npt.NDArray[Any]) -> str:
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if low < 0:
        return next((one for one in SIGNED if np.iinfo(one).min <= low and high <= np.iinfo(one).max), "<i8")
    return next(one for one in UNSIGNED if high <= np.iinfo(one).max)


def decode_array(
    plain: Mapping[str, Any], name: str, types: tuple[str, ...], length: int | None = None
) -> npt.NDArray[Any]:
    """Read a packed array of one of these types, of this length if it is known."""
    value = plain.get(name)
    if not isinstance(value, dict) or set(value) != {"type", "data"} or not isinstance(value["data"], str):
        raise ModelFormatError(f"{name!r} must be a packed array")
    if value["type"] not in types:
        raise ModelFormatError(f"{name!r} must be of type {' or '.join(types)}, not {value['type']!r:.40}")
    try:
        data = binascii.a2b_base64(value["data"], strict_mode=True)
    except ValueError as error:  # a character outside base64 or outside ASCII
        raise ModelFormatError(f"{name!r} is damaged: {error}") from error
    size = int(value["type"][2])
    if len(data) % size or (length is not None and len(data) != length * size):
        expected = "" if length is None else f", expected {length * size}"
        raise ModelFormatError(f"{name!r} has {len(data)} bytes{expected}")
    return np.frombuffer(data, dtype=value["type"])


def with_digests(document: Any) -> Any:
    """Return plain data with every packed array replaced by its digest; the checksum is computed from the result.

    Nothing else is changed; only dictionaries are searched.
    """
    if not isinstance(document, dict):
        return document
    if set(document) == {"type", "data"} and isinstance(document["data"], str):
        content = document["data"].encode("utf-8", "surrogatepass")
        return {"type": document["type"], "sha256": hashlib.sha256(content).hexdigest()}
    return {key: with_digests(value) for key, value in document.items()}
