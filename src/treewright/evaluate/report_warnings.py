"""Warnings of a report: where its numbers mislead.

Accuracy is misleading when it is high only because one class is frequent: with 10 positives in 10,000 cases, always
predicting "no" is right for 99.9 % and finds none of the ten.
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
    >>> print(told[0].partition("; ")[0])
    Accuracy is misleading here: 99.9 % looks high, but always predicting "no" gives 99.9 %
    """
    support, said = confusion.sum(axis=1), confusion.sum(axis=0)
    sentences = []
    if tested < FEW_CASES:
        cases = "1 case" if tested == 1 else f"{tested} cases"
        sentences.append(f"Only {cases}: fewer than {FEW_CASES} are too few for reliable numbers.")
    always = f'always predicting "{baseline_class}" gives {percentage(baseline)}'
    if np.count_nonzero(support) == 1:
        sentences.append(
            f'All cases are of the class "{baseline_class}": these numbers tell nothing about the other classes.'
        )
    elif accuracy <= baseline and accuracy >= LOPSIDED:
        told = f"{percentage(accuracy)} looks high, but {always}"
        sentences.append(f"Accuracy is misleading here: {told}; look at the recall of each class.")
    elif accuracy <= baseline:
        sentences.append(f"The accuracy, {percentage(accuracy)}, is not above the baseline: {always}.")
    elif low <= baseline:
        sentences.append(f"The accuracy, {percentage(accuracy)}, is not significantly above the baseline: {always}.")
    elif baseline >= LOPSIDED:
        sentences.append(f"Accuracy tells little here: {always}; look at the recall of each class.")
    absent = [name for name, weight in zip(classes, support.tolist(), strict=True) if weight == 0]
    if absent and len(absent) < len(classes) - 1:
        sentences.append(f"{_classes(absent)} no cases here; these numbers tell nothing about {_it(absent)}.")
    never = [name for name, true, told in zip(classes, support, said, strict=True) if true > 0 and told == 0]
    if never:
        sentences.append(f"Never predicted: {quoted_list(never)}; every case of {_it(never)} is misclassified.")
    return sentences


def probability_warnings(shares: Floats, log_loss: float | None, *, ordered: bool = True) -> list[str]:
    """Return what has to be said about probabilities; `ordered` says whether there are two classes to tell apart.

    Examples
    --------
    >>> probability_warnings(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1)
    ['All probabilities are 0 or 1: no threshold can be chosen, and the ROC curve has one corner.']
    """
    sentences = []
    if shares.shape[1] > 1:
        if np.all((shares == 0) | (shares == 1)):
            corner = ", and the ROC curve has one corner" if ordered else ""
            sentences.append(f"All probabilities are 0 or 1: no threshold can be chosen{corner}.")
        elif np.all(shares == shares[0]):
            order = ": they do not rank the cases (AUC 0.5)" if ordered else ""
            sentences.append(f"All cases have the same probabilities{order}.")
    if log_loss is None:
        sentences.append(
            "Some true classes were given probability 0, so log loss is infinite; try smoothing (--smoothing laplace)."
        )
    return sentences


def _classes(names: list[str]) -> str:
    return f"The class {quoted_list(names)} has" if len(names) == 1 else f"The classes {quoted_list(names)} have"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
