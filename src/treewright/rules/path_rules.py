"""A tree as rules: one for each leaf, none dropped, none generalised.

The paths of a tree are mutually exclusive, so the order does not matter, and all rules may fire.
"""

from __future__ import annotations

from treewright._base.errors import ParameterError
from treewright.model.formula import disjunction, tree_paths
from treewright.model.ruleset import Rule, RuleSet
from treewright.model.tree import Tree


def path_rules(tree: Tree) -> RuleSet:
    """Return the rules of a classification tree, with the counts of its training cases.

    Conditions on one attribute are merged (``x <= 5`` and ``x <= 3`` gives ``x <= 3``); leaves that no case reached
    give no rule. Fractional counts are rounded to integers. The default is the class of the root.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> print(path_rules(fit(sample("play-tennis"), ID3()).tree).to_text().splitlines()[2])
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 100.0 %]
    """
    if tree.is_regression:
        raise ParameterError("rules predict classes, but this tree predicts numbers")
    classes = tree.schema.classes
    rules = []
    for leaf, conditions in tree_paths(tree):
        weight, outcome = float(tree.weight[leaf]), int(tree.outcome[leaf])
        merged = disjunction(tree.schema, classes[outcome], [conditions]).conjunctions
        if weight > 0 and merged:
            wrong = float(tree.errors[leaf])
            cases = round(weight)
            rules.append(Rule(merged[0], outcome, cases, cases, min(cases, round(wrong)), wrong / weight))
    return RuleSet(tree.schema, tuple(rules), int(tree.outcome[0]), error_limit=1.0)
