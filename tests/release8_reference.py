"""C4.5 Release 8 step by step, as plainly as possible: the reference implementation of the tests.

One case after the other, one exchange after the other, recursion, and a rounding after every operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.c45r8.options import Release8
from treewright.tree.tree import Tree

LN2 = 0.69314718055994530942
EPSILON = 0.001


def fl(x: float) -> float:
    return float(np.float32(x))


NONE = fl(-0.001)


def lg(x: float) -> float:
    return math.log(x) / LN2 if x > 0 else 0.0


def info(counts: list[float]) -> float:
    s = t = 0.0
    for v in counts:
        s = fl(s + v * lg(v))
        t = fl(t + v)
    return fl(t * lg(t) - s)


def total(values: list[float]) -> float:
    t = 0.0
    for v in values:
        t = fl(t + v)
    return t


@dataclass
class ReferenceNode:
    n: float
    counts: list[float]
    outcome: int
    e: float
    attribute: int | None = None
    cut: float | None = None
    branch_of: list[int] | None = None
    children: list[ReferenceNode] = field(default_factory=list)

    def branch(self, value: float) -> int:
        if self.cut is not None:
            return 0 if value <= self.cut else 1
        assert self.branch_of is not None
        return self.branch_of[int(value)]


@dataclass
class Test:
    gain: float
    info: float = 0.0
    cut: float | None = None
    branch_of: list[int] | None = None


class Reference:
    """Cases as lists: `order` by position, everything else by case; None is unknown."""

    def __init__(self, data: Dataset, options: Release8) -> None:
        assert data.target is not None
        self.n_cases, self.k = data.n_rows, len(data.schema.classes)
        self.attributes = data.schema.attributes
        self.columns: list[list[Any]] = [
            [_number(x) for x in column.tolist()] if attribute.is_numeric else [x if x >= 0 else None for x in column]
            for attribute, column in zip(data.schema.attributes, data.columns, strict=True)
        ]
        self.classes: list[int] = data.target.astype(int).tolist()
        self.order = list(range(self.n_cases))
        self.weights = [1.0] * self.n_cases
        self.flag = True
        self.options = options
        self.m = options.min_objects
        sizes = [len(a.values) for a in self.attributes]
        self.usable = [i for i, a in enumerate(self.attributes) if a.is_numeric or sizes[i] > 1]
        self.few = [i for i in self.usable if self.attributes[i].is_numeric or sizes[i] < 0.3 * self.n_cases]
        if options.subset or not self.few:
            self.few = self.usable

    # -- cases -----------------------------------------------------------------------------------------------

    def gather(self, first: int, stop: int, condition: Callable[[int], bool]) -> int:
        p = first
        for i in range(first, stop):
            if condition(self.order[i]):
                self.order[p], self.order[i] = self.order[i], self.order[p]
                p += 1
        return p

    def weight(self, first: int, stop: int) -> float:
        return float(stop - first) if self.flag else total([self.weights[c] for c in self.order[first:stop]])

    def counts(self, cases: list[int]) -> list[float]:
        counts = [0.0] * self.k
        for c in cases:
            counts[self.classes[c]] = fl(counts[self.classes[c]] + self.weights[c])
        return counts

    def sort(self, column: list[Any], low: int, high: int) -> None:
        if low >= high:
            return
        o = self.order
        pivot = column[o[high]]
        middle = self.gather(low, high, lambda c: bool(column[c] <= pivot))
        r = middle - 1
        for i in range(middle - 1, low - 1, -1):
            if column[o[i]] == pivot:
                o[i], o[r] = o[r], o[i]
                r -= 1
        self.sort(column, low, r)
        o[middle], o[high] = o[high], o[middle]
        self.sort(column, middle + 1, high)

    # -- evaluation ------------------------------------------------------------------------------------------

    def gain(self, base: float, u: float, known: float, totals: list[float], rows: list[list[float]]) -> float:
        if known == 0 or sum(v >= self.m for v in totals) < 2:
            return NONE
        t = total([info(row) for row in rows])
        return fl(fl(1 - u) * fl(base - fl(t / known)))

    def numeric(self, a: int, first: int, stop: int) -> Test:
        column = self.columns[a]
        w = self.weight(first, stop)
        start = self.gather(first, stop, lambda c: column[c] is None)
        unknown = total(self.counts(self.order[first:start]))
        known = fl(w - unknown)
        u = fl(1 - fl(known / w))
        if known < 2 * self.m:
            return Test(NONE)
        self.sort(column, start, stop - 1)
        right = self.counts(self.order[start:stop])
        left = [0.0] * self.k
        base = fl(info(right) / known)
        side = fl(0.1 * known / self.k)
        side = self.m if side <= self.m else min(side, 25.0)
        low, tried = 0.0, []
        for i in range(start, stop - 1):
            case, x, y = self.order[i], column[self.order[i]], column[self.order[i + 1]]
            c = self.classes[case]
            low = fl(low + self.weights[case])
            left[c] = fl(left[c] + self.weights[case])
            right[c] = fl(right[c] - self.weights[case])
            if low < side:
                continue
            if low > fl(known - side):
                break
            if x < y - 1e-5:
                high = fl(known - low)
                gain = self.gain(base, u, known, [low, high], [left, right])
                tried.append((gain, fl(info([unknown, low, high]) / w), fl(fl(x + y) / 2)))
        cost = fl(lg(len(tried)) / w)
        best = Test(NONE)
        for gain, information, middle in tried:
            if fl(gain - cost) > max(best.gain, 0.0):
                cut = max(v for v in column if v is not None and v <= middle)
                best = Test(fl(gain - cost), information, cut=cut)
        return best

    def table(self, a: int, first: int, stop: int) -> list[list[float]]:
        table = [[0.0] * self.k for _ in range(len(self.attributes[a].values) + 1)]
        for case in self.order[first:stop]:
            value = self.columns[a][case]
            row = table[0 if value is None else int(value) + 1]
            row[self.classes[case]] = fl(row[self.classes[case]] + self.weights[case])
        return table

    def nominal(self, a: int, first: int, stop: int, w: float) -> Test:
        table = self.table(a, first, stop)
        grouped = self.options.subset and len(self.attributes[a].values) > 2
        unknown, *totals = [total(row) for row in table]
        u = fl(unknown / w)
        known = fl(w - unknown)
        if grouped and known < EPSILON:
            self.m = 1
            return Test(NONE)
        if not grouped and w <= unknown:
            return Test(NONE)
        s = 0.0
        for c in range(self.k):
            count = total([row[c] for row in table[1:]])
            s += count * lg(count)
        base = fl((known * lg(known) - s) / known)

        def score(blocks: list[tuple[float, list[float]]]) -> tuple[float, float, float]:
            sums = [block[0] for block in blocks]
            gain = self.gain(base, u, known, sums, [block[1] for block in blocks])
            information = fl(info([unknown, *sums]) / w)
            return gain, information, self.worth(gain, information, fl(0.001))

        full = list(zip(totals, table[1:], strict=True))
        if not grouped:
            return Test(*score(full)[:2], branch_of=list(range(len(totals))))
        return self.grouping(totals, full, score)

    def grouping(self, totals: list[float], full: list[Any], score: Callable[[Any], Any]) -> Test:
        m0, self.m = self.m, 1
        best = score(full)
        values = [[v] for v, t in enumerate(totals) if t > 0.5]
        blocks = [full[v] for v, t in enumerate(totals) if t > 0.5]

        def after(p: int, q: int, items: list[Any], joined: Any) -> list[Any]:
            result = list(items)
            result[p] = joined
            result[q] = result[-1]
            return result[:-1]

        def merged(p: int, q: int) -> list[Any]:
            row = [fl(x + y) for x, y in zip(blocks[p][1], blocks[q][1], strict=True)]
            return after(p, q, blocks, (fl(blocks[p][0] + blocks[q][0]), row))

        changed = False
        p = 0
        while p < len(blocks) - 1:
            c = next((c for c in range(self.k) if blocks[p][1][c] >= 0.1), None)
            if c is not None and not blocks[p][1][c] < blocks[p][0] - 0.1:
                q = p + 1
                while q < len(blocks):
                    if blocks[q][1][c] >= blocks[q][0] - 0.1:
                        blocks, values = merged(p, q), after(p, q, values, values[p] + values[q])
                        changed = True
                    else:
                        q += 1
            p += 1
        if changed:
            best = score(blocks)
        g0 = fl(best[0] / 2)
        by_gain = self.options.criterion == "gain"
        while len(blocks) > 2:
            r = sum(block[0] >= m0 for block in blocks)
            excluded = max(range(len(blocks)), key=lambda i: blocks[i][0]) if r < 3 else None
            pair, found = None, (-EPSILON, 0.0, 0.0)
            for p in range(len(blocks)):
                for q in range(p + 1, len(blocks)):
                    if excluded in (p, q):
                        continue
                    now = score(merged(p, q))
                    if (now[0] >= g0 and found[0] < g0) or now[2] >= found[2] or (pair is None and (by_gain or r < 2)):
                        pair, found = (p, q), now
            if not by_gain and r >= 2 and (pair is None or found[2] < best[2] + 1e-5):
                break
            assert pair is not None
            p, q = pair
            blocks, values, best = merged(p, q), after(p, q, values, values[p] + values[q]), found
        self.m = m0
        if best[2] <= 0:
            return Test(NONE)
        branch_of = [len(blocks)] * len(totals)
        for branch, block in enumerate(values):
            for value in block:
                branch_of[value] = branch
        return Test(score(blocks)[0], best[1], branch_of=branch_of)

    def worth(self, gain: float, information: float, average: float) -> float:
        if self.options.criterion == "gain":
            return gain if information > 0 and gain > -EPSILON else NONE
        return fl(gain / information) if gain >= average - EPSILON and information > EPSILON else NONE

    # -- growing ---------------------------------------------------------------------------------------------

    def grow(self, first: int, stop: int, tested: frozenset[int] = frozenset()) -> ReferenceNode:
        weight = self.weight(first, stop)
        counts = self.counts(self.order[first:stop])
        most = max(counts)
        node = ReferenceNode(weight, counts, counts.index(most), fl(weight - most))
        if most == weight or weight < 2 * self.m:
            return node
        tests: dict[int, Test] = {}
        for a in self.usable:
            if self.attributes[a].is_numeric:
                tests[a] = self.numeric(a, first, stop)
            elif a not in tested:
                tests[a] = self.nominal(a, first, stop, weight)
        gains = [test.gain for a, test in tests.items() if test.gain > -EPSILON and a in self.few]
        average = fl(total(gains) / len(gains)) if gains else 1e6
        best, chosen = NONE, None
        for a, test in tests.items():
            if test.gain > -EPSILON and self.worth(test.gain, test.info, average) > best:
                best, chosen = self.worth(test.gain, test.info, average), a
        if chosen is None:
            return node
        node.attribute, node.cut, node.branch_of = chosen, tests[chosen].cut, tests[chosen].branch_of
        again = node.cut is not None or (self.options.subset and len(self.attributes[chosen].values) > 2)
        below = tested if again else tested | {chosen}
        branches = 2 if node.branch_of is None else max(node.branch_of) + 1
        node.children = [ReferenceNode(0.0, counts, node.outcome, 0.0) for _ in range(branches)]

        def branch(b: int, _: float, end: int) -> None:
            node.children[b] = self.grow(first, end, below)

        self.partition(node, first, stop, weight, branch)
        node.e = total([child.e for child in node.children])
        if node.e >= fl(weight - most) - EPSILON:
            node.attribute, node.children = None, []
        return node

    def goes_to(self, node: ReferenceNode, branch: int, case: int) -> bool:
        value = self.columns[node.attribute or 0][case]
        return value is not None and node.branch(value) == branch

    def partition(
        self,
        node: ReferenceNode,
        first: int,
        stop: int,
        weight: float | None,
        handle: Callable[[int, float, int], None],
    ) -> None:
        column = self.columns[node.attribute or 0]
        p = self.gather(first, stop, lambda c: column[c] is None)
        before = self.flag
        known = self.weight(p, stop)
        if p > first:
            self.flag = False
        if weight is not None:
            known = fl(weight - self.weight(first, p))
        for b in range(len(node.children)):
            q = self.gather(p, stop, partial(self.goes_to, node, b))
            if q == p:
                continue
            phi = fl(self.weight(p, q) / known)
            for c in self.order[first:p]:
                self.weights[c] = fl(self.weights[c] * phi)
            handle(b, phi, q)
            self.gather(first, q, lambda c: column[c] is None)
            for c in self.order[first:p]:
                self.weights[c] = fl(self.weights[c] / phi)
        self.flag = before

    # -- pruning ---------------------------------------------------------------------------------------------

    def prune(self, root: ReferenceNode, extra: Callable[[float, float], float]) -> ReferenceNode:
        """Prune a tree that was just grown (and is changed)."""
        self.weights = [1.0] * self.n_cases
        self.flag = True
        _, root = self.estimate(root, 0, self.n_cases, extra, update=True)
        sizes = {a: len(column.values) for a, column in enumerate(self.attributes) if len(column.values) > 2}
        if self.options.subset:
            clean(root, sizes, {})
        return root

    def estimate(
        self, node: ReferenceNode, first: int, stop: int, extra: Callable[[float, float], float], *, update: bool
    ) -> tuple[float, ReferenceNode]:
        weight = self.weight(first, stop)
        counts = self.counts(self.order[first:stop])
        outcome = node.outcome
        for c, count in enumerate(counts):
            if count > counts[outcome]:
                outcome = c
        errors = fl(weight - counts[outcome])
        as_leaf = fl(errors + extra(weight, errors))
        if update:
            node.n, node.counts, node.outcome = weight, counts, outcome
        if node.attribute is None:
            if update:
                node.e = as_leaf
            return as_leaf, node
        as_tree, largest, greatest = 0.0, 0, -1.0

        def branch(b: int, phi: float, end: int) -> None:
            nonlocal as_tree, largest, greatest
            if phi >= greatest:
                largest, greatest = b, phi
            e, node.children[b] = self.estimate(node.children[b], first, end, extra, update=update)
            as_tree = fl(as_tree + e)

        self.partition(node, first, stop, None, branch)
        if not update:
            return as_tree, node
        heir = node.children[largest]
        raised, _ = self.estimate(heir, first, stop, extra, update=False)
        if as_leaf <= raised + 0.1 and as_leaf <= as_tree + 0.1:
            node.attribute, node.children, node.e = None, [], as_leaf
            return as_leaf, node
        if raised <= as_tree + 0.1:
            return self.estimate(heir, first, stop, extra, update=True)
        node.e = as_tree
        return as_tree, node


def clean(node: ReferenceNode, sizes: dict[int, int], possible: dict[int, set[int]]) -> None:
    """Take impossible values out of the last branch of tests of the attributes in `sizes`, which are grouped."""
    a = node.attribute
    if a is None or a not in sizes or node.branch_of is None:
        for child in node.children:
            clean(child, sizes, possible)
        return
    last = len(node.children) - 1
    node.branch_of = list(node.branch_of)
    for value, branch in enumerate(node.branch_of):
        if branch == last and value not in possible.get(a, set(range(sizes[a]))):
            node.branch_of[value] = -1
    if last not in node.branch_of:
        node.children.pop()
    for b, child in enumerate(node.children):
        inside = {value for value, branch in enumerate(node.branch_of) if branch == b}
        clean(child, sizes, {**possible, a: inside})


def _number(x: float) -> float | None:
    return None if math.isnan(x) or fl(x) == -999 else fl(x)


def plain_tree(tree: Tree, errors: Any, node: int = 0) -> Any:
    """Return a tree in the form of `plain`, with these errors."""
    split = tree.split(node)
    cut = None if split is None or split.cut is None else fl(split.cut)
    test = None if split is None else (split.attribute, cut, split.branch_of)
    children = tuple(plain_tree(tree, errors, int(child)) for child in tree.children_of(node))
    counts = tuple(float(count) for count in tree.counts[node])
    return float(tree.weight[node]), counts, int(tree.outcome[node]), float(errors[node]), test, children


def random_dataset(rng: np.random.Generator, missing: float) -> Dataset:
    """Make a small table of numeric and nominal columns whose first two are informative of the class."""
    n, k = int(rng.integers(5, 70)), int(rng.integers(2, 4))
    columns: list[Any] = []
    described: list[Column] = []
    for a in range(int(rng.integers(1, 5))):
        unknown = rng.random(n) < missing
        if rng.random() < 0.5:
            numbers = rng.integers(0, rng.integers(2, 15), n) / rng.choice([1, 3, 7])
            columns.append(np.where(unknown, rng.choice([np.nan, -999.0]), numbers))
            described.append(Column(f"a{a}", Kind.NUMERIC))
        else:
            values = int(rng.integers(1, 7))
            columns.append(np.where(unknown, -1, rng.integers(0, values, n)).astype(np.int32))
            described.append(Column(f"a{a}", Kind.NOMINAL, tuple("abcdef"[:values])))
    target = rng.integers(0, k, n)
    for column in columns[:2]:
        target = np.where((np.nan_to_num(column) > 1) & (rng.random(n) < 0.6), 1, target)
    schema = Schema((*described, Column("class", Kind.NOMINAL, tuple("xyz"[:k]))), target="class")
    return Dataset(schema, tuple(columns), n, target.astype(np.int32))


def random_options(rng: np.random.Generator) -> Release8:
    """Choose options at random."""
    return Release8(
        min_objects=int(rng.integers(1, 4)),
        criterion=str(rng.choice(["gain_ratio", "gain"])),
        subset=bool(rng.random() < 0.5),
        confidence=float(rng.choice([0.05, 0.25, 0.6, 1.0])),
    )


def plain(node: ReferenceNode) -> Any:
    """Return a node and all below it as nested tuples."""
    test = (node.attribute, node.cut, tuple(node.branch_of or ())) if node.attribute is not None else None
    return node.n, tuple(node.counts), node.outcome, node.e, test, tuple(plain(child) for child in node.children)
