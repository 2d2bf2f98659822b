"""The options of C4.5rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from treewright.errors import ParameterError
from treewright.learners.c45rules.arithmetic import Precision, release8_numbers
from treewright.learners.c45rules.select import seeded_numbers
from treewright.parameters import check_share, check_whole_number


class Search(StrEnum):
    """The random number generator of the rule search."""

    SEEDED = "seeded"
    RELEASE8 = "release8"


@dataclass(frozen=True)
class RuleOptions:
    """The options of C4.5rules.

    Parameters
    ----------
    confidence : float
        Confidence level of the pessimistic error, above 0 and at most 1; smaller generalises more.
    search : Search or str
        "seeded": random numbers from `seed`; "release8": the fixed sequence of the original program. They matter only
        if a class has more than ten candidate rules.
    seed : int
        At least 0.
    precision : Precision or str
        "double", or "single" for the 32-bit numbers of the original program.

    Examples
    --------
    >>> RuleOptions.release8(confidence=0.1)
    RuleOptions(confidence=0.1, search=<Search.RELEASE8: 'release8'>, seed=0, precision=<Precision.SINGLE:
    'single'>)
    """

    confidence: float = 0.25
    search: Search = Search.SEEDED
    seed: int = 0
    precision: Precision = Precision.DOUBLE

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence, plain=True)
        check_whole_number("seed", self.seed, 0, plain=True)
        for name, words in (("search", Search), ("precision", Precision)):
            word = getattr(self, name)
            if word not in tuple(words):
                raise ParameterError(f"{name} must be one of {', '.join(words)}, not {word!r}")
            object.__setattr__(self, name, words(word))

    @classmethod
    def release8(cls, confidence: float = 0.25) -> RuleOptions:
        """Return the options that reproduce the rule lists of the original program."""
        return cls(confidence, Search.RELEASE8, 0, Precision.SINGLE)

    def numbers(self) -> Iterator[float]:
        """Return a fresh stream of random numbers."""
        return release8_numbers() if self.search is Search.RELEASE8 else seeded_numbers(self.seed)
