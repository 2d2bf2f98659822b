"""Inducing rules: order, default class, and the whole procedure.

C4.5rules turns a grown, unpruned tree into a short ordered list of rules: create a rule for each leaf
(`extract_rules`); drop unnecessary conditions (`generalise`); select for each class the set of rules with the shortest
description (`choose_rules`); order classes and rules (`firing_order`), choose the default class (`default_class`) and
remove harmful rules (`without_harmful`). All counts are unit-weight cases: neither case weights nor the fractional
cases of the tree's growth are used. A missing value fails every condition.

The selected rules form a decision list with a default class. The rules of a class stay together. The class
whose rules cover the fewest cases of other classes comes first; the next class is chosen on the cases not covered yet.
Within a class the rule with the lowest error comes first. Finally, rules are removed that are wrong more often than the
list without them.

Rule post-pruning in its simple form uses the accuracy on validation cases. There is one rule per leaf; a condition is
dropped if the rule without it is no less accurate on the validation cases; rules fire in order of accuracy. Description
length, order of classes and removal of rules are not used.

The lectures leave some points open. Here they are defined as follows.

* Of the conditions that can be dropped, the one whose absence gives the highest accuracy is dropped first, the last
  of equals.
* A rule that covers no validation case has accuracy 0, so conditions are dropped until it covers one.
* A rule without conditions is left out: predicting one class always is what the default class does.
* Of equal rules the first is kept. Of rules of equal accuracy the one that covers more cases fires first, then the
  one whose leaf comes first.
* The default is the majority class of the root, which has more cases than the validation set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.learners.c45rules.cases import PathRule, RuleCases, cases_for, extract_rules
from treewright.learners.c45rules.generalise import Candidate, ErrorEstimates, ShrinkingRule, generalise
from treewright.learners.c45rules.options import RuleOptions
from treewright.learners.c45rules.select import DescriptionLength, choose_rules
from treewright.tree.rules import ERROR_LIMIT, Rule, RuleSet
from treewright.tree.tree import Tree

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


def induce_rules(tree: Tree, dataset: Dataset, options: RuleOptions | None = None) -> RuleSet:
    """Turn a grown tree into ordered rules.

    Parameters
    ----------
    tree : Tree
        Grown, not pruned: generalising the rules is the pruning.
    dataset : Dataset
        The cases the tree was grown from; case weights are ignored.
    options : RuleOptions or None
        None uses the defaults.

    Returns
    -------
    RuleSet
        With the error estimates and the counts of these cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.tree.build import NodeRecord, build_tree
    >>> from treewright.tree.split import Split
    >>> from treewright.tree.tree import Stop
    >>> weather = sample("play-tennis")
    >>> def node(yes, no, split=None, *children):
    ...     stop = None if split else Stop.PURE
    ...     return NodeRecord(yes + no, np.array([yes, no]), int(no > yes), split, list(children), stop)
    >>> outlook, humidity, wind = Split.multiway(0, 3), Split.multiway(2, 2), Split.multiway(3, 2)
    >>> nodes = [node(9, 5, outlook, 1, 2, 3), node(2, 3, humidity, 4, 5), node(4, 0), node(3, 2, wind, 6, 7),
    ...          node(0, 3), node(2, 0), node(3, 0), node(0, 2)]
    >>> print(induce_rules(build_tree(weather.schema, nodes)[0], weather, RuleOptions.release8()))
    1  IF Outlook = Sunny AND Humidity = High THEN No  [covers 3, used 3, wrong 0, estimated accuracy 63.0 %]
    2  IF Outlook = Rain AND Wind = Strong THEN No  [covers 2, used 2, wrong 0, estimated accuracy 50.0 %]
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 70.7 %]
    4  IF Humidity = Normal THEN Yes  [covers 7, used 4, wrong 0, estimated accuracy 66.2 %]
    5  IF Outlook = Rain AND Wind = Weak THEN Yes  [covers 3, used 1, wrong 0, estimated accuracy 63.0 %]
    DEFAULT Yes
    """
    options = options or RuleOptions()
    cases = cases_for(tree, dataset)
    candidates = generalise(extract_rules(tree), cases, ErrorEstimates(options.confidence, options.precision))
    chosen = _chosen(candidates, cases, options)
    covers = covered_cases(chosen, cases, ERROR_LIMIT)
    order = firing_order(chosen, covers, cases)
    chosen, covers = [chosen[index] for index in order], covers[order]
    default = default_class(covers, cases)
    outcomes = np.array([candidate.outcome for candidate in chosen], dtype=np.intp)
    kept = without_harmful(outcomes, covers, default, cases)
    rules = measured_rules([chosen[index] for index in kept], cases, ERROR_LIMIT)
    return RuleSet(dataset.schema, rules, default)


def _chosen(candidates: list[Candidate], cases: RuleCases, options: RuleOptions) -> list[Candidate]:
    """Return the chosen candidates of all classes, class by class, each in order of generation."""
    code = DescriptionLength(cases, options.precision)
    numbers = options.numbers()  # one stream runs through all classes
    result: list[Candidate] = []
    for outcome in range(cases.n_classes):
        own = [candidate for candidate in candidates if candidate.outcome == outcome]
        bits = np.array([code.rule_bits(candidate.conditions) for candidate in own], dtype=np.float64)
        of_class = cases.classes == outcome
        covers = covered_cases(own, cases, ERROR_LIMIT)
        result += [own[index] for index in choose_rules(covers, bits, of_class, code, numbers)]
    return result


NO_LIMIT = 1.0
"""Every rule fires, regardless of its error."""


def induce_rules_on_validation(tree: Tree, validation: Dataset) -> RuleSet:
    """Turn a tree into rules, pruned and ordered by their accuracy on validation cases.

    Parameters
    ----------
    tree : Tree
        Grown, not pruned.
    validation : Dataset
        Cases the tree was not grown from; case weights are ignored.

    Returns
    -------
    RuleSet
        Error and counts of the rules are those on the validation cases.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.samples import sample
    >>> from treewright.tree.build import NodeRecord, build_tree
    >>> from treewright.tree.split import Split
    >>> from treewright.tree.tree import Stop
    >>> weather = sample("play-tennis")
    >>> high = NodeRecord(7, np.array([3, 4]), 1, stop=Stop.DEPTH)
    >>> normal = NodeRecord(7, np.array([6, 1]), 0, stop=Stop.DEPTH)
    >>> root = NodeRecord(14, np.array([9, 5]), 0, Split.multiway(2, 2), [1, 2])
    >>> tree, _ = build_tree(weather.schema, [root, high, normal])
    >>> print(induce_rules_on_validation(tree, weather))
    1  IF Humidity = Normal THEN Yes  [covers 7, used 7, wrong 1, estimated accuracy 85.7 %]
    2  IF Humidity = High THEN No  [covers 7, used 7, wrong 3, estimated accuracy 57.1 %]
    DEFAULT Yes
    """
    cases = cases_for(tree, validation)
    pruned: dict[tuple[object, ...], tuple[Candidate, int]] = {}
    for rule in extract_rules(tree):
        candidate, covered = _pruned(rule, cases)
        key = candidate.outcome, frozenset(candidate.conditions)
        if candidate.conditions and key not in pruned:
            pruned[key] = candidate, covered
    ranked = sorted(pruned.values(), key=lambda one: (one[0].error, -one[1]))
    rules = measured_rules([candidate for candidate, _ in ranked], cases, NO_LIMIT)
    return RuleSet(validation.schema, rules, int(tree.outcome[0]), error_limit=NO_LIMIT)


def _pruned(rule: PathRule, cases: RuleCases) -> tuple[Candidate, int]:
    """Return the rule without its unnecessary conditions, and the number of cases it covers."""
    shrinking = ShrinkingRule(rule, cases)
    covered, wrong = shrinking.counts()
    while shrinking.remaining:
        counts = shrinking.counts_without_each(covered, wrong)
        errors = [_error(*one) for one in counts]
        lowest = min(errors)
        if lowest > _error(covered, wrong):
            break
        drop = max(index for index, error in enumerate(errors) if error == lowest)
        shrinking.drop(drop)
        covered, wrong = counts[drop]
    conditions = tuple(rule.conditions[position] for position in shrinking.remaining)
    return Candidate(conditions, rule.outcome, _error(covered, wrong)), covered


def _error(covered: int, wrong: int) -> float:
    return wrong / covered if covered else 1.0
