"""Grow a whole subtree in one kernel, over a block of cases small enough for the cache.

For each node the kernel finds the best test of every attribute, chooses among them, and partitions the cases. A perfect
test has only pure branches. None scores higher, so where the highest score decides, the attributes after it are
skipped; and its branches are leaves. Most nodes of a fully grown tree are small, and many of them have a perfect test.

Invariants.

* The cases of a node are a slice, of `visits` and of the order by every numeric attribute. A split partitions the slice
  stably: each branch is a part of its parent's slice, and nothing is sorted twice.
* A case with a missing value follows every branch as a fractional case; each copy is a case of its own. The slices of
  the branches are then written after the used part of the block, and the copies after all cases, until these branches
  are finished.
* Nodes are written depth first, so that a subtree is a range of nodes. An explicit stack of frames replaces recursion.
* The kernel allocates nothing: where a buffer is full it returns, `grow_block` enlarges it, and the kernel resumes at
  the same node.
"""

from __future__ import annotations

import numpy as np

from treewright.arrays import (
    Attributes,
    Codes,
    Flags,
    FrameFields,
    Integer,
    Integers,
    NodeDoubles,
    NodeIntegers,
    Options,
    Real,
    Rows,
    Scores,
    Sides,
    Sizes,
    Starts,
    Statistics,
    Thresholds,
)
from treewright.jit import inlined_internal, internal, no_alloc_kernel
from treewright.learners.kernels.categorical import (
    HAS_MISSING,
    evaluate_categories,
    evaluate_multiway,
    supports_unit_counts,
)
from treewright.learners.kernels.few_cases import best_of_few, gather_few
from treewright.learners.kernels.options import (
    CUT,
    GAIN,
    HIGHEST,
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MULTIWAY,
    NOT_TESTED,
    RATIO,
)
from treewright.learners.kernels.random import child_key, shuffle
from treewright.learners.kernels.sampled_order import (
    SampledOrder,
    gather_codes,
    gather_codes_together,
    gather_node,
    new_sampled_order,
)
from treewright.learners.kernels.score import (
    ENTROPY,
    GINI,
    VARIANCE,
    branch_information,
    decrease,
    first_tied,
    impurity,
    weight_of,
)
from treewright.learners.kernels.sorted_scan import evaluate_thresholds
from treewright.learners.kernels.workspace import (
    ATTRIBUTE,
    BRANCHES,
    CASES_END,
    COUNTS_AT,
    FIRST,
    HIGH,
    LEVEL,
    LOW,
    MEAN,
    MISSING,
    OUTCOME,
    PARENT,
    PARENT_NODE,
    PARENT_OUTCOME,
    RANDOM_CUT,
    SIDES_AT,
    SIZE,
    SLICES_END,
    SSE,
    STOP,
    WEIGHT,
    BestTests,
    Block,
    Buffers,
    CategoryBuffers,
    Frames,
    NodeArrays,
    Rules,
    Visits,
    enlarged,
    new_best_tests,
    new_buffers,
    new_category_buffers,
    new_visits,
    spread,
    summarise,
    with_capacity,
)
from treewright.tree.tree import STOPS, Stop

EPSILON = 1e-3
"""C4.5's tolerance, as in `treewright.learners.select`."""


@inlined_internal
def evaluate_attributes(
    n_free: Integer,
    visits: Rows,
    first: Integer,
    size: Integer,
    key: np.uint64,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    found: BestTests,
    by_value: CategoryBuffers | None,
    cuts: Thresholds | None,
    sampled: SampledOrder | None,
) -> tuple[Integer, Real]:
    """Find the best test of each free attribute, or of those that are sampled among them.

    Returns the number of evaluated attributes, listed in ``buffers.turn[1]``, and the score of a perfect test,
    infinite where it is not known to the last bit. After a perfect test no other attribute is evaluated.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    summary, free, order = buffers.summary, buffers.turn[0], buffers.turn[1]
    limit = n_free
    if 0 < opt["n_sampled"] < n_free:
        shuffle(key, order, n_free)
        limit = opt["n_sampled"]
        insertion_sort(order, limit)
    else:
        for index in range(n_free):
            order[index] = index
    for index in range(n_free):
        order[index] = free[order[index]]
    together = False
    if sampled is not None:
        together = gather_codes_together(order, limit, visits, first, size, sampled)
    weight = weight_of(summary, criterion)
    few_classes: Integer = np.int64(0)
    if sampled is not None and cuts is None:
        few_classes = gather_few(sampled.stats, size, summary, opt, sampled.few)
    counts_units = by_value is not None and supports_unit_counts(opt)
    before = impurity(summary, criterion, rules.nlogn)
    # Integers are added without rounding, so the impurity of pure branches is exactly zero.
    is_exact = opt["choice"] == HIGHEST and opt["integer_weights"] == 1 and criterion in (GINI, ENTROPY)
    perfect = decrease(before, 0.0, weight, weight) if is_exact else np.inf
    considered = False
    # Where the highest score decides, a later attribute is of interest only if it does more than tie with an earlier
    # one: none does once nothing but rounding is left of the impurity.
    compares = opt["choice"] == HIGHEST and opt["correction"] == 0
    score_limit = -np.inf
    enough = perfect
    if compares and criterion in (GINI, ENTROPY, VARIANCE):
        enough = decrease(before, 0.0, weight, summary[2] if criterion == VARIANCE else weight) * (1 - 1e-12)
    # Invariant: the attributes before `index` have their best test in `found`, unless none can tie with `score_limit`,
    # the best score of them; none of them has a perfect one.
    evaluated = np.int64(0)
    for index in range(n_free):
        if index >= limit and considered:
            break
        a = order[index]
        found.state[a] = -1
        evaluated = np.int64(index + 1)
        if rules.tests[a] == NOT_TESTED:
            continue
        if by_value is not None and counts_units and rules.tests[a] == MULTIWAY:
            state = evaluate_multiway(a, visits, first, size, before, block, rules, found, by_value)
            if state != HAS_MISSING:
                found.state[a] = state
                considered = considered or state == 1
                if state == 1 and found.score[a] >= enough:
                    break
                continue
        cut = rules.tests[a] == CUT
        n_missing: Integer = np.int64(-1)
        if cut:
            codes_at = np.int64(index) * size if together and index < limit else np.int64(0)
            if sampled is not None:
                sampled.together[index] = together and index < limit
            if sampled is not None and not sampled.together[index]:
                gather_codes(a, block.codes, visits, first, size, sampled)
            if sampled is not None and few_classes > 0:
                n_missing = best_of_few(
                    a,
                    sampled.codes,
                    codes_at,
                    size,
                    weight,
                    before,
                    score_limit,
                    sampled.stats,
                    few_classes,
                    rules,
                    sampled.few,
                    buffers,
                    found,
                )
            else:
                n_missing = evaluate_thresholds(
                    a,
                    first,
                    size,
                    key,
                    block,
                    rules,
                    buffers,
                    found,
                    cuts,
                    weight,
                    before,
                    score_limit,
                    codes_at,
                    sampled,
                )
        elif by_value is not None:
            n_missing = evaluate_categories(a, visits, first, size, block, rules, buffers, found, by_value)
        if n_missing < 0:
            continue
        corrected = cut and opt["correction"]
        unknown = weight_of(buffers.unknown, criterion) if n_missing > 0 else 0.0
        if n_missing > 0 and opt["missing"] != MISSING_LEARNED and not corrected:
            found.score[a] *= (weight - unknown) / weight
        found.state[a] = 0 if corrected and found.score[a] <= 0 else 1
        considered = considered or found.state[a] == 1
        if opt["choice"] != HIGHEST:
            branches = rules.n_values[a] if rules.tests[a] == MULTIWAY else 2
            found.info[a] = branch_information(buffers.rows, branches, unknown, rules.nlogn)
        if compares and found.state[a] == 1:
            score_limit = max(score_limit, found.score[a])
        if found.state[a] == 1 and found.score[a] >= enough:
            break
    return evaluated, perfect


@internal
def insertion_sort(order: Attributes, n: Integer) -> None:
    """Sort the first n entries by insertion."""
    # Invariant: the entries before `end` are sorted.
    for end in range(1, n):
        moved = order[end]
        at = end
        while at > 0 and order[at - 1] > moved:
            order[at] = order[at - 1]
            at -= 1
        order[at] = moved


@inlined_internal
def choose(found: BestTests, rules: Rules, order: Attributes, n: Integer, scores: Scores) -> Integer:
    """Return the attribute that the choice rule selects among the first n, -1 if there is none."""
    choice = rules.opt[0]["choice"]
    average = np.inf
    if choice == RATIO:
        total = 0.0
        counted = 0
        for index in range(n):
            a = order[index]
            if found.state[a] == 1 and found.score[a] > -EPSILON and not rules.high_cardinality[a]:
                total += found.score[a]
                counted += 1
        if counted:
            average = total / counted
    for index in range(n):
        a = order[index]
        scores[index] = -np.inf
        if found.state[a] != 1:
            continue
        if choice == HIGHEST:
            scores[index] = found.score[a]
        elif found.score[a] > -EPSILON:
            if choice == GAIN:
                if found.info[a] > 0:
                    scores[index] = found.score[a]
            elif found.score[a] >= average - EPSILON and found.info[a] > EPSILON:
                scores[index] = found.score[a] / found.info[a]
    best = first_tied(scores, n)
    return order[best] if best >= 0 else best


@internal
def branch_of_code(code: Integer, ints: NodeIntegers, test: Integer, sides: Sides) -> Integer:
    """Return the branch of a code at a node, -1 for a missing value."""
    if code == 0:
        return -1
    if test == CUT:
        return 0 if code <= ints[LOW] else 1
    if test == MULTIWAY:
        return code - 1
    return np.int64(sides[ints[SIDES_AT] + code - 1])


@internal
def assign_branches(
    visits: Visits,
    first: Integer,
    size: Integer,
    ints: NodeIntegers,
    block: Block,
    rules: Rules,
    sides: Sides,
    sizes: Sizes,
) -> Integer:
    """Write the branch of every case (-1: fractional) and the branch sizes; return the number of fractional cases."""
    a = ints[ATTRIBUTE]
    test = rules.tests[a]
    for branch in range(ints[BRANCHES]):
        sizes[branch] = 0
    n_missing = 0
    # Invariant: `sizes` counts the cases before p that have a branch, `n_missing` the others.
    for p in range(first, first + size):
        i = visits.cases[p]
        branch = branch_of_code(np.int64(block.codes[a, i]), ints, test, sides)
        if branch < 0:
            branch = ints[MISSING]
            if branch < 0:
                visits.branch_of[i] = -1
                n_missing += 1
                continue
        visits.branch_of[i] = branch
        sizes[branch] += 1
    return n_missing


@inlined_internal
def split_gathered(
    a: Integer,
    visits: Visits,
    first: Integer,
    size: Integer,
    ints: NodeIntegers,
    block: Block,
    order: Attributes,
    sampled: SampledOrder,
    starts: Starts,
) -> None:
    """Partition the cases of a node stably by a threshold, and write the starts of both branches and the end."""
    index = np.int64(0)
    while order[index] != a:
        index += 1
    at = np.int64(index) * size
    if not sampled.together[index]:
        at = np.int64(0)
        gather_codes(a, block.codes, visits.cases, first, size, sampled)
    codes, cases, spare = sampled.codes, visits.cases, visits.spare
    begin, cut = np.uint64(at), ints[LOW]
    missing_right = ints[MISSING] == 1
    here, there = np.uint64(first), np.uint64(0)
    # Invariant: the cases of the left branch before p end at `here`, those of the right branch are `spare[:there]`.
    for p in range(np.uint64(size)):
        # Written to both, and only one index advances: no branch to mispredict.
        case = cases[np.uint64(first) + p]
        code = codes[begin + p]
        right = np.uint64((code > cut) | ((code == 0) & missing_right))
        cases[here] = case
        spare[there] = case
        here += np.uint64(1) - right
        there += right
    for p in range(there):
        cases[here + p] = spare[p]
    starts[0], starts[1], starts[2] = first, np.int64(here), first + size


@internal
def copy_fractional(
    visits: Visits,
    first: Integer,
    size: Integer,
    branches: Integer,
    copies: Rows,
    top: Integer,
    cases: Integer,
    block: Block,
    rules: Rules,
    buffers: Buffers,
) -> None:
    """Write the slices of all branches, with a copy of each fractional case in every branch that is not empty.

    Parameters
    ----------
    visits, first, size
        The slice of the node; ``visits.branch_of`` is -1 where a case becomes fractional.
    branches : int
    copies : array of int
        Output: the first copy of each fractional case.
    top, cases : int
        First index of the branches, and of the copies.
    block, rules
    buffers : Buffers
        ``buffers.starts`` holds the sizes of the branches; it becomes their starts, and the end of the last one.
    """
    cases_of, branch_of = visits.cases, visits.branch_of
    regression = rules.opt[0]["criterion"] == VARIANCE
    starts, shares, occurring = buffers.starts, buffers.scores, buffers.positions
    known = 0.0
    for branch in range(branches):
        shares[branch] = 0.0
    n_missing = 0
    # Invariant: `shares` and `known` are the weights of the cases before p that have a branch.
    for p in range(first, first + size):
        i = cases_of[p]
        if branch_of[i] < 0:
            n_missing += 1
            continue
        known += block.weights[i]
        shares[branch_of[i]] += block.weights[i]
    n_occurring = np.int64(0)
    begin = np.int64(top)
    for branch in range(branches):
        own = starts[branch]
        starts[branch] = begin
        if own > 0:
            shares[branch] = shares[branch] / known
            occurring[n_occurring] = branch
            n_occurring += 1
            begin += own + n_missing
    made = np.int64(cases)
    # Invariant: `starts[b]` is the next free index of branch b; the copies of earlier cases end at `made`.
    for p in range(first, first + size):
        i = cases_of[p]
        own = np.int64(branch_of[i])
        if own >= 0:
            cases_of[starts[own]] = i
            starts[own] += 1
            continue
        copies[i] = made
        for other in range(block.codes.shape[0]):
            code = block.codes[other, i]
            for copy in range(made, made + n_occurring):
                block.codes[other, copy] = code
        for k in range(n_occurring):
            branch = occurring[k]
            cases_of[starts[branch]] = made
            starts[branch] += 1
            block.weights[made] = block.weights[i] * shares[branch]
            if regression:
                block.values[made] = block.values[i]
            else:
                block.target[made] = block.target[i]
            made += 1
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    # Every order is partitioned in the same way. A case and its copies have equal codes, so the order is kept.
    for slot in range(block.order.shape[0]):
        order = block.order[slot]
        _reset_starts(starts, branches, top)
        for p in range(first, first + size):
            packed = np.int64(order[p])
            i = packed & mask
            own = np.int64(branch_of[i])
            if own >= 0:
                order[starts[own]] = packed
                starts[own] += 1
                continue
            copy = (packed >> shift << shift) | np.int64(copies[i])
            for k in range(n_occurring):
                branch = occurring[k]
                order[starts[branch]] = copy + k
                starts[branch] += 1
    starts[branches] = begin
    _reset_starts(starts, branches, top)


@internal
def _reset_starts(starts: Starts, branches: Integer, top: Integer) -> None:
    """Reset `starts` from the ends of the branches to their starts, where the branch before ends."""
    for branch in range(branches - 1, 0, -1):
        starts[branch] = starts[branch - 1]
    starts[0] = top


PURE, EMPTY, NO_ATTRIBUTES, NO_GAIN = (
    STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.NO_ATTRIBUTES, Stop.NO_GAIN)
)
TOO_FEW, DEPTH, SMALL_GAIN = (STOPS.index(stop) for stop in (Stop.TOO_FEW, Stop.DEPTH, Stop.SMALL_GAIN))

# State that survives a return for larger buffers: used lengths, and the number of cases that are needed.
WAITING, NODES, SIDES, NEEDED = range(4)
FINISHED, MORE_NODES, MORE_CASES = 0, 1, 2


@no_alloc_kernel
def grow_nodes(
    block: Block,
    rules: Rules,
    visits: Visits,
    buffers: Buffers,
    found: BestTests,
    written: NodeArrays,
    frames: Frames,
    state: Integers,
    cancelled: Flags,
    by_value: CategoryBuffers | None,
    cuts: Thresholds | None,
    copies: Rows | None,
    sampled: SampledOrder | None,
) -> Integer:
    """Grow until the stack is empty or a buffer is full; return `FINISHED`, `MORE_NODES` or `MORE_CASES`.

    Parameters
    ----------
    block, rules, visits, buffers, found, written, frames
    state : array of int
        See the names of its columns.
    cancelled : array of bool
    by_value, cuts, copies, sampled
        Buffers for categories, random thresholds, fractional cases (None where there are none) and search without
        maintained orders (None where all orders are maintained).
    """
    opt = rules.opt[0]
    regression = opt["criterion"] == VARIANCE
    most_values = len(buffers.starts)
    size = len(visits.cases)
    summary, starts, cases_of = buffers.summary, buffers.starts, visits.cases
    free = buffers.turn[0]
    waiting, n_nodes, n_sides = state[WAITING], state[NODES], state[SIDES]
    n_free = _find_free(frames.used[0], free)
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    status = FINISHED
    # Invariant: nodes below `n_nodes` are written; each of the `waiting` frames has its cases in one slice.
    while waiting > 0 and not cancelled[0]:
        if (
            n_nodes >= len(written.integers)
            or waiting + most_values >= len(frames.keys)
            or n_sides + most_values > len(written.sides)
        ):
            status = MORE_NODES
            break
        at = waiting - 1
        fields = frames.fields[at]
        waiting = at
        first, n_here, level = fields[FIRST], fields[SIZE], fields[LEVEL]
        top, cases = fields[SLICES_END], fields[CASES_END]
        node = n_nodes
        n_nodes += 1
        ints, reals = written.integers[node], written.doubles[node]
        pure, mean, weight = summarise(cases_of, first, n_here, block, regression, summary)
        write_leaf(ints, reals, fields, summary, mean, weight, regression, written.doubles)
        if opt["once_per_path"]:
            n_free = _find_free(frames.used[at], free)
        ints[STOP] = stop_of(n_here, pure, level, weight, n_free, opt)
        if ints[STOP] >= 0:
            continue
        if regression:
            for p in range(first, first + n_here):
                block.deviation[cases_of[p]] = block.values[cases_of[p]] - mean
        if sampled is not None:
            gather_node(cases_of, first, n_here, block, regression, opt["unit_weights"] == 1, sampled)
        evaluated, perfect = evaluate_attributes(
            n_free, cases_of, first, n_here, frames.keys[at], block, rules, buffers, found, by_value, cuts, sampled
        )
        a = choose(found, rules, buffers.turn[1], evaluated, buffers.scores)
        ints[STOP] = stop_after(a, weight, found, opt)
        if ints[STOP] >= 0:
            continue
        branches = rules.n_values[a] if rules.tests[a] == MULTIWAY else 2
        sides_before = n_sides
        n_sides = write_test(ints, a, branches, found, rules, written.sides, n_sides)
        if cuts is not None and rules.tests[a] == CUT:
            reals[RANDOM_CUT] = cuts[a]
        n_missing: Integer = np.int64(0)
        if sampled is not None and rules.tests[a] == CUT:
            split_gathered(a, visits, first, n_here, ints, block, buffers.turn[1], sampled, starts)
        else:
            n_missing = assign_branches(visits, first, n_here, ints, block, rules, written.sides, starts)
        if copies is not None and n_missing > 0:
            made = n_missing * _occurring(starts, branches)
            if max(top, cases) + n_here + made > size:
                # This node is processed again with larger buffers.
                state[NEEDED] = max(top, cases) + n_here + made
                waiting, n_nodes, n_sides = at + 1, node, sides_before
                status = MORE_CASES
                break
            copy_fractional(visits, first, n_here, branches, copies, top, cases, block, rules, buffers)
            top, cases = starts[branches], cases + made
        elif sampled is None or rules.tests[a] != CUT:
            begin = first
            # The sizes of the branches become their starts.
            for branch in range(branches):
                here = starts[branch]
                starts[branch] = begin
                begin += here
            starts[branches] = begin
            # After a perfect split all branches are leaves, whose orders are never read.
            for slot in range(block.order.shape[0] if sampled is None and found.score[a] < perfect else 0):
                spread(
                    block.order[slot], first, n_here, mask, visits.branch_of, starts[:branches], visits.spare_entries
                )
            spread(cases_of, first, n_here, np.int64(0x7FFFFFFF), visits.branch_of, starts[:branches], visits.spare)
        key = frames.keys[at]
        if opt["once_per_path"] and rules.tests[a] == MULTIWAY:
            frames.used[at, a] = True
        # The first branch is on top of the stack. The frame of the parent, at `at`, is overwritten last.
        for below in range(at + branches - 1, at - 1, -1):
            branch = at + branches - 1 - below
            n_below = starts[branch + 1] - starts[branch]
            set_frame(frames.fields[below], starts[branch], n_below, level + 1, node, ints[OUTCOME], top, cases)
            frames.keys[below] = child_key(key, branch)
            if opt["once_per_path"] and below > at:
                _copy_flags(frames.used, at, below)
        waiting += branches
    state[WAITING], state[NODES], state[SIDES] = waiting, n_nodes, n_sides
    return status


@internal
def _find_free(used: Flags, free: Attributes) -> Integer:
    """List the attributes that the path does not exclude; return their number."""
    n = np.int64(0)
    for a in range(len(used)):
        if not used[a]:
            free[n] = a
            n += 1
    return n


@internal
def set_frame(
    fields: FrameFields,
    first: Integer,
    size: Integer,
    level: Integer,
    parent: Integer,
    parent_outcome: Integer,
    top: Integer,
    cases: Integer,
) -> None:
    """Write the stack frame of a node."""
    fields[FIRST] = first
    fields[SIZE] = size
    fields[LEVEL] = level
    fields[PARENT_NODE] = parent
    fields[PARENT_OUTCOME] = parent_outcome
    fields[SLICES_END] = top
    fields[CASES_END] = cases


@internal
def _occurring(sizes: Sizes, branches: Integer) -> Integer:
    """Return the number of branches that have cases."""
    occurring = 0
    for branch in range(branches):
        occurring += sizes[branch] > 0
    return occurring


@internal
def _copy_flags(flags: Flags, one: Integer, other: Integer) -> None:
    for i in range(flags.shape[1]):
        flags[other, i] = flags[one, i]


@inlined_internal
def write_leaf(
    ints: NodeIntegers,
    reals: NodeDoubles,
    fields: FrameFields,
    summary: Statistics,
    mean: Real,
    weight: Real,
    regression: bool,
    doubles: NodeDoubles,
) -> None:
    """Write a node as a leaf; an empty node has the outcome of its parent."""
    ints[ATTRIBUTE] = -1
    ints[PARENT] = fields[PARENT_NODE]
    ints[BRANCHES] = 0
    ints[MISSING] = -1
    ints[SIDES_AT] = ints[LOW] = ints[HIGH] = -1
    ints[OUTCOME] = fields[PARENT_OUTCOME]
    reals[WEIGHT] = weight
    reals[SSE] = summary[2] if regression else 0.0
    reals[MEAN] = mean
    reals[RANDOM_CUT] = np.nan
    if regression:
        if fields[SIZE] == 0 and fields[PARENT_NODE] >= 0:
            reals[MEAN] = doubles[fields[PARENT_NODE], MEAN]
        return
    for k in range(len(summary)):
        reals[COUNTS_AT + k] = summary[k]
    if fields[SIZE] == 0:
        return
    greatest = summary[0]
    for k in range(1, len(summary)):
        greatest = max(greatest, summary[k])
    for k in range(len(summary)):
        if summary[k] >= greatest * (1 - 1e-12):
            ints[OUTCOME] = k
            return


@internal
def stop_of(n: Integer, pure: bool, level: Integer, weight: Real, n_free: Integer, opt: Options) -> Integer:
    """Return the reason to stop before anything is counted, -1 if there is none."""
    if n == 0:
        return EMPTY
    if pure:
        return PURE
    if 0 <= opt["max_depth"] <= level:
        return DEPTH
    too_few = n < opt["min_cases"] or n < 2 * opt["min_leaf"]
    if too_few or weight < opt["min_weight"] or weight < opt["least_node"]:
        return TOO_FEW
    return NO_ATTRIBUTES if n_free == 0 else -1


@internal
def stop_after(a: Integer, weight: Real, found: BestTests, opt: Options) -> Integer:
    """Return the reason not to split by the chosen attribute (-1: no attribute), -1 if there is none."""
    if a < 0:
        return NO_GAIN
    return SMALL_GAIN if found.score[a] * weight / opt["total_weight"] < opt["min_decrease"] else -1


@inlined_internal
def write_test(
    ints: NodeIntegers, a: Integer, branches: Integer, found: BestTests, rules: Rules, sides: Sides, n_sides: Integer
) -> Integer:
    """Write the test of a node; return the used length of `sides`."""
    ints[ATTRIBUTE] = a
    ints[BRANCHES] = branches
    ints[MISSING] = found.missing_branch[a]
    if rules.tests[a] == CUT:
        ints[LOW] = found.low[a]
        ints[HIGH] = found.high[a]
    elif rules.tests[a] != MULTIWAY:
        ints[SIDES_AT] = n_sides
        for value in range(rules.n_values[a]):
            sides[n_sides + value] = found.sides[a, value]
        return n_sides + rules.n_values[a]
    return n_sides


ENTRIES_TOO_NARROW = -1
"""Instead of a number of nodes: the entries of `order` are too narrow for so many fractional cases."""


def grow_block(
    block: Block,
    rules: Rules,
    rows: Rows,
    used: Flags,
    key: np.uint64,
    depth: int,
    outcome: int,
    cancelled: Flags,
    by_case: Codes | None,
) -> tuple[NodeIntegers, NodeDoubles, Sides, int]:
    """Grow the subtree of some cases of a block.

    Parameters
    ----------
    block : Block
    rules : Rules
    rows : array of int
        The cases; all of the block unless they are sorted lazily.
    used : array of bool
        Attributes that are excluded.
    key, depth, outcome
        Of the root of the subtree: random key, depth, and the outcome of an empty node.
    cancelled : array of bool
        Set by another thread to cancel.
    by_case : array of int or None
        Codes of all cases, cases x attributes, where few attributes are sampled, which are sorted at each node; else
        all orders are given and maintained.

    Returns
    -------
    integers, doubles, sides, n_nodes
        One row per node, see the names of the columns; `sides` holds the branches of the categories of binary tests.
    """
    n_attributes, width = len(rules.tests), int(rules.opt["width"][0])
    most_values = max(int(rules.n_values.max(initial=0)), 2)
    n, size = len(rows), block.codes.shape[1]
    buffers, found = new_buffers(n, n_attributes, most_values, width), new_best_tests(n_attributes, most_values)
    visits = new_visits(rows, size, block.order.dtype)
    by_value, cuts, copies, sampled = _extras(block, rules, most_values, by_case, n)
    written = NodeArrays(
        np.empty((64, 9), dtype=np.int32),
        np.empty((64, COUNTS_AT + width)),
        np.empty(64 + most_values, dtype=np.int8),
    )
    frames = Frames(
        np.zeros((64 + most_values, 7), dtype=np.int64),
        np.empty(64 + most_values, dtype=np.uint64),
        np.zeros((64 + most_values, n_attributes), dtype=np.bool_),
    )
    frames.fields[0] = 0, n, depth, -1, outcome, n, n
    frames.keys[0] = key
    frames.used[0] = used
    state = np.array([1, 0, 0, 0], dtype=np.int64)
    while True:
        status = grow_nodes(
            block, rules, visits, buffers, found, written, frames, state, cancelled, by_value, cuts, copies, sampled
        )
        if status == FINISHED:
            return written.integers, written.doubles, written.sides, int(state[NODES])
        if status == MORE_NODES:
            if state[NODES] >= len(written.integers):
                nodes = 2 * len(written.integers)
                written = written._replace(
                    integers=enlarged(written.integers, nodes), doubles=enlarged(written.doubles, nodes)
                )
            most = len(buffers.starts)  # the margin that the kernel checks
            if state[SIDES] + most > len(written.sides):
                written = written._replace(sides=enlarged(written.sides, 2 * len(written.sides)))
            if state[WAITING] + most >= len(frames.keys):
                frames = Frames(*(enlarged(array, 2 * len(frames.keys)) for array in frames))
            continue
        size = max(2 * size, int(state[NEEDED]))
        if rules.shift[0] < 31 and size > 1 << rules.shift[0]:
            return written.integers, written.doubles, written.sides, ENTRIES_TOO_NARROW
        block = with_capacity(block, size)
        buffers = new_buffers(size, n_attributes, most_values, width)
        visits = new_visits(enlarged(visits.cases, size), size, block.order.dtype)
        copies = np.empty(size, dtype=np.int32)


def _extras(
    block: Block, rules: Rules, most_values: int, by_case: Codes | None, n: int
) -> tuple[CategoryBuffers | None, Thresholds | None, Rows | None, SampledOrder | None]:
    """Allocate optional buffers; for None the kernel is compiled without the code that uses them."""
    opt = rules.opt[0]
    by_value = cuts = copies = sampled = None
    if np.any(rules.tests > CUT):
        by_value = new_category_buffers(most_values, int(opt["width"]))
    if opt["random_cuts"]:
        cuts = np.empty(len(rules.tests))
    if opt["missing"] == MISSING_FRACTIONAL and not np.all(block.codes):
        copies = np.empty(block.codes.shape[1], dtype=np.int32)
    if by_case is not None:
        sampled = new_sampled_order(n, int(opt["width"]), block, by_case)
    return by_value, cuts, copies, sampled
