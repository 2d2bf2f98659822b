"""Numbers put into bins before growing, where the user asks for it: only the borders of bins are tried as cuts.

A number becomes the highest number of its bin. The bins of a column have about as many cases each; a column of no more
different numbers than bins stays as it is. Cuts are put at the highest number of a bin, so the tree sends the numbers
themselves as it sends those that stand for them: whoever grows it, it is grown and read without knowing of bins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.grow.learner import TreeLearner

Floats = npt.NDArray[np.float64]


def in_bins(dataset: Dataset, learner: TreeLearner) -> Dataset:
    """Return the cases with their numbers in bins, if the learner asks for that; otherwise the dataset itself.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import CART
    >>> restaurant = sample("restaurant")
    >>> in_bins(restaurant, CART()) is restaurant
    True
    """
    bins = learner.numeric_bins
    if bins is None:
        return dataset
    columns = tuple(
        bin_tops(column.astype(np.float64, copy=False), bins) if attribute.is_numeric else column
        for attribute, column in zip(dataset.schema.attributes, dataset.columns, strict=True)
    )
    return replace(dataset, columns=columns)


def bin_tops(column: Floats, bins: int) -> Floats:
    """Return for each number the highest one of its bin; missing ones stay missing.

    Examples
    --------
    >>> bin_tops(np.array([1.0, 2.0, 3.0, np.nan, 4.0, 5.0, 6.0]), 3).tolist()
    [2.0, 2.0, 4.0, nan, 4.0, 6.0, 6.0]
    """
    known = np.sort(column[~np.isnan(column)] + 0.0)
    if len(known) == 0:
        return column
    if np.count_nonzero(known[1:] != known[:-1]) < bins:
        return column
    tops = np.unique(known[np.arange(1, bins + 1) * len(known) // bins - 1])
    return np.where(np.isnan(column), np.nan, tops[np.minimum(np.searchsorted(tops, column), len(tops) - 1)])
