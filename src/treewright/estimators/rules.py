"""The rule estimator: C4.5rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.estimators.base import TableClassifier
from treewright.learn import fit as fit_model
from treewright.model.rule_model import RuleModel
from treewright.model.ruleset import RuleSet
from treewright.rule_plan import RulePlan, c45_rules


class C45RulesClassifier(TableClassifier):
    """C4.5rules (Quinlan 1993): the paths of an unpruned tree, generalised, chosen and put in order.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}, default "c45"
        Whose tree the rules come from. ``"r8"`` gives the lists of Quinlan's program rule by rule, its
        pseudo-random search included; the others search with a seed of their own.
    criterion : {"gain_ratio", "gain"}, default "gain_ratio"
    min_objects : float, default 2
    confidence : float, default 0.25
        Confidence level of the error estimates, a fraction; smaller generalises more.
    subset : bool
        Group the values of nominal attributes (dialects c45 and r8).
    validation : float or None
        Hold out this share of the cases, drop what does not lower the accuracy there and sort by it, instead of
        C4.5rules' estimates.
    random_state : int
        Seed of the search and of the held-out part.
    schema : Schema, dict or None

    Attributes
    ----------
    rules_ : RuleSet
        Prints as IF ... THEN ...
    classes_ : array
        Sorted labels.
    model_ : RuleModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> clf = C45RulesClassifier(dialect="r8").fit(weather.X, weather.y)
    >>> print(clf.rules_)
    1  IF Outlook = Sunny AND Humidity = High THEN No  [covers 3, used 3, wrong 0, estimated accuracy 63.0 %]
    2  IF Outlook = Rain AND Wind = Strong THEN No  [covers 2, used 2, wrong 0, estimated accuracy 50.0 %]
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 70.7 %]
    4  IF Humidity = Normal THEN Yes  [covers 7, used 4, wrong 0, estimated accuracy 66.2 %]
    5  IF Outlook = Rain AND Wind = Weak THEN Yes  [covers 3, used 1, wrong 0, estimated accuracy 63.0 %]
    DEFAULT Yes
    """

    model_: RuleModel

    def __init__(
        self,
        *,
        dialect: str = "c45",
        criterion: str = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        subset: bool = False,
        validation: float | None = None,
        random_state: int = 0,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.dialect = dialect
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.subset = subset
        self.validation = validation
        self.random_state = random_state
        self.schema = schema

    @property
    def rules_(self) -> RuleSet:
        """The learned rules, in firing order."""
        return self.model_.rules

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the rules.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text, categories and missing values as they are.
        y : array of labels

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _recipe(self, n_rows: int, n_attributes: int) -> RulePlan:
        return c45_rules(
            dialect=self.dialect,
            criterion=self.criterion,
            min_objects=self.min_objects,
            confidence=self.confidence,
            subset=self.subset,
            seed=self.random_state,
            validation=self.validation,
        )

    def _learned(self, dataset: Dataset, plan: RulePlan) -> RuleModel:
        return fit_model(dataset, plan)
