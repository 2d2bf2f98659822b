"""The best test of a categorical attribute at a node, as kernels.

The best test of a nominal attribute at a node of a block: the decisions of `treewright.learners.candidates`.
``buffers.rows`` holds the statistics by category; where the branch of missing values is learned, they are one more
category, the last.

Multiway tests, one branch per category, where every case weighs one: `evaluate_categories` in integer arithmetic. Most
nodes of a tree over nominal attributes are small, and most cells of their tables are empty. So only cells that occur
are visited; a branch of one case has no impurity and adds nothing to the sums.
"""

from __future__ import annotations

from math import log2

import numpy as np

from treewright.arrays import (
    Boolean,
    Counts,
    Integer,
    Logarithms,
    Options,
    Positions,
    Real,
    Rows,
    Sides,
    UnitCounts,
)
from treewright.jit import internal
from treewright.learners.candidates import SHORT
from treewright.learners.criteria import CLEAN
from treewright.learners.kernels.options import HIGHEST, MISSING_FRACTIONAL, MISSING_LEARNED, MULTIWAY, ORDERED, SUBSETS
from treewright.learners.kernels.score import (
    CHI_SQUARE,
    ENTROPY,
    GINI,
    VARIANCE,
    decrease,
    first_tied,
    impurity,
    score_of_sides,
    score_of_table,
    weight_of,
)
from treewright.learners.kernels.workspace import BestTests, Block, Buffers, CategoryBuffers, Rules, add_case

EXHAUSTIVE = 10
"""As in `treewright.learners.candidates`."""

BY_ORDER, ALL_SUBSETS, BY_SHARE = 0, 1, 2
"""Partitions that are compared: those that keep the category order, all subsets, those by the share of a class."""


@internal
def evaluate_categories(
    a: Integer,
    visits: Rows,
    first: Integer,
    size: Integer,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    found: BestTests,
    by_value: CategoryBuffers,
) -> Integer:
    """Find the best test of a nominal attribute; return the number of missing values, -1 if there is no test.

    ``buffers.unknown`` becomes the statistics of the missing cases, ``buffers.rows`` those of the branches.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    regression = criterion == VARIANCE
    rows, cases, codes = buffers.rows, by_value.cases, block.codes
    width = rows.shape[1]
    n_values = rules.n_values[a]
    flat = rows.reshape(-1)
    for cell in range((n_values + 1) * width):
        flat[cell] = 0.0
    for value in range(n_values + 1):
        cases[value] = 0
    own = codes[a]
    # Invariant: `rows` and `cases` hold the cases of the slice before p.
    for p in range(first, first + size):
        i = np.uint64(visits[p])
        code = np.int64(own[i])
        row = np.uint64(code - 1 if code > 0 else n_values)
        cases[row] += 1
        if regression:
            add_case(rows[row], i, block, regression)
        else:
            rows[row, np.uint64(block.target[i])] += block.weights[i]
    return evaluate_counted(a, rules, buffers, found, by_value)


@internal
def evaluate_counted(
    a: Integer, rules: Rules, buffers: Buffers, found: BestTests, by_value: CategoryBuffers
) -> Integer:
    """Find the best test of a nominal attribute whose categories are counted, as `evaluate_categories`.

    ``buffers.rows`` and ``by_value.cases`` hold the statistics and the numbers of cases by category, missing ones last.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    rows, cases = buffers.rows, by_value.cases
    width = rows.shape[1]
    n_values = rules.n_values[a]
    n_missing = cases[n_values]
    outcomes = np.int64(0)
    for value in range(n_values):
        outcomes += np.int64(cases[value] > 0)
    for k in range(width):
        buffers.unknown[k] = rows[n_values, k]
    if outcomes < 2:
        return -1
    found.missing_branch[a] = -1
    if rules.tests[a] == MULTIWAY:
        enough = 0
        heaviest = -1.0
        for value in range(n_values):
            weight = weight_of(rows[value], criterion)
            if weight >= opt["min_branch"] * SHORT and cases[value] >= opt["min_leaf"]:
                enough += 1
            heaviest = max(heaviest, weight)
        if enough < 2:
            return -1
        if opt["missing"] != MISSING_FRACTIONAL:
            found.missing_branch[a] = 0
            while weight_of(rows[found.missing_branch[a]], criterion) < heaviest * SHORT:
                found.missing_branch[a] += 1
        found.score[a] = score_of_table(rows, n_values, criterion, rules.nlogn, buffers.whole)
        return n_missing
    learn = opt["missing"] == MISSING_LEARNED and n_missing > 0
    sides = found.sides[a]
    compared = n_values + 1 if learn else n_values
    score = best_partition(compared, learn, rules.tests[a] == ORDERED, rules, buffers, by_value, sides)
    if score == -np.inf:
        return -1
    found.score[a] = score
    for k in range(width):
        buffers.left[k] = buffers.known[k] = 0.0
    # Sums of the categories on the left and on the right, in `left` and `known`.
    for value in range(n_values):
        on_left = np.float64(sides[value])
        for k in range(width):
            buffers.left[k] += rows[value, k] * on_left
            buffers.known[k] += rows[value, k] * (1.0 - on_left)
    for k in range(width):
        rows[0, k] = buffers.left[k]
        rows[1, k] = buffers.known[k]
    if learn:
        found.missing_branch[a] = 0 if sides[n_values] else 1
    elif opt["missing"] != MISSING_FRACTIONAL:
        found.missing_branch[a] = 0 if weight_of(rows[0], criterion) >= weight_of(rows[1], criterion) * SHORT else 1
    by_set = rules.tests[a] == SUBSETS
    for value in range(n_values):
        side = np.int8(1 - sides[value])
        sides[value] = np.int8(-1) if by_set and cases[value] == 0 else side
    return n_missing


@internal
def best_partition(
    n_values: Integer,
    missing_row: Boolean,
    ordered: Boolean,
    rules: Rules,
    buffers: Buffers,
    by_value: CategoryBuffers,
    sides: Sides,
) -> Real:
    """Find the best partition of the categories into two sets; return its score, -inf if there is none.

    ``buffers.rows`` and ``by_value.cases`` are statistics and numbers of cases by category; with `missing_row` the last
    of the `n_values` rows holds the missing values. `sides` becomes 1 for the categories on the left.
    """
    opt = rules.opt[0]
    criterion, nlogn = opt["criterion"], rules.nlogn
    rows, cases = buffers.rows, by_value.cases
    width = rows.shape[1]
    present, ranks = by_value.ranks[0], by_value.ranks[2:]
    n = np.int64(0)
    known = n_values - 1 if missing_row else n_values
    for value in range(n_values):
        if cases[value] > 0:
            present[n] = value
            n += 1
    known_present = n - 1 if missing_row and cases[n_values - 1] > 0 else n
    whole = buffers.whole
    for k in range(width):
        whole[k] = 0.0
    cases_all = 0
    for value in range(n_values):
        cases_all += cases[value]
        for k in range(width):
            whole[k] += rows[value, k]
    weight = weight_of(whole, criterion)
    before = 0.0 if criterion == CHI_SQUARE else impurity(whole, criterion, nlogn)
    occurring = 0
    last_class = 0
    for k in range(width):
        if criterion == VARIANCE or whole[k] > 0:
            occurring += 1
            last_class = k
    if ordered:
        candidates = (known_present - 1) * (2 if missing_row else 1)
        search = BY_ORDER
    elif n <= EXHAUSTIVE and (missing_row or (criterion != VARIANCE and occurring > 2)):
        candidates = (1 << (n - 1)) - 1
        search = ALL_SUBSETS
    else:
        search = BY_SHARE
        orders = 1 if criterion == VARIANCE or occurring <= 2 else occurring
        candidates = orders * (n - 1)
    if candidates <= 0:
        return -np.inf
    # Integers are added without rounding, so the sums of one side are updated incrementally.
    carried = search == BY_SHARE and opt["integer_weights"] == 1 and criterion != VARIANCE
    scores, left, right = buffers.scores, buffers.left, buffers.right
    if search == BY_SHARE:
        found = np.int64(0)
        for k in range(width):
            if criterion == VARIANCE:
                if k > 0:
                    break
            elif whole[k] <= 0 or (occurring <= 2 and k != last_class):
                continue
            _rank_values(buffers.rows, by_value, n, k, criterion, ranks[found])
            if carried:
                _score_in_order(
                    found * (n - 1), n, known, missing_row, cases_all, before, weight, rules, buffers, by_value
                )
            found += 1
    # Invariant: the partitions before `candidate` have their scores, -inf where they are not admissible.
    for candidate in range(0 if carried else candidates):
        scores[candidate] = -np.inf
        cases_left = 0
        known_left = 0
        for k in range(width):
            left[k] = 0.0
        for index in range(n):
            if _on_left(candidate, index, n, known_present, search, ranks):
                value = present[index]
                cases_left += cases[value]
                if value < known:
                    known_left += 1
                for k in range(width):
                    left[k] += rows[value, k]
        if missing_row and not ordered and known_left in (0, known_present):
            continue
        for k in range(width):
            right[k] = whole[k] - left[k]
        if cases_left < opt["min_leaf"] or cases_all - cases_left < opt["min_leaf"]:
            continue
        if weight_of(left, criterion) < opt["least_side"] or weight_of(right, criterion) < opt["least_side"]:
            continue
        scores[candidate] = score_of_sides(left, right, before, weight, criterion, nlogn)
    best = first_tied(scores, candidates)
    if best < 0:
        return -np.inf
    score = scores[best]
    if search == BY_SHARE:
        for candidate in range(best + 1, candidates):
            score = max(score, scores[candidate])
        bound = score - 1e-9 * abs(score)
        score = scores[best]
        # Invariant: `best` precedes all candidates before `candidate` that tie with the best.
        for candidate in range(best + 1, candidates):
            if scores[candidate] >= bound and _comes_first(candidate, best, n, ranks):
                best = candidate
    for value in range(n_values):
        sides[value] = 0
    if search == BY_SHARE:
        own, cut = ranks[best // (n - 1)], best % (n - 1)
        first = own[0] <= cut
        for index in range(n):
            sides[present[index]] = (own[index] <= cut) == first
    else:
        for index in range(n):
            sides[present[index]] = _on_left(best, index, n, known_present, search, ranks)
    if ordered:
        # Categories that do not occur here go with the lower neighbour up to the middle of the gap.
        cut = best % (known_present - 1)
        middle = (present[cut] + present[cut + 1]) / 2
        for value in range(known):
            sides[value] = 1 if value <= middle else 0
    return scores[best]


@internal
def _score_in_order(
    start: Integer,
    n: Integer,
    known: Integer,
    missing_row: bool,
    cases_all: Integer,
    before: Real,
    weight: Real,
    rules: Rules,
    buffers: Buffers,
    by_value: CategoryBuffers,
) -> None:
    """Score the partitions of n ranked categories, and write the scores from index `start` on.

    Categories from `known` on are missing values. The side of the first category is the left one, as in `_on_left`.
    """
    opt = rules.opt[0]
    criterion, min_leaf, least = opt["criterion"], opt["min_leaf"], opt["least_side"]
    rows, cases, below, above, scores = buffers.rows, by_value.cases, buffers.left, buffers.right, buffers.scores
    whole, present, order = buffers.whole, by_value.ranks[0], by_value.ranks[1]
    width = len(below)
    known_present = np.int64(0)
    for index in range(n):
        known_present += np.int64(present[index] < known)
    squares_below = squares_above = weight_below = 0.0
    for k in range(width):
        below[k] = 0.0
        squares_above += whole[k] * whole[k]
    bound = -np.inf
    kept = squares_above / weight
    cases_below = known_below = np.int64(0)
    with_first = False
    # Invariant: `below` and the other sums describe the first `cut` categories by rank.
    for cut in range(n - 1):
        value = np.uint64(present[np.uint64(order[cut])])
        with_first = with_first or order[cut] == 0
        cases_below += cases[value]
        known_below += np.int64(np.int64(value) < known)
        for k in range(width):
            added = rows[value, k]
            rest = whole[k] - below[k]
            squares_below += added * (2.0 * below[k] + added)
            squares_above -= added * (2.0 * rest - added)
            weight_below += added
            below[k] += added
            above[k] = rest - added
        scores[start + cut] = -np.inf
        if missing_row and known_below in (0, known_present):
            continue
        if cases_below < min_leaf or cases_all - cases_below < min_leaf:
            continue
        weight_above = weight - weight_below
        if weight_below < least or weight_above < least:
            continue
        if criterion == GINI:
            # As in `sorted_scan.scan_cuts`: most partitions are rejected by multiplications only.
            if squares_below * weight_above + squares_above * weight_below < bound * (weight_below * weight_above):
                continue
            after = (weight_below - squares_below / weight_below) + (weight_above - squares_above / weight_above)
            scores[start + cut] = decrease(before, after, weight, weight)
            rise = (weight - after) - kept
            bound = max(bound, (weight - after) - 3e-9 * abs(rise) - 4 * CLEAN * weight)
        elif with_first:
            scores[start + cut] = score_of_sides(below, above, before, weight, criterion, rules.nlogn)
        else:
            scores[start + cut] = score_of_sides(above, below, before, weight, criterion, rules.nlogn)


@internal
def _rank_values(
    rows: Counts, by_value: CategoryBuffers, n: Integer, k: Integer, criterion: Integer, ranks: Positions
) -> None:
    """Rank the categories that occur by the share of a class, or by their mean, ties in category order."""
    present, order, share = by_value.ranks[0], by_value.ranks[1], by_value.shares
    for index in range(n):
        value = present[index]
        if criterion == VARIANCE:
            share[index] = rows[value, 1] / rows[value, 0]
        else:
            total = 0.0
            for j in range(rows.shape[1]):
                total += rows[value, j]
            share[index] = rows[value, k] / total
    # Ranking by all pairwise comparisons has no branch to mispredict, and vectorises.
    for index in range(n):
        own_share = share[index]
        rank = np.int64(0)
        for other in range(n):
            rank += np.int64(share[other] < own_share)
        for other in range(index):
            rank += np.int64(share[other] == own_share)
        ranks[index] = rank
        order[rank] = index


@internal
def _on_left(
    candidate: Integer, index: Integer, n: Integer, known: Integer, search: Integer, ranks: Positions
) -> Boolean:
    """Return True if a category that occurs is on the left of a candidate partition."""
    if search == BY_ORDER:
        cut = candidate % (known - 1)
        if index >= known:
            return candidate >= known - 1
        return index <= cut
    if search == ALL_SUBSETS:
        return index == 0 or (candidate >> (index - 1)) & 1 == 1
    which, cut = candidate // (n - 1), candidate % (n - 1)
    below = ranks[which, index] <= cut
    return below if ranks[which, 0] <= cut else not below


@internal
def _comes_first(one: Integer, other: Integer, n: Integer, ranks: Positions) -> Boolean:
    """Return True if one partition precedes another: the first category in which they differ is on its left."""
    own_ranks, other_ranks = ranks[one // (n - 1)], ranks[other // (n - 1)]
    cut, other_cut = one % (n - 1), other % (n - 1)
    first_left, other_first_left = own_ranks[0] <= cut, other_ranks[0] <= other_cut
    # Invariant: both partitions agree on the categories before `index`.
    for index in range(1, n):
        on_side = (own_ranks[index] <= cut) == first_left
        if on_side != ((other_ranks[index] <= other_cut) == other_first_left):
            return on_side
    return False


HAS_MISSING = -2
"""Instead of a state: some values are missing, and `evaluate_categories` has to evaluate the test."""


@internal
def supports_unit_counts(opt: Options) -> Boolean:
    """Return True if `evaluate_multiway` supports the options."""
    return opt["unit_weights"] == 1 and (opt["criterion"] == ENTROPY or opt["criterion"] == GINI)


@internal
def integer_nlogn(n: Integer, nlogn: Logarithms) -> Real:
    """Return n log2 n of an integer."""
    if n < len(nlogn):
        return nlogn[n]
    return n * log2(n)


@internal
def evaluate_multiway(
    a: Integer,
    visits: Rows,
    first: Integer,
    size: Integer,
    before: Real,
    block: Block,
    rules: Rules,
    found: BestTests,
    by_value: CategoryBuffers,
) -> Integer:
    """Evaluate the multiway test of an attribute; return the state of `found`, or `HAS_MISSING`.

    `before` is the impurity of the node. ``by_value.tally`` and ``by_value.sizes`` hold zeros before and after.
    """
    opt = rules.opt[0]
    codes, target, tally, sizes = block.codes[a], block.target, by_value.tally, by_value.sizes
    width = opt["width"]
    n_values = rules.n_values[a]
    # Invariant: `sizes` and `tally` hold the cases of the slice before p.
    for p in range(first, first + size):
        i = visits[p]
        code = codes[i]
        sizes[code] += 1
        tally[code * width + target[i]] += 1
    state = HAS_MISSING
    if sizes[0] == 0:
        state = _score_counts(a, size, before, rules, found, by_value)
        if state == 1:
            found.missing_branch[a] = -1 if opt["missing"] == MISSING_FRACTIONAL else _heaviest(n_values, sizes)
    # The buffers are reset by case or by cell, whichever are fewer.
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
    a: Integer, size: Integer, before: Real, rules: Rules, found: BestTests, by_value: CategoryBuffers
) -> Integer:
    """Write score and split information of a table; return 1, or -1 if it is no valid test."""
    opt, nlogn, tally, sizes = rules.opt[0], rules.nlogn, by_value.tally, by_value.sizes
    n_values, width = rules.n_values[a], opt["width"]
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
            own = integer_nlogn(n, nlogn)
            logs += own
            total = 0.0
            for k in range(width):
                total += nlogn[tally[at + k]]
            after += own - total
        else:
            logs += integer_nlogn(n, nlogn)
            squares = 0.0
            for k in range(width):
                squares += float(tally[at + k]) * float(tally[at + k])
            after += n - squares / n
    if enough < 2:
        return -1
    found.score[a] = decrease(before, after, float(size), float(size))
    if opt["choice"] != HIGHEST:
        found.info[a] = (integer_nlogn(size, nlogn) - logs) / size
    return 1


@internal
def _heaviest(n_values: Integer, sizes: UnitCounts) -> Integer:
    """Return the first category of greatest weight."""
    most = 0
    for code in range(1, n_values + 1):
        most = max(most, sizes[code])
    missing_branch = 0
    while sizes[missing_branch + 1] < most * SHORT:
        missing_branch += 1
    return missing_branch
