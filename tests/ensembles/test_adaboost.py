"""AdaBoost by the book: weights, alpha, resets, several classes, and a perfect tree that decides."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np
import pytest

from ensembles.made_cases import three_classes, two_moons, with_missing
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.ensembles import adaboost as module
from treewright.ensembles.adaboost import alpha_of, boost, mean_leaf, midway, updated
from treewright.ensembles.plan import adaboost, bagging
from treewright.ensembles.running import Interrupted
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, Stopping
from treewright.plans import c45, chaid
from treewright.tree.forest import Combining, Forest
from treewright.tree.io.model_file import model_from_json, model_to_json
from treewright.tree.tree import LEAF

DATA = two_moons(120)


def by_the_book(data: Dataset, rounds: int) -> tuple[list[float], list[float], Any]:
    """Boost stumps as the lecture writes it, with weights that sum to one."""
    n = data.n_rows
    w = np.full(n, 1 / n)
    errors, alphas = [], []
    votes = np.zeros((n, len(data.schema.classes)))
    for _ in range(rounds):
        tree = fit(replace(data, weights=w * n), CART(stopping=Stopping(max_depth=1)))
        wrong = tree.predict_codes(data) != data.target
        eps = float(w[wrong].sum())
        alpha = 0.5 * log((1 - eps) / eps)
        w = w * np.where(wrong, exp(alpha), exp(-alpha))
        w /= w.sum()
        errors.append(eps)
        alphas.append(alpha)
        votes[np.arange(n), tree.predict_codes(data)] += alpha
    return errors, alphas, votes.argmax(axis=1)


def test_two_classes_are_boosted_by_the_book() -> None:
    model = boost(DATA, adaboost(trees=8))
    errors, alphas, predicted = by_the_book(DATA, 8)
    assert model.log["error"] == pytest.approx(errors, rel=1e-9)
    assert model.log["alpha"] == pytest.approx(alphas, rel=1e-9)
    assert model.weights.tolist() == list(model.log["alpha"])
    assert model.combining is Combining.VOTES
    assert model.predict_codes(DATA).tolist() == predicted.tolist()
    assert model.log["resets"] == (0.0,) * 8


def test_the_training_error_is_that_of_all_votes_so_far() -> None:
    model = boost(DATA, adaboost(trees=6))
    staged = [float(np.mean(model.codes_of(one) != DATA.target)) for one in model.staged_answers(DATA)]
    assert model.log["training_error"] == pytest.approx(staged)


def test_several_classes_raise_only_what_is_wrong() -> None:
    data = three_classes()
    model = boost(data, adaboost(trees=2))
    eps = model.log["error"][0]
    assert model.log["alpha"][0] == pytest.approx(log((1 - eps) / eps) + log(2))
    wrong = np.array([True, False, False])
    new = updated(np.ones(3), wrong, log(4.0), 3)
    assert new.tolist() == pytest.approx([2.0, 0.5, 0.5])


def test_after_a_round_right_and_wrong_weigh_the_same() -> None:
    wrong = np.arange(10) < 2
    new = updated(np.ones(10), wrong, alpha_of(0.2, 2), 2)
    assert new[wrong].sum() == pytest.approx(new[~wrong].sum()) == pytest.approx(5.0)


def test_a_perfect_tree_ends_boosting_and_decides() -> None:
    model = boost(DATA, adaboost(CART(), trees=10))
    assert model.n_trees == 1
    assert model.log["error"] == (0.0,)
    later = boost(DATA, adaboost(CART(stopping=Stopping(max_depth=6)), trees=200))
    if later.log["error"][-1] == 0:
        assert later.weights[-1] > later.weights[:-1].sum()
        assert np.all(later.predict_codes(DATA) == DATA.target)


def _guessing(rows: int = 16) -> Dataset:
    """An exclusive or of two nominal columns: no stump is better than guessing."""
    a = np.array([0, 0, 1, 1] * (rows // 4), dtype=np.int32)
    b = np.array([0, 1, 0, 1] * (rows // 4), dtype=np.int32)
    two = ("0", "1")
    schema = Schema(
        (Column("a", Kind.NOMINAL, two), Column("b", Kind.NOMINAL, two), Column("y", Kind.NOMINAL, two)), "y"
    )
    return Dataset(schema, (a, b), rows, (a ^ b).astype(np.int32))


def test_a_tree_no_better_than_guessing_resets_the_weights_and_takes_a_bootstrap() -> None:
    one = Column("a", Kind.NOMINAL, ("0",))
    schema = Schema((one, Column("y", Kind.NOMINAL, ("no", "yes"))), "y")
    target = np.array([0] * 10 + [1] * 6, dtype=np.int32)
    uneven = Dataset(schema, (np.zeros(16, dtype=np.int32),), 16, target)  # after one round right and wrong weigh alike
    model = boost(uneven, adaboost(trees=6, max_resets=40))
    assert model.log["resets"][0] == 0
    assert sum(model.log["resets"]) > 0
    assert all(error < 0.5 for error in model.log["error"])
    after = model.log["resets"].index(max(model.log["resets"]))
    wrong = _alone(model, after).predict_codes(uneven) != uneven.target
    assert model.log["error"][after] == pytest.approx(wrong.mean())  # by the weights of the beginning


def _alone(model: Any, index: int) -> Any:
    from treewright.tree.model import TreeModel

    return TreeModel(model.trees[index])


def test_resets_are_bounded() -> None:
    model = boost(_guessing(), adaboost(trees=50, max_resets=0))
    assert model.n_trees == 1
    assert model.log["error"] == (0.5,)
    assert model.weights.tolist() == [1.0]
    again = boost(_guessing(), adaboost(trees=50, max_resets=0), resume=model)
    assert model_to_json(again) == model_to_json(model)
    assert sum(boost(_guessing(), adaboost(trees=50, max_resets=3)).log["resets"]) <= 3


@pytest.mark.parametrize(
    ("plan", "data"),
    [
        (adaboost(trees=9), DATA),
        (adaboost(c45(), trees=5), with_missing(DATA)),
        (adaboost(trees=6), three_classes()),
        (adaboost(trees=6, max_resets=40), _guessing()),
        (adaboost("cart", trees=4), DATA),
        (adaboost(trees=6, learning_rate=0.5, votes="shares"), DATA),
        (adaboost(c45(), trees=6, reweighting="midway"), three_classes()),
        (adaboost(trees=6, max_resets=40, reweighting="midway"), _guessing()),
        (adaboost(c45(), trees=6, coarseness=1.4), with_missing(three_classes())),
    ],
    ids=["stumps", "c45", "three classes", "resets", "perfect", "calm", "midway", "midway with resets", "coarse"],
)
def test_boosting_goes_on_to_the_same_bytes(plan: Any, data: Dataset) -> None:
    whole = fit(data, plan)
    early = model_from_json(model_to_json(fit(data, replace(plan, trees=2))))
    assert isinstance(early, Forest)
    assert model_to_json(fit(data, plan, resume=early)) == model_to_json(whole)


def test_only_boosted_trees_go_on() -> None:
    with pytest.raises(ParameterError, match="was not boosted"):
        fit(DATA, adaboost(), resume=fit(DATA, bagging("cart", trees=2)))


def test_ctrl_c_keeps_the_finished_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = adaboost(trees=6)
    whole = fit(DATA, plan)
    rounds = module._Boosting.round

    def interrupted(self: Any, maker: Any) -> None:
        if len(self.trees) == 3:
            raise KeyboardInterrupt
        rounds(self, maker)

    monkeypatch.setattr(module._Boosting, "round", interrupted)
    with pytest.raises(Interrupted, match="3 of 6") as stopped:
        fit(DATA, plan)
    monkeypatch.undo()
    assert model_to_json(fit(DATA, plan, resume=stopped.value.forest)) == model_to_json(whole)

    def at_once(self: Any, maker: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module._Boosting, "round", at_once)
    with pytest.raises(KeyboardInterrupt) as stop:
        fit(DATA, plan)
    assert not isinstance(stop.value, Interrupted)


def test_a_time_limit_ends_after_a_round_and_progress_is_reported() -> None:
    reported: list[tuple[int, int]] = []
    model = fit(DATA, adaboost(trees=50), time_limit=1e-9, progress=lambda done, total: reported.append((done, total)))
    assert model.n_trees == 1
    assert reported == [(1, 50)]


def test_progress_reports_every_round() -> None:
    reported: list[tuple[int, int]] = []
    fit(DATA, adaboost(trees=7), progress=lambda done, total: reported.append((done, total)))
    assert reported == [(done, 7) for done in range(1, 8)]


def test_many_cases_are_boosted_to_the_same_bytes_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    data = two_moons(400, noise=0.2)
    plain = fit(data, adaboost(trees=12))
    monkeypatch.setattr(module, "MANY_CASES", 10)
    monkeypatch.setattr("treewright.learners.kernels.grower.BLOCK", 20)  # as if they were many for the grower, too
    monkeypatch.setattr("treewright.learners.kernels.histogram_growth.BLOCK", 20)
    assert model_to_json(fit(data, adaboost(trees=12))) == model_to_json(plain)


def test_case_weights_are_where_boosting_begins() -> None:
    doubled = DATA.take(np.repeat(np.arange(120), 2))
    weighted = replace(DATA, weights=np.full(120, 2.0))
    one, other = boost(weighted, adaboost(trees=4)), boost(doubled, adaboost(trees=4))
    assert one.log["error"] == pytest.approx(other.log["error"])
    assert [str(tree) for tree in one.trees] == [str(tree) for tree in other.trees]


def test_a_calm_rate_changes_weights_less() -> None:
    hasty, calm = (boost(DATA, adaboost(trees=2, learning_rate=rate)) for rate in (1.0, 0.2))
    assert hasty.log["error"][0] == calm.log["error"][0]
    assert calm.log["error"][1] < 0.5
    assert calm.log["error"][1] != hasty.log["error"][1]


def test_the_midway_rule_gives_mistakes_half_of_what_they_lack() -> None:
    weights, wrong = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, False])
    new = midway(weights, wrong)
    assert new.sum() == pytest.approx(10.0)
    assert new[wrong].sum() == pytest.approx((3 + 5) / 2)  # midway between what they had and half of all
    assert (new - weights)[wrong].tolist() == pytest.approx([0.5, 0.5])  # each the same
    assert (new / weights)[~wrong].tolist() == pytest.approx([6 / 7, 6 / 7])  # in proportion


def test_by_the_midway_rule_all_trees_vote_alike() -> None:
    data = three_classes()
    model = boost(data, adaboost(trees=8, reweighting="midway"))
    assert model.weights.tolist() == [1.0] * model.n_trees
    weights = np.ones(data.n_rows)
    for tree, error in zip(model.trees, model.log["error"], strict=True):
        wrong = fit_codes(tree, data) != data.target
        assert error == pytest.approx(weights[wrong].sum() / weights.sum())
        assert error < 0.5  # SAMME would take up to two thirds
        weights = midway(weights, wrong)


def fit_codes(tree: Any, data: Dataset) -> Any:
    from treewright.tree.model import TreeModel

    return TreeModel(tree).predict_codes(data)


def test_by_the_midway_rule_a_perfect_tree_ends_boosting_and_does_not_decide_alone() -> None:
    model = boost(DATA, adaboost(CART(stopping=Stopping(max_depth=6)), trees=200, reweighting="midway"))
    assert model.log["error"][-1] == 0
    assert model.n_trees > 1
    assert model.weights.tolist() == [1.0] * model.n_trees


def test_by_the_midway_rule_a_later_tree_without_a_test_guesses() -> None:
    data = two_moons(120, noise=0.3)
    plan = adaboost(c45(), trees=6, coarseness=50.0)  # heavier than all cases: later trees have no test
    by_the_rule = boost(data, replace(plan, reweighting="midway"))
    assert by_the_rule.n_trees == 1
    assert boost(data, plan).trees[1].n_leaves == 1  # as published, it votes by its alpha


def test_cases_without_weight_get_none_by_the_midway_rule() -> None:
    with_nothing = replace(DATA, weights=(np.arange(120) % 2).astype(np.float64))
    half = DATA.take(np.arange(120) % 2 == 1)
    plan = adaboost(trees=4, reweighting="midway")
    one, other = boost(with_nothing, plan), boost(half, plan)
    assert one.log["error"] == pytest.approx(other.log["error"])


@pytest.mark.parametrize("rule", ["factor", "midway"])
def test_later_trees_split_no_node_lighter_than_so_many_mean_leaves_of_the_first(rule: str) -> None:
    data = two_moons(400, noise=0.2)
    trees = c45(prune=False)
    free, coarse = (boost(data, adaboost(trees, trees=5, reweighting=rule, coarseness=many)) for many in (0.0, 1.5))
    assert str(free.trees[0]) == str(coarse.trees[0])  # the first has no limit
    least = 1.5 * mean_leaf(coarse.trees[0])
    split_weights = [tree.weight[tree.attribute != LEAF].min() for tree in coarse.trees[1:] if tree.n_leaves > 1]
    assert len(split_weights) > 1
    assert min(split_weights) >= least - 1e-9
    assert min(tree.weight[tree.attribute != LEAF].min() for tree in free.trees[1:]) < least
    assert sum(tree.n_leaves for tree in coarse.trees) < sum(tree.n_leaves for tree in free.trees)


def test_the_mean_leaf_leaves_out_empty_ones() -> None:
    colours = Column("colour", Kind.NOMINAL, ("red", "green", "blue"))
    schema = Schema((colours, Column("y", Kind.NOMINAL, ("no", "yes"))), "y")
    codes = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    tree = fit(Dataset(schema, (codes,), 6, codes), c45(prune=False)).tree
    assert tree.n_leaves == 3
    assert mean_leaf(tree) == 3.0


def test_a_limit_below_that_of_the_plan_changes_nothing() -> None:
    from treewright.ensembles.growing import TreeMaker

    maker = TreeMaker(DATA, c45())
    assert str(maker.with_min_weight(1.0).make(None)) == str(maker.make(None))
    assert maker.with_min_weight(1000.0).make(None).n_leaves == 1
    with pytest.raises(ParameterError, match="has no least weight"):
        TreeMaker(DATA, chaid()).with_min_weight(1.0)


def test_votes_can_be_fractional_in_the_leaves() -> None:
    model = boost(DATA, adaboost(trees=5, votes="shares"))
    assert model.combining is Combining.MEAN
    single = (
        sum(weight * fit_proba for weight, fit_proba in zip(model.weights, _probabilities(model), strict=True))
        / model.weights.sum()
    )
    assert np.allclose(model.predict_proba(DATA), single)


def _probabilities(model: Any) -> list[Any]:
    from treewright.tree.model import TreeModel

    return [TreeModel(tree).predict_proba(DATA) for tree in model.trees]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"learning_rate": 0}, "learning_rate"),
        ({"votes": "loud"}, "votes must be"),
        ({"reweighting": "half"}, "reweighting must be"),
        ({"reweighting": "midway", "learning_rate": 0.5}, "has its own pace"),
        ({"coarseness": -1}, "coarseness must be"),
        ({"coarseness": float("nan")}, "coarseness must be"),
        ({"coarseness": True}, "coarseness must be"),
        ({"tree": "chaid", "coarseness": 1.4}, "CHAID knows no coarseness"),
    ],
)
def test_what_cannot_be_is_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        adaboost(**how)


def test_boosting_lowers_the_error_of_stumps() -> None:
    train, test = three_classes(300), three_classes(300, seed=5)
    one, many = boost(train, adaboost(trees=1)), boost(train, adaboost(trees=60))
    wrong = [float(np.mean(model.predict_codes(test) != test.target)) for model in (one, many)]
    assert wrong[1] < wrong[0] - 0.05
