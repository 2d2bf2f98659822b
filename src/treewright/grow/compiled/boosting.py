"""One round of boosting over many cases: mistakes, new weights and votes, each in one pass.

What is added up is put together in the order of the cases and summed by NumPy, so that the sums are to the last bit
those of `treewright.ensemble.weighing`, which these kernels stand in for.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, no_alloc_kernel


@no_alloc_kernel
def note_mistakes(said: Array, target: Array, weights: Array, wrong: Array, kept: Array) -> Number:
    """Say which cases are wrong, and put their weights together; return how many there are."""
    n = np.uint64(0)
    for i in range(len(said)):
        mistaken = said[i] != target[i]
        wrong[i] = mistaken
        kept[n] = weights[i]  # written always, and one step on where it counts: no branch to be mispredicted
        n += np.uint64(mistaken)
    return np.int64(n)


@no_alloc_kernel
def weigh_anew(weights: Array, wrong: Array, if_wrong: Number, if_right: Number, new: Array) -> None:
    """Multiply the weights of wrong and right cases by a factor for each."""
    for i in range(len(weights)):
        new[i] = weights[i] * (if_wrong if wrong[i] else if_right)


@no_alloc_kernel
def cast_votes(said: Array, target: Array, alpha: Number, votes: Array, weights: Array, kept: Array) -> Number:
    """Add the votes of a tree, and put the weights of cases together that all votes so far get wrong.

    Returns how many these are. The first class of nearly the most votes is said, as `first_maximum` does.
    """
    n = np.uint64(0)
    classes = votes.shape[1]
    for i in range(len(said)):
        votes[i, np.uint64(said[i])] += alpha
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
