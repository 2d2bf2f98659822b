"""C45RulesClassifier: rules from data, saved and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import treewright
from oracle_sets import load_json, load_set, set_names


@pytest.mark.oracle
@pytest.mark.parametrize("name", set_names(task="classification", having="c45rules.json"))
def test_the_estimator_finds_the_rules_of_the_original(name: str) -> None:
    data = load_set(name)
    clf = treewright.C45RulesClassifier(dialect="r8", schema=data.schema).fit(data.X, data.y)
    recorded = load_json(name, "c45rules.json")
    found = clf.rules_.to_dict()
    assert len(found["rules"]) == len(recorded["rules"])
    for mine, its in zip(clf.rules_.rules, recorded["rules"], strict=True):
        assert data.schema.classes[mine.outcome] == its["class"]
        assert len(mine.conditions) == len(its["conditions"])
        assert (mine.covers, mine.used, mine.wrong) == (its["covers"], its["used"], its["wrong"])
        assert mine.error == pytest.approx(its["error_estimate"], abs=1e-5)
    assert data.schema.classes[clf.rules_.default] == recorded["default_class"]
    assert int(np.sum(clf.predict(data.X) != data.y)) == recorded["train_errors"]


@pytest.mark.parametrize("dialect", ["c45", "r8", "j48"])
@pytest.mark.parametrize("validation", [None, 0.3])
def test_rules_predict_save_and_load(dialect: str, validation: float | None, tmp_path: Path) -> None:
    data = treewright.read("sample:contact-lenses")
    clf = treewright.C45RulesClassifier(dialect=dialect, validation=validation).fit(data.X, data.y)
    assert np.mean(clf.predict(data.X) == data.y) >= 15 / 24
    assert "DEFAULT" in str(clf.rules_)
    clf.save(tmp_path / "rules.json")
    loaded = treewright.load(tmp_path / "rules.json")
    assert isinstance(loaded, treewright.RuleModel)
    assert loaded.predict(data.X).tolist() == clf.predict(data.X).tolist()
    assert str(loaded) == str(clf.rules_)


def test_the_seeded_search_gives_the_same_rules_again() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(300, 6)).astype(str)
    y = np.where((X[:, 0] == "1") | ((X[:, 1] == "2") & (X[:, 2] == "0")), "in", "out")
    y[:20] = "out"
    one = treewright.C45RulesClassifier(random_state=5).fit(X, y)
    two = clone(one).fit(X, y)
    assert str(one.rules_) == str(two.rules_)


def test_rules_work_in_cross_validation_and_refuse_numbers() -> None:
    data = treewright.read("sample:contact-lenses")
    assert cross_val_score(treewright.C45RulesClassifier(), data.X, data.y, cv=3).mean() > 0.5
    with pytest.raises(ValueError, match="continuous"):
        treewright.C45RulesClassifier().fit([[1.0], [2.0]], [0.5, 1.25])


@pytest.mark.slow
def test_scikit_learn_accepts_the_estimator() -> None:
    check_estimator(treewright.C45RulesClassifier(), on_skip=None)
