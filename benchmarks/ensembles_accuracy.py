"""Print mean five-fold accuracies of single trees, bagging, forests and boosting on the recorded sets.

The folds are the recorded ones, so the figures stand beside those of the reference programs, which are printed, too:
C4.5 Release 8, scikit-learn's forest, Weka's AdaBoostM1 over J48 and C5.0 with 10-trial boosting. The sets lie outside
this repository (TREEWRIGHT_ORACLE). Names of sets on the command line restrict the run; ``--rows N`` leaves out larger
sets.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright import Dataset, Schema, adaboost, bagging, c45, fit, forest, read

ORACLE = Path(os.environ.get("TREEWRIGHT_ORACLE", Path(__file__).resolve().parents[2] / "shared" / "oracle"))

OURS: dict[str, Any] = {
    "C4.5": c45(),
    "bagging": bagging(trees=100),
    "forest": forest(trees=100),
    "C4.5 forest": forest(c45(prune=False), trees=100),
    "boosted C4.5": adaboost(c45(), trees=10),
    "midway boosted": adaboost(c45(), trees=10, reweighting="midway", votes="shares", coarseness=1.36),
}

# Rule, votes, coarseness and smoothing of the midway one were chosen on scikit-learn's bundled tables and on made ones.
SMOOTHING: dict[str, Any] = {"midway boosted": "laplace"}

THEIRS = {
    "Release 8": "c45_r8_pruned",
    "sklearn forest": "sklearn_random_forest_100",
    "Weka AdaBoostM1": "weka_adaboostm1_j48_10",
    "C5.0 boosted": "c50_boost10",
}

SMALLEST = 100
"""Smaller sets show nothing in five folds."""


def sets(wanted: Iterable[str], most_rows: int) -> Iterable[tuple[str, Path]]:
    """Return the recorded sets of classes."""
    chosen = set(wanted)
    for path in sorted(ORACLE.glob("*/schema.json")):
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain["task"] != "classification" or not SMALLEST <= plain["rows"] <= most_rows:
            continue
        if not chosen or path.parent.name in chosen:
            yield path.parent.name, path.parent


def cases_and_folds(folder: Path) -> tuple[Dataset, npt.NDArray[np.intp]]:
    """Return the cases of a set and the fold of each."""
    schema = Schema.from_dict(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    data = read(folder / "data.csv", schema=schema)
    folds = np.zeros(data.n_rows, dtype=np.intp)
    with (folder / "folds.csv").open(newline="", encoding="utf-8") as handle:
        for line in csv.DictReader(handle):
            folds[int(line["row"])] = int(line["fold"])
    return data, folds


def accuracy(data: Dataset, folds: npt.NDArray[np.intp], plan: Any, smoothing: Any) -> float:
    """Return the mean accuracy over the five folds."""
    target = np.zeros(0) if data.target is None else data.target
    found = []
    for fold in range(5):
        model = fit(data.take(folds != fold), plan, smoothing=smoothing)
        test = folds == fold
        found.append(float(np.mean(model.predict_codes(data.take(test)) == target[test])))
    return float(np.mean(found))


def main() -> None:
    """Run the sets that the command line names, or all."""
    arguments = sys.argv[1:]
    most_rows = 10**9
    if "--rows" in arguments:
        at = arguments.index("--rows")
        most_rows = int(arguments[at + 1])
        del arguments[at : at + 2]
    names = [*OURS, *THEIRS]
    print(f"{'set':<16}{'rows':>7}" + "".join(f"{name:>16}" for name in names) + f"{'seconds':>10}")
    rows = []
    for name, folder in sets(arguments, most_rows):
        data, folds = cases_and_folds(folder)
        recorded = json.loads((folder / "fold_results.json").read_text(encoding="utf-8"))["results"]
        start = time.perf_counter()
        row = [accuracy(data, folds, plan, SMOOTHING.get(key)) for key, plan in OURS.items()]
        seconds = time.perf_counter() - start
        row += [recorded.get(key, {}).get("mean", float("nan")) for key in THEIRS.values()]
        rows.append(row)
        cells = "".join(f"{100 * value:>16.2f}" for value in row)
        print(f"{name:<16}{data.n_rows:>7,}{cells}{seconds:>10.1f}", flush=True)
    means = np.nanmean(np.array(rows), axis=0)
    print(f"{'mean':<16}{len(rows):>7}" + "".join(f"{100 * value:>16.2f}" for value in means))


if __name__ == "__main__":
    main()
