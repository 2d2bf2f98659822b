"""Decision trees that show their working: ID3, C4.5, CART and their kin.

Names are imported when they are first used, so that reading a model does not import a learner, and the command line
starts without scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treewright.lazy_import import garbage_collection_paused
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.read import read
    from treewright.data.samples import sample
    from treewright.data.schema import Column, Kind, Schema
    from treewright.data.table_address import Table
    from treewright.drawing.draw import draw, to_dot, to_html, to_json, to_mermaid, to_rules, to_svg, to_text, to_tikz
    from treewright.ensembles.distil import Distilled, distil
    from treewright.ensembles.neighbours import Neighbours, neighbours
    from treewright.ensembles.plan import BoostPlan, ForestPlan, adaboost, bagging, forest
    from treewright.ensembles.running import Interrupted
    from treewright.errors import (
        DataError,
        DataWarning,
        EngineError,
        ModelFormatError,
        ParameterError,
        SchemaError,
        TreewrightError,
    )
    from treewright.estimators.bagging import BaggedTreesClassifier, BaggedTreesRegressor
    from treewright.estimators.boosting import AdaBoostClassifier
    from treewright.estimators.c45 import C45Classifier, C45RulesClassifier, ID3Classifier
    from treewright.estimators.cal import CAL2Classifier, CAL3Classifier
    from treewright.estimators.cart import CARTClassifier, CARTRegressor
    from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.estimators.discretiser import Discretiser
    from treewright.estimators.forests import ForestEmbedding, RandomForestClassifier, RandomForestRegressor
    from treewright.evaluation.classification import classification_report
    from treewright.evaluation.compare import compare, compare_over
    from treewright.evaluation.curves import complexity_curve, learning_curve
    from treewright.evaluation.evaluate_model import evaluate_model
    from treewright.evaluation.learners import Learn
    from treewright.evaluation.regression import regression_report
    from treewright.evaluation.resampling import estimate
    from treewright.evaluation.splitters import Bootstrap632, GivenFolds, Grouped, HoldOut, KFold, LeaveOneOut, Repeated
    from treewright.evaluation.tune import tune
    from treewright.explain.growth_steps import growth_steps
    from treewright.explain.node import explain_node
    from treewright.explain.prediction import explain_prediction
    from treewright.explain.pruning import explain_pruning
    from treewright.explain.whole_tree import explain_tree
    from treewright.fitting.learn import fit
    from treewright.html_report.make import report
    from treewright.learners.cal.options import CAL2, CAL3
    from treewright.learners.chaid.options import CHAID
    from treewright.learners.recipe import C45, CART, ID3, Recipe
    from treewright.plans import Plan, RulePlan, c45, c45_rules, cal2, cal3, cart, chaid, id3
    from treewright.pruning.methods import MDL, ChiSquare, CostComplexity, ErrorBased, ReducedError, Simplify
    from treewright.tree.forest import Forest
    from treewright.tree.io.model_file import load_model as load
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel, RuleSet
    from treewright.tree.split import Split
    from treewright.tree.tree import Tree

_MODULE_OF = {
    "forest": "treewright.ensembles.plan",
    "distil": "treewright.ensembles.distil",
    "neighbours": "treewright.ensembles.neighbours",
    "Neighbours": "treewright.ensembles.neighbours",
    "bagging": "treewright.ensembles.plan",
    "adaboost": "treewright.ensembles.plan",
    "RandomForestRegressor": "treewright.estimators.forests",
    "RandomForestClassifier": "treewright.estimators.forests",
    "Interrupted": "treewright.ensembles.running",
    "ForestPlan": "treewright.ensembles.plan",
    "ForestEmbedding": "treewright.estimators.forests",
    "Forest": "treewright.tree.forest",
    "Distilled": "treewright.ensembles.distil",
    "BoostPlan": "treewright.ensembles.plan",
    "BaggedTreesRegressor": "treewright.estimators.bagging",
    "BaggedTreesClassifier": "treewright.estimators.bagging",
    "AdaBoostClassifier": "treewright.estimators.boosting",
    "C45": "treewright.learners.recipe",
    "C45Classifier": "treewright.estimators.c45",
    "C45RulesClassifier": "treewright.estimators.c45",
    "CAL2": "treewright.learners.cal.options",
    "CAL2Classifier": "treewright.estimators.cal",
    "CAL3": "treewright.learners.cal.options",
    "CAL3Classifier": "treewright.estimators.cal",
    "CART": "treewright.learners.recipe",
    "CARTClassifier": "treewright.estimators.cart",
    "CARTRegressor": "treewright.estimators.cart",
    "CHAID": "treewright.learners.chaid.options",
    "CHAIDClassifier": "treewright.estimators.chaid",
    "CHAIDRegressor": "treewright.estimators.chaid",
    "ChiSquare": "treewright.pruning.methods",
    "CostComplexity": "treewright.pruning.methods",
    "EngineError": "treewright.errors",
    "ErrorBased": "treewright.pruning.methods",
    "MDL": "treewright.pruning.methods",
    "ReducedError": "treewright.pruning.methods",
    "Column": "treewright.data.schema",
    "DataError": "treewright.errors",
    "DataWarning": "treewright.errors",
    "Dataset": "treewright.data.dataset",
    "Discretiser": "treewright.estimators.discretiser",
    "ID3": "treewright.learners.recipe",
    "ID3Classifier": "treewright.estimators.c45",
    "Kind": "treewright.data.schema",
    "ModelFormatError": "treewright.errors",
    "ParameterError": "treewright.errors",
    "Plan": "treewright.plans",
    "Recipe": "treewright.learners.recipe",
    "RuleModel": "treewright.tree.rules",
    "RulePlan": "treewright.plans",
    "RuleSet": "treewright.tree.rules",
    "Schema": "treewright.data.schema",
    "SchemaError": "treewright.errors",
    "Simplify": "treewright.pruning.methods",
    "Split": "treewright.tree.split",
    "Table": "treewright.data.table_address",
    "Tree": "treewright.tree.tree",
    "TreeModel": "treewright.tree.model",
    "TreewrightError": "treewright.errors",
    "c45": "treewright.plans",
    "c45_rules": "treewright.plans",
    "cal2": "treewright.plans",
    "cal3": "treewright.plans",
    "chaid": "treewright.plans",
    "id3": "treewright.plans",
    "cart": "treewright.plans",
    "compare": "treewright.evaluation.compare",
    "compare_over": "treewright.evaluation.compare",
    "Bootstrap632": "treewright.evaluation.splitters",
    "GivenFolds": "treewright.evaluation.splitters",
    "Grouped": "treewright.evaluation.splitters",
    "HoldOut": "treewright.evaluation.splitters",
    "KFold": "treewright.evaluation.splitters",
    "LeaveOneOut": "treewright.evaluation.splitters",
    "Repeated": "treewright.evaluation.splitters",
    "Learn": "treewright.evaluation.learners",
    "classification_report": "treewright.evaluation.classification",
    "regression_report": "treewright.evaluation.regression",
    "explain_node": "treewright.explain.node",
    "explain_prediction": "treewright.explain.prediction",
    "explain_pruning": "treewright.explain.pruning",
    "explain_tree": "treewright.explain.whole_tree",
    "growth_steps": "treewright.explain.growth_steps",
    "evaluate_model": "treewright.evaluation.evaluate_model",
    "estimate": "treewright.evaluation.resampling",
    "tune": "treewright.evaluation.tune",
    "learning_curve": "treewright.evaluation.curves",
    "complexity_curve": "treewright.evaluation.curves",
    "fit": "treewright.fitting.learn",
    "load": "treewright.tree.io.model_file:load_model",
    "read": "treewright.data.read",
    "report": "treewright.html_report.make",
    "sample": "treewright.data.samples",
    "draw": "treewright.drawing.draw",
    "to_dot": "treewright.drawing.draw",
    "to_html": "treewright.drawing.draw",
    "to_json": "treewright.drawing.draw",
    "to_mermaid": "treewright.drawing.draw",
    "to_rules": "treewright.drawing.draw",
    "to_svg": "treewright.drawing.draw",
    "to_text": "treewright.drawing.draw",
    "to_tikz": "treewright.drawing.draw",
}

__all__ = [
    "C45",
    "CAL2",
    "CAL3",
    "CART",
    "CHAID",
    "ID3",
    "MDL",
    "AdaBoostClassifier",
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "BoostPlan",
    "Bootstrap632",
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
    "Distilled",
    "EngineError",
    "ErrorBased",
    "Forest",
    "ForestEmbedding",
    "ForestPlan",
    "GivenFolds",
    "Grouped",
    "HoldOut",
    "ID3Classifier",
    "Interrupted",
    "KFold",
    "Kind",
    "Learn",
    "LeaveOneOut",
    "ModelFormatError",
    "Neighbours",
    "ParameterError",
    "Plan",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Recipe",
    "ReducedError",
    "Repeated",
    "RuleModel",
    "RulePlan",
    "RuleSet",
    "Schema",
    "SchemaError",
    "Simplify",
    "Split",
    "Table",
    "Tree",
    "TreeModel",
    "TreewrightError",
    "__version__",
    "adaboost",
    "bagging",
    "c45",
    "c45_rules",
    "cal2",
    "cal3",
    "cart",
    "chaid",
    "classification_report",
    "compare",
    "compare_over",
    "complexity_curve",
    "distil",
    "draw",
    "estimate",
    "evaluate_model",
    "explain_node",
    "explain_prediction",
    "explain_pruning",
    "explain_tree",
    "fit",
    "forest",
    "growth_steps",
    "id3",
    "learning_curve",
    "load",
    "neighbours",
    "read",
    "regression_report",
    "report",
    "sample",
    "to_dot",
    "to_html",
    "to_json",
    "to_mermaid",
    "to_rules",
    "to_svg",
    "to_text",
    "to_tikz",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    module, _, inner = _MODULE_OF[name].partition(":")
    with garbage_collection_paused():
        value = getattr(importlib.import_module(module), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
