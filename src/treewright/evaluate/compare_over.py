"""Learners over many tables: average ranks, Friedman's test, Nemenyi's critical difference (Demsar 2006)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treewright._base.errors import ParameterError
from treewright._base.extras import import_extra
from treewright._base.printable import printable
from treewright.evaluate.comparison import NAME_WIDTH, Comparison, best_text, p_text
from treewright.evaluate.result import Rows, html_report, shown_names, text_table
from treewright.evaluate.tests_of_difference import (
    Friedman,
    friedman,
    groups_within,
    nemenyi_critical_difference,
    ranks_of,
)


@dataclass(frozen=True)
class ManyComparison:
    """Learners over several tables.

    Attributes
    ----------
    datasets, learners : tuple of str
        Names; learners in the order of their average rank.
    scores, ranks : tuple of tuples
        Tables by learners.
    average_ranks : tuple of float
    friedman : Friedman
    critical_difference : float
        Of Nemenyi's test at alpha.
    groups : tuple of tuples of str
        Learners that Nemenyi's test does not tell apart; they overlap.
    alpha : float
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    ranks: tuple[tuple[float, ...], ...]
    average_ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    alpha: float = 0.05

    @property
    def differ(self) -> bool:
        """Whether the test of Friedman, Iman and Davenport finds any difference at alpha."""
        return self.friedman.p < self.alpha

    @property
    def sentences(self) -> tuple[str, ...]:
        """Who ranks best, and whether that is more than noise."""
        test, best = self.friedman, self.learners[0]
        told = f"F({test.df1}, {test.df2}) = {test.f:.2f}, {p_text(test.p)}"
        ahead = [name for name in self.learners[1:] if not any({best, name} <= set(group) for group in self.groups)]
        ranked = zip(self.learners, self.average_ranks, strict=True)
        level = [printable(name) for name, rank in ranked if rank == self.average_ranks[0]]
        first = f"{best_text(level)} the best average rank, {self.average_ranks[0]:.2f}"
        if len(level) == len(self.learners):
            first = f"All learners have the same average rank, {self.average_ranks[0]:.2f}"
        if not self.differ:
            return (f"{first}; over these tables no difference is statistically significant (Friedman, {told}).",)
        beyond = f"Ranks {self.critical_difference:.2f} apart differ significantly (Nemenyi at {self.alpha:.0%})"
        whom = (
            f"significantly better than {', '.join(map(printable, ahead))}"
            if ahead
            else "but not significantly better than any other"
        )
        return f"{first}, {whom}.", f"{beyond}; the learners are not all equal (Friedman, {told})."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "datasets": list(self.datasets),
            "learners": list(self.learners),
            "scores": [list(row) for row in self.scores],
            "ranks": [list(row) for row in self.ranks],
            "average_ranks": dict(zip(self.learners, self.average_ranks, strict=True)),
            "friedman": self.friedman.to_dict(),
            "critical_difference": self.critical_difference,
            "groups": [list(group) for group in self.groups],
            "alpha": self.alpha,
            "sentences": list(self.sentences),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_dataframe(self, of: str = "scores") -> Any:
        """Return a pandas DataFrame of the ``"scores"`` or ``"ranks"``: tables by learners."""
        pandas = import_extra("pandas", "dev", "make a DataFrame")
        if of not in ("scores", "ranks"):
            raise ParameterError(f"of must be 'scores' or 'ranks', not {of!r}")
        rows = self.scores if of == "scores" else self.ranks
        return pandas.DataFrame(rows, index=list(self.datasets), columns=list(self.learners))

    def _table(self) -> Rows:
        header = ["table", *shown_names(self.learners, NAME_WIDTH)]
        rows = [
            [name, *(f"{score:.4g} ({rank:g})" for score, rank in zip(row, ranked, strict=True))]
            for name, row, ranked in zip(shown_names(self.datasets, NAME_WIDTH), self.scores, self.ranks, strict=True)
        ]
        return [header, *rows, ["average rank", *(f"{rank:.2f}" for rank in self.average_ranks)]]

    def __str__(self) -> str:
        return "\n".join([text_table(self._table()), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_report([("Scores and (ranks)", self._table())], self.sentences)


def compare_over(
    datasets: Mapping[str, Comparison] | Mapping[str, Mapping[str, float]] | Any,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> ManyComparison:
    """Compare learners over several tables by their ranks (Friedman, Nemenyi; Demsar 2006).

    Parameters
    ----------
    datasets : dict or DataFrame
        Table names and their comparisons, or the score of each learner on each table (tables are rows).
    higher_is_better : bool
        What a table of scores means; comparisons know it themselves.
    alpha : float

    Examples
    --------
    >>> result = compare_over({"a": {"x": 0.9, "y": 0.8}, "b": {"x": 0.7, "y": 0.7}, "c": {"x": 0.6, "y": 0.5}})
    >>> result.learners, [round(rank, 2) for rank in result.average_ranks], result.differ
    (('x', 'y'), [1.17, 1.83], False)
    """
    if not isinstance(datasets, Mapping) and not hasattr(datasets, "to_dict"):
        raise ParameterError(
            "this takes a dict of tables and their comparisons (or scores by learner), or a DataFrame of scores, "
            f"not {type(datasets).__name__}"
        )
    table: Mapping[Any, Any] = datasets if isinstance(datasets, Mapping) else datasets.to_dict(orient="index")
    if len(table) < 2:
        raise ParameterError(f"learners are ranked over two tables at least, not {len(table)}")
    scores: list[list[float]] = []
    ranks: list[list[float]] = []
    names: list[str] = []
    for name, one in table.items():
        own = one.scores if isinstance(one, Comparison) else {str(key): float(value) for key, value in one.items()}
        up = one.higher_is_better if isinstance(one, Comparison) else higher_is_better
        if not names:
            names = list(own)
        if set(own) != set(names):
            apart = ", ".join(map(repr, sorted(set(own) ^ set(names))))
            raise ParameterError(f"every table needs a score of every learner; {name!r} differs in {apart}")
        scores.append([own[key] for key in names])
        ranks.extend(ranks_of([scores[-1]], higher_is_better=up).tolist())
    test = friedman(ranks)
    difference = nemenyi_critical_difference(len(names), len(table), alpha)
    order = sorted(range(len(names)), key=lambda i: (test.ranks[i], i))
    groups = groups_within(test.ranks, difference)
    return ManyComparison(
        tuple(str(name) for name in table),
        tuple(names[i] for i in order),
        tuple(tuple(row[i] for i in order) for row in scores),
        tuple(tuple(row[i] for i in order) for row in ranks),
        tuple(test.ranks[i] for i in order),
        test,
        difference,
        tuple(tuple(names[i] for i in group) for group in groups),
        alpha,
    )
