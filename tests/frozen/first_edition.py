"""Models as version 0.1 wrote them, one of each kind, with what they predict: they load and predict the same for good.

The files were written once, by ``python -m frozen.first_edition`` on version 0.1; they are never written again.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import treewright as tw
from frozen.canonical import plain
from frozen.learners import MAIN, NUMBERS
from frozen.made import made_tables

FOLDER = Path(__file__).resolve().parent / "first_edition"

KINDS = {f"class-{name}": ("mixed", make) for name, make in MAIN.items()} | {
    f"number-{name}": ("mixed-number", make) for name, make in NUMBERS.items() if name != "c45"
}
"""The table and the learner of each model."""


def predictions(model: Any, table: tw.Dataset) -> dict[str, Any]:
    """Return what a model predicts for a table, as plain data."""
    found = {"predict": model.predict(table)}
    if not table.schema.target_column.is_numeric and hasattr(model, "predict_proba"):
        found["proba"] = model.predict_proba(table)
    rounded: dict[str, Any] = plain(found)
    return rounded


def main() -> None:
    """Write the models and what they predict, where they are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    tables = made_tables()
    for name, (of, make) in KINDS.items():
        path = FOLDER / f"{name}.model.json"
        if path.exists():
            sys.stdout.write(f"kept: {path.name}\n")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tw.DataWarning)
            model: Any = tw.fit(tables[of], make())
        model.save(path)
        expected = json.dumps(predictions(model, tables[of]))
        (FOLDER / f"{name}.predictions.json").write_text(expected + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
