"""The small tables of textbooks and lectures, each with its source.

The worked examples of the documentation and many tests use them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.columns import RawTable, text_column
from treewright.data.dataset import Dataset, encode
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.wording import unknown_name


@dataclass(frozen=True)
class Sample:
    """A bundled table: name, source, declared columns (the target last) and rows of words."""

    name: str
    source: str
    columns: tuple[Column, ...]
    rows: str


def _nominal(name: str, *values: str) -> Column:
    return Column(name, Kind.NOMINAL, values)


def _ordinal(name: str, *values: str) -> Column:
    return Column(name, Kind.ORDINAL, values)


_TRUTH = ("T", "F")


def _contact_lenses() -> str:
    """Write all 24 combinations with the optician's recommendation (Cendrowska 1987)."""
    lines = []
    for age in ("young", "pre-presbyopic", "presbyopic"):
        for prescription in ("myope", "hypermetrope"):
            for astigmatism in ("no", "yes"):
                for tears in ("reduced", "normal"):
                    if tears == "reduced":
                        lens = "none"
                    elif astigmatism == "no":
                        lens = "none" if (age, prescription) == ("presbyopic", "myope") else "soft"
                    else:
                        lens = "hard" if prescription == "myope" or age == "young" else "none"
                    lines.append(f"{age} {prescription} {astigmatism} {tears} {lens}")
    return "\n".join(lines)


SAMPLES: dict[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample(
            "play-tennis",
            "Quinlan 1986 and Mitchell 1997, the PlayTennis table of the lecture on gain ratio",
            (
                _nominal("Outlook", "Sunny", "Overcast", "Rain"),
                _ordinal("Temperature", "Hot", "Mild", "Cool"),
                _nominal("Humidity", "High", "Normal"),
                _nominal("Wind", "Weak", "Strong"),
                _nominal("PlayTennis", "Yes", "No"),
            ),
            """
            Sunny    Hot  High   Weak   No
            Sunny    Hot  High   Strong No
            Overcast Hot  High   Weak   Yes
            Rain     Mild High   Weak   Yes
            Rain     Cool Normal Weak   Yes
            Rain     Cool Normal Strong No
            Overcast Cool Normal Strong Yes
            Sunny    Mild High   Weak   No
            Sunny    Cool Normal Weak   Yes
            Rain     Mild Normal Weak   Yes
            Sunny    Mild Normal Strong Yes
            Overcast Mild High   Strong Yes
            Overcast Hot  Normal Weak   Yes
            Rain     Mild High   Strong No
            """,
        ),
        Sample(
            "restaurant",
            "Russell and Norvig, chapter on learning from examples: will the guest wait for a table?",
            (
                _nominal("Alternate", *_TRUTH),
                _nominal("Bar", *_TRUTH),
                _nominal("FriSat", *_TRUTH),
                _nominal("Hungry", *_TRUTH),
                _ordinal("Patrons", "None", "Some", "Full"),
                _ordinal("Price", "$", "$$", "$$$"),
                _nominal("Raining", *_TRUTH),
                _nominal("Reservation", *_TRUTH),
                _nominal("Type", "French", "Thai", "Burger", "Italian"),
                _ordinal("WaitEstimate", "0-10", "10-30", "30-60", ">60"),
                _nominal("WillWait", *_TRUTH),
            ),
            """
            T F F T Some $$$ F T French  0-10  T
            T F F T Full $   F F Thai    30-60 F
            F T F F Some $   F F Burger  0-10  T
            T F T T Full $   F F Thai    10-30 T
            T F T F Full $$$ F T French  >60   F
            F T F T Some $$  T T Italian 0-10  T
            F T F F None $   T F Burger  0-10  F
            F F F T Some $$  T T Thai    0-10  T
            F T T F Full $   T F Burger  >60   F
            T T T T Full $$$ F T Italian 10-30 F
            F F F F None $   F F Thai    0-10  F
            T T T T Full $   F F Burger  30-60 T
            """,
        ),
        Sample(
            "contact-lenses",
            "Cendrowska 1987 (PRISM), the 24 cases of the lecture on frequency tables",
            (
                _ordinal("age", "young", "pre-presbyopic", "presbyopic"),
                _nominal("prescription", "myope", "hypermetrope"),
                _nominal("astigmatism", "no", "yes"),
                _nominal("tears", "reduced", "normal"),
                _nominal("lenses", "hard", "soft", "none"),
            ),
            _contact_lenses(),
        ),
        Sample(
            "six-rows",
            "Gips, lecture 'ID3 und C4.5' (FH Bielefeld): three attributes, classes A and B",
            (
                _nominal("x1", "0", "1"),
                _nominal("x2", "0", "1"),
                _nominal("x3", "0", "1", "2"),
                _nominal("k", "A", "B"),
            ),
            """
            0 0 0 A
            1 0 2 A
            0 1 1 A
            1 1 0 B
            0 1 1 B
            0 1 0 A
            """,
        ),
        Sample(
            "cal2",
            "Example for CAL2 after Unger and Wysotzki 1981: disjoint classes, five cases",
            (
                _nominal("x1", "0", "1"),
                _nominal("x2", "0", "1"),
                _nominal("x3", "0", "1", "2", "3", "4"),
                _nominal("k", "A", "B"),
            ),
            """
            0 0 1 A
            1 0 0 A
            0 1 4 B
            1 1 2 B
            0 0 3 A
            """,
        ),
        Sample(
            "cal3",
            "Example for CAL3 after Unger and Wysotzki 1981: classes that overlap, five cases",
            (
                _nominal("x1", "0", "1"),
                _nominal("x2", "0", "1"),
                _nominal("k", "A", "B"),
            ),
            """
            0 0 A
            0 1 B
            0 1 A
            1 0 B
            1 1 A
            """,
        ),
    )
}


def sample(name: str) -> Dataset:
    """Return a bundled table.

    Parameters
    ----------
    name : str
        One of `SAMPLES`: play-tennis, restaurant, contact-lenses, six-rows, cal2, cal3.

    Examples
    --------
    >>> sample("six-rows").schema.classes
    ('A', 'B')
    >>> sample("play-tenis")
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: there is no sample 'play-tenis'; did you mean 'play-tennis'? There are: ...
    """
    return encode(sample_table(name), sample_schema(name))


def sample_schema(name: str) -> Schema:
    """Return the declared schema of a bundled table; the last column is the target."""
    columns = _sample(name).columns
    return Schema(columns, target=columns[-1].name)


def sample_table(name: str) -> RawTable:
    """Return a bundled table as if it had been read from a file."""
    chosen = _sample(name)
    rows = [line.split() for line in chosen.rows.strip().splitlines()]
    cells = {column.name: text_column(row[index] for row in rows) for index, column in enumerate(chosen.columns)}
    lines = np.arange(1, len(rows) + 1)
    return RawTable(cells, len(rows), source=f"sample:{name}", lines=lines, declared=sample_schema(name))


def _sample(name: str) -> Sample:
    if name not in SAMPLES:
        raise ParameterError(unknown_name("sample", name, SAMPLES))
    return SAMPLES[name]
