"""C4.5rules: from a grown, unpruned tree to a short ordered list of rules.

The steps, one module each: a rule for every leaf (`extract`); every rule loses the conditions it does not
need (`generalise`); for every class the set of rules with the shortest description is chosen (`select`,
`description_length`); classes and rules are put in order, the default class is chosen and harmful rules go
(`order`).

All counts are whole cases: weights of the data play no part, neither does the fractional division of cases
with missing values that the tree was grown with. A missing value fails every condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.model.ruleset import ERROR_LIMIT, RuleSet
from treewright.model.tree import Tree
from treewright.rules.arithmetic import Precision
from treewright.rules.cases import RuleCases, cases_for
from treewright.rules.description_length import DescriptionLength
from treewright.rules.extract import extract_rules
from treewright.rules.generalise import Candidate, ErrorEstimates, generalise
from treewright.rules.measure import covered_cases, measured_rules
from treewright.rules.order import default_class, firing_order, without_harmful
from treewright.rules.release8_random import release8_numbers
from treewright.rules.select import choose_rules, seeded_numbers


class Search(StrEnum):
    """Where the random numbers of the search for rules come from."""

    SEEDED = "seeded"
    RELEASE8 = "release8"


@dataclass(frozen=True)
class RuleOptions:
    """How rules are induced.

    Parameters
    ----------
    confidence : float
        Confidence level of the pessimistic error, above 0 and at most 1; smaller generalises more.
    search : Search or str
        "seeded": random numbers by `seed`; "release8": the fixed ones of the original program. They matter
        only where a class has more than ten candidate rules.
    seed : int
        Not negative.
    precision : Precision or str
        "double", or "single" for the 32-bit numbers of the original program.

    Examples
    --------
    >>> RuleOptions.release8(confidence=0.1)
    RuleOptions(confidence=0.1, search=<Search.RELEASE8: 'release8'>, seed=0, precision=<Precision.SINGLE:
    'single'>)
    """

    confidence: float = 0.25
    search: Search = Search.SEEDED
    seed: int = 0
    precision: Precision = Precision.DOUBLE

    def __post_init__(self) -> None:
        number = isinstance(self.confidence, (int, float)) and not isinstance(self.confidence, bool)
        if not number or not 0 < self.confidence <= 1:
            raise ParameterError(f"confidence must be a number above 0 and at most 1, not {self.confidence!r}")
        if type(self.seed) is not int or self.seed < 0:
            raise ParameterError(f"seed must be a whole number, not negative, not {self.seed!r}")
        for name, words in (("search", Search), ("precision", Precision)):
            word = getattr(self, name)
            if word not in tuple(words):
                raise ParameterError(f"{name} must be one of {', '.join(words)}, not {word!r}")
            object.__setattr__(self, name, words(word))

    @classmethod
    def release8(cls, confidence: float = 0.25) -> RuleOptions:
        """Return the options that give the lists of the original program, rule by rule."""
        return cls(confidence, Search.RELEASE8, 0, Precision.SINGLE)

    def numbers(self) -> Iterator[float]:
        """Return a fresh stream of random numbers."""
        return release8_numbers() if self.search is Search.RELEASE8 else seeded_numbers(self.seed)


def induce_rules(tree: Tree, dataset: Dataset, options: RuleOptions | None = None) -> RuleSet:
    """Turn a grown tree into ordered rules.

    Parameters
    ----------
    tree : Tree
        Grown, not pruned: generalising the rules is the pruning.
    dataset : Dataset
        The cases the tree was grown from, taken whole; their weights are not looked at.
    options : RuleOptions or None
        None: the defaults.

    Returns
    -------
    RuleSet
        With the error estimates and the counts of these cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.model.build import NodeRecord, build_tree
    >>> from treewright.model.split import Split
    >>> from treewright.model.tree import Stop
    >>> weather = sample("play-tennis")
    >>> def node(yes, no, split=None, *children):
    ...     stop = None if split else Stop.PURE
    ...     return NodeRecord(yes + no, np.array([yes, no]), int(no > yes), split, list(children), stop)
    >>> outlook, humidity, wind = Split.multiway(0, 3), Split.multiway(2, 2), Split.multiway(3, 2)
    >>> nodes = [node(9, 5, outlook, 1, 2, 3), node(2, 3, humidity, 4, 5), node(4, 0), node(3, 2, wind, 6, 7),
    ...          node(0, 3), node(2, 0), node(3, 0), node(0, 2)]
    >>> print(induce_rules(build_tree(weather.schema, nodes)[0], weather, RuleOptions.release8()))
    1  IF Outlook = Sunny AND Humidity = High THEN No  [covers 3, used 3, wrong 0, estimated accuracy 63.0 %]
    2  IF Outlook = Rain AND Wind = Strong THEN No  [covers 2, used 2, wrong 0, estimated accuracy 50.0 %]
    3  IF Outlook = Overcast THEN Yes  [covers 4, used 4, wrong 0, estimated accuracy 70.7 %]
    4  IF Humidity = Normal THEN Yes  [covers 7, used 4, wrong 0, estimated accuracy 66.2 %]
    5  IF Outlook = Rain AND Wind = Weak THEN Yes  [covers 3, used 1, wrong 0, estimated accuracy 63.0 %]
    DEFAULT Yes
    """
    options = options or RuleOptions()
    cases = cases_for(tree, dataset)
    candidates = generalise(extract_rules(tree), cases, ErrorEstimates(options.confidence, options.precision))
    chosen = _chosen(candidates, cases, options)
    covers = covered_cases(chosen, cases, ERROR_LIMIT)
    order = firing_order(chosen, covers, cases)
    chosen, covers = [chosen[index] for index in order], covers[order]
    default = default_class(covers, cases)
    outcomes = np.array([candidate.outcome for candidate in chosen], dtype=np.intp)
    kept = without_harmful(outcomes, covers, default, cases)
    rules = measured_rules([chosen[place] for place in kept], cases, ERROR_LIMIT)
    return RuleSet(dataset.schema, rules, default)


def _chosen(candidates: list[Candidate], cases: RuleCases, options: RuleOptions) -> list[Candidate]:
    """Return the chosen candidates of all classes, class by class, each in order of generation."""
    code = DescriptionLength(cases, options.precision)
    numbers = options.numbers()  # one stream runs through all classes
    result: list[Candidate] = []
    for outcome in range(cases.n_classes):
        own = [candidate for candidate in candidates if candidate.outcome == outcome]
        bits = np.array([code.rule_bits(candidate.conditions) for candidate in own], dtype=np.float64)
        of_class = cases.classes == outcome
        covers = covered_cases(own, cases, ERROR_LIMIT)
        result += [own[index] for index in choose_rules(covers, bits, of_class, code, numbers)]
    return result
