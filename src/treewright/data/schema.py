"""The schema: the kind and role of each column of a table.

A column is nominal (categories without a meaningful order), ordinal (categories from low to high) or numeric. The order
of the categories in `values` determines the order of branches and breaks ties, also for nominal columns; it is part of
the model. A missing value is never a category.

Invariants: a schema is immutable and validated at construction: names are unique, nominal columns list their
categories without repetition, target and weight are columns of the schema.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from treewright.atomic_file import write_atomically
from treewright.errors import SchemaError
from treewright.wording import unknown_name

MISSING_MARKERS = ("", "?", "NaN", "nan", "NULL", "null")
"""Texts that mean "missing" in a text file unless the schema declares them as values."""


class Kind(StrEnum):
    """The kind of a column."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"


class Task(StrEnum):
    """What is predicted: a class or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class LabelType(StrEnum):
    """The Python type that the values of a nominal column had before they became text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


_Word = TypeVar("_Word", Kind, LabelType)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind and, unless numeric, its categories in order.

    Examples
    --------
    >>> Column("wind", Kind.NOMINAL, ("weak", "strong"))
    Column(name='wind', kind=<Kind.NOMINAL: 'nominal'>, values=('weak', 'strong'), labels=<LabelType.TEXT: 'text'>)
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    labels: LabelType = LabelType.TEXT
    is_numeric: bool = field(init=False, repr=False, compare=False)
    """True if the cells are numbers."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise SchemaError(f"a column name must be text, not {_shown(self.name)}")
        # Plain strings are accepted and converted: they compare equal to a kind, but are not enum members.
        if type(self.kind) is not Kind:
            object.__setattr__(self, "kind", _word(Kind, "kind", self.kind, self.name))
        if type(self.labels) is not LabelType:
            object.__setattr__(self, "labels", _word(LabelType, "labels", self.labels, self.name))
        object.__setattr__(self, "is_numeric", self.kind is Kind.NUMERIC)
        values: Any = self.values
        if not isinstance(values, (tuple, list)):
            raise SchemaError(f"values must be a sequence of texts, not {_shown(values)}", column=self.name)
        object.__setattr__(self, "values", tuple(values))
        if self.is_numeric:
            if self.values:
                raise SchemaError("a numeric column declares no values", column=self.name)
            return
        seen: set[str] = set()
        for value in self.values:
            if not isinstance(value, str):
                raise SchemaError(f"a declared value must be text, not {_shown(value)}", column=self.name)
            if value in seen:
                raise SchemaError(f"value {value!r} is declared twice", column=self.name)
            seen.add(value)


@dataclass(frozen=True)
class Schema:
    """The columns of a table and their roles: target, weight, ignored, or attribute.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the table; the attributes keep this order, which breaks ties.
    target : str or None
        Name of the column to predict.
    weight : str or None
        Name of a numeric column of case weights.
    ignored : tuple of str
        Columns that are not used for training.
    missing_markers : tuple of str
        Texts that mean "missing" when a text file is read.

    Examples
    --------
    >>> schema = Schema((Column("wind", Kind.NOMINAL, ("weak", "strong")), Column("play", Kind.NOMINAL, ("no", "yes"))),
    ...                 target="play")
    >>> [column.name for column in schema.attributes], str(schema.task)
    (['wind'], 'classification')
    """

    columns: tuple[Column, ...]
    target: str | None = None
    weight: str | None = None
    ignored: tuple[str, ...] = ()
    missing_markers: tuple[str, ...] = MISSING_MARKERS
    attributes: tuple[Column, ...] = field(init=False, repr=False, compare=False)
    """The columns that a tree may test, in order."""
    attribute_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Names of the attributes, in order."""

    def __post_init__(self) -> None:
        names: set[str] = set()
        for column in self.columns:
            if column.name in names:
                raise SchemaError("two columns have this name", column=column.name)
            names.add(column.name)
        roles = [("target", self.target), ("weight", self.weight), *(("ignored one", name) for name in self.ignored)]
        for role, name in roles:
            if name is not None and name not in names:
                known = [column.name for column in self.columns]
                raise SchemaError(unknown_name(f"column to be the {role}:", name, known))
        if self.target is not None and self.target in (self.weight, *self.ignored):
            raise SchemaError("the target can be neither weight nor ignored", column=self.target)
        if self.weight is not None and not self.column(self.weight).is_numeric:
            raise SchemaError("the weight column must be numeric", column=self.weight)
        out = {self.target, self.weight, *self.ignored}
        object.__setattr__(self, "attributes", tuple(column for column in self.columns if column.name not in out))
        object.__setattr__(self, "attribute_names", tuple(column.name for column in self.attributes))

    @property
    def target_column(self) -> Column:
        """The column to predict."""
        if self.target is None:
            raise SchemaError("the schema names no target")
        return self.column(self.target)

    @property
    def task(self) -> Task:
        """Classification when the target is nominal or ordinal, else regression."""
        return Task.REGRESSION if self.target_column.is_numeric else Task.CLASSIFICATION

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in order (none for a numeric target)."""
        return self.target_column.values

    def column(self, name: str) -> Column:
        """Return the column of that name, or raise with the nearest name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = [column.name for column in self.columns]
        raise SchemaError(unknown_name("column", name, known))

    def with_column(self, column: Column) -> Schema:
        """Return a copy in which the column of that name is replaced."""
        self.column(column.name)
        return replace(self, columns=tuple(column if old.name == column.name else old for old in self.columns))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, the shape that `from_dict` reads."""
        result: dict[str, Any] = {"target": self.target}
        if self.target is not None:
            result["task"] = str(self.task)
        if self.weight is not None:
            result["weight"] = self.weight
        if self.ignored:
            result["ignored"] = list(self.ignored)
        if self.missing_markers != MISSING_MARKERS:
            result["missing_markers"] = list(self.missing_markers)
        result["columns"] = []
        for column in self.columns:
            plain: dict[str, Any] = {"name": column.name, "kind": str(column.kind)}
            if not column.is_numeric:
                plain["values"] = list(column.values)
                if column.labels is not LabelType.TEXT:
                    plain["labels"] = str(column.labels)
            result["columns"].append(plain)
        return result

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Restore a schema from plain data; unknown keys are ignored.

        Examples
        --------
        >>> Schema.from_dict({"target": "y", "task": "regression", "missing_marker": "?", "rows": 3,
        ...                   "columns": [{"name": "x", "kind": "ordinal", "values": ["low", "high"]},
        ...                               {"name": "y", "kind": "numeric"}]}).task
        <Task.REGRESSION: 'regression'>
        """
        if not isinstance(data, Mapping):
            raise SchemaError(f"a schema is an object with 'columns', not {type(data).__name__}")
        columns = data.get("columns")
        if not isinstance(columns, (list, tuple)) or not columns:
            raise SchemaError("a schema needs a non-empty list 'columns'")
        schema = cls(
            columns=tuple(_column_from_dict(column) for column in columns),
            target=_optional_text(data, "target"),
            weight=_optional_text(data, "weight"),
            ignored=_text_tuple(data.get("ignored", ()), "ignored"),
            missing_markers=_markers(data),
        )
        task = data.get("task")
        if task is not None and schema.target is not None and task != str(schema.task):
            kind = schema.target_column.kind
            raise SchemaError(f"task is {_shown(task)}, but the target is {kind}", column=schema.target)
        return schema

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as JSON."""
        write_atomically(path, json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema written by `save` or by hand."""
        name = os.fspath(path)
        try:
            with open(name, encoding="utf-8") as handle:
                data = json.load(handle)
        except (
            ValueError,
            RecursionError,
        ) as error:  # not JSON, not UTF-8, a number with too many digits, or nested too deeply
            raise SchemaError(f"not a schema file: {error}", source=name) from error
        try:
            return cls.from_dict(data)
        except SchemaError as error:
            raise SchemaError(str(error), source=name) from error


def _column_from_dict(data: Any) -> Column:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise SchemaError(f"a column is an object with a 'name', not {_shown(data)}")
    name = data["name"]
    kind = _word(Kind, "kind", data.get("kind"), name)
    labels = _word(LabelType, "labels", data.get("labels", LabelType.TEXT), name)
    if kind is Kind.NUMERIC:
        return Column(name, kind)
    return Column(name, kind, _text_tuple(data.get("values"), f"the values of {name!r}"), labels)


def _word(words: type[_Word], what: str, value: Any, column: str) -> _Word:
    if isinstance(value, str) and value in set(words):
        return words(value)
    raise SchemaError(f"{what} {_shown(value)} is not one of {', '.join(words)}", column=column)


def _shown(value: Any) -> str:
    """Return a value for a message, shortened; works for any object."""
    try:
        return f"{value!r:.80}"
    except (ValueError, RecursionError):
        return f"this {type(value).__name__}"


def _optional_text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise SchemaError(f"{key!r} must be text, not {_shown(value)}")
    return value


def _text_tuple(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise SchemaError(f"{what} must be a list of texts, not {_shown(values)}")
    return tuple(values)


def _markers(data: Mapping[str, Any]) -> tuple[str, ...]:
    if "missing_markers" in data:
        return _text_tuple(data["missing_markers"], "missing_markers")
    single = _optional_text(data, "missing_marker")
    return with_markers((single,)) if single is not None else MISSING_MARKERS


def with_markers(extra: Iterable[str]) -> tuple[str, ...]:
    """Return the usual missing markers and these, without repetition."""
    return tuple(dict.fromkeys((*MISSING_MARKERS, *extra)))
