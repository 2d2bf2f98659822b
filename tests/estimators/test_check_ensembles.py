"""The estimators of many trees are real scikit-learn estimators: its own checks pass.

Bootstraps draw cases, not weights, so a case of weight two is not drawn as two cases are. scikit-learn grants its own
forests and bagging the same exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from treewright.estimators.bagging import BaggedTreesClassifier, BaggedTreesRegressor
from treewright.estimators.boosting import AdaBoostClassifier
from treewright.estimators.forests import ForestEmbedding, RandomForestClassifier, RandomForestRegressor

BOOTSTRAPS = (BaggedTreesClassifier, BaggedTreesRegressor, RandomForestClassifier, RandomForestRegressor)


def granted(estimator: Any) -> dict[str, str]:
    if not isinstance(estimator, BOOTSTRAPS):
        return {}
    reason = "a bootstrap draws cases, not weights"
    return dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), reason
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        BaggedTreesClassifier(5),
        BaggedTreesRegressor(5),
        RandomForestRegressor(5),
        AdaBoostClassifier(5),
        ForestEmbedding(n_estimators=5),
    ],
    expected_failed_checks=granted,
)
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [RandomForestClassifier(5)], expected_failed_checks=granted
)
def test_scikit_learns_checks_pass_for_a_forest_of_classes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
