"""What a case asks every competitor to grow, in words that each of them can translate.

The cases: which data, what to grow from them, who competes, and how many rows in the full and the quick form. Most of
them are a kind of table (`KINDS`) under a learner (`LEARNERS`): a new kind or learner is one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from benchmarks.made_data import RECIPES
from treewright.errors import ParameterError
from treewright.wording import unknown_name


@dataclass(frozen=True)
class Growth:
    """One tree, a forest or a boosted series.

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
    criterion : {"gini", "entropy", "gain_ratio"}
        What a CART tree is grown by; in regression it is the variance in any case. A forest or a series by the gain
        ratio has trees of C4.5.
    """

    kind: str = "cart"
    max_depth: int | None = None
    min_leaf: int = 1
    pruned: bool = False
    trees: int = 1
    criterion: str = "gini"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


ALL = ("scikit-learn", "lightgbm", "xgboost", "ydf")

BOOSTERS = ("scikit-learn",)
"""The only peer with AdaBoost; it takes no missing values."""

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
        Which data, made by every recipe that has them; see `benchmarks.made_data`.
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
        Arguments of the command line; ``{table}`` is a file with the data.
    quick : bool
        Whether the quick form has this case.
    kind : str
        The line of the table of costs per visit that this is, if it is one.
    span : int
        Of growing rows: how many times the smallest table the largest is.
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
    kind: str = ""
    span: int = 100

    @property
    def recipes(self) -> tuple[str, ...]:
        """The recipes by which its data can be made; without data there is nothing to make."""
        if self.action == "command" and "{table}" not in self.command:
            return ("plain",)
        return tuple(recipe for recipe, makers in RECIPES.items() if self.maker in makers)

    def test_rows(self, rows: int) -> int:
        """Return how many cases are kept aside to test on."""
        if self.action == "predict":
            return rows
        return 0 if self.maker == "iris" else max(rows // 5, 50)

    def training_rows(self, rows: int) -> int:
        """Return how many cases are learned from."""
        return max(rows // 5, 50) if self.action == "predict" else rows


_OTHERS = (
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
    Case(
        "predict",
        "probabilities by a fully grown tree from a fifth of the rows",
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
        "start-cold",
        "treewright train, a file of 10,000 x 14, nothing compiled before",
        "cold",
        "mixed",
        10_000,
        1_000,
        peers=(),
        command=("train", "{table}", "--target", "y"),
    ),
    Case(
        "start-warm",
        "treewright train, a file of 10,000 x 14",
        "command",
        "mixed",
        10_000,
        1_000,
        peers=(),
        command=("train", "{table}", "--target", "y"),
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
        "forest-many-values",
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
        peers=BOOSTERS,
    ),
    Case("rows-continuous", "growing rows: numbers x 28, depth 8", "rows", rows=10_000_000, growth=Growth(max_depth=8)),
    Case("rows-nominal", "growing rows: nominal x 20, C4.5", "rows", "nominal", rows=10_000_000, growth=_PRUNED_C45),
    Case(
        "rows-mixed",
        "growing rows: mixed with missing, C4.5",
        "rows",
        "mixed",
        rows=3_000_000,
        growth=_PRUNED_C45,
        span=30,
    ),
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


@dataclass(frozen=True)
class _Kind:
    """A kind of table, and what its trees are grown by."""

    words: str
    maker: str = "continuous"
    shape: dict[str, Any] = field(default_factory=dict)
    criterion: str = "gini"
    boosters: tuple[str, ...] | None = BOOSTERS  # None: boosting does not learn from it


KINDS = {
    "two-classes": _Kind("numbers x 28, two classes"),
    "five-classes": _Kind("numbers x 28, five classes", shape={"classes": 5}),
    "26-classes": _Kind("numbers x 16, 26 classes", "letters"),
    "regression": _Kind("numbers x 28, regression", shape={"classes": 0}, boosters=None),
    "entropy": _Kind("numbers x 28, two classes by entropy", criterion="entropy"),
    "gain-ratio": _Kind("numbers x 28, two classes by C4.5", criterion="gain_ratio"),
    "missing": _Kind("numbers x 28, two classes, 10 % missing", shape={"missing": 0.1}, boosters=()),
    "nominal": _Kind("nominal x 20 of 10 values, five classes", "nominal"),
    "mixed": _Kind("6 numbers + 8 nominal, 10 % missing", "mixed", boosters=()),
}

LEARNERS = {
    "depth-8": Case("", "a tree of depth 8", growth=Growth(max_depth=8)),
    "full": Case("", "a tree of unlimited depth"),
    "forest": Case(
        "", "a forest of 100", rows=100_000, quick_rows=2_000, growth=Growth("forest", trees=100), store=True
    ),
    "boosted": Case(
        "",
        "AdaBoost of 50 trees of depth 3",
        rows=100_000,
        quick_rows=2_000,
        growth=Growth("adaboost", max_depth=3, trees=50),
    ),
}

BASE = "two-classes"
"""The kind that the costs of the others are compared with."""


def _case_of(learner: str, kind: str) -> Case:
    base, table = LEARNERS[learner], KINDS[kind]
    growth = replace(base.growth, criterion=table.criterion)
    if table.criterion == "gain_ratio" and growth.kind == "cart":
        growth = replace(growth, kind="c45", min_leaf=2)
    return replace(
        base,
        name=f"{learner}-{kind}",
        title=f"{base.title}: {table.words}",
        maker=table.maker,
        shape=table.shape,
        growth=growth,
        peers=ALL if learner != "boosted" else table.boosters or (),
        store=base.store and kind == BASE,
        quick=kind == BASE and learner in ("depth-8", "full"),
        kind=kind,
    )


TABLES = tuple(
    _case_of(learner, kind)
    for learner in LEARNERS
    for kind, table in KINDS.items()
    if learner != "boosted" or table.boosters is not None
)
"""Every kind of table under every learner."""

CASES = (*TABLES, *_OTHERS)

SETS: dict[str, tuple[Case, ...]] = {
    "tables": TABLES,
    "kernels": tuple(replace(case, peers=()) for case in TABLES if case.growth.kind != "adaboost"),
}
"""Cases that are run together. `kernels` gives the table of costs per visit, without peers."""


def chosen_cases(names: Sequence[str], *, full: bool, sets: Sequence[str] = ()) -> tuple[Case, ...]:
    """Return the cases of these names and sets, or all of the full or the quick form.

    Examples
    --------
    >>> [case.name for case in chosen_cases(["predict", "wide"], full=False)]
    ['wide', 'predict']
    >>> len(chosen_cases([], full=False, sets=["tables"]))
    35
    """
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise ParameterError(unknown_name("case", name, known))
    for name in sets:
        if name not in SETS:
            raise ParameterError(unknown_name("set of cases", name, SETS))
    if names or sets:
        own = {case.name: case for name in sets for case in SETS[name]}
        return tuple(own.get(case.name, case) for case in CASES if case.name in own or case.name in names)
    return tuple(case for case in CASES if full or case.quick)
