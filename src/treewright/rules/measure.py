"""Counting the cases that rules cover, fire for and misclassify."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treewright.model.ruleset import Rule
from treewright.rules.cases import RuleCases
from treewright.rules.generalise import Candidate
from treewright.rules.order import first_two

Covers = npt.NDArray[np.bool_]


def covered_cases(candidates: Sequence[Candidate], cases: RuleCases, error_limit: float) -> Covers:
    """Return candidates x cases: the cases that each rule covers, none if its error exceeds the limit."""
    covers = np.zeros((len(candidates), cases.n), dtype=np.bool_)
    for row, candidate in enumerate(candidates):
        if candidate.error <= error_limit:
            covers[row] = cases.masks.all_of(candidate.conditions)
    return covers


def measured_rules(candidates: Sequence[Candidate], cases: RuleCases, error_limit: float) -> tuple[Rule, ...]:
    """Return the candidates (in firing order) as rules with their counts on these cases."""
    first, _ = first_two(covered_cases(candidates, cases, error_limit))
    rules = []
    for index, candidate in enumerate(candidates):
        used = first == index
        wrong = used & (cases.classes != candidate.outcome)
        rules.append(
            Rule(
                candidate.conditions,
                candidate.outcome,
                covers=int(np.count_nonzero(cases.masks.all_of(candidate.conditions))),
                used=int(np.count_nonzero(used)),
                wrong=int(np.count_nonzero(wrong)),
                error=candidate.error,
            )
        )
    return tuple(rules)
