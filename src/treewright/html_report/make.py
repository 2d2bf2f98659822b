"""Make the report page from a model and its data; parts that cannot be computed are left out.

The training cases give the data profile, the typical values of the "what if" form, the folds and the learning curve. If
there are test cases, the model is evaluated on them and nothing is trained again. The plan trains in the same way on
parts of the cases; it follows from the model, except for learners that store too little (rpart), for which it can be
given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from treewright.atomic_file import write_atomically
from treewright.data.dataset import Dataset
from treewright.drawing.layout import x_positions
from treewright.errors import ParameterError
from treewright.evaluation.learners import Learn
from treewright.explain.growth_steps import GrowthStep, growth_steps
from treewright.explain.language import words
from treewright.explain.training_data import learner_name, learner_of
from treewright.export.view_model import Shape, visible_tree
from treewright.fitting.algorithms import Learner
from treewright.html_report.document import document, page_words
from treewright.html_report.node_panel import NUMBERS, explanations, node_plots, pruning_lines
from treewright.html_report.page_data import columns_of, profile, short_number, shown, stop_codes, tree_arrays
from treewright.html_report.pruning_slider import PruningSteps, pruning_data, pruning_steps
from treewright.html_report.quality import (
    LEAST_ROWS,
    UnseenResults,
    cross_validated,
    learning_data,
    measured_on,
    quality_data,
)
from treewright.plans import Plan
from treewright.pruning.methods import pruner_named
from treewright.tree.model import TreeModel
from treewright.tree.rules import RuleModel
from treewright.tree.tree import LEAF, Tree
from treewright.version import __version__

FIRST_NODES = (60, 45, 35, 28, 22, 17, 13, 10)
"""Numbers of nodes to try for the first view, until the drawing fits into the first width."""

FIRST_WIDTH = 1150.0
"""Width of a drawing that is readable without panning."""

MOST_STEPPED = 5_000
"""Most nodes of a tree with its own order of growth; the steps of larger ones are played level by level."""

BOX_WIDTH, GAP = 140.0, 16.0
"""Sizes in the drawing; the same as in `boxes.js` and `tree.js`."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class ReportPage:
    """A finished report.

    Parameters
    ----------
    html : str
        The text of the file.
    """

    html: str

    def __str__(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<ReportPage: {len(self.html.encode()):,} bytes; save(path) writes it>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically: it is always complete, the old one or the new one."""
        write_atomically(path, self.html)


def report(
    model: Any,
    data: Dataset | None = None,
    *,
    test: Dataset | None = None,
    plan: Learner | None = None,
    title: str | None = None,
    lang: str | None = None,
    folds: int = 10,
    curve: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReportPage:
    """Make a report of a model: one self-contained HTML file.

    Parameters
    ----------
    model : TreeModel, RuleModel or a fitted estimator of Treewright
    data : Dataset or None
        The training cases; without them the page has only the tree and its split traces.
    test : Dataset or None
        Test cases to evaluate the model on.
    plan : Plan or RulePlan or None
        The plan of the model; None takes it from the model, if that stores it.
    title : str or None
    lang : {"en", "de", "it", "zh"} or None
        None takes the environment variable TREEWRIGHT_LANG, or English.
    folds : int
        Folds of the cross-validation; 0 for none.
    curve : bool
        Make a learning curve, which trains about forty models.
    seed : int
        Random seed for folds and samples.
    progress : callable or None
        Called with the name of the current task, finished parts and all parts.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> weather = sample("play-tennis")
    >>> page = report(fit(weather, c45()), weather, folds=0, curve=False)
    >>> page.html.startswith("<!DOCTYPE html>"), "PlayTennis" in page.html
    (True, True)
    """
    model = getattr(model, "model_", model)
    if not isinstance(model, (TreeModel, RuleModel)):
        raise ParameterError(f"a report needs a model of one tree or of rules, not {type(model).__name__}")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 0 or folds == 1:
        raise ParameterError(f"folds must be 0 or a whole number of at least 2, not {folds!r}")
    for what, cases in (("the training data", data), ("the test data", test)):
        if cases is not None and not isinstance(cases, Dataset):
            raise ParameterError(f"{what} must be a Dataset (see treewright.read), not {type(cases).__name__}")
        if cases is not None and (cases.target is None or cases.schema.attributes != model.schema.attributes):
            raise ParameterError(f"{what} are not of the model's schema, or lack its target")
    known_plan = plan if plan is not None else plan_of(model)
    message = words(lang)
    texts = page_words(lang)
    steps = pruning_steps(model.tree) if isinstance(model, TreeModel) and model.tree.n_nodes > 1 else None
    unseen = _unseen(model, data, test, known_plan, steps, folds, seed, progress)
    payload: dict[str, Any] = {
        "words": texts,
        "about": _about(model, data, known_plan, texts, title),
        "target": shown(model.schema.target or ""),
        "classes": None if model.schema.target_column.is_numeric else [shown(name) for name in model.schema.classes],
        "stops": stop_codes(),
        **(_tree_part(model, data, steps, unseen, lang) if isinstance(model, TreeModel) else _rules_part(model)),
    }
    if unseen is not None:
        payload["quality"] = quality_data(unseen)
    cases = data if data is not None else test
    payload["typical"] = {} if cases is None else typical_values(cases, _tested_attributes(model))
    if cases is not None:
        payload["profile"] = profile(cases)
    if curve and data is not None and known_plan is not None and data.n_rows >= LEAST_ROWS:
        learn = _learn(model, known_plan)
        payload["learning"] = learning_data(data, learn, seed=seed, progress=_part(progress, "learning curve"))
    heading = payload["about"]["title"]
    return ReportPage(document(f"{heading} · Treewright", texts, payload, message.html_lang))


def plan_of(model: TreeModel | RuleModel) -> Plan | None:
    """Return the plan of a model, None if the model stores too little to train again.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> plan_of(fit(sample("play-tennis"), c45(confidence=0.1))) == c45(confidence=0.1)
    True
    """
    if not isinstance(model, TreeModel) or not model.recipe:
        return None
    if learner_name(model) and learner_name(model) not in Plan.learner_kinds():
        return None
    learner = learner_of(model)
    if not learner.relearnable:
        return None
    pruning = []
    for plain in model.recipe.get("pruning", ()):
        given = {key: value for key, value in dict(plain).items() if key != "method"}
        pruning.append(pruner_named(plain["method"], **given))
    return Plan(learner, tuple(pruning))


def _learn(model: TreeModel | RuleModel, plan: Learner) -> Learn:
    if isinstance(model, RuleModel):
        return Learn(plan)
    weights = model.provenance.get("class_weights")
    class_weights = weights if isinstance(weights, Mapping) else None
    return Learn(plan, class_weights=class_weights, smoothing=model.smoothing, costs=model.costs)


def _part(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)


def _unseen(
    model: TreeModel | RuleModel,
    data: Dataset | None,
    test: Dataset | None,
    plan: Learner | None,
    steps: PruningSteps | None,
    folds: int,
    seed: int,
    progress: Progress | None,
) -> UnseenResults | None:
    """Evaluate on the test cases, else by cross-validation, else on the training cases."""
    if test is not None:
        return measured_on(model, test, steps)
    if data is None:
        return None
    if plan is None or folds == 0 or data.n_rows < LEAST_ROWS:
        return measured_on(model, data, None, kind="training")
    return cross_validated(
        data,
        _learn(model, plan),
        steps,
        folds=folds,
        seed=seed,
        costs=getattr(model, "costs", None),
        progress=_part(progress, "cross-validating"),
    )


def _about(
    model: TreeModel | RuleModel,
    data: Dataset | None,
    plan: Learner | None,
    texts: Mapping[str, str],
    title: str | None,
) -> dict[str, Any]:
    kind = "title_tree" if isinstance(model, TreeModel) else "title_rules"
    source = model.provenance.get("source")
    parts = [str(model.recipe.get("name", ""))]
    if plan is not None:
        parts.append(plan.for_schema(model.schema).describe())
    if source:
        parts.append(texts["learned_from"].replace("{source}", PurePath(str(source)).name))
    rows = model.provenance.get("rows")
    return {
        "title": shown(title or texts[kind].replace("{target}", model.schema.target or "")),
        "subtitle": shown(" · ".join(part for part in parts if part)),
        "rows": rows if isinstance(rows, int) else None if data is None else data.n_rows,
        "depth": model.tree.depth if isinstance(model, TreeModel) else 0,
        "version": __version__,
    }


def _tested_attributes(model: TreeModel | RuleModel) -> set[int]:
    """Return the attributes that the model tests."""
    if isinstance(model, RuleModel):
        return {condition.attribute for rule in model.rules.rules for condition in rule.conditions}
    tree = model.tree
    surrogate_attributes = {one.split.attribute for found in tree.surrogates.values() for one in found}
    return {*tree.attribute[tree.attribute != LEAF].tolist(), *surrogate_attributes}


def typical_values(data: Dataset, attributes: set[int]) -> dict[str, Any]:
    """Return the median or the most frequent value of attributes, the initial values of the "what if" form."""
    typical: dict[str, Any] = {}
    for attribute in sorted(attributes):
        cells = data.columns[attribute]
        if data.schema.attributes[attribute].is_numeric:
            known = cells[~np.isnan(cells)]
            middle = np.sort(known)[len(known) // 2] if len(known) else None
            typical[str(attribute)] = short_number(None if middle is None else float(middle))
        else:
            counts = np.bincount(cells[cells >= 0], minlength=1)
            typical[str(attribute)] = int(np.argmax(counts)) if counts.any() else None
    return typical


def _tree_part(
    model: TreeModel, data: Dataset | None, steps: PruningSteps | None, unseen: UnseenResults | None, lang: str | None
) -> dict[str, Any]:
    tree = model.tree
    criterion = str(model.recipe.get("criterion", ""))
    part: dict[str, Any] = {
        "columns": columns_of(model.schema, _tested_attributes(model)),
        "tree": tree_arrays(tree),
        "measure": {"gini": "gini", "variance": "variance"}.get(criterion, "entropy"),
        "voting": str(model.voting),
        "smoothing": model.smoothing,
        "costs": None if model.costs is None else [list(row) for row in model.costs],
        "number_names": list(NUMBERS),
        "explain": explanations(model, data),
        "prunings": pruning_lines(model, data, lang),
        **first_view(tree),
    }
    if data is not None:
        part["plots"] = node_plots(tree, data)
    if tree.n_nodes <= MOST_STEPPED:
        growth = growth_steps(model)
        if growth.order != "levels":  # the page computes that order itself
            part["growth"] = [step.node for step in growth.steps if isinstance(step, GrowthStep)]
    if steps is not None:
        part["pruning"] = pruning_data(tree, steps, None if unseen is None else unseen.losses)
    return part


def first_view(tree: Tree) -> dict[str, Any]:
    """Return the nodes that are unfolded at first, the positions of the visible ones, and the colours of the classes.

    A tree that does not fit is unfolded as far as it does, the heaviest nodes first.
    """
    fewest = int(np.diff(tree.child_start)[0]) + 1  # the root is always unfolded
    for most in sorted({max(fewest, some) for some in FIRST_NODES}, reverse=True):
        view = visible_tree(tree, max_nodes=most, max_branches=None)
        parents = [one.parent for one in view.nodes]
        middles = x_positions(parents, [BOX_WIDTH] * len(parents), GAP)
        if max(middles) + BOX_WIDTH / 2 <= FIRST_WIDTH:
            break
    return {
        "view": {
            "open": [one.number for one in view.nodes if one.shape is Shape.TEST],
            "x": [round(middle, 1) for middle in middles],
        },
        "colours": list(view.colours),
    }


def _rules_part(model: RuleModel) -> dict[str, Any]:
    limit = model.rules.error_limit
    return {
        "columns": columns_of(model.schema, _tested_attributes(model)),
        "colours": [min(code, 7) for code in range(len(model.schema.classes))],
        "ruleset": {
            "rules": [
                {
                    "conditions": [
                        [one.attribute, str(one.op), one.cut if one.cut is not None else list(one.values)]
                        for one in rule.conditions
                    ],
                    "outcome": rule.outcome,
                    "used": rule.used,
                    "wrong": rule.wrong,
                    "silent": rule.error > limit,
                }
                for rule in model.rules.rules
            ],
            "default": model.rules.default,
        },
    }
