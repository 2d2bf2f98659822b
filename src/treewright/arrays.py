"""Types of the arrays and numbers that kernels take: what an array holds, its dtype and its shape.

Numba ignores annotations and compiles for the dtypes that it is given; another dtype compiles a kernel once more. NumPy
has no type for a shape, so the text below an alias names it. A kernel may take a row of what is documented as a table.
Inside a kernel numbers are narrower than Python's, which mypy cannot know: hence the unions with `Any`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Integer: TypeAlias = int | Any
"""An integer of Python or NumPy: an index, a code, a number of cases."""

Real: TypeAlias = float | Any
"""A double of Python or NumPy: a weight, a score, a value."""

Boolean: TypeAlias = bool | Any
"""A boolean of Python or NumPy."""

# -- cases and their values ----------------------------------------------------------------------------------------

Rows: TypeAlias = npt.NDArray[np.int32]
"""int32, (cases,): cases, as rows of the table or as indices in a block."""

Codes: TypeAlias = npt.NDArray[Any]
"""uint8, uint16 or int32, the narrowest that holds them, int64 in buffers; attributes x cases: codes of values, 0 for a
missing one."""

Categories: TypeAlias = npt.NDArray[np.int32]
"""int32, (rows,): category of each row, -1 where it is missing."""

Ranks: TypeAlias = npt.NDArray[np.int32]
"""int32, (cases,): ranks of values in their column, -1 where missing, or other keys that order like the values."""

Numbers: TypeAlias = npt.NDArray[np.float64]
"""float64, (cases,) or attributes x cases: values of numeric attributes or of a numeric target."""

Classes: TypeAlias = npt.NDArray[Any]
"""uint8 in a block of few classes, else int32; (cases,): class of each case, actual or predicted."""

Weights: TypeAlias = npt.NDArray[np.float64]
"""float64, (cases,): weights of cases, mostly empty where each case weighs one; or of branches or trees."""

Order: TypeAlias = npt.NDArray[Any]
"""uint32 or int64, attributes x cases: cases in ascending order of an attribute, packed: ``code << shift | case``."""

Entries: TypeAlias = npt.NDArray[np.int32]
"""int32, (cases,): cases in ascending order of an attribute, sign bit set where the value equals the one before."""

# -- counts and scores ---------------------------------------------------------------------------------------------

Statistics: TypeAlias = npt.NDArray[np.float64]
"""float64, (classes,): weight of each class; for a numeric target weight, sum and sum of squares of deviations."""

Counts: TypeAlias = npt.NDArray[np.float64]
"""float64, rows x classes: statistics of each code, branch, category or node."""

Sizes: TypeAlias = npt.NDArray[np.int64]
"""int64, (items,): how many cases (or categories, borders) belong to each item."""

UnitCounts: TypeAlias = npt.NDArray[np.int32]
"""int32, (categories x classes,) or (categories,): numbers of cases, where each weighs one."""

NarrowCounts: TypeAlias = npt.NDArray[np.int32]
"""int32, (cases,) or (buckets,): bit-packed number of cases and weights of two classes, see `bucketed`."""

WideCounts: TypeAlias = npt.NDArray[np.int64]
"""int64, (cases,) or (buckets,): the same with wider fields."""

PackedCounts: TypeAlias = npt.NDArray[Any]
"""int32 or int64: `NarrowCounts` or `WideCounts`, for functions that take both."""

DoubleBits: TypeAlias = npt.NDArray[np.int64]
"""int64, (items,): bits of doubles as integers that order like the doubles."""

Scores: TypeAlias = npt.NDArray[np.float64]
"""float64, (candidates,) or turns x codes: scores of a criterion or bounds of them, -inf where there is no test."""

Thresholds: TypeAlias = npt.NDArray[np.float64]
"""float64, (borders,) or (nodes,): values that split a numeric attribute."""

Shares: TypeAlias = npt.NDArray[np.float64]
"""float64, (branches,) or (categories,): shares of a weight, from 0 to 1."""

Logarithms: TypeAlias = npt.NDArray[np.float64]
"""float64, (n,): n log2 n of the integers from 0 on."""

Outputs: TypeAlias = npt.NDArray[np.float64]
"""float64, rows x outputs: votes, probabilities or means of cases or leaves."""

AttributeStatistics: TypeAlias = npt.NDArray[np.float64]
"""float64, attributes x `bounds.N_STATISTICS`: see the names of the columns there."""

Options: TypeAlias = npt.NDArray[Any]
"""Record of `options.OPTIONS`, (1,): the options of a recipe."""

# -- indices and flags ---------------------------------------------------------------------------------------------

Attributes: TypeAlias = npt.NDArray[np.int64]
"""int64, (attributes,): indices of attributes."""

Starts: TypeAlias = npt.NDArray[np.int64]
"""int64, (items,) or (items + 1,): first index of the slice of each item; the slice ends where the next one starts."""

Offsets: TypeAlias = npt.NDArray[Any]
"""int32 in a tree, int64 in a packed forest; (nodes + 1,): first index of the slice of each node."""

Positions: TypeAlias = npt.NDArray[np.int64]
"""int64, (items,): index of each item in another array."""

Indices: TypeAlias = npt.NDArray[np.uint64]
"""uint64, (items,): indices of cases or nodes; for an unsigned index Numba checks no sign."""

Integers: TypeAlias = npt.NDArray[np.int64]
"""int64, (items,): an integer of each item; the text of the field says which."""

Flags: TypeAlias = npt.NDArray[np.bool_]
"""bool, (items,): a flag of each item."""

Bytes: TypeAlias = npt.NDArray[np.uint8]
"""uint8, (items,): a flag of each item, where eight are read at a time."""

Keys: TypeAlias = npt.NDArray[np.uint64]
"""uint64, (items,): sort keys, random keys or hashes."""

Words: TypeAlias = npt.NDArray[np.uint64]
"""uint64, (words,): sets of 64 bits."""

# -- nodes and branches --------------------------------------------------------------------------------------------

NodeIndices: TypeAlias = npt.NDArray[np.int32]
"""int32, (children,) or trees x cases: nodes of a tree or of a packed forest."""

NodeIntegers: TypeAlias = npt.NDArray[np.int32]
"""int32, (nodes,) or nodes x columns: integer fields of nodes."""

NodeBytes: TypeAlias = npt.NDArray[np.int8]
"""int8, (nodes,): kind of test or reason to stop of each node."""

NodeDoubles: TypeAlias = npt.NDArray[np.float64]
"""float64, nodes x columns: weight, statistics and other doubles of nodes."""

FrameFields: TypeAlias = npt.NDArray[np.int64]
"""int64, frames x columns: integer fields of nodes on a stack."""

Estimates: TypeAlias = npt.NDArray[np.float64]
"""float64, (nodes,): estimated errors of each node."""

Branches: TypeAlias = npt.NDArray[np.int32]
"""int32, (cases,), (codes,) or (categories,): branch of each, -1 where there is none."""

Sides: TypeAlias = npt.NDArray[np.int8]
"""int8, (categories,) or attributes x categories: branch of each category of a binary test, -1 if it does not occur."""

Steps: TypeAlias = npt.NDArray[Any]
"""Records of `route_kernels.STEP`, (nodes,): steps of trees of thresholds."""
