"""Decision trees that show their working: ID3, C4.5, CART and their kin.

Names are imported when they are first used, so that reading a model does not import a learner, and the command line
starts without scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treewright._base.higher_room import made_by
from treewright._base.loading import garbage_collection_paused
from treewright._base.version import __version__

if TYPE_CHECKING:
    from treewright._base.errors import (
        DataError,
        DataWarning,
        EngineError,
        ModelFormatError,
        ParameterError,
        SchemaError,
        TreewrightError,
    )
    from treewright.data.dataset import Dataset
    from treewright.data.samples import sample
    from treewright.data.schema import Column, Kind, Schema
    from treewright.data.table import Table
    from treewright.data.tables import read
    from treewright.ensemble.distil import Distilled, distil
    from treewright.ensemble.neighbours import Neighbours, neighbours
    from treewright.ensemble.plan import BoostPlan, ForestPlan, adaboost, bagging, forest
    from treewright.ensemble.running import Interrupted
    from treewright.estimators.bagging import BaggedTreesClassifier, BaggedTreesRegressor
    from treewright.estimators.boosting import AdaBoostClassifier
    from treewright.estimators.cal import CAL2Classifier, CAL3Classifier
    from treewright.estimators.cart import CARTClassifier, CARTRegressor
    from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.estimators.discretiser import Discretiser
    from treewright.estimators.embedding import ForestEmbedding
    from treewright.estimators.forests import RandomForestClassifier, RandomForestRegressor
    from treewright.estimators.rules import C45RulesClassifier
    from treewright.estimators.trees import C45Classifier, ID3Classifier
    from treewright.evaluate.classification_report import classification_report
    from treewright.evaluate.compare import compare
    from treewright.evaluate.compare_over import compare_over
    from treewright.evaluate.curves import complexity_curve, learning_curve
    from treewright.evaluate.learners import Learn
    from treewright.evaluate.regression_report import regression_report
    from treewright.evaluate.report import evaluate_model
    from treewright.evaluate.resampling import estimate
    from treewright.evaluate.tune import tune
    from treewright.evaluate.ways import Bootstrap632, GivenFolds, Grouped, HoldOut, KFold, LeaveOneOut, Repeated
    from treewright.explain.node import explain_node
    from treewright.explain.prediction import explain_prediction
    from treewright.explain.pruning import explain_pruning
    from treewright.explain.steps import growth_steps
    from treewright.explain.whole import explain_tree
    from treewright.grow.cal.options import CAL2, CAL3
    from treewright.grow.chaid.options import CHAID
    from treewright.grow.recipe import C45, CART, ID3, Recipe
    from treewright.learn import fit
    from treewright.model.forest import Forest
    from treewright.model.format import load_model as load
    from treewright.model.model import TreeModel
    from treewright.model.rule_model import RuleModel
    from treewright.model.ruleset import RuleSet
    from treewright.model.split import Split
    from treewright.model.tree import Tree
    from treewright.plans import Plan, c45, cal2, cal3, cart, chaid, id3
    from treewright.prune.method import MDL, ChiSquare, CostComplexity, ErrorBased, ReducedError, Simplify
    from treewright.rule_plan import RulePlan, c45_rules
    from treewright.show.forms import draw, to_dot, to_html, to_json, to_mermaid, to_rules, to_svg, to_text, to_tikz
    from treewright.show.report.make import report

_HOME = {
    "forest": "treewright.ensemble.plan",
    "distil": "treewright.ensemble.distil",
    "neighbours": "treewright.ensemble.neighbours",
    "Neighbours": "treewright.ensemble.neighbours",
    "bagging": "treewright.ensemble.plan",
    "adaboost": "treewright.ensemble.plan",
    "RandomForestRegressor": "treewright.estimators.forests",
    "RandomForestClassifier": "treewright.estimators.forests",
    "Interrupted": "treewright.ensemble.running",
    "ForestPlan": "treewright.ensemble.plan",
    "ForestEmbedding": "treewright.estimators.embedding",
    "Forest": "treewright.model.forest",
    "Distilled": "treewright.ensemble.distil",
    "BoostPlan": "treewright.ensemble.plan",
    "BaggedTreesRegressor": "treewright.estimators.bagging",
    "BaggedTreesClassifier": "treewright.estimators.bagging",
    "AdaBoostClassifier": "treewright.estimators.boosting",
    "C45": "treewright.grow.recipe",
    "C45Classifier": "treewright.estimators.trees",
    "C45RulesClassifier": "treewright.estimators.rules",
    "CAL2": "treewright.grow.cal.options",
    "CAL2Classifier": "treewright.estimators.cal",
    "CAL3": "treewright.grow.cal.options",
    "CAL3Classifier": "treewright.estimators.cal",
    "CART": "treewright.grow.recipe",
    "CARTClassifier": "treewright.estimators.cart",
    "CARTRegressor": "treewright.estimators.cart",
    "CHAID": "treewright.grow.chaid.options",
    "CHAIDClassifier": "treewright.estimators.chaid",
    "CHAIDRegressor": "treewright.estimators.chaid",
    "ChiSquare": "treewright.prune.method",
    "CostComplexity": "treewright.prune.method",
    "EngineError": "treewright._base.errors",
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
    "RulePlan": "treewright.rule_plan",
    "RuleSet": "treewright.model.ruleset",
    "Schema": "treewright.data.schema",
    "SchemaError": "treewright._base.errors",
    "Simplify": "treewright.prune.method",
    "Split": "treewright.model.split",
    "Table": "treewright.data.table",
    "Tree": "treewright.model.tree",
    "TreeModel": "treewright.model.model",
    "TreewrightError": "treewright._base.errors",
    "c45": "treewright.plans",
    "c45_rules": "treewright.rule_plan",
    "cal2": "treewright.plans",
    "cal3": "treewright.plans",
    "chaid": "treewright.plans",
    "id3": "treewright.plans",
    "cart": "treewright.plans",
    "compare": "treewright.evaluate.compare",
    "compare_over": "treewright.evaluate.compare_over",
    "Bootstrap632": "treewright.evaluate.ways",
    "GivenFolds": "treewright.evaluate.ways",
    "Grouped": "treewright.evaluate.ways",
    "HoldOut": "treewright.evaluate.ways",
    "KFold": "treewright.evaluate.ways",
    "LeaveOneOut": "treewright.evaluate.ways",
    "Repeated": "treewright.evaluate.ways",
    "Learn": "treewright.evaluate.learners",
    "classification_report": "treewright.evaluate.classification_report",
    "regression_report": "treewright.evaluate.regression_report",
    "explain_node": "treewright.explain.node",
    "explain_prediction": "treewright.explain.prediction",
    "explain_pruning": "treewright.explain.pruning",
    "explain_tree": "treewright.explain.whole",
    "growth_steps": "treewright.explain.steps",
    "evaluate_model": "treewright.evaluate.report",
    "estimate": "treewright.evaluate.resampling",
    "tune": "treewright.evaluate.tune",
    "learning_curve": "treewright.evaluate.curves",
    "complexity_curve": "treewright.evaluate.curves",
    "fit": "treewright.learn",
    "load": "treewright.model.format:load_model",
    "read": "treewright.data.tables",
    "report": "treewright.show.report.make",
    "sample": "treewright.data.samples",
    "draw": "treewright.show.forms",
    "to_dot": "treewright.show.forms",
    "to_html": "treewright.show.forms",
    "to_json": "treewright.show.forms",
    "to_mermaid": "treewright.show.forms",
    "to_rules": "treewright.show.forms",
    "to_svg": "treewright.show.forms",
    "to_text": "treewright.show.forms",
    "to_tikz": "treewright.show.forms",
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

# Models draw themselves, but stand below the room of the drawings: here is where it is.
made_by("treewright.show.notebook", "notebook_html")
made_by("treewright.explain.ask", "explain")
made_by("treewright.show.forms", *(name for name, home in _HOME.items() if home == "treewright.show.forms"))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    module, _, inner = _HOME[name].partition(":")
    with garbage_collection_paused():
        value = getattr(importlib.import_module(module), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
