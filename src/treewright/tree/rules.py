"""Ordered if-then rules: rule sets, the model of a rule set, and the rules of a tree's paths.

Invariants: a missing value fails every condition. Rules are in firing order, and the first rule that fires decides. A
rule whose error exceeds the limit of its set never fires. Rules and rule sets are immutable and validated at
construction.

`path_rules` writes a tree as one rule per leaf, without pruning. The paths of a tree are mutually exclusive, so the
order has no effect, and all rules may fire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Schema, Task
from treewright.errors import ModelFormatError, ParameterError, SchemaError
from treewright.tree.formula import BATCH, NUMERIC_OPS, Condition, ConditionMasks, Mask, Op, disjunction, tree_paths
from treewright.tree.model import Predictor
from treewright.tree.output_methods import InNotebook
from treewright.tree.tree import Tree
from treewright.wording import printable

ERROR_LIMIT = 0.7
"""A rule with a higher estimated error never fires."""

LARGEST_COUNT = 2**53


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, predict a class.

    Parameters
    ----------
    conditions : tuple of Condition
    outcome : int
        Index of the class.
    covers, used, wrong : int
        Numbers of training cases: those that satisfy all conditions; those for which this is the first rule that
        fires; those among the latter that have another class.
    error : float
        Estimated error rate, 0 to 1.
    """

    conditions: tuple[Condition, ...]
    outcome: int
    covers: int
    used: int
    wrong: int
    error: float

    def __post_init__(self) -> None:
        if self.outcome < 0:
            raise ParameterError(f"class index {self.outcome} is negative")
        if not 0 <= self.wrong <= self.used <= self.covers < LARGEST_COUNT:
            raise ParameterError("the counts of a rule must satisfy wrong <= used <= covers")
        if not 0 <= self.error <= 1:
            raise ParameterError(f"the error of a rule must be between 0 and 1, not {self.error}")

    @property
    def accuracy(self) -> float:
        """Estimated accuracy."""
        return 1.0 - self.error

    def matches(self, cases: Dataset) -> Mask:
        """Return which cases satisfy all conditions."""
        return ConditionMasks(cases).all_of(self.conditions)

    def describe(self, schema: Schema) -> str:
        """Return ``IF ... THEN class`` as readable text."""
        conditions = " AND ".join(condition.describe(schema) for condition in self.conditions) or "true"
        return f"IF {conditions} THEN {printable(schema.classes[self.outcome])}"


@dataclass(frozen=True)
class RuleSet(InNotebook):
    """Rules in firing order, and a default class for the cases for which none fires.

    Parameters
    ----------
    schema : Schema
    rules : tuple of Rule
    default : int
        Index of the default class.
    error_limit : float
        Rules with a greater error never fire.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> weather = sample("play-tennis")
    >>> sunny, humid = Condition.equals(0, 0), Condition.equals(2, 0)
    >>> rule = Rule((sunny, humid), outcome=1, covers=3, used=3, wrong=0, error=0.37)
    >>> rules = RuleSet(weather.schema, (rule,), default=0)
    >>> print(rules)
    1  IF Outlook = Sunny AND Humidity = High THEN No  [covers 3, used 3, wrong 0, estimated accuracy 63.0 %]
    DEFAULT Yes
    >>> rules.predict_codes(weather)[:4].tolist()
    [1, 1, 0, 0]
    """

    schema: Schema
    rules: tuple[Rule, ...]
    default: int
    error_limit: float = ERROR_LIMIT

    def __post_init__(self) -> None:
        if self.schema.task is not Task.CLASSIFICATION:
            raise ParameterError("rules predict classes, but the target is numeric")
        if not 0 <= self.default < len(self.schema.classes):
            raise ParameterError(f"there is no class {self.default} to be the default")
        if not 0 <= self.error_limit <= 1:
            raise ParameterError(f"the error limit must be between 0 and 1, not {self.error_limit}")
        for rule in self.rules:
            if rule.outcome >= len(self.schema.classes):
                raise ParameterError(f"there is no class {rule.outcome}")
            for condition in rule.conditions:
                condition.check(self.schema)

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return self.to_text()

    def fires(self, rule: Rule) -> bool:
        """Return True if the error of the rule is within the limit."""
        return rule.error <= self.error_limit

    def first_match(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return the index of the first rule that fires for each case, -1 if none does."""
        if cases.schema.attributes != self.schema.attributes:
            raise SchemaError("the cases do not have the attributes of the rules")
        first = np.full(cases.n_rows, -1, dtype=np.intp)
        for start in range(0, cases.n_rows, BATCH):
            rows = slice(start, start + BATCH)
            masks, part = ConditionMasks(cases.take(rows)), first[rows]
            for index in range(len(self.rules) - 1, -1, -1):  # an earlier rule overwrites a later one
                if self.fires(self.rules[index]):
                    part[masks.all_of(self.rules[index].conditions)] = index
        return first

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order."""
        outcomes = np.array([*(rule.outcome for rule in self.rules), self.default], dtype=np.intp)
        return outcomes[self.first_match(cases)]  # -1 reads the last entry: the default

    def to_text(self) -> str:
        """Return one numbered line per rule, then the default class."""
        width = len(str(len(self.rules)))
        lines = [f"{number:>{width}}  {self._line(rule)}" for number, rule in enumerate(self.rules, start=1)]
        return "\n".join([*lines, f"DEFAULT {printable(self.schema.classes[self.default])}"])

    def _line(self, rule: Rule) -> str:
        counts = f"covers {rule.covers}, used {rule.used}, wrong {rule.wrong}"
        estimate = f"estimated accuracy {100 * rule.accuracy:.1f} %"
        never = "" if self.fires(rule) else ", never fires"
        return f"{rule.describe(self.schema)}  [{counts}, {estimate}{never}]"

    # -- plain data ---------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with names instead of codes, without the schema."""
        return {
            "rules": [
                {
                    "conditions": [_condition_to_plain(self.schema, condition) for condition in rule.conditions],
                    "class": self.schema.classes[rule.outcome],
                    "error_estimate": rule.error,
                    "covers": rule.covers,
                    "used": rule.used,
                    "wrong": rule.wrong,
                }
                for rule in self.rules
            ],
            "default_class": self.schema.classes[self.default],
            "error_limit": self.error_limit,
        }

    @classmethod
    def from_dict(cls, schema: Schema, data: Any) -> RuleSet:
        """Restore a rule set from the output of `to_dict`, with full validation.

        Raises
        ------
        ModelFormatError
            If the data is invalid.
        """
        if not isinstance(data, Mapping):
            raise ModelFormatError(f"a rule set is an object, not {type(data).__name__}")
        try:
            return cls(
                schema,
                tuple(_rule_from_plain(schema, rule) for rule in _list(data, "rules")),
                _class_from_plain(schema, data, "default_class"),
                _number(data.get("error_limit", ERROR_LIMIT), "error_limit"),
            )
        except (ParameterError, SchemaError) as error:
            raise ModelFormatError(f"damaged rule set: {error}") from error


def _condition_to_plain(schema: Schema, condition: Condition) -> dict[str, Any]:
    column = schema.attributes[condition.attribute]
    value: Any = condition.cut
    if condition.op is Op.EQUALS:
        value = column.values[condition.values[0]]
    elif condition.op is Op.IN:
        value = [column.values[code] for code in condition.values]
    return {"attr": column.name, "op": str(condition.op), "value": value}


def _rule_from_plain(schema: Schema, plain: Any) -> Rule:
    if not isinstance(plain, Mapping):
        raise ModelFormatError("a rule is an object")
    return Rule(
        tuple(_condition_from_plain(schema, condition) for condition in _list(plain, "conditions")),
        _class_from_plain(schema, plain, "class"),
        _count(plain, "covers"),
        _count(plain, "used"),
        _count(plain, "wrong"),
        _number(plain.get("error_estimate"), "error_estimate"),
    )


def _condition_from_plain(schema: Schema, plain: Any) -> Condition:
    if not isinstance(plain, Mapping):
        raise ModelFormatError("a condition is an object")
    name, word, value = plain.get("attr"), plain.get("op"), plain.get("value")
    if not isinstance(name, str) or name not in schema.attribute_names:
        raise ModelFormatError(f"a condition tests {name!r:.80}, which is no attribute")
    attribute = schema.attribute_names.index(name)
    column = schema.attributes[attribute]
    if word not in tuple(Op):
        raise ModelFormatError(f"{word!r:.80} is not one of {', '.join(Op)}")
    op = Op(word)
    if op in NUMERIC_OPS:
        return Condition(attribute, op, cut=_number(value, f"the cut of {name!r:.80}"))
    if op is Op.EQUALS:
        return Condition.equals(attribute, _code(column, value))
    if not isinstance(value, list):
        raise ModelFormatError(f"'in' has a list of values of {name!r:.80}")
    codes = [_code(column, one) for one in value]
    if len(set(codes)) != len(codes):
        raise ModelFormatError(f"'in' repeats a value of {name!r:.80}")
    return Condition.one_of(attribute, codes)


def _list(plain: Mapping[str, Any], name: str) -> list[Any]:
    value = plain.get(name)
    if not isinstance(value, list):
        raise ModelFormatError(f"{name!r} must be a list")
    return value


def _code(column: Column, value: Any) -> int:
    if not isinstance(value, str) or value not in column.values:
        raise ModelFormatError(f"{value!r:.80} is no value of {column.name!r:.80}")
    return column.values.index(value)


def _class_from_plain(schema: Schema, plain: Mapping[str, Any], key: str) -> int:
    return _code(schema.target_column, plain.get(key))


def _count(plain: Mapping[str, Any], name: str) -> int:
    value = plain.get(name)
    if type(value) is not int:
        raise ModelFormatError(f"{name!r} must be a whole number, not {value!r:.80}")
    return value


def _number(value: Any, what: str) -> float:
    if type(value) not in (int, float):
        raise ModelFormatError(f"{what} must be a number, not {value!r:.80}")
    try:
        return float(value)
    except OverflowError as error:
        raise ModelFormatError(f"{what} is too large") from error


@dataclass(frozen=True)
class RuleModel(Predictor, InNotebook):
    """Ordered rules: the first rule that fires predicts, else the default class.

    Parameters
    ----------
    rules : RuleSet
    recipe : dict
        Learner and options, as plain data.
    provenance : dict
        Origin of the training data, as plain data.
    """

    kind: ClassVar[Literal["rules"]] = "rules"

    rules: RuleSet
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """The schema of the training data."""
        return self.rules.schema

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order."""
        return self.rules.predict_codes(cases)

    def to_plain(self) -> dict[str, Any]:
        """Return the part of the model file that is specific to rules."""
        return {"rules": self.rules.to_dict()}

    def __str__(self) -> str:
        return self.rules.to_text()


def path_rules(tree: Tree) -> RuleSet:
    """Return the rules of a classification tree, with the counts of its training cases.

    Conditions on one attribute are merged (``x <= 5`` and ``x <= 3`` gives ``x <= 3``); leaves that no case reached
    give no rule. Fractional counts are rounded to integers. The default is the class of the root.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> print(path_rules(fit(sample("play-tennis"), ID3()).tree).to_text().splitlines()[2])
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 100.0 %]
    """
    if tree.is_regression:
        raise ParameterError("rules predict classes, but this tree predicts numbers")
    classes = tree.schema.classes
    rules = []
    for leaf, conditions in tree_paths(tree):
        weight, outcome = float(tree.weight[leaf]), int(tree.outcome[leaf])
        merged = disjunction(tree.schema, classes[outcome], [conditions]).conjunctions
        if weight > 0 and merged:
            wrong = float(tree.errors[leaf])
            cases = round(weight)
            rules.append(Rule(merged[0], outcome, cases, cases, min(cases, round(wrong)), wrong / weight))
    return RuleSet(tree.schema, tuple(rules), int(tree.outcome[0]), error_limit=1.0)
