"""A tree as logic: conditions, paths, and for one class the disjunction of the paths to its leaves.

A condition is a test of one attribute that a case satisfies or not. ``=`` and ``in`` are for nominal and ordinal
attributes, ``<=`` and ``>`` for numeric ones. A missing value fails every condition.

The formula of a class is the disjunction of the paths to its leaves, in disjunctive normal form. Every leaf that
predicts the class contributes its path, including leaves that no training case reached.

Invariants: each conjunction of a `Formula` is satisfiable and has no redundant condition: at most one condition per
nominal attribute, at most a lower and an upper bound per numeric attribute, and none that always holds. On cases
without missing values (each with a branch for its value) the formula of a class holds exactly where the tree predicts
the class. A missing value fails every condition, whereas a tree routes such a case on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Schema
from treewright.errors import ParameterError, SchemaError
from treewright.tree.split import KNOWN, Split, Test
from treewright.tree.tree import Tree
from treewright.wording import printable, unknown_name

Mask = npt.NDArray[np.bool_]

BATCH = 65_536
"""Cases classified per batch, which bounds the memory for the masks of the conditions."""

CACHE_BYTES = 2**28
"""Memory for cached masks of conditions; the least recently used ones are recomputed when needed."""


class Op(StrEnum):
    """The operator of a condition."""

    EQUALS = "="
    AT_MOST = "<="
    ABOVE = ">"
    IN = "in"


NUMERIC_OPS = frozenset({Op.AT_MOST, Op.ABOVE})


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one attribute; made by the constructors below.

    Parameters
    ----------
    attribute : int
        Index among the attributes of the schema.
    op : Op
    cut : float or None
        For ``<=`` and ``>``.
    values : tuple of int
        Codes of categories, ascending: one for ``=``, any number for ``in``.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> weather = sample("play-tennis")
    >>> overcast = Condition.equals(0, 1)
    >>> overcast.describe(weather.schema), int(overcast.matches(weather).sum())
    ('Outlook = Overcast', 4)
    """

    attribute: int
    op: Op
    cut: float | None = None
    values: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.attribute < 0:
            raise ParameterError(f"attribute index {self.attribute} is negative")
        if (self.cut is not None) != (self.op in NUMERIC_OPS):
            raise ParameterError("'<=' and '>' have a cut, '=' and 'in' have none")
        if self.cut is not None and not math.isfinite(self.cut):
            raise ParameterError(f"cut {self.cut} is not finite")
        if bool(self.values) == (self.op in NUMERIC_OPS):
            raise ParameterError("'=' and 'in' have values, '<=' and '>' have none")
        if self.op is Op.EQUALS and len(self.values) != 1:
            raise ParameterError(f"'=' has one value, not {len(self.values)}")
        if any(value < 0 for value in self.values) or sorted(set(self.values)) != list(self.values):
            raise ParameterError("the codes of values must be non-negative, ascending and unique")

    @classmethod
    def equals(cls, attribute: int, value: int) -> Condition:
        """``attribute = value``."""
        return cls(attribute, Op.EQUALS, values=(int(value),))

    @classmethod
    def one_of(cls, attribute: int, values: Iterable[int]) -> Condition:
        """``attribute in {values}``."""
        return cls(attribute, Op.IN, values=tuple(sorted({int(value) for value in values})))

    @classmethod
    def at_most(cls, attribute: int, cut: float) -> Condition:
        """``attribute <= cut``."""
        return cls(attribute, Op.AT_MOST, cut=float(cut))

    @classmethod
    def above(cls, attribute: int, cut: float) -> Condition:
        """``attribute > cut``."""
        return cls(attribute, Op.ABOVE, cut=float(cut))

    def matches(self, cases: Dataset) -> Mask:
        """Return which cases satisfy the condition; a missing value does not."""
        column = cases.columns[self.attribute]
        if self.cut is not None:
            # A comparison with NaN, which marks a missing number, is false in both directions.
            return column <= self.cut if self.op is Op.AT_MOST else column > self.cut
        passes = np.zeros(len(cases.schema.attributes[self.attribute].values) + 1, dtype=np.bool_)
        passes[list(self.values)] = True
        return passes[column]  # the missing code -1 reads the last entry, which stays false

    def describe(self, schema: Schema) -> str:
        """Return the condition as readable text."""
        column = schema.attributes[self.attribute]
        return f"{printable(column.name)} {self.op} {self._operand(column)}"

    def _operand(self, column: Column) -> str:
        if self.cut is not None:
            return repr(self.cut).removesuffix(
                ".0"
            )  # the shortest exact decimal: the printed test equals the stored one
        names = [printable(column.values[value]) for value in self.values]
        return names[0] if self.op is Op.EQUALS else "{" + ", ".join(names) + "}"

    def check(self, schema: Schema) -> None:
        """Raise `ParameterError` unless the schema has such an attribute and such values."""
        if self.attribute >= len(schema.attributes):
            raise ParameterError(f"there is no attribute {self.attribute}; there are {len(schema.attributes)}")
        column = schema.attributes[self.attribute]
        if column.is_numeric != (self.op in NUMERIC_OPS):
            raise ParameterError(f"{column.kind} attribute {column.name!r} cannot be tested by {str(self.op)!r}")
        if self.values and self.values[-1] >= len(column.values):
            raise ParameterError(f"{column.name!r} declares {len(column.values)} values, no value {self.values[-1]}")


class ConditionMasks:
    """A bounded cache of the cases that satisfy each condition."""

    def __init__(self, cases: Dataset) -> None:
        self.cases = cases
        self._masks: dict[Condition, Mask] = {}
        self._capacity = max(64, CACHE_BYTES // max(1, cases.n_rows))

    def __getitem__(self, condition: Condition) -> Mask:
        mask = self._masks.pop(condition, None)
        if mask is None:
            mask = condition.matches(self.cases)
            mask.setflags(write=False)
        self._masks[condition] = mask  # moved to the end of the dictionary, so the first is the least recently used
        if len(self._masks) > self._capacity:
            del self._masks[next(iter(self._masks))]
        return mask

    def all_of(self, conditions: Iterable[Condition]) -> Mask:
        """Return which cases satisfy all the conditions (without conditions: every case)."""
        passes = np.ones(self.cases.n_rows, dtype=np.bool_)
        for condition in conditions:
            passes &= self[condition]
        return passes


Conjunction = tuple[Condition, ...]


@dataclass(frozen=True)
class Formula:
    """A disjunction of conjunctions that holds for the cases of one class.

    Parameters
    ----------
    schema : Schema
    outcome : int
        Index of the class.
    conjunctions : tuple of tuple of Condition
        Without conjunctions the formula is false; an empty conjunction is true.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> restaurant = sample("restaurant").schema
    >>> patrons = restaurant.attribute_names.index("Patrons")
    >>> print(Formula(restaurant, 0, ((Condition.equals(patrons, 1),), (Condition.equals(patrons, 2),))))
    (Patrons = Some) ∨ (Patrons = Full)
    """

    schema: Schema
    outcome: int
    conjunctions: tuple[Conjunction, ...]

    @property
    def class_name(self) -> str:
        """The class that the formula is about."""
        return self.schema.classes[self.outcome]

    def __str__(self) -> str:
        if not self.conjunctions:
            return "false"
        return " ∨ ".join(self._conjunction(conjunction) for conjunction in self.conjunctions)

    def _conjunction(self, conjunction: Conjunction) -> str:
        if not conjunction:
            return "true"
        return "(" + " ∧ ".join(condition.describe(self.schema) for condition in conjunction) + ")"

    def evaluate(self, cases: Dataset) -> npt.NDArray[np.bool_]:
        """Return for which cases the formula holds."""
        if cases.schema.attributes != self.schema.attributes:
            raise SchemaError("the cases do not have the attributes of the formula")
        holds = np.zeros(cases.n_rows, dtype=np.bool_)
        for start in range(0, cases.n_rows, BATCH):
            rows = slice(start, start + BATCH)
            masks = ConditionMasks(cases.take(rows))
            for conjunction in self.conjunctions:
                holds[rows] |= masks.all_of(conjunction)
        return holds


def tree_to_formula(tree: Tree, class_name: str) -> Formula:
    """Write a tree as a formula for one class.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.tree.build import NodeRecord, build_tree
    >>> from treewright.tree.tree import Stop
    >>> schema = sample("play-tennis").schema
    >>> def leaf(yes, no):
    ...     return NodeRecord(yes + no, np.array([yes, no]), int(no > yes), stop=Stop.PURE)
    >>> outlook = NodeRecord(14, np.array([9, 5]), 0, Split.multiway(0, 3), [1, 2, 3])
    >>> humidity = NodeRecord(5, np.array([2, 3]), 1, Split.multiway(2, 2), [4, 5])
    >>> tree, _ = build_tree(schema, [outlook, humidity, leaf(4, 0), leaf(3, 2), leaf(0, 3), leaf(2, 0)])
    >>> print(tree_to_formula(tree, "Yes"))
    (Outlook = Sunny ∧ Humidity = Normal) ∨ (Outlook = Overcast) ∨ (Outlook = Rain)
    """
    if tree.is_regression:
        raise ParameterError("a regression tree predicts numbers; only a class has a formula")
    classes = tree.schema.classes
    if class_name not in classes:
        raise ParameterError(unknown_name("class", class_name, list(classes)))
    outcome = classes.index(class_name)
    # The paths of a tree are mutually exclusive, so none absorbs another; only bounds need to be tightened.
    regions = (_Region.of(tree.schema, path) for leaf, path in tree_paths(tree) if tree.outcome[leaf] == outcome)
    return Formula(tree.schema, outcome, tuple(region.conditions() for region in regions if not region.is_empty))


def disjunction(schema: Schema, class_name: str, conjunctions: Iterable[Iterable[Condition]]) -> Formula:
    """Simplify conjunctions: tighten each, drop contradictions and those absorbed by another one.

    ``A`` absorbs ``A ∧ B``: every case that satisfies the second satisfies the first.

    Examples
    --------
    >>> from treewright.data.schema import Column, Kind
    >>> schema = Schema((Column("age", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    >>> young, younger = Condition.at_most(0, 30), Condition.at_most(0, 20)
    >>> print(disjunction(schema, "yes", [(young, younger), (younger,), (younger, Condition.above(0, 25))]))
    (age <= 20)
    """
    if class_name not in schema.classes:
        raise ParameterError(unknown_name("class", class_name, list(schema.classes)))
    regions = []
    for conjunction in conjunctions:
        conditions = tuple(conjunction)
        for condition in conditions:
            condition.check(schema)
        region = _Region.of(schema, conditions)
        if not region.is_empty:
            regions.append(region)
    kept = _not_absorbed(schema, regions)
    return Formula(schema, schema.classes.index(class_name), tuple(region.conditions() for region in kept))


def tree_paths(tree: Tree) -> Iterator[tuple[int, Conjunction]]:
    """Yield every leaf with the conditions on its path from the root, depth first, branches in order.

    Subtrees below a branch that only missing values take are omitted: a missing value satisfies no condition.
    """
    stack: list[tuple[int, Conjunction]] = [(0, ())]
    while stack:
        node, conditions = stack.pop()
        split = tree.split(node)
        if split is None:
            yield node, conditions
            continue
        children = tree.children_of(node).tolist()
        for branch in range(len(children) - 1, -1, -1):  # the first branch is popped first
            if not _only_missing(split, branch):
                stack.append((children[branch], conditions + branch_conditions(split, branch)))


def _only_missing(split: Split, branch: int) -> bool:
    """Return True if only cases with a missing value take a branch."""
    if branch != split.missing:
        return False
    match split.test:
        case Test.THRESHOLD:
            return split.cut == KNOWN
        case Test.INTERVALS:
            return branch > len(split.bounds)
        case _:
            return branch not in split.branch_of


def branch_conditions(split: Split, branch: int) -> Conjunction:
    """Return the conditions under which a case takes a branch: one, or two for an inner interval.

    Examples
    --------
    >>> branch_conditions(Split.threshold(0, 2.5), 1)
    (Condition(attribute=0, op=<Op.ABOVE: '>'>, cut=2.5, values=()),)
    """
    attribute = split.attribute
    values = [value for value, taken in enumerate(split.branch_of) if taken == branch]
    match split.test:
        case Test.NOMINAL:
            return (Condition.equals(attribute, branch),)
        case Test.EQUALS if len(values) == 1:
            return (Condition.equals(attribute, values[0]),)
        case Test.EQUALS | Test.SUBSET:
            return (Condition.one_of(attribute, values),)
        case Test.THRESHOLD:
            bounds: tuple[float, ...] = (0.0 if split.cut is None else split.cut,)
        case Test.INTERVALS:
            bounds = split.bounds
    lower = (Condition.above(attribute, bounds[branch - 1]),) if branch > 0 else ()
    upper = (Condition.at_most(attribute, bounds[branch]),) if branch < len(bounds) else ()
    return lower + upper


@dataclass(frozen=True)
class _Region:
    """The region of a conjunction: per attribute the bounds ``low < x <= high``, or a set of categories.

    Attributes are in the order in which the conjunction first mentions them.
    """

    schema: Schema
    limits: dict[int, tuple[float, float] | frozenset[int]]

    @classmethod
    def of(cls, schema: Schema, conditions: Conjunction) -> _Region:
        limits: dict[int, tuple[float, float] | frozenset[int]] = {}
        for condition in conditions:
            known = limits.get(condition.attribute)
            if condition.cut is None:
                values = frozenset(condition.values)
                limits[condition.attribute] = values & known if isinstance(known, frozenset) else values
                continue
            low, high = known if isinstance(known, tuple) else (-math.inf, math.inf)
            if condition.op is Op.AT_MOST:
                limits[condition.attribute] = low, min(high, condition.cut)
            else:
                limits[condition.attribute] = max(low, condition.cut), high
        return cls(schema, limits)

    @property
    def is_empty(self) -> bool:
        return any(
            not limit if isinstance(limit, frozenset) else limit[0] >= limit[1] for limit in self.limits.values()
        )

    def conditions(self) -> Conjunction:
        result: list[Condition] = []
        for attribute, limit in self.limits.items():
            if isinstance(limit, frozenset):
                if len(limit) < len(self.schema.attributes[attribute].values):  # all values: it always holds
                    single = len(limit) == 1
                    result.append(Condition.equals(attribute, *limit) if single else Condition.one_of(attribute, limit))
                continue
            low, high = limit
            if low > -math.inf:
                result.append(Condition.above(attribute, low))
            if high < math.inf:
                result.append(Condition.at_most(attribute, high))
        return tuple(result)


def _not_absorbed(schema: Schema, regions: list[_Region]) -> list[_Region]:
    """Keep the regions that no other region contains; of equal ones the first."""
    low, high, excluded = _as_arrays(schema, regions)
    kept = []
    for index, region in enumerate(regions):
        containing = (low <= low[index]).all(axis=1) & (high >= high[index]).all(axis=1)
        containing &= (excluded <= excluded[index]).all(axis=1)
        contained = (low >= low[index]).all(axis=1) & (high <= high[index]).all(axis=1)
        contained &= (excluded >= excluded[index]).all(axis=1)
        equal = containing & contained
        larger = containing & ~equal
        if not larger.any() and int(np.argmax(equal)) == index:
            kept.append(region)
    return kept


def _as_arrays(
    schema: Schema, regions: list[_Region]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return, one row per region, the lower and upper bounds of the attributes, and the excluded categories."""
    attributes = schema.attributes
    start = np.concatenate(([0], np.cumsum([len(column.values) for column in attributes]))).astype(np.intp)
    low = np.full((len(regions), len(attributes)), -math.inf)
    high = np.full((len(regions), len(attributes)), math.inf)
    excluded = np.zeros((len(regions), int(start[-1])), dtype=np.bool_)
    for row, region in enumerate(regions):
        for attribute, limit in region.limits.items():
            if isinstance(limit, frozenset):
                excluded[row, start[attribute] : start[attribute + 1]] = True
                excluded[row, start[attribute] + np.array(sorted(limit))] = False
            else:
                low[row, attribute], high[row, attribute] = limit
    return low, high, excluded
