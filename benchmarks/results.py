"""What was measured, as values that print and save themselves.

What Treewright shall reach, each target with the case that shows it, and the status of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

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
    failed : str or None
    """

    competitor: str
    version: str
    rows: int
    columns: int
    seconds: float | None
    every: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this is Treewright's."""
        return self.competitor == Treewright.name


@dataclass(frozen=True)
class CaseResult:
    """All measurements of a case, and who was left out."""

    name: str
    title: str
    action: str
    rows: int
    measurements: tuple[Measurement, ...]
    skipped: tuple[str, ...] = ()

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
        """Return plain data."""
        plain = asdict(self)
        for one in plain["measurements"]:
            one["ratio"] = None if one["seconds"] is None else self.ratio(one["competitor"])
        if self.action in ("rows", "columns"):
            for one in plain["measurements"]:
                del one["ratio"]
            plain["slopes"] = {name: self.slope(name) for name in self.competitors}
        return plain


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
        From the result of the case to the status.
    """

    case: str
    wanted: str
    evaluate: Callable[[CaseResult], Found]


@dataclass(frozen=True)
class TargetStatus:
    """The status of a target; `met` is None where it was not measured."""

    case: str
    wanted: str
    measured: str
    met: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


ELSEWHERE = tuple(
    TargetStatus("ensembles", wanted, f"see {path}", None)
    for wanted, path in (
        ("five-fold accuracy: forest, bagging, C4.5, peers", "benchmarks/ensembles_accuracy.py"),
        ("out-of-bag share and error", "tests/ensembles"),
        ("bagging and boosting under label noise", "docs"),
    )
)
"""Promises that are not about time."""


def target_statuses(results: Mapping[str, CaseResult]) -> tuple[TargetStatus, ...]:
    """Evaluate all targets by the results, by name of the case; those that are shown elsewhere come last."""
    statuses = []
    for target in TARGETS:
        result = results.get(target.case)
        found = None if result is None else target.evaluate(result)
        met, measured = (None, "not measured") if found is None else found
        statuses.append(TargetStatus(target.case, target.wanted, measured, met))
    return (*statuses, *ELSEWHERE)


def _faster(case: str, peer: str, factor: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        ratio = result.ratio(peer)
        return None if ratio is None else (ratio >= factor, _times(ratio))

    return Target(case, f"at least {factor:g} x the speed of {peer}", evaluate)


def _within(case: str, peer: str, factor: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        ratio = result.ratio(peer)
        return None if ratio is None else (1 / ratio <= factor, _times(1 / ratio))

    return Target(case, f"at most {factor:g} x the time of {peer}", evaluate)


def _faster_than_fastest(case: str, peers: tuple[str, ...], factor: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        ratios = {peer: ratio for peer in peers if (ratio := result.ratio(peer)) is not None}
        if not ratios:
            return None
        peer = min(ratios, key=lambda name: ratios[name])
        return ratios[peer] >= factor, f"{_times(ratios[peer])} ({peer})"

    who = f"the faster of {peers[0]} and {peers[1]}" if len(peers) == 2 else "the fastest peer"
    words = f"not slower than {who}" if factor == 1 else f"at least {factor:g} x the speed of {who}"
    return Target(case, words, evaluate)


def _seconds(case: str, limit: float, why: str = "") -> Target:
    def evaluate(result: CaseResult) -> Found:
        ours = result.ours
        if ours is None or ours.seconds is None:
            return None
        return ours.seconds <= limit, f"{ours.seconds:.3g} s"

    return Target(case, f"within {limit:.3g} s{why}", evaluate)


def _memory(case: str, peer: str, share: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        ours, other = result.ours, result.of(peer)
        if ours is None or other is None or not (ours.facts.get("added_bytes") and other.facts.get("added_bytes")):
            return None
        added = ours.facts["added_bytes"] / other.facts["added_bytes"]
        whole = ours.facts["peak_bytes"] / other.facts["peak_bytes"]
        return added <= share, f"{100 * added:.0f} % ({100 * whole:.0f} % of the whole process)"

    return Target(case, f"at most {100 * share:.0f} % of the memory that {peer} adds to the data", evaluate)


def _same_training_error(case: str, peer: str) -> Target:
    def evaluate(result: CaseResult) -> Found:
        pair = _accuracies(result, peer, "training_accuracy")
        if pair is None:
            return None
        return abs(pair[0] - pair[1]) <= SAME_ACCURACY, f"{100 * pair[0]:.3f} % against {100 * pair[1]:.3f} %"

    return Target(case, f"the training error of {peer}", evaluate)


def _accuracy(case: str, peers: tuple[str, ...], points: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        pairs = {peer: pair for peer in peers if (pair := _accuracies(result, peer, "test_accuracy")) is not None}
        if not pairs:
            return None
        best = max(pairs, key=lambda name: pairs[name][1])
        ours, theirs = pairs[best]
        return ours >= theirs - points / 100, f"{100 * ours:.2f} % against {100 * theirs:.2f} % ({best})"

    who = peers[0] if len(peers) == 1 else "the best peer"
    below = f" by more than {points:g} points" if points else ""
    return Target(case, f"test accuracy not below {who}{below}", evaluate)


def _slope(case: str, wanted: float, within: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
        slope = result.slope()
        return None if slope is None else (abs(slope - wanted) <= within, f"{slope:.2f}")

    along = "columns" if case.startswith("columns") else "rows"
    return Target(case, f"time grows linearly with {along} (slope {wanted:g} +- {within:g})", evaluate)


def _without_numba(case: str) -> Target:
    def evaluate(result: CaseResult) -> Found:
        ours = result.ours
        if ours is None or "numba" not in ours.facts:
            return None
        return not ours.facts["numba"], "imported" if ours.facts["numba"] else "not imported"

    return Target(case, "Numba is not imported", evaluate)


def _stored(case: str, peer: str, factor: float) -> Target:
    def evaluate(result: CaseResult) -> Found:
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
    _faster("continuous-8", "scikit-learn", 50),
    _faster("continuous-8", "ydf", 12),
    _faster_than_fastest("continuous-8", ("lightgbm", "xgboost"), 1),
    _same_training_error("continuous-8", "scikit-learn"),
    _memory("continuous-8", "scikit-learn", 0.6),
    _faster("continuous-full", "scikit-learn", 20),
    _faster("continuous-full", "ydf", 10),
    _seconds("nominal-noisy", RELEASE8_SECONDS / 3, ": a third of Release 8"),
    _seconds("nominal-noisy-pruned", RELEASE8_SECONDS / 3, ": a third of Release 8"),
    _faster_than_fastest("nominal", _EVERYONE, 10),
    _faster_than_fastest("mixed-missing", _EVERYONE, 10),
    _slope("rows-continuous", 1.0, 0.1),
    _slope("rows-nominal", 1.0, 0.1),
    _slope("rows-mixed", 1.0, 0.1),
    _slope("columns-nominal", 1.0, 0.1),
    _faster("predict", "scikit-learn", 5),
    _within("small", "scikit-learn", 20),
    _without_numba("small"),
    _within("small-compiled", "scikit-learn", 2),
    _seconds("compile", 15),
    _seconds("start-fit", 2),
    _seconds("start-help", 0.15),
    _seconds("start-train", 0.6),
    _faster("forest", "scikit-learn", 12),
    _faster("forest", "ydf", 5),
    _faster("forest", "xgboost", 5),
    _faster("forest", "lightgbm", 5),
    _accuracy("forest", _EVERYONE, 0.3),
    _stored("forest", "scikit-learn", 3),
    _faster("forest-nominal", "ydf", 3),
    _accuracy("forest-nominal", ("ydf",), 0),
    _faster("adaboost", "scikit-learn", 50),
)
