"""What was measured, as values that print and save themselves.

Vocabulary
----------
ratio
    Seconds of a peer divided by those of Treewright: above 1 Treewright is faster.
added memory
    The most that was held while training, less what was held before it, when the data were there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from treewright.bench.ourselves import Treewright


@dataclass(frozen=True)
class Measurement:
    """What one competitor took on one table: the best of its runs.

    Parameters
    ----------
    competitor, version : str
    rows, columns : int
    seconds : float or None
        Of the best run; None if there is none, and then `failed` says why.
    every : tuple of float
        The seconds of all runs.
    facts : dict
        ``nodes``, ``training_accuracy``, ``test_accuracy``, ``added_bytes``, ``peak_bytes`` and what else was measured.
    failed : str or None
    """

    competitor: str
    version: str
    rows: int
    columns: int
    seconds: float | None
    every: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this is Treewright's."""
        return self.competitor == Treewright.name


@dataclass(frozen=True)
class CaseResult:
    """All measurements of a case, and who was left out."""

    name: str
    title: str
    action: str
    rows: int
    measurements: tuple[Measurement, ...]
    skipped: tuple[str, ...] = ()

    def of(self, competitor: str) -> Measurement | None:
        """Return the measurement of a competitor on the largest table, if it succeeded."""
        found = [one for one in self.measurements if one.competitor == competitor and one.seconds is not None]
        return max(found, key=lambda one: (one.rows, one.columns)) if found else None

    @property
    def ours(self) -> Measurement | None:
        """Treewright's measurement."""
        return self.of(Treewright.name)

    def ratio(self, competitor: str) -> float | None:
        """Return how many times as long as Treewright a competitor took."""
        ours, other = self.ours, self.of(competitor)
        if ours is None or other is None or not ours.seconds or other.seconds is None:
            return None
        return other.seconds / ours.seconds

    def line(self, competitor: str) -> tuple[list[int], list[float]]:
        """Return rows (or columns) and seconds of a competitor, for growing data."""
        found = [one for one in self.measurements if one.competitor == competitor and one.seconds is not None]
        sizes = [one.columns if self.action == "columns" else one.rows for one in found]
        return sizes, [float(one.seconds or 0.0) for one in found]

    def slope(self, competitor: str = Treewright.name) -> float | None:
        """Return the power of rows (or columns) by which the time grows."""
        return slope_of(*self.line(competitor))

    @property
    def competitors(self) -> tuple[str, ...]:
        """Their names in the order of measuring."""
        return tuple(dict.fromkeys(one.competitor for one in self.measurements))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain = asdict(self)
        for one in plain["measurements"]:
            one["ratio"] = None if one["seconds"] is None else self.ratio(one["competitor"])
        if self.action in ("rows", "columns"):
            for one in plain["measurements"]:
                del one["ratio"]
            plain["slopes"] = {name: self.slope(name) for name in self.competitors}
        return plain


def slope_of(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Fit a straight line through the logarithms and return its slope; None from fewer than two sizes.

    Examples
    --------
    >>> round(slope_of([100, 1000, 10000], [0.2, 2.0, 20.0]), 6)
    1.0
    >>> slope_of([100], [1.0]) is None
    True
    """
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
