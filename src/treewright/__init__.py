"""Decision trees that show their working: ID3, C4.5, CART and their kin.

Names are imported when they are first used, so that reading a model does not import a learner, and the command line
starts without scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treewright._base.version import __version__

if TYPE_CHECKING:
    from treewright._base.errors import (
        DataError,
        DataWarning,
        ModelFormatError,
        ParameterError,
        SchemaError,
        TreewrightError,
    )
    from treewright.data.dataset import Dataset
    from treewright.data.samples import sample
    from treewright.data.schema import Column, Kind, Schema
    from treewright.data.tables import read
    from treewright.estimators.cal import CAL2Classifier, CAL3Classifier
    from treewright.estimators.cart import CARTClassifier, CARTRegressor
    from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.estimators.discretiser import Discretiser
    from treewright.estimators.rules import C45RulesClassifier
    from treewright.estimators.trees import C45Classifier, ID3Classifier
    from treewright.evaluate.compare import compare
    from treewright.evaluate.compare_over import compare_over
    from treewright.evaluate.curves import complexity_curve, learning_curve
    from treewright.evaluate.report import evaluate_model
    from treewright.evaluate.resampling import estimate
    from treewright.evaluate.tune import tune
    from treewright.grow.cal.learner import CAL2, CAL3
    from treewright.grow.chaid.growing import CHAID
    from treewright.grow.recipe import C45, CART, ID3, Recipe
    from treewright.learn import fit
    from treewright.model.format import load_model as load
    from treewright.model.model import TreeModel
    from treewright.model.rule_model import RuleModel
    from treewright.model.ruleset import RuleSet
    from treewright.model.split import Split
    from treewright.model.tree import Tree
    from treewright.plans import Plan, RulePlan, c45, c45_rules, cal2, cal3, cart, chaid, id3
    from treewright.prune.method import MDL, ChiSquare, CostComplexity, ErrorBased, ReducedError, Simplify

_HOME = {
    "C45": "treewright.grow.recipe",
    "C45Classifier": "treewright.estimators.trees",
    "C45RulesClassifier": "treewright.estimators.rules",
    "CAL2": "treewright.grow.cal.learner",
    "CAL2Classifier": "treewright.estimators.cal",
    "CAL3": "treewright.grow.cal.learner",
    "CAL3Classifier": "treewright.estimators.cal",
    "CART": "treewright.grow.recipe",
    "CARTClassifier": "treewright.estimators.cart",
    "CARTRegressor": "treewright.estimators.cart",
    "CHAID": "treewright.grow.chaid.growing",
    "CHAIDClassifier": "treewright.estimators.chaid",
    "CHAIDRegressor": "treewright.estimators.chaid",
    "ChiSquare": "treewright.prune.method",
    "CostComplexity": "treewright.prune.method",
    "ErrorBased": "treewright.prune.method",
    "MDL": "treewright.prune.method",
    "ReducedError": "treewright.prune.method",
    "Column": "treewright.data.schema",
    "DataError": "treewright._base.errors",
    "DataWarning": "treewright._base.errors",
    "Dataset": "treewright.data.dataset",
    "Discretiser": "treewright.estimators.discretiser",
    "ID3": "treewright.grow.recipe",
    "ID3Classifier": "treewright.estimators.trees",
    "Kind": "treewright.data.schema",
    "ModelFormatError": "treewright._base.errors",
    "ParameterError": "treewright._base.errors",
    "Plan": "treewright.plans",
    "Recipe": "treewright.grow.recipe",
    "RuleModel": "treewright.model.rule_model",
    "RulePlan": "treewright.plans",
    "RuleSet": "treewright.model.ruleset",
    "Schema": "treewright.data.schema",
    "SchemaError": "treewright._base.errors",
    "Simplify": "treewright.prune.method",
    "Split": "treewright.model.split",
    "Tree": "treewright.model.tree",
    "TreeModel": "treewright.model.model",
    "TreewrightError": "treewright._base.errors",
    "c45": "treewright.plans",
    "c45_rules": "treewright.plans",
    "cal2": "treewright.plans",
    "cal3": "treewright.plans",
    "chaid": "treewright.plans",
    "id3": "treewright.plans",
    "cart": "treewright.plans",
    "compare": "treewright.evaluate.compare",
    "compare_over": "treewright.evaluate.compare_over",
    "evaluate_model": "treewright.evaluate.report",
    "estimate": "treewright.evaluate.resampling",
    "tune": "treewright.evaluate.tune",
    "learning_curve": "treewright.evaluate.curves",
    "complexity_curve": "treewright.evaluate.curves",
    "fit": "treewright.learn",
    "load": "treewright.model.format:load_model",
    "read": "treewright.data.tables",
    "sample": "treewright.data.samples",
}

__all__ = [
    "C45",
    "CAL2",
    "CAL3",
    "CART",
    "CHAID",
    "ID3",
    "MDL",
    "C45Classifier",
    "C45RulesClassifier",
    "CAL2Classifier",
    "CAL3Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "ChiSquare",
    "Column",
    "CostComplexity",
    "DataError",
    "DataWarning",
    "Dataset",
    "Discretiser",
    "ErrorBased",
    "ID3Classifier",
    "Kind",
    "ModelFormatError",
    "ParameterError",
    "Plan",
    "Recipe",
    "ReducedError",
    "RuleModel",
    "RulePlan",
    "RuleSet",
    "Schema",
    "SchemaError",
    "Simplify",
    "Split",
    "Tree",
    "TreeModel",
    "TreewrightError",
    "__version__",
    "c45",
    "c45_rules",
    "cal2",
    "cal3",
    "cart",
    "chaid",
    "compare",
    "compare_over",
    "complexity_curve",
    "estimate",
    "evaluate_model",
    "fit",
    "id3",
    "learning_curve",
    "load",
    "read",
    "sample",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    module, _, inner = _HOME[name].partition(":")
    value = getattr(importlib.import_module(module), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
