"""Text about a forest: its size, the importance of attributes, the error against the number of trees."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from treewright.cli.output import is_terminal, many

if TYPE_CHECKING:
    from treewright.model.forest import Forest

FIRST_ROUNDS = 10
"""Rounds of boosting that are printed from the beginning."""


def forest_text(forest: Forest) -> str:
    """Return what there is to see of a forest, as text."""
    from treewright.show.plot_forest import errors_text, importance_text
    from treewright.show.text_plot import can_draw_braille

    width = min(shutil.get_terminal_size((72, 24)).columns if is_terminal(sys.stdout) else 72, 100)
    fine = can_draw_braille(getattr(sys.stdout, "encoding", None))
    parts = [size_of_forest(forest)]
    if "alpha" in forest.log:
        parts.append(rounds_text(forest))
    if forest.schema.attributes:
        parts.append(
            "importance (share of the decrease of impurity)\n" + importance_text(forest, width=width, blocks=fine)
        )
    drawn = errors_text(forest, width=width, braille=fine) if forest.n_trees > 1 else ""
    return "\n\n".join([*parts, *([drawn] if drawn else [])])


def size_of_forest(forest: Forest) -> str:
    """Say how many trees there are, and how large they are."""
    wanted = forest.recipe.get("trees")
    of = f" of {wanted:,}" if isinstance(wanted, int) and wanted != forest.n_trees else ""
    leaves = int(forest.grove.leaf_starts[-1])
    return (
        f"{many(forest.n_trees, 'tree')}{of}, {many(forest.grove.n_nodes, 'node')}, {many(leaves, 'leaf', 'leaves')}."
    )


def rounds_text(forest: Forest) -> str:
    """Return the rounds of boosting, of many the first and the last."""
    lines = ["round     error     alpha  resets"]
    numbers = list(range(forest.n_trees))
    shown = numbers if len(numbers) <= FIRST_ROUNDS + 2 else [*numbers[:FIRST_ROUNDS], numbers[-1]]
    for number in shown:
        if number == numbers[-1] and len(shown) < len(numbers):
            lines.append("  ...")
        error, alpha, resets = (forest.log[name][number] for name in ("error", "alpha", "resets"))
        lines.append(f"{number + 1:>5}  {error:>8.4f}  {alpha:>8.4f}  {int(resets):>6}")
    return "\n".join(lines)


def forest_facts(forest: Forest) -> dict[str, Any]:
    """Return the same as plain data."""
    from treewright.explain.importance import forest_importance

    shares = forest_importance(forest, str(forest.recipe.get("criterion"))).tolist()
    return {
        "trees": forest.n_trees,
        "wanted": forest.recipe.get("trees"),
        "nodes": forest.grove.n_nodes,
        "leaves": int(forest.grove.leaf_starts[-1]),
        "importance": dict(zip((column.name for column in forest.schema.attributes), shares, strict=True)),
        "log": {name: list(numbers) for name, numbers in forest.log.items()},
    }


def save_forest_plot(forest: Forest, path: str) -> None:
    """Draw the error against the number of trees into a file."""
    from treewright.show.figure import save_figure
    from treewright.show.plot_forest import plot_errors

    save_figure(plot_errors(forest), path)
