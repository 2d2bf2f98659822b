"""A criterion of the user's: the same tree from both engines, errors that name it, and a model that runs nothing."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright
from learners import own_criteria
from learners.own_criteria import gain_by_hand, hellinger
from made_tables import filled, made_table
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.errors import ModelFormatError, ParameterError
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.html_report.make import plan_of
from treewright.learners.criteria import OwnCriterion, own_criterion
from treewright.learners.recipe import C45, CART, ID3, Choice, Cuts, MissingPolicy, Recipe, Stopping, recipe_from_dict
from treewright.plans import c45, cart, id3
from treewright.tree.io.model_file import model_to_json
from treewright.tree.io.tree_json import evaluated_split_to_plain, trace_from_plain

FUNCTIONS = (hellinger, gain_by_hand, own_criteria.without_a_number_at_times, own_criteria.always_none)

weather = sample("play-tennis")

needs_compiler = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="kernels run as plain Python")


def _recipes(function: object) -> list[Recipe]:
    assert callable(function)
    return [
        ID3(criterion=function),
        C45(criterion=function),
        CART(criterion=function),
        CART(criterion=function, missing=MissingPolicy.MAJORITY, stopping=Stopping(max_leaves=4, min_leaf=2)),
        CART(criterion=function, missing=MissingPolicy.FRACTIONAL),
    ]


def _whole(table: Dataset) -> Dataset:
    return replace(table, columns=filled(table.columns), weights=None)


# -- the same tree from both engines -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), which=st.integers(0, len(FUNCTIONS) - 1))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_both_engines_save_the_same_bytes_where_counts_are_whole(seed: int, which: int) -> None:
    table = _whole(made_table(seed, rows=80))
    for recipe in _recipes(FUNCTIONS[which]):
        interpreted, compiled = (fit(table, recipe, engine=engine) for engine in ("interpreted", "compiled"))
        assert model_to_json(interpreted) == model_to_json(compiled)


@pytest.mark.full
@given(seed=st.integers(0, 10**6), which=st.integers(0, len(FUNCTIONS) - 1))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_both_engines_grow_the_same_structure_with_weights_and_missing_values(seed: int, which: int) -> None:
    table = made_table(seed, rows=80)
    for recipe in _recipes(FUNCTIONS[which]):
        interpreted, compiled = (fit(table, recipe, engine=engine).tree for engine in ("interpreted", "compiled"))
        assert interpreted.attribute.tolist() == compiled.attribute.tolist()
        assert interpreted.cut.tolist() == pytest.approx(compiled.cut.tolist(), rel=1e-12, nan_ok=True)
        assert np.allclose(interpreted.counts, compiled.counts, rtol=1e-9)


def test_a_criterion_written_by_hand_grows_the_tree_of_the_named_one() -> None:
    for name in ("play-tennis", "contact-lenses"):
        ours, theirs = fit(sample(name), ID3(criterion=gain_by_hand)), fit(sample(name), ID3())
        assert ours.tree.to_dict() == theirs.tree.to_dict()


@needs_compiler
def test_a_table_large_enough_for_kernels_is_scanned_by_the_compiled_function() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=6000) > 1.8, "rare", "usual")
    trees = [
        treewright.CARTClassifier(criterion=hellinger, max_depth=3, engine=engine).fit(X, y).tree_.to_dict()
        for engine in ("interpreted", "compiled")
    ]
    assert trees[0] == trees[1]


def test_no_score_above_zero_means_a_leaf() -> None:
    for engine in ("interpreted", "compiled"):
        model = fit(weather, cart(criterion=own_criteria.always_none), engine=engine)
        assert model.tree.n_nodes == 1
        assert {str(one.status) for one in model.trace[0]} == {"no gain"}


def test_all_partitions_of_values_are_compared_also_for_two_classes() -> None:
    def first_against_second(table):  # type: ignore[no-untyped-def]
        # Best where Sunny and Overcast, the outer values by the share of Yes, stand against Rain.
        return 1.0 if table[0].sum() == 9 and table[0, 0] == 6 else 0.5

    model = fit(weather, cart(criterion=first_against_second, stopping=Stopping(max_depth=1)))
    split = model.tree.split(0)
    assert split is not None
    assert split.branch_of == (0, 0, 1)
    assert model.recipe["subset_search"].startswith("exact up to 10 values")


def test_a_database_counts_for_it_number_by_number_since_no_bound_is_known() -> None:
    duckdb, pd = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=400), rng.integers(0, 5, 400).astype(np.float64)
    y = np.where(x + z / 3 > 1.7, "rare", "usual")
    frame = pd.DataFrame({"x": x, "z": z, "y": y})
    relation = duckdb.connect().from_df(frame)
    there = treewright.fit(
        relation, cart(criterion=hellinger, stopping=Stopping(max_depth=4)), target="y", finish_rows=0
    )
    here = treewright.CARTClassifier(criterion=hellinger, max_depth=4).fit(frame[["x", "z"]], y)
    assert there.tree.to_dict() == here.tree_.to_dict()


# -- what a function may not do ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["interpreted", pytest.param("compiled", marks=needs_compiler)])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (own_criteria.of_two, "must be a function of one argument"),
        (own_criteria.returns_text, "must return a number"),
        (own_criteria.returns_nothing_at_times, "must return a number"),
        (own_criteria.returns_a_row, "must return a number"),
        (own_criteria.changes_its_table, "must not change the table"),
        (own_criteria.fails, "ZeroDivisionError"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_bad_criterion_is_named_in_the_error_by_both_engines(function: object, words: str, engine: str) -> None:
    name = getattr(function, "__name__", "")
    with pytest.raises(ParameterError, match=f"the criterion '{name}'") as reported:
        fit(weather, cart(criterion=function), engine=engine)
    assert words in str(reported.value)


@needs_compiler
def test_what_cannot_be_compiled_is_an_error_and_never_a_slower_tree() -> None:
    for function, reason in (
        (own_criteria.calls_uncompilable, "uncompilable"),
        (own_criteria.uncompilable, "tolist"),
        (len, "len"),
    ):
        assert fit(weather, cart(criterion=function), engine="interpreted").tree.n_nodes > 1
        with pytest.raises(ParameterError, match="cannot be compiled") as reported:
            fit(weather, cart(criterion=function), engine="compiled")
        assert reason in str(reported.value)
        assert "engine='interpreted'" in str(reported.value)
        assert len(str(reported.value)) < 500


def test_a_function_that_numba_compiled_already_is_welcome() -> None:
    numba = pytest.importorskip("numba")
    ready = numba.njit(hellinger)
    for engine in ("interpreted", "compiled"):
        model = fit(weather, cart(criterion=ready), engine=engine)
        assert model.tree.to_dict() == fit(weather, cart(criterion=hellinger)).tree.to_dict()


def test_a_callable_object_is_named_by_its_class() -> None:
    class Weighted:
        def __call__(self, table: Any) -> float:
            return hellinger(table)

    assert own_criterion(Weighted()).name == "Weighted"


def test_what_does_not_go_with_a_function_is_refused() -> None:
    with pytest.raises(ParameterError, match="r8"):
        c45(criterion=hellinger, dialect="r8")
    with pytest.raises(ParameterError, match="grouped values"):
        c45(criterion=hellinger, subset=True)
    with pytest.raises(ParameterError, match="cannot be combined with cp"):
        cart(criterion=hellinger, cp=0.01)
    with pytest.raises(ParameterError, match="in bits"):
        replace(CART(criterion=hellinger), numeric=Cuts(correction=True))
    with pytest.raises(ParameterError, match=r"Choice\.HIGHEST"):
        replace(CART(criterion=hellinger), choice=Choice.GAIN)
    with pytest.raises(ParameterError, match="must be given together"):
        Recipe("X", "own")
    with pytest.raises(ParameterError, match="must be given together"):
        replace(CART(criterion=hellinger), criterion="gini")
    with pytest.raises(ParameterError, match="for classification"):
        fit(made_table(1, regression=True), cart(criterion=hellinger))


# -- the model ---------------------------------------------------------------------------------------------------------


def test_a_model_keeps_the_name_and_the_scores_and_nothing_that_could_run(tmp_path: Path) -> None:
    clf = treewright.CARTClassifier(criterion=hellinger).fit(*_Xy())
    clf.save(tmp_path / "own.json")
    text = (tmp_path / "own.json").read_text(encoding="utf-8")
    assert '"own_criterion":"hellinger"' in text.replace(": ", ":")
    loaded = treewright.load(tmp_path / "own.json")
    assert isinstance(loaded, treewright.TreeModel)
    assert model_to_json(loaded) == model_to_json(clf.model_)
    root = explain_node(loaded)
    assert (root.worth, root.criterion, root.chosen, root.runner_up) == ("own", "hellinger", "Outlook", "Humidity")
    assert root.attributes[0].own_score == pytest.approx(hellinger(np.array([[5.0, 5.0], [4.0, 0.0]])))
    reported = root.to_text("en")
    assert "hellinger 0.7136" in reported
    assert "highest hellinger" in reported
    assert "hellinger" in loaded.explain().to_text("en")


def test_scores_of_tests_with_missing_values_are_printed_with_the_share_of_known_ones() -> None:
    outlook = weather.columns[0].copy()
    outlook[11] = -1
    root = explain_node(fit(replace(weather, columns=(outlook, *weather.columns[1:])), C45(criterion=gain_by_hand)))
    best = root.attributes[0]
    assert best.own_score is not None
    assert best.unknown == 1
    # Nats and bits of the same gain.
    assert best.own_score == pytest.approx((best.decrease or 0.0) * np.log(2), rel=1e-9)
    assert "fraction of known values" in root.to_text("en")


def test_a_loaded_model_reports_that_it_cannot_score_anew() -> None:
    recipe = recipe_from_dict(CART(criterion=hellinger).to_dict())
    assert recipe.own == OwnCriterion("hellinger")
    with pytest.raises(ParameterError, match="'hellinger' is a custom function, and the model stores only its name"):
        fit(weather, recipe)
    model = fit(weather, cart(criterion=hellinger), keep_trace=False)
    with pytest.raises(ParameterError, match="stores only its name"):
        explain_node(model, 0, weather)
    assert plan_of(model) is None


def test_a_damaged_score_in_a_model_is_refused() -> None:
    model = fit(weather, id3(criterion=hellinger))
    plain = [evaluated_split_to_plain(one) for one in model.trace[0]]
    assert trace_from_plain(model.tree, {"0": plain})[0][0].own_score == model.trace[0][0].own_score
    for damaged in ("NaN", "Infinity", "much", True, None):
        plain[0]["own_score"] = damaged
        with pytest.raises(ModelFormatError):
            trace_from_plain(model.tree, {"0": plain})


def test_pruned_trees_keep_the_scores_of_the_tests_that_they_have() -> None:
    table = _whole(made_table(8, rows=200))
    model = fit(table, c45(criterion=hellinger))
    inner = [node for node in model.trace if not model.tree.node(node).is_leaf]
    assert inner
    for node in inner:
        chosen = [one for one in model.trace[node] if one.status.name == "CHOSEN"]
        assert [one.own_score is not None for one in chosen] == [True]


def test_a_plan_records_the_name_of_the_function() -> None:
    assert cart(criterion=hellinger).describe() == "hellinger (own criterion), unpruned"


# -- estimators --------------------------------------------------------------------------------------------------------


def _Xy() -> tuple[object, object]:  # noqa: N802
    read = treewright.read("sample:play-tennis")
    return read.X, read.y


def test_estimators_clone_search_and_cross_validate_with_a_function() -> None:
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] > 0.8, "rare", "usual")
    for estimator in (
        treewright.CARTClassifier(criterion=hellinger),
        treewright.C45Classifier(criterion=hellinger),
        treewright.ID3Classifier(criterion=hellinger),
        treewright.RandomForestClassifier(criterion=hellinger, n_estimators=3, random_state=0),
    ):
        copied = clone(estimator)
        assert copied.get_params()["criterion"] is hellinger
        assert cross_val_score(copied, X, y, cv=3).mean() > 0.8


def test_folds_go_to_other_processes_with_the_function() -> None:
    here = treewright.estimate(weather, cart(criterion=hellinger), 3, n_jobs=1)
    there = treewright.estimate(weather, cart(criterion=hellinger), 3, n_jobs=2)
    assert [fold.score for fold in here.folds] == [fold.score for fold in there.folds]


def test_a_function_that_cannot_be_pickled_is_reported() -> None:
    lock = threading.Lock()

    def guarded(table):  # type: ignore[no-untyped-def]
        with lock:
            return hellinger(table)

    with pytest.raises(ParameterError, match="cannot be pickled for other processes; use n_jobs=1"):
        treewright.estimate(weather, cart(criterion=guarded), 3, n_jobs=2)


def test_a_wrong_name_is_met_with_the_nearest_one() -> None:
    with pytest.raises(ParameterError, match="did you mean 'gini'"):
        treewright.CARTClassifier(criterion="ginni").fit(*_Xy())
    with pytest.raises(ParameterError, match="did you mean 'gain'"):
        treewright.ID3Classifier(criterion="gains").fit(*_Xy())
    with pytest.raises(ParameterError, match="did you mean 'gain_ratio'"):
        treewright.C45Classifier(criterion="gain-ratio").fit(*_Xy())
