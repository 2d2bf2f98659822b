"""Whatever can learn is taken as it is: plans, recipes, names, estimators of ours and of others, functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from evaluation.test_resampling import cases, line
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.ensembles.plan import forest
from treewright.errors import DataError, ParameterError
from treewright.estimators.c45 import C45Classifier, C45RulesClassifier
from treewright.estimators.cart import CARTClassifier, CARTRegressor
from treewright.evaluation.compare import compare
from treewright.evaluation.curves import complexity_curve, learning_curve
from treewright.evaluation.evaluate_model import evaluate_model
from treewright.evaluation.learners import Learn, LearnByEstimator, fit_of, named_learners, plan_of
from treewright.evaluation.resampling import estimate
from treewright.evaluation.splitters import KFold
from treewright.evaluation.tune import tune
from treewright.fitting.algorithms import as_learner
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, ID3
from treewright.learners.registry import algorithm_names
from treewright.plans import c45, cart, id3


def numbers_only(n: int = 60, classes: int = 3) -> Dataset:
    data = cases(n, classes)
    keep = data.schema.attribute_names.index("x")
    columns = (data.schema.attributes[keep], data.schema.target_column)
    from dataclasses import replace

    return replace(data, schema=replace(data.schema, columns=columns), columns=(data.columns[keep],))


@pytest.mark.parametrize(
    "learner", [c45(), "c45", Learn(c45()), C45Classifier(), LearnByEstimator(C45Classifier()), lambda d: fit(d, c45())]
)
def test_every_form_of_c45_gives_the_same_estimate(learner: Any) -> None:
    data = cases(60, 3)
    expected = estimate(data, Learn(c45()), KFold(4))
    found = estimate(data, learner, KFold(4))
    assert np.array_equal(found.predicted, expected.predicted)
    assert [fold.size for fold in found.folds] == [fold.size for fold in expected.folds]


def test_a_recipe_grows_without_pruning() -> None:
    data = cases(60, 3)
    assert estimate(data, C45(), KFold(4)).size == estimate(data, c45(prune=False, collapse=False), KFold(4)).size


@pytest.mark.parametrize("name", algorithm_names())
def test_every_name_learns(name: str) -> None:
    assert estimate(sample("play-tennis"), name, KFold(3)).tested == 14


def test_rpart_by_name_is_that_of_the_estimator() -> None:
    data = cases(90, 3)
    by_name, by_estimator = (estimate(data, one, KFold(3)) for one in ("rpart", CARTClassifier.like_rpart(xval=0)))
    assert np.array_equal(by_name.predicted, by_estimator.predicted)
    assert by_name.size == by_estimator.size
    assert estimate(line(), "rpart", KFold(3)).measure == "rmse"


def test_estimators_of_others_get_a_dataframe() -> None:
    data = numbers_only()
    found = estimate(data, DecisionTreeClassifier(random_state=0), KFold(4))
    ours = estimate(data, cart(), KFold(4))
    assert found.pooled == pytest.approx(ours.pooled, abs=0.1)
    assert found.size is None
    scaled = estimate(data, make_pipeline(StandardScaler(), KNeighborsClassifier(3)), KFold(4))
    assert 0 < scaled.pooled <= 1
    estimate_632 = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=0))
    assert estimate(sample("play-tennis"), estimate_632, KFold(4)).tested == 14
    assert estimate(line(), LinearRegression(), KFold(4)).measure == "rmse"


def test_weights_are_passed_to_the_estimators_that_take_them() -> None:
    data = numbers_only()
    weighted = Dataset(data.schema, data.columns, data.n_rows, data.target, np.linspace(0.5, 2, data.n_rows))
    for learner in (GaussianNB(), CARTClassifier()):
        assert estimate(weighted, learner, KFold(3)).pooled > 0
    with pytest.raises(ParameterError, match="the cases have weights, and KNeighborsClassifier takes none"):
        estimate(weighted, KNeighborsClassifier(), KFold(3))


def test_comparing_a_list_makes_the_names() -> None:
    result = compare(cases(40), ["c45", CARTClassifier(), id3(), ID3(), Learn(cart())], folds=3)
    assert set(result.scores) == {"c45", "CARTClassifier", "ID3", "ID3 (2)", "CART"}

    def mine(part: Dataset) -> Any:
        return fit(part, c45())

    assert list(named_learners([mine, mine, "c45"])) == ["mine", "mine (2)", "c45"]


def test_curves_take_them_too() -> None:
    data = cases(60, 3)
    by_plan = learning_curve(data, c45(), [10, 30], 2)
    assert by_plan == learning_curve(data, C45Classifier(), [10, 30], 2) == learning_curve(data, "c45", [10, 30], 2)
    curve = complexity_curve(data, cart(), folds=3)
    for learner in (CART(), "cart", Learn(cart()), CARTClassifier()):
        assert complexity_curve(data, learner, folds=3) == curve
    assert complexity_curve(line(), CARTRegressor(), folds=3).measure == "squares"


@pytest.mark.parametrize("learner", [lambda part: part, GaussianNB(), 3])
def test_a_complexity_curve_needs_a_plan(learner: Any) -> None:
    with pytest.raises(ParameterError, match="whose pruning can be changed"):
        plan_of(learner, cases(20))


def test_rules_have_no_complexity_curve() -> None:
    for learner in ("rules", C45RulesClassifier()):
        with pytest.raises(ParameterError, match="rules and forests have none"):
            complexity_curve(cases(40), learner)


@pytest.mark.parametrize(
    ("learner", "message"), [(3, "not int"), (None, "not NoneType"), (C45Classifier, "the class C45")]
)
def test_what_cannot_learn_is_refused(learner: Any, message: str) -> None:
    for use in (fit_of, lambda one: estimate(cases(20), one), lambda one: learning_curve(cases(20), one)):
        with pytest.raises(ParameterError, match=message):
            use(learner)


def test_forests_are_learners_too() -> None:
    data = cases(40)
    found = estimate(data, forest(trees=3), KFold(2))
    [first, _] = found.folds
    assert first.size is not None
    assert first.size > 3
    result = compare(data, {"forest": forest(trees=3), "tree": cart()}, folds=2)
    assert result.learner("forest").size_of == "nodes"
    assert tune(data, [forest(trees=2), c45()], inner=2, outer=0).plan.to_dict()
    with pytest.raises(ParameterError, match="rules and forests have none"):
        complexity_curve(data, forest(trees=2))


def test_names_are_checked() -> None:
    with pytest.raises(ParameterError, match="did you mean 'cart'"):
        as_learner("carts")
    with pytest.raises(ParameterError, match="a list such as"):
        named_learners(3)


def test_a_fitted_estimator_can_be_evaluated() -> None:
    data = cases(60, 3)
    ours = C45Classifier().fit(data.X, data.y)
    assert evaluate_model(ours, data).to_dict() == evaluate_model(fit(data, c45()), data).to_dict()
    with pytest.raises(ParameterError, match="this C45Classifier is not fitted"):
        evaluate_model(C45Classifier(), data)
    with pytest.raises(ParameterError, match="a model or a fitted estimator, not the class"):
        evaluate_model(C45Classifier, data)
    with pytest.raises(ParameterError, match="this takes a dataset"):
        evaluate_model(ours, data.to_pandas())


def test_a_fitted_estimator_of_others_can_be_evaluated() -> None:
    data = numbers_only()
    frame = data.X.to_pandas()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(frame, data.y)
    report = evaluate_model(tree, data)
    assert report.to_dict()["accuracy"] == pytest.approx(tree.score(frame, data.y))
    assert report.to_dict()["probabilities"] is not None
    sure = evaluate_model(LinearSVC(random_state=0).fit(frame, data.y), data)
    assert sure.to_dict()["probabilities"] is None
    numbers = line()
    fitted = LinearRegression().fit(numbers.X.to_pandas(), numbers.y)
    assert evaluate_model(fitted, numbers).to_dict()["kind"] == "regression"


def test_an_estimator_that_missed_a_class_gives_it_no_probability() -> None:
    data = numbers_only()
    few = data.take(np.asarray(data.target) < 2)
    model = LearnByEstimator(GaussianNB())(few)
    assert model.predict_proba(data)[:, 2].tolist() == [0.0] * data.n_rows  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="takes a dataset"):
        model.cases([1, 2])


def test_an_estimator_that_predicts_unknown_classes_is_reported() -> None:
    data = numbers_only()
    strange = GaussianNB().fit(data.X.to_pandas(), ["odd"] * 30 + ["even"] * 30)
    with pytest.raises(DataError, match="which is not one of the classes"):
        evaluate_model(strange, data)
