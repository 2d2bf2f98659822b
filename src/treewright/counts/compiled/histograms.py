"""Counting a node: the statistics of every code of every attribute, in one pass over its cases."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, kernel


@kernel
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
    for one in range(len(attributes)):
        a = attributes[one]
        start = starts[a]
        column = codes[a]
        if unit:
            for i in range(n):
                row = rows[i]
                counts[start + np.int64(column[row]), target[row]] += 1.0
        else:
            for i in range(n):
                row = rows[i]
                counts[start + np.int64(column[row]), target[row]] += weights[i]


@kernel
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


@kernel
def count_cases(codes: Array, rows: Array, attributes: Array, starts: Array, cases: Array) -> None:
    """Count the cases of each code, whatever they weigh."""
    for one in range(len(attributes)):
        a = attributes[one]
        start = starts[a]
        column = codes[a]
        for i in range(len(rows)):
            cases[start + np.int64(column[rows[i]])] += 1


@kernel
def route_rows(
    codes: Array, column: Array, rows: Array, branch_of_code: Array, inside: Number, cut: Number, branches: Array
) -> None:
    """Write the branch of every case of a node: by its code, and in one bin by its number.

    `branch_of_code` says -1 where a case is missing; `inside` is the bin that the cut divides, or -1.
    """
    for i in range(len(rows)):
        row = rows[i]
        code = np.int64(codes[row])
        if code == inside:
            branches[i] = 0 if column[row] <= cut else 1
        else:
            branches[i] = branch_of_code[code]
