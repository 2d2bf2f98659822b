"""Counting a node: the statistics of every code of every attribute, in one pass over its cases.

Places are unsigned numbers here: of a signed one Numba asks each time whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, borrowing, part


@borrowing
def count_classes(
    codes: Array, rows: Array, target: Array, weights: Array, attributes: Array, starts: Array, counts: Array
) -> None:
    """Add the cases of a node to the class weights of their codes.

    Parameters
    ----------
    codes : array, attributes x rows of the table
    rows : array of int
        Of the node.
    target, weights : array
        Class of every row of the table; weights of the cases of the node, none where each weighs one.
    attributes, starts : array of int
        Those to be counted, and the first place of each attribute in `counts`.
    counts : array, places x classes
    """
    width = counts.shape[1]
    flat = counts.reshape(-1)
    bits = np.uint64(0)
    while width >> bits > 1:
        bits += np.uint64(1)
    if width != 1 << bits:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), None)
    elif _are_all(rows, codes.shape[1]):
        _add_classes(codes, None, target, weights, attributes, starts, flat, np.uint64(width), bits)
    else:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), bits)


@part
def _are_all(rows: Array, n: Number) -> Number:
    """Say whether a node has all rows of the table, as the root mostly has: then none has to be looked up."""
    same = 0
    while same < len(rows) and rows[same] == same:
        same += 1
    return same == n


@part
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
    """Add cases as `count_classes` does; all of them where `rows` is None.

    `width` is the number of classes, `bits` its logarithm: where it is whole, shifting does instead of multiplying.
    """
    n = codes.shape[1] if rows is None else len(rows)
    unit = len(weights) == 0
    fours = len(attributes) // 4 * 4
    w = 1.0
    # Row, class and weight of a case are looked up once for four attributes.
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


@borrowing
def weigh_classes(rows: Array, target: Array, weights: Array, counts: Array) -> None:
    """Add the weights of the cases of a node to those of their classes."""
    unit = len(weights) == 0
    w = 1.0
    for i in range(len(rows)):
        if not unit:
            w = weights[i]
        counts[np.uint64(target[np.uint64(rows[i])])] += w


@borrowing
def count_numbers(
    codes: Array, rows: Array, deviation: Array, weights: Array, attributes: Array, starts: Array, counts: Array
) -> None:
    """Add the cases of a node to the weight, sum and sum of squares of their codes; deviations are the node's."""
    n = len(rows)
    unit = len(weights) == 0
    for one in range(len(attributes)):
        a = attributes[one]
        start = np.uint64(starts[a])
        column = codes[a]
        for i in range(n):
            place = start + np.uint64(column[np.uint64(rows[i])])
            w = 1.0 if unit else weights[i]
            d = deviation[i]
            counts[place, 0] += w
            counts[place, 1] += w * d
            counts[place, 2] += w * d * d


@borrowing
def count_cases(codes: Array, rows: Array, attributes: Array, starts: Array, cases: Array) -> None:
    """Count the cases of each code, whatever they weigh."""
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


@part
def _branch_of(
    row: np.uint64, codes: Array, column: Array, branch_of_code: Array, inside: tuple[Number, Number], nowhere: Number
) -> np.uint64:
    """Return the branch of a case, `nowhere` if it belongs to none; see `route_rows`."""
    bin_of_cut, cut = inside
    code = np.uint64(codes[row])
    branch = np.int64(branch_of_code[code])
    if np.int64(code) == bin_of_cut:
        branch = np.int64(column[row] > cut)
    return np.uint64(branch if branch >= 0 else nowhere)


@borrowing
def route_rows(
    codes: Array,
    column: Array,
    rows: Array,
    weights: Array,
    branch_of_code: Array,
    inside: tuple[Number, Number],
    branches: Array,
    sizes: Array,
    sums: Array,
) -> None:
    """Write the branch of every case of a node: by its code, and in one bin by its number.

    Parameters
    ----------
    codes, column : array
        Of the attribute.
    rows, weights : array
        Of the node.
    branch_of_code : array
        -1 where a case belongs to none.
    inside : tuple
        The bin that a cut divides, or -1, and the cut.
    branches : array
        To be filled.
    sizes, sums : array
        Cases and weights are added up, those of each branch and in the last place those that belong to none.
    """
    unit = len(weights) == 0
    nowhere = np.int64(len(sizes) - 1)
    w = 1.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        branch = _branch_of(row, codes, column, branch_of_code, inside, nowhere)
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[branch] += 1
        sums[branch] += w


@borrowing
def weigh_branches(
    codes: Array,
    column: Array,
    rows: Array,
    weights: Array,
    target: Array,
    branch_of_code: Array,
    inside: tuple[Number, Number],
    branches: Array,
    sizes: Array,
    counts: Array,
) -> None:
    """Write the branch of every case as `route_rows` does, and add up the class weights of the branches.

    `counts` has a row for each branch and one for cases that belong to none.
    """
    unit = len(weights) == 0
    nowhere = np.int64(len(sizes) - 1)
    w = 1.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        branch = _branch_of(row, codes, column, branch_of_code, inside, nowhere)
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[branch] += 1
        counts[branch, np.uint64(target[row])] += w


@borrowing
def part_rows(
    rows: Array,
    weights: Array,
    branches: Array,
    sizes: Array,
    shares: Array,
    starts: Array,
    new_rows: Array,
    new_weights: Array,
) -> None:
    """Put the cases of each branch together, in their order.

    A case that belongs to none goes to every branch that is not empty, its weight times the share of that branch.

    Parameters
    ----------
    rows, weights, branches, sizes : array
        As in `route_rows`.
    shares : array
        Of each branch.
    starts : array of int
        Where each branch begins; moved on to where it ends.
    new_rows, new_weights : array
        To be filled; no weights where each case weighs one.
    """
    nowhere = len(sizes) - 1
    weighted = len(new_weights) > 0
    unit = len(weights) == 0
    w = 1.0
    for i in range(len(rows)):
        branch = branches[i]
        if weighted and not unit:
            w = weights[i]
        if branch < nowhere:
            place = np.uint64(starts[np.uint64(branch)])
            starts[np.uint64(branch)] += 1
            new_rows[place] = rows[i]
            if weighted:
                new_weights[place] = w
            continue
        for other in range(nowhere):
            if sizes[other] > 0:
                place = starts[other]
                starts[other] = place + 1
                new_rows[place] = rows[i]
                new_weights[place] = w * shares[other]
