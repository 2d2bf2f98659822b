"""Taking out the tests that decide nothing: all leaves below say the same.

Whole cases get the same answer as before; the probabilities that a leaf gives become those of all the cases below, and
so may the answer for a case that is divided because a value is missing.
"""

from __future__ import annotations

from treewright.model.build import build_tree, records_of
from treewright.model.split import STAY
from treewright.model.tree import Stop, Tree


def simplify(tree: Tree) -> Tree:
    """Return the tree without the tests all of whose leaves say the same outcome.

    The new leaf says what they said. An empty leaf counts with what it says, and a node where cases without a value
    stay with what it says itself.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> from treewright.learn import fit
    >>> tree = fit(sample("contact-lenses"), C45()).tree
    >>> len(tree), len(simplify(tree))
    (10, 7)
    """
    records = records_of(tree)
    for record in reversed(records):
        if record.split is None:
            continue
        leaves = [records[child] for child in record.children]
        said = {leaf.outcome for leaf in leaves}
        if record.split.missing == STAY:
            said.add(record.outcome)
        if len(said) == 1 and all(leaf.split is None for leaf in leaves):
            record.outcome = said.pop()
            record.become_leaf(Stop.PRUNED)
    return build_tree(tree.schema, records)[0]
