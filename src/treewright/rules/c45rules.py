"""C4.5rules: from a grown, unpruned tree to a short ordered list of rules.

One module per step: create a rule for each leaf (`extract`); drop unnecessary conditions (`generalise`); select
for each class the set of rules with the shortest description (`select`, `description_length`); order classes and rules,
choose the default class and remove harmful rules (`order`).

All counts are unit-weight cases: neither case weights nor the fractional cases of the tree's growth are used. A missing
value fails every condition.
"""

from __future__ import annotations

import numpy as np

from treewright.data.dataset import Dataset
from treewright.model.ruleset import ERROR_LIMIT, RuleSet
from treewright.model.tree import Tree
from treewright.rules.cases import RuleCases, cases_for
from treewright.rules.description_length import DescriptionLength
from treewright.rules.extract import extract_rules
from treewright.rules.generalise import Candidate, ErrorEstimates, generalise
from treewright.rules.measure import covered_cases, measured_rules
from treewright.rules.options import RuleOptions
from treewright.rules.order import default_class, firing_order, without_harmful
from treewright.rules.select import choose_rules


def induce_rules(tree: Tree, dataset: Dataset, options: RuleOptions | None = None) -> RuleSet:
    """Turn a grown tree into ordered rules.

    Parameters
    ----------
    tree : Tree
        Grown, not pruned: generalising the rules is the pruning.
    dataset : Dataset
        The cases the tree was grown from, taken whole; their weights are not looked at.
    options : RuleOptions or None
        None: the defaults.

    Returns
    -------
    RuleSet
        With the error estimates and the counts of these cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.model.build import NodeRecord, build_tree
    >>> from treewright.model.split import Split
    >>> from treewright.model.tree import Stop
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
    rules = measured_rules([chosen[place] for place in kept], cases, ERROR_LIMIT)
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
