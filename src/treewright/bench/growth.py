"""What a case asks every competitor to grow, said in words that each of them can translate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Growth:
    """One tree, a forest or a series of stumps.

    Parameters
    ----------
    kind : {"cart", "c45", "forest", "adaboost"}
        Peers that know neither CART nor C4.5 by name grow the nearest that they have.
    max_depth : int or None
        Tests on the longest path; None has no limit.
    min_leaf : int
        Cases that a leaf needs.
    pruned : bool
        Whether C4.5 prunes; no peer does.
    trees : int
        Of a forest or a series.
    """

    kind: str = "cart"
    max_depth: int | None = None
    min_leaf: int = 1
    pruned: bool = False
    trees: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)
