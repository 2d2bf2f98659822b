"""One round of boosting over many cases: misclassified cases, new weights and votes, each in one pass.

Summands are collected in the order of the cases and summed by NumPy, so that sums equal those of
`treewright.ensembles.adaboost` to the last bit; these kernels replace its loops.
"""

from __future__ import annotations

import numpy as np

from treewright.arrays import Classes, Flags, Integer, Outputs, Real, Weights
from treewright.jit import no_alloc_kernel


@no_alloc_kernel
def flag_misclassified(predicted: Classes, target: Classes, weights: Weights, wrong: Flags, kept: Weights) -> Integer:
    """Flag the misclassified cases and collect their weights; return their number."""
    n = np.uint64(0)
    # Invariant: `kept[:n]` holds the weights of the misclassified cases before i.
    for i in range(len(predicted)):
        is_wrong = predicted[i] != target[i]
        wrong[i] = is_wrong
        kept[n] = weights[i]  # always written, kept only where n advances: no branch to mispredict
        n += np.uint64(is_wrong)
    return np.int64(n)


@no_alloc_kernel
def reweight(weights: Weights, wrong: Flags, if_wrong: Real, if_right: Real, new: Weights) -> None:
    """Multiply the weights of misclassified and of correctly classified cases by their factors."""
    for i in range(len(weights)):
        new[i] = weights[i] * (if_wrong if wrong[i] else if_right)


@no_alloc_kernel
def cast_votes(
    predicted: Classes, target: Classes, alpha: Real, votes: Outputs, weights: Weights, kept: Weights
) -> Integer:
    """Add the votes of a tree, and collect the weights of the cases that the votes so far misclassify.

    Returns their number. Ties go to the first class, as in `first_maximum`.
    """
    n = np.uint64(0)
    classes = votes.shape[1]
    for i in range(len(predicted)):
        votes[i, np.uint64(predicted[i])] += alpha
        best = votes[i, 0]
        for k in range(1, classes):
            best = max(best, votes[i, k])
        limit = best - 1e-12 * abs(best)
        first = 0
        for k in range(classes - 1, -1, -1):
            first = k if votes[i, k] >= limit else first
        kept[n] = weights[i]
        n += np.uint64(first != target[i])
    return np.int64(n)
