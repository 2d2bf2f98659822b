"""The options of C4.5 Release 8."""

from __future__ import annotations

from dataclasses import dataclass

from treewright._base.errors import ParameterError

CRITERIA = ("gain_ratio", "gain")


@dataclass(frozen=True)
class Release8:
    """The options of C4.5 Release 8.

    Parameters
    ----------
    min_objects : int
        ``-m``: at least two branches of a split need this weight.
    criterion : {"gain_ratio", "gain"}
        ``-g`` is "gain".
    subset : bool
        ``-s``: group the categories of nominal attributes.
    confidence : float
        ``-c`` as a fraction: the confidence level of pruning, above 0 and up to 1 (which does not disable pruning).
    prune : bool
        Whether the tree is pruned.

    Examples
    --------
    >>> Release8(min_objects=1, criterion="gain")
    Release8(min_objects=1, criterion='gain', subset=False, confidence=0.25, prune=True)
    """

    min_objects: int = 2
    criterion: str = "gain_ratio"
    subset: bool = False
    confidence: float = 0.25
    prune: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.min_objects, bool) or not isinstance(self.min_objects, int) or self.min_objects < 1:
            raise ParameterError(f"min_objects must be a whole number of at least 1, not {self.min_objects!r}")
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {', '.join(CRITERIA)}, not {self.criterion!r}")
        number = isinstance(self.confidence, (int, float)) and not isinstance(self.confidence, bool)
        if not number or not 0 < self.confidence <= 1:
            raise ParameterError(f"confidence must be above 0 and at most 1, not {self.confidence!r}")
        for name in ("subset", "prune"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")
