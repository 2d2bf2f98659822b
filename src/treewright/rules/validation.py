"""Rule post-pruning in its simple form: by accuracy on cases that were kept apart.

A rule for every leaf; a condition goes when the rule is no less accurate without it on the validation cases;
the rules fire in the order of their accuracy. No description length, no order of classes, no removal of rules
that are never needed.

What the lectures leave open is settled so:

* While there are conditions that may go, the one goes whose absence gives the highest accuracy, the last of
  equals.
* A rule that covers no validation case has accuracy 0, since nothing speaks for it; so it is widened until it
  covers one.
* A rule that has lost all its conditions is left out: saying one class always is the business of the default.
* Of equal rules the first stays. Of rules of equal accuracy the one that covers more cases fires first, then
  the one whose leaf comes first.
* The default is the majority class of the tree's root, which has seen more cases than the validation set.
"""

from __future__ import annotations

from treewright.data.dataset import Dataset
from treewright.model.ruleset import RuleSet
from treewright.model.tree import Tree
from treewright.rules.cases import RuleCases, cases_for
from treewright.rules.extract import PathRule, extract_rules
from treewright.rules.generalise import Candidate, ShrinkingRule
from treewright.rules.measure import measured_rules

NO_LIMIT = 1.0
"""Every rule fires, however inaccurate."""


def induce_rules_on_validation(tree: Tree, validation: Dataset) -> RuleSet:
    """Turn a tree into rules, pruned and ordered by their accuracy on other cases than it was grown from.

    Parameters
    ----------
    tree : Tree
        Grown, not pruned.
    validation : Dataset
        Cases kept apart, taken whole; their weights are not looked at.

    Returns
    -------
    RuleSet
        Error and counts of the rules are those on the validation cases.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.samples import sample
    >>> from treewright.model.build import NodeRecord, build_tree
    >>> from treewright.model.split import Split
    >>> from treewright.model.tree import Stop
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
    """Return the rule without the conditions that do not help, and how many cases it covers."""
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
    conditions = tuple(rule.conditions[place] for place in shrinking.remaining)
    return Candidate(conditions, rule.outcome, _error(covered, wrong)), covered


def _error(covered: int, wrong: int) -> float:
    return wrong / covered if covered else 1.0
