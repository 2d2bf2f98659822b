"""Histograms of a node, the statistics of every code of every attribute, and the routing of its cases to branches.

Indices are unsigned here: for a signed index Numba checks each time whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel


@no_alloc_kernel
def count_classes(
    codes: Array, rows: Array, target: Array, weights: Array, attributes: Array, starts: Array, counts: Array
) -> None:
    """Add the cases of a node to the class weights of their codes (the histogram).

    Parameters
    ----------
    codes : array, attributes x rows of the table
    rows : array of int
        Of the node.
    target, weights : array
        Class of every row of the table; weights of the cases of the node, empty where each weighs one.
    attributes, starts : array of int
        Attributes to count, and the first bin of each attribute in `counts`.
    counts : array, bins x classes
    """
    width = counts.shape[1]
    flat = counts.reshape(-1)
    bits = np.uint64(0)
    while width >> bits > 1:
        bits += np.uint64(1)
    if width != 1 << bits:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), None)
    elif _is_whole_table(rows, codes.shape[1]):
        _add_classes(codes, None, target, weights, attributes, starts, flat, np.uint64(width), bits)
    else:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), bits)


@internal
def _is_whole_table(rows: Array, n: Number) -> Number:
    """Return True if a node has all rows of the table, as the root usually has: then `rows` need not be read."""
    same = 0
    while same < len(rows) and rows[same] == same:
        same += 1
    return same == n


@internal
def _add_classes(
    codes: Array,
    rows: Array | None,
    target: Array,
    weights: Array,
    attributes: Array,
    starts: Array,
    flat: Array,
    width: np.uint64,
    bits: np.uint64 | None,
) -> None:
    """Add cases as `count_classes` does; all rows of the table where `rows` is None.

    `width` is the number of classes, `bits` its binary logarithm or None where that is no integer: shifts replace
    multiplications.
    """
    n = codes.shape[1] if rows is None else len(rows)
    unit = len(weights) == 0
    fours = len(attributes) // 4 * 4
    w = 1.0
    # Row, class and weight of a case are read once for four attributes.
    # Invariant: `flat` holds all cases of the node for the first `one` attributes.
    for one in range(0, fours, 4):
        a, b, c, d = attributes[one], attributes[one + 1], attributes[one + 2], attributes[one + 3]
        codes_a, codes_b, codes_c, codes_d = codes[a], codes[b], codes[c], codes[d]
        at_a, at_b = np.uint64(starts[a]) * width, np.uint64(starts[b]) * width
        at_c, at_d = np.uint64(starts[c]) * width, np.uint64(starts[d]) * width
        for i in range(n):
            row = np.uint64(i) if rows is None else np.uint64(rows[i])
            k = np.uint64(target[row])
            if not unit:
                w = weights[i]
            if bits is None:
                flat[at_a + np.uint64(codes_a[row]) * width + k] += w
                flat[at_b + np.uint64(codes_b[row]) * width + k] += w
                flat[at_c + np.uint64(codes_c[row]) * width + k] += w
                flat[at_d + np.uint64(codes_d[row]) * width + k] += w
            else:
                flat[at_a + (np.uint64(codes_a[row]) << bits) + k] += w
                flat[at_b + (np.uint64(codes_b[row]) << bits) + k] += w
                flat[at_c + (np.uint64(codes_c[row]) << bits) + k] += w
                flat[at_d + (np.uint64(codes_d[row]) << bits) + k] += w
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], np.uint64(starts[a]) * width
        for i in range(n):
            row = np.uint64(i) if rows is None else np.uint64(rows[i])
            if not unit:
                w = weights[i]
            flat[at_a + np.uint64(codes_a[row]) * width + np.uint64(target[row])] += w


@no_alloc_kernel
def sum_class_weights(rows: Array, target: Array, weights: Array, counts: Array) -> None:
    """Add the weights of the cases of a node to the weights of their classes."""
    unit = len(weights) == 0
    w = 1.0
    for i in range(len(rows)):
        if not unit:
            w = weights[i]
        counts[np.uint64(target[np.uint64(rows[i])])] += w


@no_alloc_kernel
def count_numbers(
    codes: Array, rows: Array, deviation: Array, weights: Array, attributes: Array, starts: Array, counts: Array
) -> None:
    """Add the cases of a node to the weight, sum and sum of squares of their codes.

    `deviation` is the difference between a case's target and the mean of the node.
    """
    n = len(rows)
    unit = len(weights) == 0
    for one in range(len(attributes)):
        a = attributes[one]
        start = np.uint64(starts[a])
        column = codes[a]
        for i in range(n):
            index = start + np.uint64(column[np.uint64(rows[i])])
            w = 1.0 if unit else weights[i]
            d = deviation[i]
            counts[index, 0] += w
            counts[index, 1] += w * d
            counts[index, 2] += w * d * d


@no_alloc_kernel
def count_cases(codes: Array, rows: Array, attributes: Array, starts: Array, cases: Array) -> None:
    """Count the cases of each code regardless of their weights."""
    fours = len(attributes) // 4 * 4
    for one in range(0, fours, 4):
        a, b, c, d = attributes[one], attributes[one + 1], attributes[one + 2], attributes[one + 3]
        codes_a, codes_b, codes_c, codes_d = codes[a], codes[b], codes[c], codes[d]
        at_a, at_b = np.uint64(starts[a]), np.uint64(starts[b])
        at_c, at_d = np.uint64(starts[c]), np.uint64(starts[d])
        for i in range(len(rows)):
            row = np.uint64(rows[i])
            cases[at_a + np.uint64(codes_a[row])] += 1
            cases[at_b + np.uint64(codes_b[row])] += 1
            cases[at_c + np.uint64(codes_c[row])] += 1
            cases[at_d + np.uint64(codes_d[row])] += 1
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], np.uint64(starts[a])
        for i in range(len(rows)):
            cases[at_a + np.uint64(codes_a[np.uint64(rows[i])])] += 1


@internal
def _branch_of_row(
    row: np.uint64,
    codes: Array,
    column: Array,
    branch_of_code: Array,
    threshold_bin: tuple[Number, Number],
    no_branch: Number,
) -> np.uint64:
    """Return the branch of a case, `no_branch` if its value is missing and has no branch; see `route_rows`."""
    bin_of_threshold, threshold = threshold_bin
    code = np.uint64(codes[row])
    branch = np.int64(branch_of_code[code])
    if np.int64(code) == bin_of_threshold:
        branch = np.int64(column[row] > threshold)
    return np.uint64(branch if branch >= 0 else no_branch)


@no_alloc_kernel
def route_rows(
    codes: Array,
    column: Array,
    rows: Array,
    weights: Array,
    branch_of_code: Array,
    threshold_bin: tuple[Number, Number],
    branches: Array,
    sizes: Array,
    sums: Array,
) -> None:
    """Write the branch of every case of a node: by its code, and in the bin that holds the threshold by its value.

    Parameters
    ----------
    codes, column : array
        Of the attribute.
    rows, weights : array
        Of the node.
    branch_of_code : array
        -1 where a case belongs to no branch.
    threshold_bin : tuple
        The bin that contains the threshold, or -1, and the threshold.
    branches : array
        Output.
    sizes, sums : array
        Number and weight of the cases of each branch are added; the last entry is for cases without a branch.
    """
    unit = len(weights) == 0
    no_branch = np.int64(len(sizes) - 1)
    w = 1.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        branch = _branch_of_row(row, codes, column, branch_of_code, threshold_bin, no_branch)
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[branch] += 1
        sums[branch] += w


@no_alloc_kernel
def route_and_count(
    codes: Array,
    column: Array,
    rows: Array,
    weights: Array,
    target: Array,
    branch_of_code: Array,
    threshold_bin: tuple[Number, Number],
    branches: Array,
    sizes: Array,
    counts: Array,
) -> None:
    """Write the branch of every case as `route_rows` does, and add up the class weights of the branches.

    `counts` has a row for each branch and one for cases without a branch.
    """
    unit = len(weights) == 0
    no_branch = np.int64(len(sizes) - 1)
    w = 1.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        branch = _branch_of_row(row, codes, column, branch_of_code, threshold_bin, no_branch)
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[branch] += 1
        counts[branch, np.uint64(target[row])] += w


@no_alloc_kernel
def partition_rows(
    rows: Array,
    weights: Array,
    branches: Array,
    sizes: Array,
    shares: Array,
    starts: Array,
    new_rows: Array,
    new_weights: Array,
) -> None:
    """Partition the cases of a node stably by branch.

    A case without a branch is copied to every branch that is not empty; its weight is multiplied by the share of that
    branch (fractional cases).

    Parameters
    ----------
    rows, weights, branches, sizes : array
        As in `route_rows`.
    shares : array
        Of each branch.
    starts : array of int
        First index of each branch; afterwards the index after its last case.
    new_rows, new_weights : array
        Output; no weights where each case weighs one.
    """
    no_branch = len(sizes) - 1
    weighted = len(new_weights) > 0
    unit = len(weights) == 0
    w = 1.0
    # Invariant: `starts[b]` is the next free index of branch b, and the cases before i are written in their order.
    for i in range(len(rows)):
        branch = branches[i]
        if weighted and not unit:
            w = weights[i]
        if branch < no_branch:
            index = np.uint64(starts[np.uint64(branch)])
            starts[np.uint64(branch)] += 1
            new_rows[index] = rows[i]
            if weighted:
                new_weights[index] = w
            continue
        for other in range(no_branch):
            if sizes[other] > 0:
                index = starts[other]
                starts[other] = index + 1
                new_rows[index] = rows[i]
                new_weights[index] = w * shares[other]
