"""What a case asks every competitor to grow, in words that each of them can translate.

The cases: which data, what to grow from them, who competes, and how many rows in the full and the quick form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from treewright.errors import ParameterError
from treewright.wording import unknown_name


@dataclass(frozen=True)
class Growth:
    """One tree, a forest or a series of stumps.

    Parameters
    ----------
    kind : {"cart", "c45", "forest", "adaboost"}
        Peers that know neither CART nor C4.5 by name grow the nearest that they have.
    max_depth : int or None
        Tests on the longest path; None has no limit.
    min_leaf : int
        Cases that a leaf needs.
    pruned : bool
        Whether C4.5 prunes; no peer does.
    trees : int
        Of a forest or a series.
    """

    kind: str = "cart"
    max_depth: int | None = None
    min_leaf: int = 1
    pruned: bool = False
    trees: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


ALL = ("scikit-learn", "lightgbm", "xgboost", "ydf")

_FULL_CART = Growth()
_FULL_C45 = Growth("c45", min_leaf=2)
_PRUNED_C45 = Growth("c45", min_leaf=2, pruned=True)


@dataclass(frozen=True)
class Case:
    """One thing to measure.

    Parameters
    ----------
    name, title : str
        What it is selected by, and what is printed.
    action : str
        See the module.
    maker : str
        Which data; see `benchmarks.made_data`.
    rows, quick_rows : int
        Of training; of ``predict`` those that are predicted; of growing data the most.
    growth : Growth
    shape : dict
        Further options of the maker.
    peers : tuple of str
    engine : str
        Of Treewright.
    store : bool
        Whether saving, loading and predicting are measured, too.
    command : tuple of str
        Arguments of the command line.
    quick : bool
        Whether the quick form has this case.
    """

    name: str
    title: str
    action: str = "fit"
    maker: str = "continuous"
    rows: int = 1_000_000
    quick_rows: int = 20_000
    growth: Growth = _FULL_CART
    shape: dict[str, Any] = field(default_factory=dict)
    peers: tuple[str, ...] = ALL
    engine: str = "auto"
    store: bool = False
    command: tuple[str, ...] = ()
    quick: bool = False

    def test_rows(self, rows: int) -> int:
        """Return how many cases are kept aside to test on."""
        if self.action == "predict":
            return rows
        return 0 if self.maker == "iris" else max(rows // 5, 50)

    def training_rows(self, rows: int) -> int:
        """Return how many cases are learned from."""
        return max(rows // 10, 50) if self.action == "predict" else rows


CASES = (
    Case("continuous-8", "numbers x 28, two classes, depth 8", growth=Growth(max_depth=8), quick=True),
    Case("continuous-full", "numbers x 28, two classes, unlimited depth", quick=True),
    Case("nominal", "nominal x 20, 10 values, 5 classes, C4.5", maker="nominal", growth=_PRUNED_C45, quick=True),
    Case(
        "nominal-noisy",
        "nominal x 16, 12 values, 4 classes, noisy, C4.5 unpruned",
        maker="nominal_noisy",
        rows=300_000,
        growth=_FULL_C45,
    ),
    Case(
        "nominal-noisy-pruned",
        "nominal x 16, 12 values, 4 classes, noisy, C4.5 pruned",
        maker="nominal_noisy",
        rows=300_000,
        growth=_PRUNED_C45,
        peers=(),
    ),
    Case(
        "mixed-missing",
        "6 numbers + 8 nominal, 10 % missing, C4.5",
        maker="mixed",
        rows=500_000,
        growth=_PRUNED_C45,
        quick=True,
    ),
    Case(
        "wide", "numbers x 1,000, two classes, unlimited depth", rows=20_000, quick_rows=1_000, shape={"columns": 1000}
    ),
    Case("many-classes", "whole numbers x 16, 26 classes, unlimited depth", maker="letters", rows=200_000),
    Case(
        "predict",
        "probabilities by a fully grown tree from a tenth of the rows",
        "predict",
        quick_rows=50_000,
        quick=True,
    ),
    Case(
        "small",
        "iris, 150 x 4: one fit, Numba not loaded",
        "latency",
        "iris",
        150,
        150,
        peers=("scikit-learn",),
        engine="interpreted",
        quick=True,
    ),
    Case(
        "small-compiled",
        "iris, 150 x 4: one fit, engine loaded",
        "latency",
        "iris",
        150,
        150,
        peers=("scikit-learn",),
        engine="compiled",
    ),
    Case("start-help", "treewright --help", "command", rows=0, peers=(), command=("--help",), quick=True),
    Case(
        "start-train",
        "treewright train, 14 rows",
        "command",
        rows=0,
        peers=(),
        command=("train", "sample:play-tennis"),
        quick=True,
    ),
    Case(
        "start-fit",
        "a new process to a fitted tree, numbers x 20",
        "start",
        rows=100_000,
        shape={"columns": 20},
        peers=("scikit-learn",),
    ),
    Case(
        "compile",
        "compiling the kernels of one classification, once",
        "compile",
        rows=20_000,
        shape={"columns": 20},
        peers=(),
        engine="compiled",
    ),
    Case(
        "forest",
        "forest of 100 trees, numbers x 28, unlimited depth",
        rows=100_000,
        quick_rows=5_000,
        growth=Growth("forest", trees=100),
        store=True,
    ),
    Case(
        "forest-nominal",
        "forest of 100 trees, nominal x 20 of 50 values",
        maker="nominal",
        shape={"values": 50, "classes": 2},
        rows=100_000,
        quick_rows=5_000,
        growth=Growth("forest", trees=100),
        peers=("ydf",),
    ),
    Case(
        "adaboost",
        "AdaBoost, 200 stumps, numbers x 28",
        rows=100_000,
        quick_rows=5_000,
        growth=Growth("adaboost", max_depth=1, trees=200),
        peers=("scikit-learn",),
    ),
    Case("rows-continuous", "growing rows: numbers x 28, depth 8", "rows", rows=10_000_000, growth=Growth(max_depth=8)),
    Case("rows-nominal", "growing rows: nominal x 20, C4.5", "rows", "nominal", rows=10_000_000, growth=_PRUNED_C45),
    Case("rows-mixed", "growing rows: mixed with missing, C4.5", "rows", "mixed", rows=10_000_000, growth=_PRUNED_C45),
    Case(
        "columns-nominal",
        "growing columns, 10 to 160: nominal, C4.5 to depth 3",
        "columns",
        "nominal",
        rows=200_000,
        quick_rows=5_000,
        growth=Growth("c45", max_depth=3, min_leaf=2),
        peers=(),
    ),
)


def chosen_cases(names: Sequence[str], *, full: bool) -> tuple[Case, ...]:
    """Return the cases of these names, or all of the full or the quick form.

    Examples
    --------
    >>> [case.name for case in chosen_cases(["predict", "wide"], full=False)]
    ['wide', 'predict']
    """
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise ParameterError(unknown_name("case", name, known))
    if names:
        return tuple(case for case in CASES if case.name in names)
    return tuple(case for case in CASES if full or case.quick)
