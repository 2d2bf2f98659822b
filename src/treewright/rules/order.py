"""Ordering the selected rules into a decision list, with a default class.

The rules of a class stay together. The class whose rules cover the fewest cases of other classes comes first; the next
class is chosen on the cases not covered yet. Within a class the rule with the lowest error comes first. Finally, rules
are removed that are wrong more often than the list without them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treewright.rules.cases import RuleCases
from treewright.rules.generalise import Candidate

Covers = npt.NDArray[np.bool_]


def firing_order(candidates: Sequence[Candidate], covers: Covers, cases: RuleCases) -> list[int]:
    """Return the indices of the candidates in the order in which they fire.

    Parameters
    ----------
    candidates : sequence of Candidate
        Those chosen, of all classes, each class in order of generation.
    covers : array of bool, candidates x cases
        A rule that never fires covers nothing.
    cases : RuleCases
    """
    by_class: dict[int, list[int]] = {outcome: [] for outcome in range(cases.n_classes)}
    for index, candidate in enumerate(candidates):
        by_class[candidate.outcome].append(index)
    uncovered = np.ones(cases.n, dtype=np.bool_)
    order: list[int] = []
    while by_class:
        newly_covered = {outcome: covers[rules].any(axis=0) & uncovered for outcome, rules in by_class.items()}
        wrong = {outcome: np.count_nonzero(newly_covered[outcome] & (cases.classes != outcome)) for outcome in by_class}
        outcome = min(by_class, key=lambda one: wrong[one])  # the first of equals, as classes are in order
        order += sorted(by_class.pop(outcome), key=lambda index: candidates[index].error)
        uncovered &= ~newly_covered[outcome]
    return order


def default_class(covers: Covers, cases: RuleCases) -> int:
    """Return the class with most uncovered cases; ties go to the more frequent class, then to the first."""
    rest = np.bincount(cases.classes[~covers.any(axis=0)], minlength=cases.n_classes)
    best = np.flatnonzero(rest == rest.max())
    return int(best[np.argmax(cases.class_counts[best])])


def without_harmful(outcomes: npt.NDArray[np.intp], covers: Covers, default: int, cases: RuleCases) -> list[int]:
    """Return the positions of the rules to keep.

    A rule is evaluated on the cases for which it fires, against the next rule that covers the case, or the default
    class. The first rule that is wrong more often than its alternative is removed, and the evaluation starts again.

    Parameters
    ----------
    outcomes : array of int
        Class of each rule, in firing order.
    covers : array of bool, rules x cases
        In firing order.
    default : int
    cases : RuleCases
    """
    kept = list(range(len(covers)))
    while kept:
        first, second = first_two(covers[kept])
        predicted = np.append(outcomes[kept], default)
        rule, alternative = predicted[first], predicted[second]
        differs = (first >= 0) & (rule != alternative)
        better = np.bincount(first[differs & (rule == cases.classes)], minlength=len(kept))
        worse = np.bincount(first[differs & (alternative == cases.classes)], minlength=len(kept))
        harmful = np.flatnonzero(worse > better)
        if not len(harmful):
            break
        del kept[int(harmful[0])]
    return kept


def first_two(covers: Covers) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return for each case the first and the second rule that covers it, -1 if there is none.

    Examples
    --------
    >>> first, second = first_two(np.array([[True, False, False], [True, True, False]]))
    >>> first.tolist(), second.tolist()
    ([0, 1, -1], [1, -1, -1])
    """
    first = np.full(covers.shape[1], -1, dtype=np.intp)
    second = first.copy()
    for index in range(len(covers) - 1, -1, -1):
        rows = covers[index]
        second[rows] = first[rows]
        first[rows] = index
    return first, second
