"""Multiway tests, one branch per category, where every case weighs one: `evaluate_categories` in integer arithmetic.

Most nodes of a tree over nominal attributes are small, and most cells of their tables are empty. So only cells that
occur are visited; a branch of one case has no impurity and adds nothing to the sums.
"""

from __future__ import annotations

from math import log2

from treewright.counts.compiled.flags import Array, Number, internal
from treewright.grow.candidates import SHORT
from treewright.grow.compiled.arithmetic import ENTROPY, GINI, decrease
from treewright.grow.compiled.blocks import BestTests, Block, CategoryBuffers, Rules
from treewright.grow.compiled.options import HIGHEST, MISSING_FRACTIONAL

HAS_MISSING = -2
"""Instead of a state: some values are missing, and `evaluate_categories` has to evaluate the test."""


@internal
def supports_unit_counts(opt: Array) -> Number:
    """Return True if `evaluate_multiway` supports the options."""
    return opt["unit_weights"] == 1 and (opt["criterion"] == ENTROPY or opt["criterion"] == GINI)


@internal
def integer_nlogn(n: Number, table: Array) -> Number:
    """Return n log2 n of an integer."""
    if n < len(table):
        return table[n]
    return n * log2(n)


@internal
def evaluate_multiway(
    a: Number,
    visits: Array,
    first: Number,
    size: Number,
    before: Number,
    block: Block,
    rules: Rules,
    found: BestTests,
    by_value: CategoryBuffers,
) -> Number:
    """Evaluate the multiway test of an attribute; return the state of `found`, or `HAS_MISSING`.

    `before` is the impurity of the node. ``by_value.tally`` and ``by_value.sizes`` hold zeros before and after.
    """
    opt = rules.opt[0]
    codes, target, tally, sizes = block.codes[a], block.target, by_value.tally, by_value.sizes
    width = opt["width"]
    n_values = rules.n_values[a]
    for p in range(first, first + size):
        i = visits[p]
        code = codes[i]
        sizes[code] += 1
        tally[code * width + target[i]] += 1
    state = HAS_MISSING
    if sizes[0] == 0:
        state = _score_counts(
            n_values, width, size, before, opt, rules.table, tally, sizes, found.score[a:], found.info[a:]
        )
        if state == 1:
            found.missing_branch[a] = -1 if opt["missing"] == MISSING_FRACTIONAL else _heaviest(n_values, sizes)
    if size < (n_values + 1) * width:
        for p in range(first, first + size):
            i = visits[p]
            code = codes[i]
            sizes[code] = 0
            tally[code * width + target[i]] = 0
    else:
        for cell in range((n_values + 1) * width):
            tally[cell] = 0
        for code in range(n_values + 1):
            sizes[code] = 0
    return state


@internal
def _score_counts(
    n_values: Number,
    width: Number,
    size: Number,
    before: Number,
    opt: Array,
    table: Array,
    tally: Array,
    sizes: Array,
    score: Array,
    info: Array,
) -> Number:
    """Write score and split information of a table; return 1, or -1 if it is no valid test."""
    least, min_leaf = opt["min_branch"] * SHORT, opt["min_leaf"]
    entropy = opt["criterion"] == ENTROPY
    enough = 0
    after = logs = 0.0
    # Invariant: `after` and `logs` are the impurity and the sum of n log2 n of the branches before `code`.
    for code in range(1, n_values + 1):
        n = sizes[code]
        if n == 0:
            continue
        if n >= least and n >= min_leaf:
            enough += 1
        if n == 1:
            continue
        at = code * width
        if entropy:
            own = integer_nlogn(n, table)
            logs += own
            total = 0.0
            for k in range(width):
                total += table[tally[at + k]]
            after += own - total
        else:
            logs += integer_nlogn(n, table)
            squares = 0.0
            for k in range(width):
                squares += float(tally[at + k]) * float(tally[at + k])
            after += n - squares / n
    if enough < 2:
        return -1
    score[0] = decrease(before, after, float(size), float(size))
    if opt["choice"] != HIGHEST:
        info[0] = (integer_nlogn(size, table) - logs) / size
    return 1


@internal
def _heaviest(n_values: Number, sizes: Array) -> Number:
    """Return the first category of greatest weight."""
    most = 0
    for code in range(1, n_values + 1):
        most = max(most, sizes[code])
    missing_branch = 0
    while sizes[missing_branch + 1] < most * SHORT:
        missing_branch += 1
    return missing_branch
