"""How a tree that learns case by case (CAL2, CAL3) came about, step by step."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from treewright._base.errors import ModelFormatError, ParameterError
from treewright.data.dataset import Dataset
from treewright.grow.cal.case_by_case import CaseByCase
from treewright.grow.cal.learner import CAL2, CAL3
from treewright.grow.cal.trace import Step
from treewright.model.model import TreeModel

_LEARNERS: dict[str, type[CAL2 | CAL3]] = {"CAL2": CAL2, "CAL3": CAL3}


def case_steps(model: TreeModel, data: Dataset) -> list[Step]:
    """Present the cases again and return every step.

    Parameters
    ----------
    model : TreeModel
        Learned by CAL2 or CAL3.
    data : Dataset
        The training cases, in their order.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learn import fit
    >>> from treewright.plans import cal2
    >>> cases = sample("cal2")
    >>> print(case_steps(fit(cases, cal2()), cases)[2])
    3. case 3, at the root (A 2, B 1): split -> x1(B,*)
    """
    options = model.recipe.get("options")
    learner = _LEARNERS.get(options.get("learner", "")) if isinstance(options, dict) else None
    if learner is None:
        raise ParameterError(f"steps are kept for CAL2 and CAL3, not for {model.recipe.get('name', 'this model')}")
    known = {field.name for field in fields(learner)}
    given: dict[str, Any] = {name: value for name, value in dict(options or {}).items() if name in known}
    try:
        chosen = learner(**given)
    except TypeError as error:
        raise ModelFormatError(f"the options in the model cannot be understood: {error}") from error
    replayed = CaseByCase.begin(data, chosen, keep_trace=True)
    replayed.learn_all(data)
    return list(replayed.trace)
