"""A tree as plain data: nested for readers, flat for the model file, and back with validation.

The nested form is built without recursion. A node is ``{"class", "n", "e", "dist"}``; an inner node also has
``"attr"``, ``"test"``, ``"cut"`` (threshold), ``"value"`` (equals) or ``"intervals"``, ``"missing"`` and
``"children"``, a list of ``[label, node]``. Labels are ``"<="`` and ``">"``, a category, a list of categories, ``"="``
and ``"!="``, or the interval index. Regression nodes have ``"value"`` and ``"sse"`` instead of ``"class"``, ``"e"`` and
``"dist"``. Leaves have their stop reason under ``"stop"``.

The flat form of the model file has arrays with one entry per node, so that depth needs no nesting. Invalid data raises
`ModelFormatError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import labels_of
from treewright.data.schema import Schema
from treewright.errors import ModelFormatError
from treewright.tree.split import FRACTIONAL, STAY, EvaluatedSplit, Split, SplitStatus, Surrogate, Test
from treewright.tree.tree import STOPS, TESTS, Node, Stop, Tree


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
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
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


_INTEGERS = ("attribute", "missing", "child_start", "children", "value_start", "value_branch", "bound_start")
_NUMBERS = ("weight", "bounds")


def object_at(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key, or raise `ModelFormatError`."""
    value = document.get(key)
    if not isinstance(value, dict):
        raise ModelFormatError(f"{key!r} must be an object")
    return value


def tree_to_plain(tree: Tree) -> dict[str, Any]:
    """Return the arrays of a tree as lists."""
    plain: dict[str, Any] = {name: getattr(tree, name).tolist() for name in _INTEGERS}
    plain |= {name: _plain_list(getattr(tree, name)) for name in _NUMBERS}
    plain["test"] = [
        str(TESTS[code]) if attribute >= 0 else None
        for code, attribute in zip(tree.test.tolist(), tree.attribute.tolist(), strict=True)
    ]
    plain["cut"] = [None if np.isnan(cut) else plain_number(cut) for cut in tree.cut.tolist()]
    plain["stop"] = [str(STOPS[code]) if code >= 0 else None for code in tree.stop.tolist()]
    plain["outcome"] = _plain_list(tree.outcome)
    if tree.sse is None:
        plain["counts"] = [_plain_list(row) for row in tree.counts]
    else:
        plain["sse"] = _plain_list(tree.sse)
    if tree.estimate is not None:
        plain["estimate"] = _plain_list(tree.estimate)
    if tree.p_value is not None:
        plain["p_value"] = [None if np.isnan(p) else p for p in tree.p_value.tolist()]
    if tree.surrogates:
        plain["surrogates"] = {
            str(node): [surrogate_to_plain(one) for one in tree.surrogates[node]] for node in sorted(tree.surrogates)
        }
    return plain


def _plain_list(values: npt.NDArray[Any]) -> list[int | float]:
    return [plain_number(value) for value in values.tolist()]


def tree_from_plain(schema: Schema, plain: Mapping[str, Any]) -> Tree:
    """Restore and validate a tree."""
    if schema.target is None:
        raise ModelFormatError("the schema names no target")
    regression = schema.target_column.is_numeric
    if not regression:
        labels_of(schema.target_column)  # raises if the classes do not have the label type of the schema
    attribute = _integers(plain, "attribute")
    n = len(attribute)
    optional = {name: _numbers(plain, name) for name in ("sse", "estimate") if name in plain}
    if not regression and "sse" in optional:
        raise ModelFormatError("'sse' is only for regression")
    tree = Tree(
        schema=schema,
        attribute=attribute,
        missing=_integers(plain, "missing"),
        child_start=_integers(plain, "child_start"),
        children=_integers(plain, "children"),
        value_start=_integers(plain, "value_start"),
        value_branch=_integers(plain, "value_branch"),
        bound_start=_integers(plain, "bound_start"),
        bounds=_numbers(plain, "bounds"),
        weight=_numbers(plain, "weight"),
        test=_words(plain, "test", TESTS, 0).astype(np.int8),
        cut=_optional_numbers(plain, "cut"),
        stop=_words(plain, "stop", STOPS, -1).astype(np.int8),
        outcome=_numbers(plain, "outcome") if regression else _integers(plain, "outcome"),
        counts=np.zeros((n, 0)) if regression else _count_rows(plain, n, len(schema.classes)),
        sse=optional.get("sse"),
        estimate=optional.get("estimate"),
        p_value=_optional_numbers(plain, "p_value") if "p_value" in plain else None,
        surrogates=surrogates_from_plain(schema, n, object_at(plain, "surrogates")) if "surrogates" in plain else {},
    )
    tree.validate()
    _validate_tests(tree, plain)
    return tree


def _validate_tests(tree: Tree, plain: Mapping[str, Any]) -> None:
    for node, (word, attribute) in enumerate(zip(plain["test"], tree.attribute.tolist(), strict=True)):
        if (word is None) != (attribute < 0):
            raise ModelFormatError(f"node {node}: a leaf has no test, an inner node has one")
        if (plain["cut"][node] is None) != (word != Test.THRESHOLD):
            raise ModelFormatError(f"node {node}: a threshold has a cut, and nothing else has one")


def _list(plain: Mapping[str, Any], name: str) -> list[Any]:
    value = plain.get(name)
    if not isinstance(value, list):
        raise ModelFormatError(f"{name!r} must be a list")
    return value


def _integers(plain: Mapping[str, Any], name: str) -> npt.NDArray[np.int32]:
    values = _list(plain, name)
    if not all(type(value) is int and -(2**31) <= value < 2**31 for value in values):
        raise ModelFormatError(f"{name!r} must hold whole numbers")
    return np.array(values, dtype=np.int32)


def _number(value: Any, name: str) -> float:
    if type(value) not in (int, float):
        raise ModelFormatError(f"{name!r} must hold numbers")
    try:
        return float(value)
    except OverflowError as error:
        raise ModelFormatError(f"{name!r} holds a number that is too large") from error


def _numbers(plain: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    return np.array([_number(value, name) for value in _list(plain, name)], dtype=np.float64)


def _optional_numbers(plain: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    numbers = [np.nan if value is None else _number(value, name) for value in _list(plain, name)]
    return np.array(numbers, dtype=np.float64)


def _words(plain: Mapping[str, Any], name: str, words: tuple[Any, ...], none: int) -> npt.NDArray[np.int64]:
    known = {str(word): code for code, word in enumerate(words)} | {None: none}
    values = _list(plain, name)
    if not all(value is None or isinstance(value, str) for value in values):
        raise ModelFormatError(f"{name!r} must hold words")
    unknown = [value for value in values if value not in known]
    if unknown:
        raise ModelFormatError(f"{name!r} holds an unknown word {unknown[0]!r:.40}")
    return np.array([known[value] for value in values], dtype=np.int64)


def _count_rows(plain: Mapping[str, Any], n: int, classes: int) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    rows = _list(plain, "counts")
    if len(rows) != n:
        raise ModelFormatError(f"'counts' has {len(rows)} rows for {n} nodes")
    return _matrix(rows, classes, "counts")


def _matrix(rows: Any, columns: int, name: str) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == columns for row in rows):
        raise ModelFormatError(f"{name!r} must hold rows of {columns} numbers")
    flat = [value for row in rows for value in row]
    if all(type(value) is int and 0 <= value < 2**53 for value in flat):
        return np.array(flat, dtype=np.int64).reshape(len(rows), columns)
    numbers = np.array([_number(value, name) for value in flat], dtype=np.float64)
    if not np.all(np.isfinite(numbers)):
        raise ModelFormatError(f"{name!r} must hold finite numbers")
    return numbers.reshape(len(rows), columns)


def surrogate_to_plain(one: Surrogate) -> dict[str, Any]:
    """Return a surrogate as plain data."""
    plain = {"attribute": one.split.attribute, **_split_to_plain(one.split)}
    return plain | {"agreement": one.agreement, "adjusted": one.adjusted, "reversed": one.reversed}


def surrogates_from_plain(schema: Schema, n_nodes: int, plain: Mapping[str, Any]) -> dict[int, tuple[Surrogate, ...]]:
    """Restore the surrogates of all nodes."""
    surrogates = {}
    for key, entries in plain.items():
        if not _is_node(key, n_nodes) or not isinstance(entries, list) or not entries:
            raise ModelFormatError(f"'surrogates' has no node {key!r:.40}")
        surrogates[int(key)] = tuple(_surrogate_from_plain(schema, entry) for entry in entries)
    return surrogates


def _surrogate_from_plain(schema: Schema, plain: Any) -> Surrogate:
    if not isinstance(plain, dict) or type(plain.get("reversed")) is not bool:
        raise ModelFormatError("'surrogates' must hold objects with a boolean 'reversed'")
    attribute = plain.get("attribute")
    if type(attribute) is not int or not 0 <= attribute < len(schema.attributes):
        raise ModelFormatError("a surrogate tests an attribute that does not exist")
    split = _split_from_plain(schema, attribute, plain)
    agreement, adjusted = _number(plain.get("agreement"), "agreement"), _number(plain.get("adjusted"), "adjusted")
    if not np.isfinite(adjusted):
        raise ModelFormatError("the agreement of a surrogate is not finite")
    return Surrogate(split, agreement, adjusted, plain["reversed"])


def _is_node(key: str, n_nodes: int) -> bool:
    return key.isdecimal() and key.isascii() and len(key) <= 9 and int(key) < n_nodes


# -- split trace -------------------------------------------------------------------------------------------------------


def evaluated_split_to_plain(one: EvaluatedSplit) -> dict[str, Any]:
    """Return the evaluation of one attribute as plain data."""
    plain: dict[str, Any] = {"attribute": one.attribute, "verdict": str(one.status)}
    if one.split is not None:
        plain |= _split_to_plain(one.split)
    plain["counts"] = [_plain_list(row) for row in one.counts]
    plain["unknown"] = _plain_list(one.unknown)
    if one.tries:
        plain["tries"] = one.tries
    if one.p_value is not None:
        plain["p_value"] = one.p_value
    if one.own_score is not None:
        plain["own_score"] = one.own_score
    return plain


def _split_to_plain(split: Split) -> dict[str, Any]:
    plain: dict[str, Any] = {"test": str(split.test), "branches": split.n_branches, "missing": split.missing}
    if split.cut is not None:
        plain["cut"] = plain_number(split.cut)
    if split.test is Test.SUBSET or split.test is Test.EQUALS:
        plain["branch_of"] = list(split.branch_of)
    if split.bounds:
        plain["bounds"] = [plain_number(bound) for bound in split.bounds]
    return plain


def trace_from_plain(tree: Tree, plain: Mapping[str, Any]) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Restore the split trace of a tree."""
    trace = {}
    for key, entries in plain.items():
        if not _is_node(key, tree.n_nodes) or not isinstance(entries, list):
            raise ModelFormatError(f"'working' has no node {key!r:.40}")
        trace[int(key)] = tuple(_evaluated_split_from_plain(tree, entry) for entry in entries)
    return trace


def _evaluated_split_from_plain(tree: Tree, plain: Any) -> EvaluatedSplit:
    if not isinstance(plain, dict):
        raise ModelFormatError("'working' must hold objects")
    attribute, tries = plain.get("attribute"), plain.get("tries", 0)
    if type(attribute) is not int or not 0 <= attribute < len(tree.schema.attributes):
        raise ModelFormatError("'working' names an attribute that does not exist")
    if type(tries) is not int or not 0 <= tries < 2**53:
        raise ModelFormatError("'working' has a damaged number of tries")
    width = 3 if tree.is_regression else len(tree.schema.classes)
    split = _split_from_plain(tree.schema, attribute, plain) if "test" in plain else None
    counts = _matrix(plain.get("counts"), width, "working counts")
    if split is not None and len(counts) != split.n_branches:
        raise ModelFormatError("'working' has a table that does not match its test")
    unknown = _matrix([plain.get("unknown")], width, "working unknown")[0]
    try:
        status = SplitStatus(str(plain.get("verdict")))
    except ValueError as error:
        raise ModelFormatError(f"'working' has an unknown status {plain.get('verdict')!r:.40}") from error
    p_value = _number(plain["p_value"], "p_value") if "p_value" in plain else None
    if p_value is not None and not 0 <= p_value < float("inf"):
        raise ModelFormatError("'working' has a damaged p-value")
    own_score = _number(plain["own_score"], "own_score") if "own_score" in plain else None
    if own_score is not None and not np.isfinite(own_score):
        raise ModelFormatError("'working' has a damaged score")
    return EvaluatedSplit(attribute, status, split, counts, unknown, tries, p_value, own_score)


def _split_from_plain(schema: Schema, attribute: int, plain: Mapping[str, Any]) -> Split:
    column = schema.attributes[attribute]
    branches, missing = plain.get("branches"), plain.get("missing")
    if type(branches) is not int or type(missing) is not int or not 2 <= branches < 2**31:
        raise ModelFormatError("a test is damaged")
    try:
        test = Test(str(plain.get("test")))
    except ValueError as error:
        raise ModelFormatError(f"unknown test {plain.get('test')!r:.40}") from error
    if test in {Test.THRESHOLD, Test.INTERVALS}:
        if not column.is_numeric:
            raise ModelFormatError("a cut of an attribute that is not numeric")
        cut = _number(plain.get("cut"), "cut") if test is Test.THRESHOLD else None
        bounds = tuple(_numbers(plain, "bounds").tolist()) if test is Test.INTERVALS else ()
        return Split(attribute, test, branches, missing, cut=cut, bounds=bounds)
    if column.is_numeric:
        raise ModelFormatError("a test of values of a numeric attribute")
    if test is Test.NOMINAL:
        branch_of = tuple(range(len(column.values)))
    else:
        branch_of = tuple(_integers(plain, "branch_of").tolist())
    if len(branch_of) != len(column.values):
        raise ModelFormatError("a test does not match the values of its attribute")
    return Split(attribute, test, branches, missing, branch_of=branch_of)
