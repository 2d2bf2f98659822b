"""A tree as nested plain data, built without recursion.

A node is ``{"class", "n", "e", "dist"}``; an inner node also has ``"attr"``, ``"test"``, ``"cut"``
(threshold), ``"value"`` (equals) or ``"intervals"``, ``"missing"`` and ``"children"``, a list of ``[label, node]``.
Labels are ``"<="`` and ``">"``, a category, a list of categories, ``"="`` and ``"!="``, or the interval index.
Regression nodes have ``"value"`` and ``"sse"`` instead of ``"class"``, ``"e"`` and ``"dist"``. Leaves
have their stop reason under ``"stop"``.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from treewright.model.split import FRACTIONAL, STAY, Split, Surrogate, Test
from treewright.model.tree import Node, Stop, Tree


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """Return the nested form of a tree."""
    nodes = [_node(node) for node in tree]
    for index in range(tree.n_nodes - 1, -1, -1):
        split = tree.split(index)
        if split is None:
            continue
        column = tree.schema.attributes[split.attribute]
        labels = [_plain(label) for label in split.labels(column)]
        below = [nodes[child] for child in tree.children_of(index)]
        nodes[index] |= {"attr": column.name, "test": str(split.test), **_details(split, column.values)}
        nodes[index]["missing"] = _MISSING.get(split.missing) or labels[split.missing]
        if index in tree.surrogates:
            nodes[index]["surrogates"] = [_surrogate(tree, one) for one in tree.surrogates[index]]
        nodes[index]["children"] = [[label, node] for label, node in zip(labels, below, strict=True)]
    return nodes[0]


_MISSING = {FRACTIONAL: "fractional", STAY: "stay"}


def _surrogate(tree: Tree, one: Surrogate) -> dict[str, Any]:
    split = one.split
    column = tree.schema.attributes[split.attribute]
    labels = [_plain(label) for label in split.labels(column)]
    return {
        "attr": column.name,
        "test": str(split.test),
        **_details(split, column.values),
        "labels": labels[::-1] if one.reversed else labels,
        "agreement": one.agreement,
        "adjusted": one.adjusted,
    }


def _node(node: Node) -> dict[str, Any]:
    tree, index = node.tree, node.index
    if tree.sse is not None:
        result: dict[str, Any] = {
            "value": node.outcome,
            "n": plain_number(node.weight),
            "sse": float(tree.sse[index]),
        }
    else:
        result = {
            "class": node.outcome,
            "n": plain_number(node.weight),
            "e": plain_number(float(tree.errors[index])),
            "dist": node.distribution,
        }
    if tree.estimate is not None:
        result["estimate"] = float(tree.estimate[index])
    if tree.p_value is not None and not np.isnan(tree.p_value[index]):
        result["p_value"] = float(tree.p_value[index])
    if node.stop is not None:
        result["stop"] = str(node.stop)
    if node.stop is Stop.OPEN:
        result["open"] = True
    return result


def _details(split: Split, values: tuple[str, ...]) -> dict[str, Any]:
    if split.test is Test.THRESHOLD:
        return {"cut": split.cut}
    if split.test is Test.EQUALS:
        return {"value": values[split.branch_of.index(0)]}
    if split.test is Test.INTERVALS:
        return {"intervals": list(split.bounds)}
    return {}


def _plain(label: Any) -> Any:
    return list(label) if isinstance(label, tuple) else label


def plain_number(value: float | np.generic) -> int | float:
    """Return an int if the number is an integer, so that counts look like counts."""
    number = float(value)
    return int(number) if number.is_integer() else number


def tree_to_json(tree: Tree) -> str:
    """Return the nested form as JSON text, written without recursion, so that depth is unlimited.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> json.loads(tree_to_json(tree)) == tree.to_dict()
    True
    """
    fragments: list[str] = []
    stack: list[str | dict[str, Any]] = [tree_to_dict(tree)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            fragments.append(item)
            continue
        children = item.get("children")
        own = json.dumps({key: value for key, value in item.items() if key != "children"}, ensure_ascii=False)
        if children is None:
            fragments.append(own)
            continue
        fragments.append(own[:-1] + ', "children": [')
        stack.append("]}")
        for branch in range(len(children) - 1, -1, -1):
            label, child = children[branch]
            stack += ["]", child, f"{', ' if branch else ''}[{json.dumps(label, ensure_ascii=False)}, "]
    return "".join(fragments)
