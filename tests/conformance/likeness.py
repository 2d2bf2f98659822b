"""Models that are alike: the same tests at the same nodes, and the same numbers to a billionth."""

from __future__ import annotations

import json
import math
from typing import Any

from treewright.tree.io.model_file import model_to_json
from treewright.tree.model import TreeModel

SHARE = 1e-9

SUMS = frozenset({"sse", "counts", "unknown"})
"""What is added up: it is compared on the scale of the sums at the root. All that is no sum or mean is the same."""

MEANS = frozenset({"outcome", "weight"})


def differences(one: TreeModel, other: TreeModel) -> list[str]:
    """Return where two models differ, sums and means by more than a billionth."""
    mine, theirs = (json.loads(model_to_json(model)) for model in (one, other))
    for document in (mine, theirs):
        document.pop("checksum")
    scale = float(one.tree.weight[0])
    if one.tree.sse is not None:
        scale = max(scale, float(one.tree.sse[0]))
    return _differences(mine, theirs, "", scale)


def _differences(mine: Any, theirs: Any, path: str, scale: float) -> list[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict) and mine.keys() == theirs.keys():
        return [
            difference for key in mine for difference in _differences(mine[key], theirs[key], f"{path}/{key}", scale)
        ]
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        pairs = enumerate(zip(mine, theirs, strict=True))
        return [difference for row, (a, b) in pairs for difference in _differences(a, b, f"{path}/{row}", scale)]
    if mine != theirs and not _near(mine, theirs, path, scale):
        return [f"{path}: {mine!r:.200} is not {theirs!r:.200}"]
    return []


def _near(mine: Any, theirs: Any, path: str, scale: float) -> bool:
    if not isinstance(mine, (int, float)) or not isinstance(theirs, (int, float)):
        return False
    words = set(path.split("/"))
    if words & SUMS:
        return math.isclose(mine, theirs, rel_tol=SHARE, abs_tol=SHARE * scale)
    return bool(words & MEANS) and math.isclose(mine, theirs, rel_tol=SHARE, abs_tol=SHARE)
