"""The base of all reports: plain data, text tables, small HTML, and input checks.

A report holds measures of predictions with a known target, and warnings where a number may mislead. A table is a list
of rows of texts, the header first. The effective number of cases is the squared sum of the weights over the sum of
their squares (Kish 1965): unequal weights carry less information than as many equal ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.errors import DataError, ParameterError
from treewright.wording import printable

Floats = npt.NDArray[np.float64]
Rows = list[list[str]]

FEW_CASES = 30
"""With fewer cases a report warns that they are few."""

LONGEST_NAME = 24
"""Longer names of classes are cut in tables."""


class Report:
    """Base of the reports: a subclass defines `to_dict`, the tables and the sentences, and gets the other forms."""

    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        raise NotImplementedError  # every report has its own

    def tables(self) -> list[tuple[str, Rows]]:
        """Return the tables, each with its title."""
        raise NotImplementedError  # every report has its own

    def lines(self) -> list[str]:
        """Return the sentences above the tables."""
        raise NotImplementedError  # every report has its own

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of `to_dataframe` as plain data."""
        raise NotImplementedError  # every report has its own

    def to_json(self) -> str:
        """Return the report as the text of a JSON object."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_dataframe(self) -> Any:
        """Return the main table as a pandas DataFrame (needs pandas)."""
        from treewright.lazy_import import import_extra

        pandas = import_extra("pandas", "dev", "make a DataFrame")
        return pandas.DataFrame(self.records())

    def __str__(self) -> str:
        parts = ["\n".join(self.lines())]
        parts += [f"{title}\n{text_table(rows)}" for title, rows in self.tables()]
        if self.warnings:
            parts.append("\n".join(f"! {printable(sentence)}" for sentence in self.warnings))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return html_report(self.tables(), (), self.lines(), self.warnings)


def html_report(
    tables: Sequence[tuple[str, Rows]],
    below: Sequence[str],
    above: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Return tables between sentences as HTML without style or script; everything is escaped.

    Examples
    --------
    >>> html_report([], ["a < b"])
    '<div class="treewright-report"><p>a &lt; b</p></div>'
    """
    parts = [f"<p>{escape(line)}</p>" for line in above]
    parts += [html_table(title, rows) for title, rows in tables]
    parts += [f"<p>{escape(line)}</p>" for line in below]
    parts += [f"<p><strong>!</strong> {escape(printable(sentence))}</p>" for sentence in warnings]
    return f'<div class="treewright-report">{"".join(parts)}</div>'


def text_table(rows: Rows) -> str:
    """Set a table in columns: the first to the left, the others to the right.

    Examples
    --------
    >>> print(text_table([["class", "n"], ["yes", "9"], ["no", "15"]]))
    class   n
    yes     9
    no     15
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def html_table(title: str, rows: Rows) -> str:
    """Return a table without style or script; every cell is escaped.

    Examples
    --------
    >>> html_table("t", [["<b>"], ["1"]])
    '<table><caption>t</caption><tr><th scope="col">&lt;b&gt;</th></tr><tr><th scope="row">1</th></tr></table>'
    """
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows[1:]
    )
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def shown_name(name: str) -> str:
    """Return the name of a class as tables show it."""
    return printable(name, LONGEST_NAME)


def shown_names(names: Sequence[str], limit: int = LONGEST_NAME) -> list[str]:
    """Return names as tables show them: short, and all different.

    Long names with the same beginning keep their ends; if these are the same, too, they are numbered.

    Examples
    --------
    >>> shown_names(["short", "a long name that ends in one", "a long name that ends in two"], 16)
    ['short', 'a long…ds in one', 'a long…ds in two']
    """
    full = [printable(name) for name in names]
    cut = [printable(name, limit) for name in names]
    end = (limit - 1) * 3 // 5
    found = [
        f"{name[: limit - 1 - end]}…{name[-end:]}" if len(name) > limit and cut.count(short) > 1 else short
        for name, short in zip(full, cut, strict=True)
    ]
    unique: list[str] = []
    for name in found:
        number = 1 + sum(other == name for other in found[: len(unique)])
        unique.append(name if found.count(name) == 1 else f"{name} ({number})")
    return unique


def decimal(value: float | None, digits: int = 3) -> str:
    """Format a number between 0 and 1; a dash if it is None.

    Examples
    --------
    >>> decimal(0.5), decimal(None)
    ('0.500', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"


def percentage(share: float) -> str:
    """Format a share with one decimal; a share that is not 0 or 1 is never rounded to 0 % or 100 %.

    Examples
    --------
    >>> percentage(0.5), percentage(1.0), percentage(0.9999), percentage(0.99999)
    ('50.0 %', '100 %', '99.99 %', '> 99.99 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if 0.0005 <= share < 0.9995:
        return f"{100 * share:.1f} %"
    text = f"{100 * share:.2f}"
    return "> 99.99 %" if text == "100.00" else "< 0.01 %" if text == "0.00" else f"{text} %"


def checked_weights(weights: Any, n: int) -> Floats:
    """Return the weights of the cases, all 1 if none are given; at least one must be positive."""
    if weights is None:
        return np.ones(n)
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"weights must be numbers: {error}") from error
    require_length("weights", numbers, n)
    if not np.all((numbers >= 0) & np.isfinite(numbers)):
        raise ParameterError("weights must be numbers of at least 0, all finite")
    if not numbers.any():
        raise DataError("all weights are zero: there is nothing to report")
    largest = float(numbers.max())
    return numbers if 1e-100 < largest < 1e100 else numbers / largest  # the squares must stay finite


def require_length(what: str, values: Sequence[Any] | npt.NDArray[Any], n: int) -> None:
    """Raise unless there is one value for each case."""
    if getattr(values, "ndim", 1) != 1:
        raise ParameterError(f"{what} must be a list of one value for each case")
    if len(values) != n:
        raise ParameterError(f"{what} must be as many as there are cases, {n:,}, not {len(values):,}")


def effective_number(weights: Floats) -> float:
    """Return the effective number of cases.

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0])), effective_number(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    total = float(weights.sum())
    return total * total / float((weights * weights).sum())


def plain(value: float) -> float:
    """Return a weight as an int if it is a whole number."""
    return int(value) if float(value).is_integer() else float(value)
