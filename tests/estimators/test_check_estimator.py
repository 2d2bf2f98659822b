"""The estimators are real scikit-learn estimators: its own checks pass, without exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from treewright.estimators.c45 import C45Classifier, ID3Classifier
from treewright.estimators.cart import CARTClassifier, CARTRegressor


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [ID3Classifier(), C45Classifier(), CARTClassifier(), CARTRegressor()]
)
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
