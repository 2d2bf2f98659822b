"""What came of comparing learners on one table, and how it is told: scores, pairs, sentences, tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treewright._base.errors import ParameterError
from treewright._base.extras import import_extra
from treewright._base.printable import printable
from treewright.evaluate.result import Rows, html_report, shown_names, text_table
from treewright.evaluate.tests_of_difference import (
    McNemar,
    ResampledT,
)

NAME_WIDTH = 30
"""Longer names are cut in tables."""


@dataclass(frozen=True)
class LearnerResult:
    """How one learner did.

    Attributes
    ----------
    name : str
    scores : tuple of float
        Accuracy (or RMSE) of each fold, repeat after repeat.
    score : float
        Their mean.
    pooled : float
        Accuracy (or RMSE) of all predictions together.
    low, high : float or None
        Wilson's interval around the mean accuracy, by the number of cases; None for a number.
    errors : int or None
        Wrong predictions in all; None for a number.
    seconds : float
        To learn and to predict, all folds together.
    size : float or None
        Mean number of nodes or rules; None for a model that has neither.
    size_of : str
        ``"nodes"``, ``"rules"`` or empty.
    """

    name: str
    scores: tuple[float, ...]
    score: float
    pooled: float
    low: float | None
    high: float | None
    errors: int | None
    seconds: float
    size: float | None
    size_of: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**self.__dict__, "scores": list(self.scores)}


@dataclass(frozen=True)
class Pair:
    """Two learners, tested against each other.

    Attributes
    ----------
    first, second : str
    better : str or None
        Which has the better score; None if both have the same.
    t_test : ResampledT
        Of the differences first minus second over the folds.
    mcnemar : McNemar or None
        Of the pooled predictions (of the first repeat); None for a number.
    p, p_adjusted : float
        The probability that decides, and after adjustment for all pairs.
    decided_by : str
    more_than_noise : bool
    sentence : str
        All this in words.
    """

    first: str
    second: str
    better: str | None
    t_test: ResampledT
    mcnemar: McNemar | None
    p: float
    p_adjusted: float
    decided_by: str
    more_than_noise: bool
    sentence: str

    @property
    def difference(self) -> float:
        """Mean score of the first minus that of the second."""
        return self.t_test.mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "better": self.better,
            "difference": self.difference,
            "t_test": self.t_test.to_dict(),
            "mcnemar": None if self.mcnemar is None else self.mcnemar.to_dict(),
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "decided_by": self.decided_by,
            "more_than_noise": self.more_than_noise,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Comparison:
    """Learners on one table, best first.

    Attributes
    ----------
    source : str or None
    cases : int
    folds, repeats : int
    measure : str
        ``"accuracy"`` or ``"rmse"``.
    baseline : float
        Accuracy of always saying the most frequent class; RMSE of always saying the mean.
    baseline_class : str or None
    learners : tuple of LearnerResult
    pairs : tuple of Pair
        Every two learners, the better one first where they differ.
    alpha : float
    """

    source: str | None
    cases: int
    folds: int
    repeats: int
    measure: str
    baseline: float
    baseline_class: str | None
    learners: tuple[LearnerResult, ...]
    pairs: tuple[Pair, ...]
    alpha: float = 0.05

    @property
    def higher_is_better(self) -> bool:
        """True for accuracy, False for an error."""
        return self.measure == "accuracy"

    @property
    def scores(self) -> dict[str, float]:
        """Mean score of each learner by name."""
        return {one.name: one.score for one in self.learners}

    def learner(self, name: str) -> LearnerResult:
        """Return the results of one learner."""
        for one in self.learners:
            if one.name == name:
                return one
        raise ParameterError(f"there is no learner {name!r}; there are: {', '.join(map(repr, self.scores))}")

    def pair(self, first: str, second: str) -> Pair:
        """Return the tests of two learners, in whichever order they are kept."""
        for one in self.pairs:
            if {one.first, one.second} == {self.learner(first).name, self.learner(second).name}:
                return one
        raise ParameterError(f"{first!r} is not compared with itself")

    @property
    def sentences(self) -> tuple[str, ...]:
        """Who wins, by how much, and whether that is more than noise."""
        best = self.learners[0].name
        return (self._headline(), *(pair.sentence for pair in self.pairs if best in (pair.first, pair.second)))

    def _headline(self) -> str:
        best = self.learners[0]
        name = printable(best.name)
        behind = [pair for pair in self.pairs if best.name in (pair.first, pair.second)]
        level = [name, *(printable(other_name(pair, best.name)) for pair in behind if pair.better is None)]
        told = f"{best_text(level)} the best {_MEASURES[self.measure]}, {score_text(best.score, self.measure)}"
        if all(pair.more_than_noise for pair in behind):
            return f"{told}, significantly better than {'the other' if len(behind) == 1 else 'all others'}."
        if len(level) == len(self.learners):
            return f"All learners have the same {_MEASURES[self.measure]}, {score_text(best.score, self.measure)}."
        if not any(pair.more_than_noise for pair in behind):
            return f"{told}, but no difference is statistically significant."
        near = [other_name(pair, best.name) for pair in behind if not pair.more_than_noise]
        return f"{told}; not significantly different from {name}: {', '.join(map(printable, near))}."

    def _baseline_sentence(self) -> str:
        best = self.learners[0]
        if self.baseline_class is None:
            line = f"Always predicting the mean gives {score_text(self.baseline, self.measure)}"
            return f"{line}." if best.pooled < self.baseline else f"{line}: none of them does better."
        line = (
            f'Always predicting "{printable(self.baseline_class, 30)}" gives {score_text(self.baseline, self.measure)}'
        )
        if self.baseline == 1:
            return f"{line}: there is only one class, so every accuracy here is trivial."
        if best.low is not None and best.low > self.baseline:
            return f"{line}."
        return f"{line}: {printable(best.name)} is not significantly better."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "source": self.source,
            "cases": self.cases,
            "folds": self.folds,
            "repeats": self.repeats,
            "measure": self.measure,
            "baseline": self.baseline,
            "baseline_class": self.baseline_class,
            "alpha": self.alpha,
            "learners": [one.to_dict() for one in self.learners],
            "pairs": [one.to_dict() for one in self.pairs],
            "sentences": list(self.sentences),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_dataframe(self, of: str = "learners") -> Any:
        """Return a pandas DataFrame of the ``"learners"``, their ``"folds"`` or the ``"pairs"``."""
        pandas = import_extra("pandas", "dev", "make a DataFrame")
        if of == "folds":
            return pandas.DataFrame({one.name: one.scores for one in self.learners}).rename_axis("fold")
        if of == "pairs":
            names = ("first", "second", "better", "difference", "p", "p_adjusted", "more_than_noise")
            return pandas.DataFrame([{name: getattr(pair, name) for name in names} for pair in self.pairs])
        if of != "learners":
            raise ParameterError(f"of must be 'learners', 'folds' or 'pairs', not {of!r}")
        rows = [one.to_dict() for one in self.learners]
        return pandas.DataFrame(rows).drop(columns="scores").rename(columns={"score": self.measure}).set_index("name")

    def _table(self) -> Rows:
        accuracy = self.higher_is_better
        header = [
            "learner",
            self.measure,
            *(["95 % interval", "errors"] if accuracy else ["pooled"]),
            "size",
            "seconds",
        ]
        rows = []
        names = shown_names([one.name for one in self.learners], NAME_WIDTH)
        for name, one in zip(names, self.learners, strict=True):
            row = [name, score_text(one.score, self.measure)]
            if accuracy:
                row += [f"{100 * (one.low or 0):.1f} to {100 * (one.high or 0):.1f}", f"{one.errors:,}"]
            else:
                row.append(score_text(one.pooled, self.measure))
            row += ["-" if one.size is None else f"{one.size:,.1f} {one.size_of}", f"{one.seconds:.2f}"]
            rows.append(row)
        return [header, *rows]

    def _way(self) -> str:
        way = f"{self.folds} folds" if self.repeats == 1 else f"{self.repeats} times {self.folds} folds"
        told = f"{self.cases:,} cases, {way}, the same for all; {self.measure} and size are means over the folds"
        if self.higher_is_better:
            told += "; McNemar: cases that only one of the two predicts correctly"
        if len(self.pairs) == 1:
            return told
        rest = "intervals and McNemar's p are" if self.higher_is_better else "intervals are"
        return f"{told}; p is adjusted for {len(self.pairs)} pairs, {rest} not"

    def _told(self) -> list[str]:
        return [*self.sentences, self._baseline_sentence(), f"({self._way()})"]

    def __str__(self) -> str:
        return "\n".join([text_table(self._table()), "", *self._told()])

    def _repr_html_(self) -> str:
        return html_report([("Learners", self._table())], self._told())


def other_name(pair: Pair, name: str) -> str:
    """Return the learner that a pair has beside this one."""
    return pair.second if pair.first == name else pair.first


def best_text(names: Sequence[str]) -> str:
    """Return the best learner, or those that share the best score."""
    return f"{names[0]} has" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} share"


_MEASURES = {"accuracy": "accuracy", "rmse": "root mean squared error"}


def score_text(score: float, measure: str) -> str:
    """Print a score."""
    return f"{100 * score:.1f} %" if measure == "accuracy" else f"{score:.4g}"


def gap_text(test: ResampledT, measure: str) -> str:
    """Print a difference with its interval."""
    if test.spread == 0:  # an interval of no width would promise too much
        size = f"{_points(test.mean)} percentage points" if measure == "accuracy" else f"{-test.mean:.4g}"
        return f"{size} on every fold"
    if measure == "accuracy":
        between = f"95 % interval {_points(max(test.low, -1))} to {_points(min(test.high, 1))}"
        return f"{_points(test.mean)} percentage points ({between})"
    return f"{-test.mean:.4g} (95 % interval {-test.high:.4g} to {-test.low:.4g})"


def _points(share: float) -> str:
    """Print a share in percentage points, never a difference as none."""
    points = 100 * share
    return f"{points:.1g}" if 0 < abs(points) < 0.05 else f"{points:.1f}"


def p_text(p: float) -> str:
    """Print a p-value."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
