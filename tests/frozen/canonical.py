"""One form for all that means the same: files of models, answers and texts, ready to be hashed.

Numbers that are not whole are rounded to ten significant digits; what changes with the release, the folder or the hour
(versions, sources, checksums) is left out; packed arrays are unpacked first.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import numpy as np

DROPPED = frozenset({"checksum", "treewright", "source"})


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(value: Any) -> str:
    """Return plain data as JSON of one form."""
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def plain(value: Any) -> Any:
    """Return plain data with rounded numbers and unpacked arrays."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dict):
        if set(value) == {"type", "data"} and isinstance(value["data"], str):
            numbers = np.frombuffer(base64.b64decode(value["data"]), dtype=value["type"])
            return {"type": value["type"], "data": plain(numbers.tolist())}
        return {key: plain(one) for key, one in value.items() if key not in DROPPED and not _is_digest(one)}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        # Minus zero is zero: which of them a sum gives depends on its order.
        return float(f"{value:.10g}") + 0.0
    return value


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("sha256:")
