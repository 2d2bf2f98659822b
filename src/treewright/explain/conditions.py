"""Conditions on the path to a node, as data that can be described in every language.

A condition is what one branch of a split requires of its attribute: a relation and its right-hand side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treewright.data.schema import Column
from treewright.explain.document import name
from treewright.explain.language import Words
from treewright.tree.split import KNOWN, Split, Test
from treewright.tree.tree import Tree
from treewright.wording import printable

MISSING, IS_KNOWN = "missing", "known"


@dataclass(frozen=True)
class BranchCondition:
    """One condition.

    Parameters
    ----------
    attribute : str
    relation : {"<=", ">", "=", "!=", "in", "between", "missing", "known"}
    value : str
        The bound, the value or the values as text, in braces; empty for the last two relations.

    Examples
    --------
    >>> from treewright.explain.language import words
    >>> condition = BranchCondition("x", "missing", "")
    >>> str(condition), condition.describe(words("de"))
    ('x missing', 'x fehlt')
    """

    attribute: str
    relation: str
    value: str

    def describe(self, message: Words) -> str:
        """Return the condition in a language."""
        return message(_KEYS.get(self.relation, "condition.is"), attribute=name(self.attribute), **self._placeholders())

    def right_side(self, message: Words) -> str:
        """Return the condition without its attribute, as the label of a branch."""
        if self.relation in (MISSING, IS_KNOWN):
            return message(f"branch.{self.relation}")
        return self.value if self.relation in ("=", "in", "between") else f"{self.relation} {self.value}"

    def _placeholders(self) -> dict[str, str]:
        return {} if self.relation in (MISSING, IS_KNOWN) else {"relation": self.relation, "value": self.value}

    def __str__(self) -> str:
        shown = printable(self.attribute)
        if self.relation in (MISSING, IS_KNOWN):
            return f"{shown} {self.relation}"
        relation = "" if self.relation == "between" else f"{self.relation} "
        return f"{shown} {relation}{self.value}"


_KEYS = {
    MISSING: "condition.missing",
    IS_KNOWN: "condition.known",
    "in": "condition.in",
    "between": "condition.between",
}


def condition_of(split: Split, branch: int, column: Column) -> BranchCondition:
    """Return the condition that a branch of a test requires."""
    words = split.describe(branch, column)
    if special_branch(split, branch):
        return BranchCondition(column.name, special_branch(split, branch), "")
    if split.test is Test.NOMINAL:
        return BranchCondition(column.name, "=", name(column.values[branch]))
    if split.test is Test.SUBSET:
        return BranchCondition(column.name, "in", _set(split.values_of(branch, column)))
    if "," in words and split.test is Test.INTERVALS:
        return BranchCondition(column.name, "between", words)
    relation, _, value = words.partition(" ")
    return BranchCondition(column.name, relation, value)


def special_branch(split: Split, branch: int) -> str:
    """Return "missing" if only missing values take a branch, "known" if all known values do, else an empty string."""
    if split.cut == KNOWN:
        return MISSING if branch == split.missing else IS_KNOWN
    if split.test is Test.SUBSET:
        return MISSING if branch not in split.branch_of else ""
    return MISSING if split.test is Test.INTERVALS and branch > len(split.bounds) else ""


def _set(values: Sequence[str]) -> str:
    return "{" + ", ".join(name(value) for value in values) + "}"


def conditions_to(tree: Tree, node: int) -> tuple[BranchCondition, ...]:
    """Return the conditions from the root to a node; of several bounds on an attribute the tightest ones.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> [str(one) for one in conditions_to(fit(sample("play-tennis"), ID3()).tree, 2)]
    ['Outlook = Sunny', 'Humidity = High']
    """
    steps: dict[tuple[int, str], BranchCondition] = {}
    for parent, branch in tree.node(node).path:
        split = tree.split(parent)
        if split is None:
            continue
        steps = _with_one_more(steps, split, condition_of(split, branch, tree.schema.attributes[split.attribute]))
    return tuple(steps.values())


def conditions_everywhere(tree: Tree) -> list[tuple[BranchCondition, ...]]:
    """Return `conditions_to` for all nodes, each made from that of its parent."""
    found: list[dict[tuple[int, str], BranchCondition]] = [{} for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes):
        split = tree.split(node)
        if split is None:
            continue
        column = tree.schema.attributes[split.attribute]
        for branch, child in enumerate(tree.children_of(node).tolist()):
            found[child] = _with_one_more(found[node], split, condition_of(split, branch, column))
    return [tuple(conditions.values()) for conditions in found]


def _with_one_more(
    steps: dict[tuple[int, str], BranchCondition], split: Split, condition: BranchCondition
) -> dict[tuple[int, str], BranchCondition]:
    # A later bound on the same side is tighter, and a later set is a part of the earlier one.
    side = condition.relation[0] if split.cut is not None else "="
    rest = {key: one for key, one in steps.items() if key != (split.attribute, side)}
    return {**rest, (split.attribute, side): condition}


def path_text(tree: Tree, node: int) -> tuple[str, ...]:
    """Return the conditions from the root to a node as English text."""
    return tuple(str(condition) for condition in conditions_to(tree, node))


def where(conditions: Sequence[BranchCondition], message: Words) -> str:
    """Return conditions in one line; none is the root."""
    return message.joined([condition.describe(message) for condition in conditions]) or message("root")
