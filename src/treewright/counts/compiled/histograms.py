"""Counting a node: the statistics of every code of every attribute, in one pass over its cases."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, borrowing


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
    n = len(rows)
    unit = len(weights) == 0
    width = counts.shape[1]
    flat = counts.reshape(-1)
    fours = len(attributes) // 4 * 4
    w = 1.0
    # Row, class and weight of a case are looked up once for four attributes.
    for one in range(0, fours, 4):
        a, b, c, d = attributes[one], attributes[one + 1], attributes[one + 2], attributes[one + 3]
        codes_a, codes_b, codes_c, codes_d = codes[a], codes[b], codes[c], codes[d]
        at_a, at_b, at_c, at_d = starts[a] * width, starts[b] * width, starts[c] * width, starts[d] * width
        for i in range(n):
            row = rows[i]
            k = target[row]
            if not unit:
                w = weights[i]
            flat[at_a + np.int64(codes_a[row]) * width + k] += w
            flat[at_b + np.int64(codes_b[row]) * width + k] += w
            flat[at_c + np.int64(codes_c[row]) * width + k] += w
            flat[at_d + np.int64(codes_d[row]) * width + k] += w
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], starts[a] * width
        for i in range(n):
            row = rows[i]
            if not unit:
                w = weights[i]
            flat[at_a + np.int64(codes_a[row]) * width + target[row]] += w


@borrowing
def weigh_classes(rows: Array, target: Array, weights: Array, counts: Array) -> None:
    """Add the weights of the cases of a node to those of their classes."""
    unit = len(weights) == 0
    w = 1.0
    for i in range(len(rows)):
        if not unit:
            w = weights[i]
        counts[target[rows[i]]] += w


@borrowing
def count_numbers(
    codes: Array, rows: Array, deviation: Array, weights: Array, attributes: Array, starts: Array, counts: Array
) -> None:
    """Add the cases of a node to the weight, sum and sum of squares of their codes; deviations are the node's."""
    n = len(rows)
    unit = len(weights) == 0
    for one in range(len(attributes)):
        a = attributes[one]
        start = starts[a]
        column = codes[a]
        for i in range(n):
            place = start + np.int64(column[rows[i]])
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
        at_a, at_b, at_c, at_d = starts[a], starts[b], starts[c], starts[d]
        for i in range(len(rows)):
            row = rows[i]
            cases[at_a + np.int64(codes_a[row])] += 1
            cases[at_b + np.int64(codes_b[row])] += 1
            cases[at_c + np.int64(codes_c[row])] += 1
            cases[at_d + np.int64(codes_d[row])] += 1
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], starts[a]
        for i in range(len(rows)):
            cases[at_a + np.int64(codes_a[rows[i]])] += 1


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
    bin_of_cut, cut = inside
    nowhere = np.int64(len(sizes) - 1)
    w = 1.0
    for i in range(len(rows)):
        row = rows[i]
        code = np.int64(codes[row])
        branch = np.int64(branch_of_code[code])
        if code == bin_of_cut:
            branch = np.int64(column[row] > cut)
        if branch < 0:
            branch = nowhere
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[branch] += 1
        sums[branch] += w


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
            place = starts[branch]
            starts[branch] = place + 1
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
