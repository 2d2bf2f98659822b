"""treewright train for ensembles: grow with a progress bar, keep the finished trees on Ctrl-C, and print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.output import (
    ProgressBar,
    data_line,
    estimate_line,
    forest_facts,
    forest_text,
    note,
    percent,
    say,
    say_json,
)

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.ensembles.plan import EnsemblePlan
    from treewright.evaluation.cross_validation import AccuracyEstimate, ErrorEstimate
    from treewright.tree.forest import Forest
    from treewright.tree.model import Smoothing


@dataclass(frozen=True)
class Growing:
    """The circumstances of growing many trees.

    Parameters
    ----------
    jobs : int or None
        Threads.
    time_limit : float or None
        Seconds after which no further tree is begun.
    resume : str or None
        A model file to go on with.
    """

    jobs: int | None = None
    time_limit: float | None = None
    resume: str | None = None

    def refuse_outside_memory(self) -> None:
        """Raise if any of it was given for a table that stays where it is."""
        for name, value in (("time-limit", self.time_limit), ("resume", self.resume)):
            if value is not None:
                raise click.UsageError(
                    f"--{name} is for ensembles in memory: out of core, their trees grow together, level by level"
                )

    def refuse_for_one_tree(self) -> None:
        """Raise if any of it was given for an algorithm that learns one tree."""
        for name, value in (("time-limit", self.time_limit), ("resume", self.resume)):
            if value is not None:
                raise click.UsageError(f"--{name} is for forest, bagging and adaboost")


def grow_and_tell(
    data: Dataset,
    plan: EnsemblePlan,
    growing: Growing,
    *,
    path: str | None,
    folds: int | None,
    seed: int,
    smoothing: Smoothing,
    costs: tuple[tuple[float, ...], ...] | None,
    as_json: bool,
) -> None:
    """Grow, estimate, save and print."""
    from treewright.ensembles.running import Interrupted
    from treewright.fitting.learn import fit

    before = _opened(growing.resume)
    if not as_json:
        say(f"{data_line(data)}\n{plan.name}   {plan.describe()}\n")
    try:
        with ProgressBar("growing") as bar:
            model = fit(
                data,
                plan,
                smoothing=smoothing,
                costs=costs,
                progress=bar,
                n_jobs=growing.jobs,
                time_limit=growing.time_limit,
                resume=before,
            )
    except Interrupted as stop:
        if path is not None:
            stop.forest.save(path)
            note(f"{stop}: in {path}; continue with --resume {path}")
        raise KeyboardInterrupt from stop
    estimate, way, model = _judged(data, plan, model, folds, seed)
    if path is not None:
        model.save(path)
    if model.n_trees < plan.trees and "alpha" not in model.log:
        note(f"note: the time limit was reached after {model.n_trees} of {plan.trees} trees")
    if as_json:
        say_json(_as_json(data, model, estimate, path))
        return
    say(f"{forest_text(model)}\n\n{_training_line(data, model)}")
    if estimate is not None:
        say(estimate_line(estimate, folds or 10, way))
    if path is not None:
        say(f"Model written to {path}")


def _opened(path: str | None) -> Forest | None:
    from treewright.cli.options import open_model
    from treewright.errors import DataError
    from treewright.tree.forest import Forest

    if path is None:
        return None
    model = open_model(path)
    if not isinstance(model, Forest):
        raise DataError("does not hold an ensemble, which --resume needs", source=path)
    return model


def _judged(
    data: Dataset, plan: EnsemblePlan, model: Forest, folds: int | None, seed: int
) -> tuple[AccuracyEstimate | ErrorEstimate | None, str | None, Forest]:
    """Estimate out of bag where there are bags, by folds where they are asked for or there are none."""
    from treewright.ensembles.out_of_bag import out_of_bag
    from treewright.ensembles.plan import ForestPlan
    from treewright.ensembles.random_forest import with_log
    from treewright.errors import ParameterError

    estimate, way = None, None
    if isinstance(plan, ForestPlan):
        try:
            found = out_of_bag(model, data, plan)
        except ParameterError as error:
            note(f"note: {error}")
        else:
            model = with_log(model, oob_error=found.errors)
            estimate, way = _out_of_bag_estimate(data, model, found), "Out-of-bag estimate"
    chosen = 10 if folds is None and not isinstance(plan, ForestPlan) else folds
    if not chosen or data.n_rows < 4:
        return (None if folds == 0 else estimate), way, model
    return _by_folds(data, plan, min(chosen, data.n_rows), seed), None, model


def _out_of_bag_estimate(data: Dataset, model: Forest, found: Any) -> AccuracyEstimate | ErrorEstimate:
    import numpy as np

    from treewright.evaluation.cross_validation import accuracy_estimate, error_estimate

    judged = np.flatnonzero(found.judges > 0)
    cases = data.take(judged)
    truth = np.zeros(0) if cases.target is None else cases.target
    weights = np.ones(len(judged)) if cases.weights is None else cases.weights
    if model.is_regression:
        return error_estimate(0, truth, found.answers[judged, 0], weights)
    return accuracy_estimate(cases, 0, truth, model.codes_of(found.answers[judged]), weights)


def _by_folds(data: Dataset, plan: EnsemblePlan, folds: int, seed: int) -> AccuracyEstimate | ErrorEstimate:
    from treewright.evaluation.cross_validation import cross_validate
    from treewright.fitting.learn import fit

    with ProgressBar("cross-validating") as bar:
        return cross_validate(data, lambda part: fit(part, plan), folds, seed=seed, progress=bar)


def _training_line(data: Dataset, model: Forest) -> str:
    score = _training(data, model)
    if model.is_regression:
        return f"Training root mean squared error {score:.4g}."
    return f"Training accuracy {percent(score)}."


def _training(data: Dataset, model: Forest) -> float:
    import numpy as np

    target = np.zeros(0) if data.target is None else data.target
    if model.is_regression:
        return float(np.average((model.predict(data) - target) ** 2, weights=data.weights) ** 0.5)
    return float(np.average(model.predict_codes(data) == target, weights=data.weights))


def _as_json(
    data: Dataset, model: Forest, estimate: AccuracyEstimate | ErrorEstimate | None, path: str | None
) -> dict[str, Any]:
    measure = "training_rmse" if model.is_regression else "training_accuracy"
    return {
        "source": data.source,
        "rows": data.n_rows,
        "target": data.schema.target,
        "recipe": dict(model.recipe),
        **forest_facts(model),
        measure: _training(data, model),
        "estimate": None if estimate is None else estimate.to_dict(),
        "model": path,
    }
