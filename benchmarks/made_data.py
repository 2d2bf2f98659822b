"""Data for measuring, made from a seed: the same arrays on every machine and in every process.

Every table is made by two recipes. The columns of `plain` tables are independent, and most numbers hardly ever tied;
those of `skewed` tables are skewed, rounded, tied and correlated, with rare classes and categories, and with more
missing cells in some columns than in others. A kernel that is quick on one of them only is not quick.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

ADULT_VALUES = (8, 16, 7, 14, 6, 5, 2, 41)
"""How many values the nominal columns of the table that looks like a census have."""

_PARTS = ("numbers", "codes", "labels")


@dataclass(frozen=True)
class Table:
    """Cases to learn from or to predict.

    Parameters
    ----------
    numbers : array, rows x numeric columns
    codes : array, rows x nominal columns
    values : tuple of int
        How many values each nominal column has.
    labels : array
        The class of each case, as a number from 0, or the number that regression predicts.
    classes : int
        How many classes there are; 0 for regression.
    """

    numbers: Floats
    codes: Codes
    values: tuple[int, ...]
    labels: npt.NDArray[Any]
    classes: int

    @property
    def n_rows(self) -> int:
        """Number of cases."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """Number of attributes, numeric and nominal."""
        return int(self.numbers.shape[1] + self.codes.shape[1])

    def head(self, rows: int) -> Table:
        """Return the first cases."""
        return Table(self.numbers[:rows], self.codes[:rows], self.values, self.labels[:rows], self.classes)

    def tail(self, rows: int) -> Table:
        """Return all but the first cases."""
        return Table(self.numbers[rows:], self.codes[rows:], self.values, self.labels[rows:], self.classes)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for part in _PARTS:
            np.save(folder / f"{part}.npy", getattr(self, part), allow_pickle=False)
        (folder / "table.json").write_text(json.dumps({"values": self.values, "classes": self.classes}))

    @classmethod
    def load(cls, folder: Path) -> Table:
        """Read what `save` wrote."""
        table = json.loads((folder / "table.json").read_text())
        numbers, codes, labels = (np.load(folder / f"{part}.npy", allow_pickle=False) for part in _PARTS)
        return cls(numbers, codes, tuple(table["values"]), labels, table["classes"])


def continuous(rows: int, columns: int = 28, classes: int = 2, missing: float = 0.0, seed: int = 0) -> Table:
    """Make numbers whose classes hang on some of them, not linearly and never for sure; no classes mean regression.

    Examples
    --------
    >>> table = continuous(1000, columns=5)
    >>> table.numbers.shape, table.classes, bool((table.numbers == table.numbers.astype("f4")).all())
    ((1000, 5), 2, True)
    >>> continuous(1000, classes=0).labels.dtype
    dtype('float64')
    """
    rng = np.random.default_rng([1, seed])
    numbers = rng.standard_normal((rows, columns), dtype=np.float32)

    def column(at: int) -> npt.NDArray[np.float32]:
        return numbers[:, at % columns]

    scores = np.zeros((classes or 2, rows), dtype=np.float32)
    for score in range(1, len(scores)):
        first = 5 * (score - 1)
        scores[score] = (
            2.4 * column(first) * column(first + 1)
            + 1.6 * np.sin(2 * column(first + 2))
            + 1.8 * np.abs(column(first + 3))
            + 1.2 * (column(first + 4) > 0.5)
            - 1.8
        )
    labels = _drawn(rng, scores) if classes else scores[1] + rng.standard_normal(rows)
    if missing:
        numbers[rng.random(numbers.shape, dtype=np.float32) < missing] = np.nan
    return Table(numbers.astype(np.float64), np.empty((rows, 0), np.int32), (), labels, classes)


def nominal(
    rows: int, columns: int = 20, values: int = 10, classes: int = 5, strength: float = 1.5, seed: int = 0
) -> Table:
    """Make codes, a class drawn by the effects of single values and of pairs of them.

    Examples
    --------
    >>> table = nominal(1000, columns=4, values=3, classes=2)
    >>> table.codes.shape, int(table.codes.max()), table.values
    ((1000, 4), 2, (3, 3, 3, 3))
    """
    rng = np.random.default_rng([2, seed])
    codes = rng.integers(0, values, size=(rows, columns), dtype=np.int32)
    scores = np.zeros((classes, rows), dtype=np.float32)
    for one in range(min(4, columns)):
        other = (one + 1) % columns
        single = strength * rng.standard_normal((classes, values), dtype=np.float32)
        pair = strength / 2 * rng.standard_normal((classes, values, values), dtype=np.float32)
        scores += single[:, codes[:, one]] / (one + 1) + pair[:, codes[:, one], codes[:, other]]
    labels = _drawn(rng, scores)
    return Table(np.empty((rows, 0)), codes, (values,) * columns, labels, classes)


def nominal_noisy(rows: int, columns: int = 16, values: int = 12, classes: int = 4, seed: int = 0) -> Table:
    """Make codes whose class hangs on three of the columns, with a fifth of the classes replaced by chance."""
    rng = np.random.default_rng([3, seed])
    codes = rng.integers(0, values, size=(rows, columns), dtype=np.int32)
    three = codes[:, : min(3, columns)] @ np.array([3, 5, 1], dtype=np.int32)[: min(3, columns)]
    labels = (three // 7 % classes).astype(np.int32)
    noisy = rng.random(rows) < 0.2
    labels[noisy] = rng.integers(0, classes, int(noisy.sum()), dtype=np.int32)
    return Table(np.empty((rows, 0)), codes, (values,) * columns, labels, classes)


def mixed(rows: int, missing: float = 0.1, seed: int = 0) -> Table:
    """Make a table that looks like a census: 6 numbers, 8 nominal columns, missing values everywhere, 2 classes.

    Examples
    --------
    >>> table = mixed(1000)
    >>> table.numbers.shape, table.codes.shape, 0.08 < float((table.codes < 0).mean()) < 0.12
    ((1000, 6), (1000, 8), True)
    """
    rng = np.random.default_rng([4, seed])
    age = np.clip(np.round(rng.gamma(7.0, 5.6, rows)), 17, 90)
    schooling = np.clip(np.round(rng.normal(10, 2.6, rows)), 1, 16)
    hours = np.clip(np.round(rng.normal(40, 12, rows)), 1, 99)
    gain = np.where(rng.random(rows) < 0.08, np.round(np.exp(rng.normal(8.5, 1.0, rows))), 0)
    loss = np.where(rng.random(rows) < 0.05, np.round(rng.normal(1870, 380, rows)), 0)
    weight = np.round(np.exp(rng.normal(12, 0.5, rows)))
    numbers = np.column_stack([age, schooling, hours, gain, loss, weight]).astype(np.float32).astype(np.float64)
    codes = np.column_stack([_skewed(rng, rows, values) for values in ADULT_VALUES])
    score = 0.35 * (schooling - 10) - 0.0016 * (age - 48) ** 2 + 0.03 * (hours - 40) + 1.8 * (gain > 5000) - 0.6
    for at, values in enumerate(ADULT_VALUES):
        score = score + (rng.normal(0, 0.7, values) / (1 + at / 3))[codes[:, at]]
    score = score + 0.8 * (codes[:, 2] == 0) * (codes[:, 4] == 1)
    score = 1.5 * (score - score.mean()) - 1.2  # about a quarter of the cases has the second class
    labels = _drawn(rng, np.stack([np.zeros(rows), score]).astype(np.float32))
    numbers[rng.random(numbers.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = -1
    return Table(numbers, codes, ADULT_VALUES, labels, 2)


def letters(rows: int, columns: int = 16, classes: int = 26, seed: int = 0) -> Table:
    """Make whole numbers from 0 to 15 around a centre for each class, as in letter recognition."""
    rng = np.random.default_rng([5, seed])
    centres = rng.normal(7.5, 2.5, size=(classes, columns))
    labels = rng.integers(0, classes, rows, dtype=np.int32)
    labels[: min(rows, classes)] = np.arange(min(rows, classes))  # no class is left out, however few the rows
    numbers = np.clip(np.round(centres[labels] + rng.normal(0, 1.6, size=(rows, columns))), 0, 15)
    return Table(numbers, np.empty((rows, 0), np.int32), (), labels, classes)


def iris(rows: int) -> Table:
    """Return Fisher's flowers, of which there are 150, in an order that mixes the classes."""
    from sklearn.datasets import load_iris

    numbers, labels = load_iris(return_X_y=True)
    order = np.random.default_rng([6, 0]).permutation(len(labels))[:rows]
    return Table(numbers[order], np.empty((len(order), 0), np.int32), (), labels[order].astype(np.int32), 3)


def skewed(
    rows: int,
    columns: int = 28,
    values: tuple[int, ...] = (),
    classes: int = 2,
    missing: float = 0.0,
    seed: int = 0,
) -> Table:
    """Make a table by the second recipe: skewed, rounded, tied and correlated columns; no classes mean regression.

    The classes hang on the numbers before they are rounded, by steps and products, and the later a class the rarer it
    is. Columns lack from no cells to twice the share `missing`.

    Examples
    --------
    >>> table = skewed(1000, columns=8, values=(3, 20), missing=0.1)
    >>> table.numbers.shape, table.codes.shape, table.values
    ((1000, 8), (1000, 2), (3, 20))
    >>> [len(np.unique(column[~np.isnan(column)])) > 500 for column in table.numbers.T]
    [True, False, False, False, False, False, True, False]
    """
    rng = np.random.default_rng([7, seed])
    numbers = rng.standard_normal((rows, columns), dtype=np.float32)
    for at in range(len(_SHAPES), columns):  # each column after the first few resembles an earlier one
        numbers[:, at] = 0.8 * numbers[:, at] + 0.6 * numbers[:, at - len(_SHAPES)]
    codes = np.empty((rows, len(values)), dtype=np.int32)
    for at, count in enumerate(values):
        codes[:, at] = _skewed(rng, rows, count)
    scores = np.zeros((classes or 2, rows), dtype=np.float32)
    for score in range(1, len(scores)):
        scores[score] = -0.15 * score
        if columns:
            scores[score] += _steps(numbers, 3 * score)
        for at in range(min(4, len(values))):
            place = (at + score) % len(values)
            scores[score] += rng.normal(0, 1.2, values[place]).astype(np.float32)[codes[:, place]]
    if classes:
        labels = _drawn(rng, scores)
        labels[: min(rows, classes)] = np.arange(min(rows, classes))  # no class is left out, however few the rows
    else:
        labels = np.round(np.exp(0.5 * (scores[1] + rng.standard_normal(rows))), 2)
    for at in range(columns):
        numbers[:, at] = _SHAPES[at % len(_SHAPES)](numbers[:, at])
    if missing:
        for cells, gap in ((numbers, np.nan), (codes, -1)):
            for at, share in enumerate(np.linspace(0, 2 * missing, cells.shape[1])):
                cells[rng.random(rows, dtype=np.float32) < share, at] = gap
    return Table(numbers.astype(np.float64), codes, values, labels, classes)


def skewed_nominal(rows: int, columns: int = 20, values: int = 10, classes: int = 5, seed: int = 0) -> Table:
    """Make codes of which the first are frequent and the last are rare."""
    return skewed(rows, 0, (values,) * columns, classes, seed=seed)


def skewed_nominal_noisy(rows: int, seed: int = 0) -> Table:
    """Make the same in the shape of `nominal_noisy`."""
    return skewed_nominal(rows, 16, 12, 4, seed)


def skewed_mixed(rows: int, missing: float = 0.1, seed: int = 0) -> Table:
    """Make numbers and codes in the shape of `mixed`."""
    return skewed(rows, 6, ADULT_VALUES, 2, missing, seed)


def skewed_letters(rows: int, columns: int = 16, classes: int = 26, seed: int = 0) -> Table:
    """Make numbers of 26 classes, most of which are rare."""
    return skewed(rows, columns, (), classes, seed=seed)


Maker = Callable[..., Table]

RECIPES: dict[str, dict[str, Maker]] = {
    "plain": {
        "continuous": continuous,
        "nominal": nominal,
        "nominal_noisy": nominal_noisy,
        "mixed": mixed,
        "letters": letters,
        "iris": iris,
    },
    "skewed": {
        "continuous": skewed,
        "nominal": skewed_nominal,
        "nominal_noisy": skewed_nominal_noisy,
        "mixed": skewed_mixed,
        "letters": skewed_letters,
    },
}
"""The makers by recipe and name; they take the same options in both."""


def make(name: str, rows: int, test_rows: int, shape: dict[str, Any], folder: Path, recipe: str = "plain") -> int:
    """Make one table, split it, save both parts, ``training`` and ``test``, and return the number of columns."""
    table = RECIPES[recipe][name](rows + test_rows, **shape)
    table.head(rows).save(folder / "training")
    table.tail(rows).save(folder / "test")
    return table.n_columns


def write_csv(table: Table, path: Path) -> None:
    """Write a table as people have them: names in the first line, nothing where a cell is missing, the class last."""
    names = [f"x{at + 1}" for at in range(table.numbers.shape[1])] + [f"a{at + 1}" for at in range(len(table.values))]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "y"])
        for numbers, codes, label in zip(table.numbers, table.codes, table.labels, strict=True):
            cells = ["" if np.isnan(number) else f"{number:g}" for number in numbers]
            writer.writerow([*cells, *("" if code < 0 else f"v{code}" for code in codes), f"c{label}"])


_SHAPES: tuple[Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]], ...] = (
    lambda z: np.round(np.exp(3 + 1.2 * z), 2),  # amounts in cents
    lambda z: np.clip(np.round(38 + 14 * z), 17, 90),  # years of age
    lambda z: np.where(z < 0.8, 0, np.round(np.exp(5 + 1.5 * z))),  # most have none
    lambda z: np.floor(np.exp(0.8 + 0.7 * z)),  # small counts
    lambda z: np.round(np.sinh(2 * z)),  # heavy tails on both sides
    lambda z: np.floor(2 * z) / 2,  # coarse classes
    np.exp,  # hardly any ties
    lambda z: (z > 1).astype(np.float32),  # a rare flag
)
"""What the second recipe makes of numbers of the standard normal distribution: the order stays, ties appear."""


def _steps(numbers: npt.NDArray[np.float32], first: int) -> npt.NDArray[np.float32]:
    """Return a score of five columns, from `first` on, by steps and products."""
    a, b, c, d, e = (numbers[:, (first + at) % numbers.shape[1]] for at in range(5))
    found: npt.NDArray[np.float32] = (
        2.2 * np.where(a > 0.4, b > -0.6, c > 1.1) + 1.4 * np.maximum(c, 0) - 1.6 * (d * e > 0.5) - 0.9
    ).astype(np.float32)
    return found


def _drawn(rng: np.random.Generator, scores: npt.NDArray[np.float32]) -> Codes:
    """Draw a class for each case; a score is the logarithm of the odds."""
    shares = np.exp(scores - scores.max(axis=0))
    shares = np.cumsum(shares, axis=0)
    drawn = rng.random(scores.shape[1], dtype=np.float32) * shares[-1]
    return np.asarray((drawn > shares[:-1]).sum(axis=0), dtype=np.int32)


def _skewed(rng: np.random.Generator, rows: int, values: int) -> Codes:
    """Draw values of which the first are frequent and the last are rare."""
    shares = 1 / np.arange(1, values + 1)
    return np.asarray(rng.choice(values, rows, p=shares / shares.sum()), dtype=np.int32)
