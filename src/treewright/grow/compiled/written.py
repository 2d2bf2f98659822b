"""Arrays of a growing subtree: its nodes, one row each, and the stack of nodes that are not processed yet."""

from __future__ import annotations

from typing import NamedTuple

from treewright.counts.compiled.flags import Array

# Columns of a node: integers, and doubles (the class weights from COUNTS_AT on).
ATTRIBUTE, PARENT, BRANCHES, MISSING, OUTCOME, STOP, SIDES_AT, LOW, HIGH = range(9)
WEIGHT, SSE, MEAN, RANDOM_CUT, COUNTS_AT = range(5)

# Columns of a stack frame. `PARENT_OUTCOME` is the outcome of the parent; `SLICES_END` and `CASES_END` are the used
# lengths of the slices and of the cases of the block.
FIRST, SIZE, LEVEL, PARENT_NODE, PARENT_OUTCOME, SLICES_END, CASES_END = range(7)


class NodeArrays(NamedTuple):
    """The nodes of a subtree in depth-first order, and the branches of the categories of their binary tests."""

    integers: Array
    doubles: Array
    sides: Array


class Frames(NamedTuple):
    """The stack of nodes that are not processed yet: integer fields, random keys, attributes excluded by the path."""

    fields: Array
    keys: Array
    used: Array
