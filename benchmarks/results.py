"""What was measured, as values that print and save themselves.

What Treewright shall reach, each target with the case that shows it, and the status of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from benchmarks.cases import BASE, KINDS, LEARNERS
from benchmarks.peers import Treewright


@dataclass(frozen=True)
class Measurement:
    """What one competitor took on one table: the best of its runs.

    Parameters
    ----------
    competitor, version : str
    rows, columns : int
    seconds : float or None
        Of the best run; None if there is none, and then `failed` has the reason.
    every : tuple of float
        The seconds of all runs.
    facts : dict
        ``nodes``, ``training_accuracy``, ``test_accuracy``, ``added_bytes``, ``peak_bytes`` and what else was measured.
        Of Treewright ``visits``, too: the sum, over all nodes that are split, of rows x columns tried.
    failed : str or None
    recipe : str
        By which the table was made.
    threads : int
        How many were used.
    threaded : bool
        Whether the competitor can use several for this; otherwise one measurement stands for all numbers of threads.
    """

    competitor: str
    version: str
    rows: int
    columns: int
    seconds: float | None
    every: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None
    recipe: str = "plain"
    threads: int = 1
    threaded: bool = True

    @property
    def is_ours(self) -> bool:
        """Whether this is Treewright's."""
        return self.competitor == Treewright.name

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from the other measurements of its case."""
        return self.competitor, self.recipe, self.threads, self.rows, self.columns


@dataclass(frozen=True)
class CaseResult:
    """All measurements of a case, and who was left out."""

    name: str
    title: str
    action: str
    rows: int
    measurements: tuple[Measurement, ...]
    skipped: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CaseResult:
        """Return what `to_dict` made plain."""
        known = {one.name for one in fields(Measurement)}
        points = [{key: value for key, value in one.items() if key in known} for one in plain["measurements"]]
        own = {key: plain[key] for key in ("name", "title", "action", "rows")}
        return cls(
            **own,
            measurements=tuple(Measurement(**one | {"every": tuple(one["every"])}) for one in points),
            skipped=tuple(plain["skipped"]),
        )

    def joined(self, other: CaseResult) -> CaseResult:
        """Return the measurements of both; of the same table, competitor and threads the later ones count."""
        keep = {one.key: one for one in (*self.measurements, *other.measurements)}
        return replace(self, measurements=tuple(keep.values()), skipped=tuple({*self.skipped, *other.skipped}))

    @property
    def recipes(self) -> tuple[str, ...]:
        """The recipes that were measured."""
        return tuple(dict.fromkeys(one.recipe for one in self.measurements))

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of threads that Treewright was measured with, the smallest first."""
        return tuple(sorted({one.threads for one in self.measurements if one.is_ours}))

    def at(self, recipe: str, threads: int) -> CaseResult:
        """Return what was measured on one recipe with so many threads; who knows one thread only stays as it is.

        Examples
        --------
        >>> slow = Measurement("scikit-learn", "1", 100, 28, 9.0, threaded=False)
        >>> ours = [Measurement("treewright", "1", 100, 28, 2.0 / many, threads=many) for many in (1, 2)]
        >>> CaseResult("a", "", "fit", 100, (slow, *ours)).at("plain", 2).ratio("scikit-learn")
        9.0
        """
        here = (one for one in self.measurements if one.recipe == recipe)
        return replace(self, measurements=tuple(one for one in here if one.threads == threads or not one.threaded))

    def of(self, competitor: str) -> Measurement | None:
        """Return the measurement of a competitor on the largest table, if it succeeded."""
        found = [one for one in self.measurements if one.competitor == competitor and one.seconds is not None]
        return max(found, key=lambda one: (one.rows, one.columns)) if found else None

    @property
    def ours(self) -> Measurement | None:
        """Treewright's measurement."""
        return self.of(Treewright.name)

    def ratio(self, competitor: str) -> float | None:
        """Return how many times as long as Treewright a competitor took."""
        ours, other = self.ours, self.of(competitor)
        if ours is None or other is None or not ours.seconds or other.seconds is None:
            return None
        return other.seconds / ours.seconds

    def line(self, competitor: str) -> tuple[list[int], list[float]]:
        """Return rows (or columns) and seconds of a competitor, for growing data."""
        found = [one for one in self.measurements if one.competitor == competitor and one.seconds is not None]
        sizes = [one.columns if self.action == "columns" else one.rows for one in found]
        return sizes, [float(one.seconds or 0.0) for one in found]

    def slope(self, competitor: str = Treewright.name) -> float | None:
        """Return the power of rows (or columns) by which the time grows."""
        return slope_of(*self.line(competitor))

    @property
    def competitors(self) -> tuple[str, ...]:
        """Their names in the order of measuring."""
        return tuple(dict.fromkeys(one.competitor for one in self.measurements))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the ratio to Treewright on the same recipe with the same threads."""
        plain = asdict(self)
        if self.action in GROWING:
            lines = [(recipe, name) for recipe in self.recipes for name in self.competitors]
            plain["slopes"] = [
                {"competitor": name, "recipe": recipe, "slope": self.at(recipe, self.threads[-1]).slope(name)}
                for recipe, name in lines
                if self.threads
            ]
            return plain
        for one in plain["measurements"]:
            one["ratio"] = self.at(one["recipe"], one["threads"]).ratio(one["competitor"])
        return plain


GROWING = ("rows", "columns")
"""Actions whose result is a line, not a point."""


def slope_of(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Fit a straight line through the logarithms and return its slope; None from fewer than two sizes.

    Examples
    --------
    >>> round(slope_of([100, 1000, 10000], [0.2, 2.0, 20.0]), 6)
    1.0
    >>> slope_of([100], [1.0]) is None
    True
    """
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


RELEASE8_SECONDS = 1.1
"""What C4.5 Release 8 took for data like those of `nominal-noisy`, reading and pruning included; it is not run here."""

SAME_ACCURACY = 1e-4
"""Two accuracies are the same within this: exact trees differ in how they decide ties."""

Found = tuple[bool, str] | None
"""Met or not, and what was measured; None where it was not."""

Lookup = Callable[[str, int], CaseResult | None]
"""Returns another case on the same recipe, by name and number of threads."""

USUAL_THREADS = 2
"""What targets that name no number of threads were set for; without it the largest number measured counts."""


@dataclass(frozen=True)
class Target:
    """A promise.

    Parameters
    ----------
    case : str
        The case that shows it.
    wanted : str
        The promise in words.
    evaluate : callable
        From the result of the case, on one recipe with one number of threads, to the status.
    threads : int or None
        With which it has to be shown; None has no preference.
    """

    case: str
    wanted: str
    evaluate: Callable[[CaseResult, Lookup], Found]
    threads: int | None = None

    def status(self, results: Mapping[str, CaseResult]) -> TargetStatus:
        """Evaluate it for every recipe; it is met if it is for each that was measured."""
        result = results.get(self.case)
        threads = self.threads or USUAL_THREADS
        found: dict[str, tuple[bool, str]] = {}
        if result is not None:
            if self.threads is None and threads not in result.threads:
                threads = max(result.threads, default=threads)
            for recipe in result.recipes:

                def lookup(case: str, threads: int, recipe: str = recipe) -> CaseResult | None:
                    return results[case].at(recipe, threads) if case in results else None

                one = self.evaluate(result.at(recipe, threads), lookup)
                if one is not None:
                    found[recipe] = one
        measured = {recipe: text for recipe, (_, text) in found.items()}
        met = all(one for one, _ in found.values()) if found else None
        return TargetStatus(self.case, self.wanted, measured, met, threads)


@dataclass(frozen=True)
class TargetStatus:
    """The status of a target; `measured` is by recipe, `met` is None where nothing was measured."""

    case: str
    wanted: str
    measured: dict[str, str]
    met: bool | None
    threads: int = USUAL_THREADS

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


ELSEWHERE = tuple(
    TargetStatus("ensembles", f"{wanted}: see {path}", {}, None)
    for wanted, path in (
        ("five-fold accuracy: forest, bagging, C4.5, peers", "benchmarks/ensembles_accuracy.py"),
        ("out-of-bag share and error", "tests/ensembles"),
        ("bagging and boosting under label noise", "docs"),
    )
)
"""Promises that are not about time."""


def target_statuses(results: Mapping[str, CaseResult]) -> tuple[TargetStatus, ...]:
    """Evaluate all targets by the results, by name of the case; those that are shown elsewhere come last."""
    return (*(target.status(results) for target in TARGETS), *ELSEWHERE)


# -- cost per visit ----------------------------------------------------------------------------------------------------


def visit_cost(result: CaseResult | None, *, processor: bool = False) -> float | None:
    """Return the seconds, of the clock or of all processors, that Treewright takes for a row in a column of a node.

    Examples
    --------
    >>> ours = Measurement("treewright", "1", 100, 28, 2.0, facts={"visits": 1000.0})
    >>> visit_cost(CaseResult("a", "", "fit", 100, (ours,)))
    0.002
    """
    ours = None if result is None else result.ours
    if ours is None or ours.seconds is None or not ours.facts.get("visits"):
        return None
    seconds = ours.facts.get("processor_seconds") if processor else ours.seconds
    return None if seconds is None else float(seconds) / float(ours.facts["visits"])


def cost_table(results: Mapping[str, CaseResult], threads: int, *, processor: bool = False) -> list[list[str]]:
    """Return a row for each kind of table and a pair of columns for each learner: the costs as ratios to the first row.

    The list is empty if no two kinds were measured with so many threads.
    """
    grid = {
        (learner, kind, recipe): cost
        for learner in LEARNERS
        for kind in KINDS
        if (result := results.get(f"{learner}-{kind}")) is not None
        for recipe in result.recipes
        if (cost := visit_cost(result.at(recipe, threads), processor=processor)) is not None
    }
    columns = list(dict.fromkeys((learner, recipe) for learner, _, recipe in grid))
    kinds = [kind for kind in KINDS if any(kind == measured for _, measured, _ in grid)]
    if len(kinds) < 2:
        return []
    rows = [["cost per visit", *(f"{learner}, {recipe}" for learner, recipe in columns)]]
    for kind in kinds:
        cells = []
        for learner, recipe in columns:
            cost, base = grid.get((learner, kind, recipe)), grid.get((learner, BASE, recipe))
            absolute = "" if cost is None else f"{1e9 * cost:.3g} ns"
            cells.append(absolute if cost is None or base is None or kind == BASE else _times(cost / base))
        rows.append([kind, *cells])
    return rows


# -- kinds of targets --------------------------------------------------------------------------------------------------


def _faster(case: str, peer: str, factor: float, threads: int | None = None) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ratio = result.ratio(peer)
        return None if ratio is None else (ratio >= factor, _times(ratio))

    return Target(case, f"at least {factor:g} x the speed of {peer}", evaluate, threads)


def _within(case: str, peer: str, factor: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ratio = result.ratio(peer)
        return None if ratio is None else (1 / ratio <= factor, _times(1 / ratio))

    return Target(case, f"at most {factor:g} x the time of {peer}", evaluate)


def _faster_than_fastest(case: str, peers: tuple[str, ...], factor: float, threads: int | None = None) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ratios = {peer: ratio for peer in peers if (ratio := result.ratio(peer)) is not None}
        if not ratios:
            return None
        peer = min(ratios, key=lambda name: ratios[name])
        return ratios[peer] >= factor, f"{_times(ratios[peer])} ({peer})"

    who = f"the faster of {peers[0]} and {peers[1]}" if len(peers) == 2 else "the fastest peer"
    words = f"not slower than {who}" if factor == 1 else f"at least {factor:g} x the speed of {who}"
    return Target(case, words, evaluate, threads)


def _seconds(case: str, limit: float, why: str = "") -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ours = result.ours
        if ours is None or ours.seconds is None:
            return None
        return ours.seconds <= limit, f"{ours.seconds:.3g} s"

    return Target(case, f"within {limit:.3g} s{why}", evaluate)


def _memory(case: str, peer: str, share: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ours, other = result.ours, result.of(peer)
        if ours is None or other is None or not (ours.facts.get("added_bytes") and other.facts.get("added_bytes")):
            return None
        added = ours.facts["added_bytes"] / other.facts["added_bytes"]
        whole = ours.facts["peak_bytes"] / other.facts["peak_bytes"]
        return added <= share, f"{100 * added:.0f} % ({100 * whole:.0f} % of the whole process)"

    return Target(case, f"at most {100 * share:.0f} % of the memory that {peer} adds to the data", evaluate)


def _same_training_error(case: str, peer: str) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        pair = _accuracies(result, peer, "training_accuracy")
        if pair is None:
            return None
        return abs(pair[0] - pair[1]) <= SAME_ACCURACY, f"{100 * pair[0]:.3f} % against {100 * pair[1]:.3f} %"

    return Target(case, f"the training error of {peer}", evaluate)


def _accuracy(case: str, peers: tuple[str, ...], points: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        pairs = {peer: pair for peer in peers if (pair := _accuracies(result, peer, "test_accuracy")) is not None}
        if not pairs:
            return None
        best = max(pairs, key=lambda name: pairs[name][1])
        ours, theirs = pairs[best]
        return ours >= theirs - points / 100, f"{100 * ours:.2f} % against {100 * theirs:.2f} % ({best})"

    who = peers[0] if len(peers) == 1 else "the best peer"
    below = f" by more than {points:g} points" if points else ""
    return Target(case, f"test accuracy not below {who}{below}", evaluate)


def _faster_than_one_thread(case: str, threads: int, factor: float) -> Target:
    def evaluate(result: CaseResult, lookup: Lookup) -> Found:
        ours, alone = result.ours, lookup(case, 1)
        if ours is None or alone is None or alone.ours is None or not ours.seconds or not alone.ours.seconds:
            return None
        ratio = alone.ours.seconds / ours.seconds
        return ratio >= factor, _times(ratio)

    return Target(case, f"at least {factor:g} x its own speed on one thread", evaluate, threads)


def _memory_of_threads(case: str, threads: int, factor: float) -> Target:
    def evaluate(result: CaseResult, lookup: Lookup) -> Found:
        ours, alone = result.ours, lookup(case, 1)
        if ours is None or alone is None or alone.ours is None:
            return None
        most, least = ours.facts.get("added_bytes"), alone.ours.facts.get("added_bytes")
        return (most / least <= factor, _times(most / least)) if most and least else None

    return Target(case, f"at most {factor:g} x the memory that one thread adds to the data", evaluate, threads)


def _cost(learner: str, kind: str, factor: float) -> Target:
    def evaluate(result: CaseResult, lookup: Lookup) -> Found:
        threads = result.threads[-1] if result.threads else 1
        cost, base = visit_cost(result), visit_cost(lookup(f"{learner}-{BASE}", threads))
        return None if cost is None or base is None else (cost / base <= factor, _times(cost / base))

    return Target(f"{learner}-{kind}", f"a visit costs at most {factor:g} x that of {BASE}", evaluate)


def _slope_at_most(case: str, most: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        slope = result.slope()
        return None if slope is None else (slope <= most, f"{slope:.2f}")

    return Target(case, f"time grows with a slope of at most {most:g}", evaluate)


def _slope(case: str, wanted: float, within: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        slope = result.slope()
        return None if slope is None else (abs(slope - wanted) <= within, f"{slope:.2f}")

    along = "columns" if case.startswith("columns") else "rows"
    return Target(case, f"time grows linearly with {along} (slope {wanted:g} +- {within:g})", evaluate)


def _without_numba(case: str) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ours = result.ours
        if ours is None or "numba" not in ours.facts:
            return None
        return not ours.facts["numba"], "imported" if ours.facts["numba"] else "not imported"

    return Target(case, "Numba is not imported", evaluate)


def _stored(case: str, peer: str, factor: float) -> Target:
    def evaluate(result: CaseResult, _: Lookup) -> Found:
        ours, other = result.ours, result.of(peer)
        key = "load_and_predict_seconds"
        if ours is None or other is None or key not in ours.facts or key not in other.facts:
            return None
        ratio = other.facts[key] / ours.facts[key]
        sizes = f"{ours.facts['file_bytes'] / 1e6:.1f} MB against {other.facts['file_bytes'] / 1e6:.1f} MB"
        return ratio >= factor, f"{_times(ratio)}; file {sizes}"

    return Target(case, f"loads and predicts at least {factor:g} x as fast as {peer}", evaluate)


def _accuracies(result: CaseResult, peer: str, which: str) -> tuple[float, float] | None:
    ours, other = result.ours, result.of(peer)
    if ours is None or other is None or which not in ours.facts or which not in other.facts:
        return None
    return ours.facts[which], other.facts[which]


def _times(ratio: float) -> str:
    return f"{ratio:.3g} x" if ratio < 1000 else f"{ratio:,.0f} x"


_EVERYONE = ("scikit-learn", "lightgbm", "xgboost", "ydf")

TARGETS = (
    _faster("depth-8-two-classes", "scikit-learn", 50),
    _faster("depth-8-two-classes", "ydf", 12),
    *(_faster_than_fastest("depth-8-two-classes", ("lightgbm", "xgboost"), 1, threads) for threads in (1, 2, 4, 8, 16)),
    _same_training_error("depth-8-two-classes", "scikit-learn"),
    _memory("depth-8-two-classes", "scikit-learn", 0.6),
    _faster("full-two-classes", "scikit-learn", 20),
    _faster("full-two-classes", "ydf", 10),
    _faster_than_one_thread("full-two-classes", 16, 8),
    _memory_of_threads("full-two-classes", 16, 2),
    _faster("full-entropy", "scikit-learn", 20),
    *(
        _cost(learner, kind, 2)
        for learner in ("depth-8", "full", "forest")
        for kind in ("five-classes", "regression", "entropy", "missing")
    ),
    _seconds("nominal-noisy", RELEASE8_SECONDS / 3, ": a third of Release 8"),
    _seconds("nominal-noisy-pruned", RELEASE8_SECONDS / 3, ": a third of Release 8"),
    _faster_than_fastest("nominal", _EVERYONE, 10),
    _faster_than_fastest("mixed-missing", _EVERYONE, 10),
    _faster("mixed-missing", "ydf", 1),
    _slope("rows-continuous", 1.0, 0.1),
    _slope("rows-nominal", 1.0, 0.1),
    _slope_at_most("rows-mixed", 1.15),
    _slope("columns-nominal", 1.0, 0.1),
    _faster("predict", "scikit-learn", 5),
    _within("small", "scikit-learn", 20),
    _without_numba("small"),
    _within("small-compiled", "scikit-learn", 2),
    _seconds("compile", 15),
    _seconds("start-fit", 2),
    _seconds("start-help", 0.15),
    _seconds("start-train", 0.6),
    _seconds("start-cold", 8),
    _seconds("start-warm", 3),
    _faster("forest-two-classes", "scikit-learn", 12),
    _faster("forest-two-classes", "scikit-learn", 15, 16),
    _faster("forest-two-classes", "ydf", 5),
    _faster("forest-two-classes", "xgboost", 5),
    _faster("forest-two-classes", "lightgbm", 5),
    _accuracy("forest-two-classes", _EVERYONE, 0.3),
    _stored("forest-two-classes", "scikit-learn", 3),
    _memory_of_threads("forest-two-classes", 16, 2),
    *(_faster_than_one_thread(f"forest-{kind}", 16, 11) for kind in ("two-classes", "five-classes", "regression")),
    *(
        _faster(f"forest-{kind}", "scikit-learn", 8, threads)
        for kind in ("five-classes", "regression")
        for threads in (2, 16)
    ),
    _faster("forest-missing", "scikit-learn", 8),
    _faster("forest-missing", "ydf", 5),
    _faster("forest-many-values", "ydf", 3),
    _accuracy("forest-many-values", ("ydf",), 0),
    _faster("adaboost", "scikit-learn", 50),
)
