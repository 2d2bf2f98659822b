"""A tree that predicts: from any kind of table, with probabilities that can be checked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.frames import raw_table
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, LabelType, Schema, Task
from treewright.errors import DataError, DataWarning, ParameterError, SchemaError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel, first_maximum, node_probabilities
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree

WEATHER = sample("play-tennis")
TENNIS = fit(WEATHER, ID3())
DAYS = {
    "Outlook": ["Rain", "Sunny", "Overcast"],
    "Temperature": ["Hot", "Hot", "Mild"],
    "Humidity": ["High", "High", "High"],
    "Wind": ["Weak", "Strong", "Weak"],
}
ANSWERS = ["Yes", "No", "Yes"]


def small_tree() -> Tree:
    """Return c = u: 3 a, 1 b; c = v: 2 b; c = w: nobody (predicts b)."""
    schema = Schema((Column("c", Kind.NOMINAL, ("u", "v", "w")), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    records = [
        NodeRecord(6.0, np.array([3, 3]), 0, Split.multiway(0, 3), [1, 2, 3]),
        NodeRecord(4.0, np.array([3, 1]), 0, stop=Stop.NO_GAIN),
        NodeRecord(2.0, np.array([0, 2]), 1, stop=Stop.PURE),
        NodeRecord(0.0, np.array([0, 0]), 1, stop=Stop.EMPTY),
    ]
    return build_tree(schema, records)[0]


UVW = {"c": ["u", "v", "w"]}


def frames() -> dict[str, Any]:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    turned = {name: DAYS[name] for name in reversed(DAYS)}
    rows = list(zip(*DAYS.values(), strict=True))
    return {
        "mapping": DAYS,
        "reordered mapping": turned,
        "pandas": pandas.DataFrame(DAYS),
        "pandas, reordered, with more": pandas.DataFrame(turned).assign(extra=1),
        "pandas, categories": pandas.DataFrame(DAYS).astype("category"),
        "polars": polars.DataFrame(DAYS),
        "arrow": pyarrow.table(DAYS),
        "array": np.array(rows, dtype=object),
        "rows": [list(row) for row in rows],
        "raw table": raw_table(DAYS),
        "dataset": TENNIS.cases(DAYS),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_table_is_understood(kind: str) -> None:
    assert TENNIS.predict(frames()[kind]).tolist() == ANSWERS


def test_a_dataset_of_another_schema_is_matched_by_names_and_values() -> None:
    columns = (
        Column("Wind", Kind.NOMINAL, ("Strong", "Weak")),
        Column("Humidity", Kind.NOMINAL, ("Normal", "High")),
        Column("Outlook", Kind.NOMINAL, ("Rain", "Overcast", "Sunny")),
        Column("Temperature", Kind.NOMINAL, ("Cool", "Mild", "Hot")),
    )
    other = Dataset(
        Schema(columns),
        tuple(
            np.array([column.values.index(cell) for cell in DAYS[column.name]], dtype=np.int32) for column in columns
        ),
        3,
    )
    assert TENNIS.predict(other).tolist() == ANSWERS


def test_it_learned_its_own_table() -> None:
    assert TENNIS.predict(WEATHER).tolist() == WEATHER.y.tolist()
    assert TENNIS.predict(WEATHER.X).tolist() == WEATHER.y.tolist()


def test_an_array_of_another_width_is_refused_with_the_names() -> None:
    with pytest.raises(
        SchemaError, match="the array has 3 columns, the model expects 4: Outlook, Temperature, Humidity"
    ):
        TENNIS.predict(np.zeros((2, 3), dtype=object))


def test_an_absent_column_is_refused_with_the_names() -> None:
    with pytest.raises(DataError, match="without the column 'Wind'"):
        TENNIS.predict({name: cells for name, cells in DAYS.items() if name != "Wind"})


def test_unseen_values_warn_once_and_count_as_missing() -> None:
    odd = DAYS | {"Outlook": ["Fog", "Sunny", "Hail"]}
    missing = DAYS | {"Outlook": [None, "Sunny", None]}
    with pytest.warns(DataWarning, match="count as missing: 2 in 'Outlook'") as caught:
        got = TENNIS.predict(odd)
    assert len(caught) == 1
    assert got.tolist() == TENNIS.predict(missing).tolist()


def test_no_cases_get_no_answers() -> None:
    assert TENNIS.predict(WEATHER.take([])).tolist() == []
    assert TENNIS.predict_proba(WEATHER.take([])).shape == (0, 2)


def test_plain_probabilities_are_the_shares_of_the_leaf_and_an_empty_leaf_is_sure() -> None:
    assert TreeModel(small_tree()).predict_proba(UVW).tolist() == [[0.75, 0.25], [0.0, 1.0], [0.0, 1.0]]


def test_laplace_adds_one_case_of_each_class() -> None:
    model = TreeModel(small_tree(), smoothing="laplace")
    assert model.predict_proba(UVW) == pytest.approx(np.array([[4 / 6, 2 / 6], [1 / 4, 3 / 4], [1 / 2, 1 / 2]]))


def test_the_m_estimate_adds_m_cases_shared_as_at_the_root() -> None:
    records = [NodeRecord(8.0, np.array([6, 2]), 0, Split.threshold(0, 1.0), [1, 2])]
    records += [NodeRecord(4.0, np.array(c), 0, stop=Stop.NO_GAIN) for c in ([4, 0], [2, 2])]
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    model = TreeModel(build_tree(schema, records)[0], smoothing=2.0)
    # prior 3/4, 1/4: (4 + 2 * 3/4) / 6, (0 + 2 * 1/4) / 6 and (2 + 1.5) / 6, (2 + 0.5) / 6
    assert model.predict_proba({"x": [0.0, 2.0]}) == pytest.approx(np.array([[5.5 / 6, 0.5 / 6], [3.5 / 6, 2.5 / 6]]))


def test_smoothing_does_not_change_the_class() -> None:
    for smoothing in (None, "laplace", 50.0):
        assert TreeModel(small_tree(), smoothing=smoothing).predict(UVW).tolist() == ["a", "b", "b"]


def test_an_m_estimate_without_any_case_is_even() -> None:
    schema = Schema((Column("y", Kind.NOMINAL, ("a", "b")),), target="y")
    tree = build_tree(schema, [NodeRecord(0.0, np.array([0, 0]), 1, stop=Stop.EMPTY)])[0]
    assert node_probabilities(tree, 2.0).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("smoothing", ["Laplace", 0, -1.0, float("nan"), float("inf"), True, [1], 10**400])
def test_other_smoothing_is_refused(smoothing: Any) -> None:
    with pytest.raises(ParameterError, match="smoothing must be None, 'laplace' or a positive number"):
        TreeModel(small_tree(), smoothing=smoothing)


def test_ties_go_to_the_first_class() -> None:
    for classes in (("a", "b"), ("b", "a")):
        schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, classes)), target="y")
        tree = build_tree(schema, [NodeRecord(4.0, np.array([2, 2]), 0, stop=Stop.NO_GAIN)])[0]
        assert TreeModel(tree).predict({"x": [1.0]}).tolist() == [classes[0]]


def test_a_tie_is_seen_through_rounding() -> None:
    assert first_maximum(np.array([[0.3, 0.1 + 0.2], [0.0, 0.0], [0.2, 0.8]])).tolist() == [0, 0, 1]


def test_a_fractional_case_mixes_the_predictions_of_its_leaves() -> None:
    # 4/6 of it hears (3/4, 1/4), 2/6 hears (0, 1)
    got = TreeModel(small_tree()).predict_proba({"c": [None]})
    assert got == pytest.approx(np.array([[0.5, 0.5]]))
    assert TreeModel(small_tree()).predict({"c": [None]}).tolist() == ["a"]


def test_the_leaf_of_each_case_is_returned() -> None:
    assert TreeModel(small_tree()).apply(UVW).tolist() == [1, 2, 3]


def test_labels_have_the_type_of_the_target() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("3", "7"), LabelType.INTEGER)), target="y")
    tree = build_tree(schema, [NodeRecord(2.0, np.array([0, 2]), 1, stop=Stop.PURE)])[0]
    predicted = TreeModel(tree).predict({"x": [1.0]})
    assert predicted.dtype == np.int64
    assert predicted.tolist() == [7]
    assert TreeModel(tree).classes_.tolist() == [3, 7]


def test_regression_predicts_means_and_has_no_classes() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0]))
    model = fit(data, CART())
    assert model.predict({"x": [0.0, 9.0]}).tolist() == [1.0, 5.0]
    with pytest.raises(ParameterError, match="no class"):
        model.predict_proba({"x": [0.0]})
    with pytest.raises(ParameterError, match="no classes"):
        _ = model.classes_


@given(trees_and_cases())
@settings(max_examples=50)
def test_answers_are_numbers_or_known_classes_for_any_tree(pair: tuple[Tree, Dataset]) -> None:
    tree, cases = pair
    model = TreeModel(tree)
    predicted = model.predict(cases)
    assert len(predicted) == cases.n_rows
    if tree.schema.task is Task.REGRESSION:
        assert np.isfinite(predicted).all()
        assert (predicted >= tree.outcome.min() - 1e-9).all()
        assert (predicted <= tree.outcome.max() + 1e-9).all()
    else:
        assert set(predicted.tolist()) <= set(tree.schema.classes)
        for smoothing in (None, "laplace", 0.5):
            shares = TreeModel(tree, smoothing=smoothing).predict_proba(cases)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_costs_turn_the_answer_to_the_least_expected_cost() -> None:
    dear = TreeModel(small_tree(), costs=((0.0, 1.0), (10.0, 0.0)))  # calling a b an a costs ten
    assert dear.predict(UVW).tolist() == ["b", "b", "b"]
    even = TreeModel(small_tree(), costs=((0.0, 1.0), (1.0, 0.0)))
    assert even.predict(UVW).tolist() == ["a", "b", "b"]


@pytest.mark.parametrize(
    "costs",
    [
        ((0.0, 1.0),),
        ((0.0,), (1.0,)),
        ((0.0, -1.0), (1.0, 0.0)),
        ((0.0, float("nan")), (1.0, 0.0)),
        ((0.0, 10**400), (1.0, 0.0)),
    ],
)
def test_costs_that_are_no_table_of_costs_are_refused(costs: Any) -> None:
    with pytest.raises(ParameterError, match="costs must be"):
        TreeModel(small_tree(), costs=costs)
