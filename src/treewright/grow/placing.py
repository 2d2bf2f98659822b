"""Where cuts are put when a tree has been grown outside memory.

C4.5 puts a cut at the largest number in all data that is not above the middle between two neighbours. Which cases go
where does not depend on it, so the tree is grown with middles, and all cuts are placed at the end by one pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from treewright.counts.engine import DistantEngine
from treewright.grow.learner import Grown
from treewright.grow.recipe import Cuts, Placement, Recipe
from treewright.model.build import build_tree, records_of
from treewright.model.split import KNOWN, Split


def by_middles(recipe: Recipe) -> Recipe:
    """Return a recipe that puts cuts in the middle between two neighbours."""
    if isinstance(recipe.numeric, Cuts):
        return replace(recipe, numeric=replace(recipe.numeric, placement=Placement.MIDPOINT))
    return recipe


def place_cuts(grown: Grown, recipe: Recipe, engine: DistantEngine) -> Grown:
    """Move every cut to the largest number in the data that is not above it, if the recipe wants cuts there."""
    asked = cuts_to_place(grown, recipe)
    if not asked:
        return grown
    answers = engine.largest_values_not_above(asked)
    placed = {
        (attribute, middle): value
        for attribute, some in asked.items()
        for middle, value in zip(some, answers[attribute], strict=True)
    }
    records = records_of(grown.tree)
    for record in records:
        record.split = _placed(record.split, placed)
    working = {
        node: tuple(replace(one, split=_placed(one.split, placed)) for one in entries)
        for node, entries in grown.working.items()
    }
    return Grown(build_tree(grown.tree.schema, records)[0], working)


def cuts_to_place(grown: Grown, recipe: Recipe) -> dict[int, list[float]]:
    """Return the cuts of a tree, by attribute, that `place_cuts` moves."""
    if not isinstance(recipe.numeric, Cuts) or recipe.numeric.placement is not Placement.DATA_VALUE:
        return {}
    cuts: dict[int, set[float]] = {}
    examined = [one.split for entries in grown.working.values() for one in entries]
    for split in (*(record.split for record in records_of(grown.tree)), *examined):
        if split is not None and split.cut is not None and split.cut != KNOWN:
            cuts.setdefault(split.attribute, set()).add(split.cut)
    return {attribute: sorted(some) for attribute, some in cuts.items()}


def _placed(split: Split | None, placed: Mapping[tuple[int, float], float]) -> Split | None:
    if split is None or split.cut is None or (split.attribute, split.cut) not in placed:
        return split
    return replace(split, cut=placed[split.attribute, split.cut])
