"""What a subtree is written down as while it grows: nodes by rows, and the stack of what is still to be done."""

from __future__ import annotations

from typing import NamedTuple

from treewright.counts.compiled.flags import Array

# Columns of what is written for each node: whole numbers, and doubles (the class weights from COUNTS_AT on).
ATTRIBUTE, PARENT, BRANCHES, MISSING, OUTCOME, STOP, SIDES_AT, LOW, HIGH = range(9)
WEIGHT, SSE, MEAN, DRAWN, COUNTS_AT = range(5)

# Columns of a frame, a node that waits; `SAID` is what its parent says, `TOP` and `CASES` how much room is used.
FIRST, SIZE, LEVEL, ABOVE, SAID, TOP, CASES = range(7)


class Written(NamedTuple):
    """The nodes of a subtree."""

    integers: Array
    doubles: Array
    sides: Array


class Frames(NamedTuple):
    """The stack of what is still to be done."""

    fields: Array
    keys: Array
    used: Array
