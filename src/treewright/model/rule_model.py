"""The rule model: an ordered rule set that predicts and can be saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.model.forms import InNotebook
from treewright.model.predictor import Predictor
from treewright.model.ruleset import RuleSet


@dataclass(frozen=True)
class RuleModel(Predictor, InNotebook):
    """Ordered rules: the first rule that fires predicts, else the default class.

    Parameters
    ----------
    rules : RuleSet
    recipe : dict
        Learner and options, as plain data.
    provenance : dict
        Origin of the training data, as plain data.
    """

    rules: RuleSet
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """The schema of the training data."""
        return self.rules.schema

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order."""
        return self.rules.predict_codes(cases)

    def __str__(self) -> str:
        return self.rules.to_text()
