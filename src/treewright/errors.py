"""The exceptions that Treewright raises on purpose.

The message of a `TreewrightError` is one sentence that a user can act on. The subclasses separate errors in the data,
in the call, and elsewhere; the command line maps them to the exit codes 3, 2 and 1. All of them are `ValueError`, so
code written for scikit-learn's conventions catches them.
"""

from __future__ import annotations


class TreewrightError(ValueError):
    """Base class of all errors that Treewright raises on purpose."""


class DataError(TreewrightError):
    """The data is invalid.

    Parameters
    ----------
    message : str
        What is wrong, and what was expected.
    source, line, column : optional
        Location of the error: file name, 1-based line number, column name.

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
        location = [source] if source else []
        if line is not None:
            location.append(f"line {line}")
        if column is not None:
            location.append(f"column {column!r}")
        super().__init__(f"{', '.join(location)}: {message}" if location else message)
        self.source = source
        self.line = line
        self.column = column


class SchemaError(DataError):
    """A schema is inconsistent, or does not match the data."""


class ModelFormatError(TreewrightError):
    """A model file is damaged, malicious, or of an unsupported version."""


class ParameterError(TreewrightError):
    """An argument has an invalid value; the message lists the allowed values."""


class MissingExtraError(TreewrightError, ImportError):
    """An optional package is not installed; the message contains the install command."""


class DataWarning(UserWarning):
    """The data is usable, but something in it was corrected or ignored."""


class EngineError(TreewrightError):
    """An external engine failed: no connection, a lost connection, or a rejected statement."""
