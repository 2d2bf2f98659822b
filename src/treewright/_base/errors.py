"""Every error that Treewright raises on purpose.

Vocabulary
----------
A `TreewrightError` carries one sentence that a person can act on. Its subclasses say whose
matter it is, and the command line turns them into exit codes: the data (3), the call (2), or
anything else (1). They also are `ValueError`, so that code written for scikit-learn's
conventions catches them.
"""

from __future__ import annotations


class TreewrightError(ValueError):
    """Anything that Treewright refuses to do, with the reason."""


class DataError(TreewrightError):
    """The data are not what they should be.

    Parameters
    ----------
    message : str
        What is wrong and what was expected.
    source, line, column : optional
        Where: file name, 1-based line in the file, name of the column.

    Examples
    --------
    >>> print(DataError("'abc' is not a number", source="t.csv", line=3, column="age"))
    t.csv, line 3, column 'age': 'abc' is not a number
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        place = [source] if source else []
        if line is not None:
            place.append(f"line {line}")
        if column is not None:
            place.append(f"column {column!r}")
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.source = source
        self.line = line
        self.column = column


class SchemaError(DataError):
    """A schema contradicts itself or the data it is meant for."""


class ModelFormatError(TreewrightError):
    """A model file is damaged, hostile, or from a version this one cannot read."""


class ParameterError(TreewrightError):
    """An argument has a value that is not allowed; the message lists what is."""


class MissingExtraError(TreewrightError, ImportError):
    """An optional package is not installed; the message has the line that installs it."""


class DataWarning(UserWarning):
    """The data were usable, but not as they were meant to be."""


class EngineError(TreewrightError):
    """An engine that holds the data failed: no connection, a lost one, or a statement that it refuses."""
