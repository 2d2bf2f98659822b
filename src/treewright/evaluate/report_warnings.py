"""Where the numbers of a report mislead, in sentences.

Vocabulary
----------
misleading accuracy
    High only because one class is frequent: of 10,000 cases with 10 of interest, always saying "no" is right in
    99.9 %, and finds none of the ten.
"""

from __future__ import annotations

import numpy as np

from treewright._base.near_names import quoted_list
from treewright.evaluate.result import FEW_CASES, Floats, percentage

LOPSIDED = 0.9
"""From this share of the most frequent class on, accuracy says little about the others."""


def class_warnings(
    tested: int,
    accuracy: float,
    low: float,
    baseline: float,
    baseline_class: str,
    classes: tuple[str, ...],
    confusion: Floats,
) -> list[str]:
    """Return what has to be said about accuracy and classes.

    Examples
    --------
    >>> told = class_warnings(10_000, 0.999, 0.998, 0.999, "no", ("no", "yes"), np.array([[9990.0, 0], [10, 0]]))
    >>> print(told[0])
    Accuracy misleads here: 99.9 % looks high, but always saying "no" gives 99.9 %; look at the recall of each class.
    """
    support, said = confusion.sum(axis=1), confusion.sum(axis=0)
    sentences = []
    if tested < FEW_CASES:
        cases = "1 case is" if tested == 1 else f"{tested} cases are"
        sentences.append(f"Only {cases} too few to trust any of these numbers (fewer than {FEW_CASES}).")
    always = f'always saying "{baseline_class}" gives {percentage(baseline)}'
    if np.count_nonzero(support) == 1:
        sentences.append(f'All cases are of the class "{baseline_class}": nothing is learned here about any other.')
    elif accuracy <= baseline and accuracy >= LOPSIDED:
        told = f"{percentage(accuracy)} looks high, but {always}"
        sentences.append(f"Accuracy misleads here: {told}; look at the recall of each class.")
    elif accuracy <= baseline:
        sentences.append(f"The accuracy, {percentage(accuracy)}, is not above the baseline: {always}.")
    elif low <= baseline:
        sentences.append(
            f"The accuracy, {percentage(accuracy)}, is above the baseline by no more than chance: {always}."
        )
    elif baseline >= LOPSIDED:
        sentences.append(f"Accuracy says little here: {always}; look at the recall of each class.")
    absent = [name for name, weight in zip(classes, support.tolist(), strict=True) if weight == 0]
    if absent and len(absent) < len(classes) - 1:
        sentences.append(
            f"{_classes(absent)} no cases here; what is said of the others does not hold for {_it(absent)}."
        )
    never = [name for name, true, told in zip(classes, support, said, strict=True) if true > 0 and told == 0]
    if never:
        sentences.append(f"Never predicted: {quoted_list(never)}; every case of {_it(never)} is a mistake.")
    return sentences


def probability_warnings(shares: Floats, log_loss: float | None, *, ordered: bool = True) -> list[str]:
    """Return what has to be said about probabilities; `ordered` says whether there are two classes to tell apart.

    Examples
    --------
    >>> probability_warnings(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1)
    ['All probabilities are 0 or 1: there is no threshold to choose, and the ROC curve has one corner.']
    """
    sentences = []
    if shares.shape[1] > 1:
        if np.all((shares == 0) | (shares == 1)):
            corner = ", and the ROC curve has one corner" if ordered else ""
            sentences.append(f"All probabilities are 0 or 1: there is no threshold to choose{corner}.")
        elif np.all(shares == shares[0]):
            order = ": they order nothing (AUC 0.5)" if ordered else ""
            sentences.append(f"All cases have the same probabilities{order}.")
    if log_loss is None:
        sentences.append("A class came true that had probability 0: the log loss is infinite; smoothing prevents that.")
    return sentences


def _classes(names: list[str]) -> str:
    return f"The class {quoted_list(names)} has" if len(names) == 1 else f"The classes {quoted_list(names)} have"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
