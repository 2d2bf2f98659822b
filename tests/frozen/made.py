"""Made tables: small ones of all that a table may have. The same seed gives the same table for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treewright import Column, Dataset, Kind, Schema, sample

SAMPLES = ("play-tennis", "restaurant", "contact-lenses", "six-rows", "cal2", "cal3")

MIXES = ("nominal", "ordinal", "numeric", "whole", "mixed")
MISSING_SHARES = (0.0, 0.15)
WEIGHTS = ("", "whole", "broken")


def made_tables() -> dict[str, Dataset]:
    """Return the bundled samples, and tables of every mix of kinds with and without missing values and weights."""
    tables = {f"sample-{name}": sample(name) for name in SAMPLES}
    seed = 0
    for mix in MIXES:
        for missing_share in MISSING_SHARES:
            for weights in WEIGHTS if mix in ("mixed", "numeric") else ("",):
                classes = (2, 3, 6)[seed % 3]
                name = "-".join(
                    filter(None, (mix, "missing" if missing_share else "", f"{weights}-weights" if weights else ""))
                )
                tables[name] = _table(seed, mix, missing_share, weights, classes, 40 + 7 * seed)
                tables[f"{name}-number"] = _table(seed + 100, mix, missing_share, weights, 0, 35 + 5 * seed)
                seed += 1
    tables["one-row"] = _table(900, "mixed", 0.0, "", 2, 1)
    tables["one-class"] = _table(901, "mixed", 0.0, "", 1, 12)
    return tables


def larger_tables() -> dict[str, Dataset]:
    """Return tables of enough rows for the compiled kernels."""
    return {
        "many-rows": _table(950, "mixed", 0.1, "", 4, 6000),
        "many-rows-number": _table(951, "mixed", 0.0, "", 0, 6000),
    }


def _table(seed: int, mix: str, missing_share: float, weighting: str, classes: int, n: int) -> Dataset:
    rng = np.random.default_rng(seed)
    kinds = {"mixed": ("nominal", "numeric", "ordinal", "whole", "nominal")}.get(mix, (mix,) * 4)
    made = [_column(rng, index, kind, n, missing_share) for index, kind in enumerate(kinds)]
    signal = sum(np.nan_to_num(cells.astype(np.float64)) * (index + 1) for index, (_, cells) in enumerate(made[:3]))
    noise = rng.random(n)
    target: npt.NDArray[Any]
    if classes:
        codes = np.floor(np.abs(np.asarray(signal))).astype(np.int64) % classes
        target = np.where(noise < 0.7, codes, rng.integers(0, classes, n)).astype(np.int32)
        column = Column("y", Kind.NOMINAL, tuple(f"c{code}" for code in range(classes)))
    else:
        target = np.round(np.asarray(signal) + 3 * noise, 2)
        column = Column("y", Kind.NUMERIC)
    weights: npt.NDArray[np.float64] | None = None
    if weighting == "whole":
        weights = rng.integers(0, 4, n).astype(np.float64)
    elif weighting == "broken":
        weights = np.round(rng.random(n) * 3, 3)
    schema = Schema((*(one for one, _ in made), column), target="y")
    return Dataset(schema, tuple(cells for _, cells in made), n, target, weights)


def _column(
    rng: np.random.Generator, index: int, kind: str, n: int, missing_share: float
) -> tuple[Column, npt.NDArray[Any]]:
    missing = rng.random(n) < missing_share
    if kind in ("nominal", "ordinal"):
        values = int(rng.integers(2, 6))
        codes = np.where(missing, -1, rng.integers(0, values, n)).astype(np.int32)
        shape = Kind.ORDINAL if kind == "ordinal" else Kind.NOMINAL
        return Column(f"a{index}", shape, tuple(f"v{code}" for code in range(values))), codes
    whole = kind == "whole"
    numbers = rng.integers(-3, 12, n).astype(np.float64) if whole else np.round(rng.normal(size=n) * 4, 3)
    return Column(f"a{index}", Kind.NUMERIC), np.where(missing, np.nan, numbers)
