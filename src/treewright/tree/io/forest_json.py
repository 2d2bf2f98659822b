"""Forests as plain data: packed arrays in JSON, and back with validation.

Arrays inside JSON: little-endian bytes as base64, in the smallest type that holds them. A packed array is ``{"type":
"<u2", "data": "..."}``. Its length is not stored; the reader knows how many numbers to expect. Reading validates
everything: another type, a character outside base64, or a wrong number of bytes raises `ModelFormatError`.

Forests are converted without a loop over nodes. Values that follow from other arrays are omitted: the
first child of a node is the next node, a threshold has two branches, the weight of a leaf is the sum of its counts, and
its class is the majority class.

The depth-first order of all nodes is checked at once by their pending count: after each node, the number of branches
that are opened but not yet reached, minus one. It falls to one below its start exactly at the end of every tree, and
determines which node each branch leads to.
"""

from __future__ import annotations

import binascii
import string
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.concurrency import processors
from treewright.data.schema import Schema, Task
from treewright.errors import ModelFormatError
from treewright.lazy_import import loaded_kernels
from treewright.tree.io.tree_json import object_at, surrogate_to_plain, surrogates_from_plain
from treewright.tree.packed_forest import Floats, Longs, PackedForest, Statistics, majority_classes
from treewright.tree.split import STAY, Test
from treewright.tree.tree import LEAF, STOPS, TESTS

UNSIGNED = ("<u1", "<u2", "<u4", "<i8")
SIGNED = ("<i1", "<i2", "<i4")
DOUBLES = ("<f8",)


def encode_array(values: npt.NDArray[Any]) -> dict[str, str]:
    """Return an array as plain data; integers use the smallest type that holds them.

    Examples
    --------
    >>> encode_array(np.array([1, 2, 300])), encode_array(np.array([-1, 5]))
    ({'type': '<u2', 'data': 'AQACACwB'}, {'type': '<i1', 'data': '/wU='})
    """
    type_ = "<f8" if values.dtype.kind == "f" else _smallest(values)
    data = np.ascontiguousarray(values, dtype=type_).tobytes()
    return {"type": type_, "data": binascii.b2a_base64(data, newline=False).decode("ascii")}


def _smallest(values: npt.NDArray[Any]) -> str:
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if low < 0:
        return next((one for one in SIGNED if np.iinfo(one).min <= low and high <= np.iinfo(one).max), "<i8")
    return next(one for one in UNSIGNED if high <= np.iinfo(one).max)


def decode_array(
    plain: Mapping[str, Any], name: str, types: tuple[str, ...], length: int | None = None
) -> npt.NDArray[Any]:
    """Read a packed array of one of these types, of this length if it is known."""
    value = plain.get(name)
    if not isinstance(value, dict) or set(value) != {"type", "data"} or not isinstance(value["data"], str):
        raise ModelFormatError(f"{name!r} must be a packed array")
    if value["type"] not in types:
        raise ModelFormatError(f"{name!r} must be of type {' or '.join(types)}, not {value['type']!r:.40}")
    try:
        data = _decoded(value["data"])
    except ValueError as error:  # a character outside base64 or outside ASCII
        raise ModelFormatError(f"{name!r} is damaged: {error}") from error
    size = int(value["type"][2])
    if len(data) % size or (length is not None and len(data) != length * size):
        expected = "" if length is None else f", expected {length * size}"
        raise ModelFormatError(f"{name!r} has {len(data)} bytes{expected}")
    return np.frombuffer(data, dtype=value["type"])


COMPILED_CHARACTERS = 100_000
"""Longer arrays are decoded by a kernel where kernels are loaded: in a third of the time, and by all threads."""

CHARACTERS_PER_SLICE = 1 << 20
"""Characters that a thread decodes at once."""

_VALUES = np.full(256, 255, dtype=np.uint8)
_VALUES[[ord(one) for one in string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"]] = np.arange(64)


def _decoded(text: str) -> bytes | npt.NDArray[np.uint8]:
    """Decode base64; raise `ValueError` at anything else."""
    if len(text) < COMPILED_CHARACTERS or len(text) % 4 or not loaded_kernels.kept:
        return binascii.a2b_base64(text, strict_mode=True)
    from treewright.tree.pack_kernels import decode_base64

    try:
        characters = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
        last = binascii.a2b_base64(text[-4:], strict_mode=True)  # it may be padded
    except ValueError:
        return binascii.a2b_base64(text, strict_mode=True)  # which names the error of the whole text
    whole = len(text) // 4 * 3 - 3
    decoded = np.empty(whole + len(last), dtype=np.uint8)
    decoded[whole:] = np.frombuffer(last, dtype=np.uint8)

    def one_slice(begin: int) -> bool:
        end = min(begin + CHARACTERS_PER_SLICE, len(text) - 4)
        return bool(decode_base64(characters[begin:end], _VALUES, decoded[begin // 4 * 3 : end // 4 * 3]))

    with ThreadPoolExecutor(processors()) as pool:
        valid = all(pool.map(one_slice, range(0, len(text) - 4, CHARACTERS_PER_SLICE)))
    decoded.flags.writeable = False  # as bytes are
    return decoded if valid else binascii.a2b_base64(text, strict_mode=True)


_CODE = {test: TESTS.index(test) for test in Test}
Mask = npt.NDArray[np.bool_]


# -- writing ---------------------------------------------------------------------------------------------------------


def packed_forest_to_plain(packed: PackedForest) -> dict[str, Any]:
    """Return the arrays of a packed forest, encoded."""
    inner = packed.attribute != LEAF
    nodes = np.flatnonzero(inner)
    branches = np.diff(packed.child_start)[inner]
    owner = np.repeat(nodes, branches)
    later = np.ones(len(packed.children), dtype=bool)
    later[packed.child_start[nodes]] = False
    tests = packed.test[inner]
    plain: dict[str, Any] = {
        "sizes": encode_array(np.diff(packed.starts)),
        "attribute": encode_array(packed.attribute),
        "later": encode_array(packed.children[later].astype(np.int64) - owner[later]),
        "cut": encode_array(packed.cut[inner & (packed.test == _CODE[Test.THRESHOLD])]),
        "missing": encode_array(packed.missing[inner]),
        "stop": encode_array(packed.stop[~inner]),
    }
    if np.any(branches != 2):
        plain["branches"] = encode_array(branches)
    if np.any(tests != _CODE[Test.THRESHOLD]):
        plain["test"] = encode_array(tests)
        chosen = inner & _is(packed.test, Test.SUBSET, Test.EQUALS)
        plain["values"] = encode_array(packed.value_branch[np.repeat(chosen, np.diff(packed.value_start))])
        plain["bound_counts"] = encode_array(np.diff(packed.bound_start)[inner & _is(packed.test, Test.INTERVALS)])
        plain["bounds"] = encode_array(packed.bounds)
    if packed.surrogates:
        plain["surrogates"] = {
            str(node): [surrogate_to_plain(one) for one in packed.surrogates[node]]
            for node in sorted(packed.surrogates)
        }
    return plain | _statistics_to_plain(packed)


def _statistics_to_plain(packed: PackedForest) -> dict[str, Any]:
    statistics = packed.statistics
    plain: dict[str, Any] = {"statistics": "leaves" if packed.leaves_only else "nodes"}
    if statistics.sse is not None:
        whole = (
            np.array_equal(statistics.weight, np.floor(statistics.weight)) and float(statistics.weight.max()) < 2**53
        )
        plain["weight"] = encode_array(statistics.weight.astype(np.int64) if whole else statistics.weight)
        plain["outcome"] = encode_array(statistics.outcome.astype(np.float64))
        if np.any(statistics.sse != 0):
            plain["sse"] = encode_array(statistics.sse)
        return plain
    plain["counts"] = encode_array(statistics.counts)
    if not np.array_equal(statistics.weight, statistics.counts.sum(axis=1)):
        plain["weight"] = encode_array(statistics.weight)
    if not np.array_equal(statistics.outcome, majority_classes(statistics.counts)):
        plain["outcome"] = encode_array(statistics.outcome)
    return plain


def _is(test: npt.NDArray[np.int8], *forms: Test) -> Mask:
    found: Mask = test == _CODE[forms[0]]
    for form in forms[1:]:
        found |= test == _CODE[form]
    return found


# -- reading ---------------------------------------------------------------------------------------------------------


def packed_forest_from_plain(schema: Schema, plain: Mapping[str, Any]) -> PackedForest:
    """Restore a packed forest; raise `ModelFormatError` if it is invalid."""
    sizes = decode_array(plain, "sizes", UNSIGNED).astype(np.int64)
    if len(sizes) == 0 or np.any(sizes < 1) or np.any(sizes >= 2**31):
        raise ModelFormatError("a forest has at least one tree, and every tree has at least one node")
    starts = np.concatenate(([0], np.cumsum(sizes)))
    n = int(starts[-1])
    if n >= 2**31:
        raise ModelFormatError(f"{n} nodes are too many")
    attribute = decode_array(plain, "attribute", SIGNED, n).astype(np.int32)
    if attribute.min() < LEAF or attribute.max() >= len(schema.attributes):
        raise ModelFormatError("a node tests an attribute that the schema does not have")
    inner = attribute != LEAF
    nodes, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
    n_branches = np.full(len(nodes), 2, dtype=np.int64)
    if "branches" in plain:
        n_branches = decode_array(plain, "branches", UNSIGNED, len(nodes)).astype(np.int64)
    child_start, children = _children(plain, starts, inner, nodes, n_branches)
    test = np.zeros(n, dtype=np.int8)
    if "test" in plain:
        tests = decode_array(plain, "test", ("<u1",), len(nodes))
        if np.any(tests >= len(TESTS)):
            raise ModelFormatError("a node has an unknown form of test")
        test[nodes] = tests
    where_missing = decode_array(plain, "missing", (*SIGNED, *UNSIGNED), len(nodes))
    if np.any(where_missing < STAY) or np.any(where_missing >= n_branches):
        raise ModelFormatError("missing values go to a branch that does not exist")
    missing = np.full(n, -1, dtype=np.int32)
    missing[nodes] = where_missing
    by_cut = nodes
    value_start, value_branch = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    bound_start, bounds = value_start, np.zeros(0)
    branches = np.zeros(n, dtype=np.int64)
    branches[nodes] = n_branches
    _check_kinds(schema, attribute[nodes], test[nodes], n_branches)
    if "test" in plain:
        by_cut = np.flatnonzero(inner & _is(test, Test.THRESHOLD))
        value_start, value_branch = _values(schema, plain, attribute, test, inner, branches, missing, child_start)
        bound_start, bounds = _bounds(plain, inner & _is(test, Test.INTERVALS), branches, missing)
    cuts = decode_array(plain, "cut", DOUBLES, len(by_cut))
    if not np.all(np.isfinite(cuts)):
        raise ModelFormatError("a cut is not finite")
    cut = np.full(n, np.nan)
    cut[by_cut] = cuts
    stops = decode_array(plain, "stop", ("<u1",), len(leaves))
    if np.any(stops >= len(STOPS)):
        raise ModelFormatError("a leaf has an unknown reason to stop")
    stop = np.full(n, -1, dtype=np.int8)
    stop[leaves] = stops
    surrogates = surrogates_from_plain(schema, n, object_at(plain, "surrogates")) if "surrogates" in plain else {}
    for node in surrogates:
        if not inner[node] or child_start[node + 1] - child_start[node] != 2:
            raise ModelFormatError(f"node {node} cannot have surrogates")
    leaves_only = plain.get("statistics") == "leaves"
    if not leaves_only and plain.get("statistics") != "nodes":
        raise ModelFormatError("'statistics' must be 'leaves' or 'nodes'")
    statistics = _statistics(schema, plain, len(leaves) if leaves_only else n)
    return PackedForest(
        schema,
        starts,
        attribute,
        test,
        cut,
        missing,
        child_start,
        children,
        value_start,
        value_branch,
        bound_start,
        bounds,
        stop,
        statistics,
        leaves_only,
        surrogates,
    )


def _children(
    plain: Mapping[str, Any], starts: Longs, inner: Mask, nodes: npt.NDArray[np.intp], n_branches: Longs
) -> tuple[Longs, npt.NDArray[np.int32]]:
    """Return the children, which must be numbered depth first in every tree.

    The branches with the same pending count are opened and reached in turn: each is reached before the next is opened.
    So if every branch leads to a later node with its pending count, and no node is reached twice, each branch leads to
    the right node. `n_branches` are those of the inner nodes.
    """
    n, trees = len(inner), len(starts) - 1
    if np.any((n_branches < 2) | (n_branches >= n)):  # checked before anything of that size is allocated
        raise ModelFormatError("the branches do not make trees of these sizes")
    rises = np.full(n, -1, dtype=np.int64)
    rises[nodes] = n_branches - 1
    pending = np.cumsum(rises)
    # The count falls by one at the end of each tree, and is nowhere else that low.
    ends, before = starts[1:] - 1, -np.arange(trees)
    if np.any(pending[ends] != before - 1):
        raise ModelFormatError("the branches do not make trees of these sizes")
    pending[ends] += 1
    if np.any(np.minimum.reduceat(pending, starts[:-1]) < before):
        raise ModelFormatError("the branches do not make trees of these sizes")
    pending[ends] -= 1
    child_start = np.zeros(n + 1, dtype=np.int64)
    np.add(pending, np.arange(1, n + 1), out=child_start[1:])
    first = child_start[nodes]
    children = np.empty(int(child_start[-1]), dtype=np.int64)
    owner, turn, later = nodes, np.ones(1, dtype=np.int64), first + 1
    if len(children) != 2 * len(nodes):
        every = np.repeat(nodes, n_branches)
        branch = np.arange(len(every)) - child_start[every]
        later = np.flatnonzero(branch)
        owner, turn = every[later], branch[later]
    behind = owner + decode_array(plain, "later", UNSIGNED, len(owner))
    if np.any(behind <= owner) or np.any(behind >= n):
        raise ModelFormatError("a child must come after its parent, inside the forest")
    children[first] = nodes + 1
    children[later] = behind
    reached = np.zeros(n, dtype=bool)  # branches plus roots equal nodes: if all are reached, each is reached once
    reached[children] = True
    reached[starts[:-1]] = True
    if not reached.all() or np.any(pending[behind - 1] != pending[owner] - turn):
        raise ModelFormatError("the nodes are not numbered depth first")
    return child_start, children.astype(np.int32)


def _check_kinds(
    schema: Schema, attribute: npt.NDArray[np.int32], test: npt.NDArray[np.int8], n_branches: Longs
) -> None:
    """Check that the tests of the inner nodes match the kinds of their attributes."""
    numeric = np.array([column.is_numeric for column in schema.attributes], dtype=bool)
    of_numbers = _is(test, Test.THRESHOLD, Test.INTERVALS)
    if np.any(numeric[attribute] != of_numbers):
        raise ModelFormatError("an attribute has a test that does not match its kind")
    if np.any(n_branches[_is(test, Test.THRESHOLD, Test.EQUALS)] != 2):
        raise ModelFormatError("a threshold, or one value against the others, has two branches")


def _values(
    schema: Schema,
    plain: Mapping[str, Any],
    attribute: npt.NDArray[np.int32],
    test: npt.NDArray[np.int8],
    inner: Mask,
    n_branches: Longs,
    missing: npt.NDArray[np.int32],
    child_start: Longs,
) -> tuple[Longs, npt.NDArray[np.int32]]:
    """Return the branch of every category of the nominal tests."""
    n_categories = np.array([len(column.values) for column in schema.attributes] + [0], dtype=np.int64)
    multiway = inner & _is(test, Test.NOMINAL)
    listed = inner & _is(test, Test.SUBSET, Test.EQUALS)
    lengths = np.where(multiway | listed, n_categories[attribute], 0)
    if np.any(multiway & (n_branches != lengths)):
        raise ModelFormatError("a nominal test has one branch for each value")
    stored = np.zeros(0, dtype=np.int64)
    if listed.any() or "values" in plain:
        stored = decode_array(plain, "values", (*SIGNED, *UNSIGNED), int(lengths[listed].sum())).astype(np.int64)
    start = np.concatenate(([0], np.cumsum(lengths)))
    owner = np.repeat(np.arange(len(test)), lengths)
    branch = np.arange(len(owner)) - start[owner]
    branch[listed[owner]] = stored
    if np.any((branch < -1) | (branch >= n_branches[owner])):
        raise ModelFormatError("a value goes to a branch that does not exist")
    single = _is(test, Test.EQUALS)
    alone = np.bincount(owner[branch == 0], minlength=len(test))
    if np.any(inner & single & (alone != 1)) or np.any(single[owner] & (branch < 0)):
        raise ModelFormatError("an equals test has one value on the left and all others on the right")
    taken = np.zeros(child_start[-1], dtype=bool)
    taken[child_start[owner[branch >= 0]] + branch[branch >= 0]] = True
    own = np.flatnonzero(inner & (missing >= 0))
    taken[child_start[own] + missing[own]] = True
    if np.any(~taken & np.repeat(inner & _is(test, Test.SUBSET), n_branches)):
        raise ModelFormatError("a branch of a subset test has no value")
    return start, branch.astype(np.int32)


def _bounds(
    plain: Mapping[str, Any], by_bounds: Mask, n_branches: Longs, missing: npt.NDArray[np.int32]
) -> tuple[Longs, Floats]:
    lengths = np.zeros(len(by_bounds), dtype=np.int64)
    if not by_bounds.any():
        return np.concatenate(([0], lengths.cumsum())), np.zeros(0)
    lengths[by_bounds] = decode_array(plain, "bound_counts", UNSIGNED, int(by_bounds.sum()))
    own_branch = (missing == n_branches - 1) & (n_branches == lengths + 2)
    if np.any(by_bounds & ((lengths < 1) | ((n_branches != lengths + 1) & ~own_branch))):
        raise ModelFormatError("bounds do not make these branches")
    bounds = decode_array(plain, "bounds", DOUBLES, int(lengths.sum())).astype(np.float64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    same = owner[1:] == owner[:-1]
    if not np.all(np.isfinite(bounds)) or np.any(same & (bounds[1:] <= bounds[:-1])):
        raise ModelFormatError("the bounds do not ascend, or are not finite")
    return np.concatenate(([0], np.cumsum(lengths))), bounds


def _statistics(schema: Schema, plain: Mapping[str, Any], rows: int) -> Statistics:
    if schema.task is Task.REGRESSION:
        weight = decode_array(plain, "weight", (*UNSIGNED, *DOUBLES), rows).astype(np.float64)
        outcome = decode_array(plain, "outcome", DOUBLES, rows).astype(np.float64)
        sse = decode_array(plain, "sse", DOUBLES, rows).astype(np.float64) if "sse" in plain else np.zeros(rows)
        counts: npt.NDArray[Any] = np.zeros((rows, 0))
        _check_numbers(weight, sse)
        if not np.all(np.isfinite(outcome)):
            raise ModelFormatError("an outcome is not finite")
        return Statistics(weight, counts, outcome, sse)
    classes = len(schema.classes)
    counts = decode_array(plain, "counts", (*UNSIGNED, *DOUBLES), rows * classes).reshape(rows, classes)
    if counts.dtype.kind != "u":
        _check_numbers(counts)
    if counts.dtype.kind == "i" and np.any(counts >= 2**53):
        raise ModelFormatError("a count is too large")
    counts = counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64)
    if "weight" in plain:
        weight = decode_array(plain, "weight", DOUBLES, rows).astype(np.float64)
    elif counts.dtype.kind == "f":
        weight = counts.sum(axis=1)
    else:
        weight = np.zeros(rows)
        for column in counts.T:  # by column: looping over many short rows is slow
            weight += column
    _check_numbers(weight)
    if "outcome" not in plain:
        return Statistics(weight, counts, majority_classes(counts), None)
    codes = decode_array(plain, "outcome", UNSIGNED, rows).astype(np.int64)
    if np.any(codes >= classes) or np.any(codes < 0):
        raise ModelFormatError("an outcome is not a class")
    return Statistics(weight, counts, codes.astype(np.int32), None)


def _check_numbers(*arrays: npt.NDArray[Any]) -> None:
    for array in arrays:
        if not np.all(np.isfinite(array)) or np.any(array < 0):
            raise ModelFormatError("a weight, a count or a sum of squares is negative or not finite")
