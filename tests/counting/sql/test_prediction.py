"""A SELECT answers as the model does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pytest

from database_tables import duckdb_engine
from engine_tables import random_table
from treewright.counting.sql.connection import DuckDBRelation
from treewright.counting.sql.dialect import DUCKDB
from treewright.counting.sql.prediction import prediction_statement
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit
from treewright.plans import c45, cart, chaid, id3


def _with_missing(data: Dataset) -> Dataset:
    draw = np.random.default_rng(5)
    columns = []
    for column in data.columns:
        new = column.copy()
        new[draw.random(len(new)) < 0.3] = np.nan if new.dtype.kind == "f" else -1
        columns.append(new)
    return replace(data, columns=tuple(columns))


def _ask(model: Any, cases: Dataset, **how: Any) -> list[list[Any]]:
    connection = duckdb_engine(cases)._connection
    statement = prediction_statement(model, connection.columns(), connection.relation, connection.dialect, **how)
    return [column.cells.tolist() for column in connection.query(statement)]


@pytest.mark.parametrize(
    "plan",
    [id3(), c45(), c45(subset=True, min_objects=4), cart(), chaid(min_samples_split=10, min_samples_leaf=3)],
    ids=["id3", "c45", "c45 subset", "cart", "chaid"],
)
@pytest.mark.parametrize("smoothing", [None, "laplace"])
def test_a_select_predicts_as_the_model_does_also_with_missing_values(plan: Any, smoothing: Any) -> None:
    data = random_table(201, rows=100)
    model = fit(data, plan, smoothing=smoothing)
    cases = _with_missing(data)
    predicted, *shares = _ask(model, cases, proba=True)
    assert predicted == model.predict(cases).tolist()
    np.testing.assert_allclose(np.array(shares, dtype=float).T, model.predict_proba(cases), rtol=1e-9, atol=1e-12)


def test_numbers_are_predicted_too() -> None:
    data = random_table(202, rows=100, regression=True)
    model = fit(data, cart())
    cases = _with_missing(data)
    assert _ask(model, cases)[0] == pytest.approx(model.predict(cases).tolist(), rel=1e-12)


def test_costs_decide_in_the_database_as_in_memory() -> None:
    data = random_table(203, rows=100)
    k = len(data.schema.classes)
    costs = tuple(tuple(0.0 if i == j else float(1 + 3 * j) for j in range(k)) for i in range(k))
    model = fit(data, c45(), costs=costs)
    cases = _with_missing(data)
    assert _ask(model, cases)[0] == model.predict(cases).tolist()


def test_values_never_seen_are_missing_and_kept_columns_come_first() -> None:
    model = fit(sample("play-tennis"), c45())
    connection = duckdb.connect()
    rows = connection.sql(
        "SELECT 'Snow' AS \"Outlook\", 'Hot' AS \"Temperature\", 'High' AS \"Humidity\", 'Weak' AS \"Wind\", 7 AS id"
    )
    there = DuckDBRelation(rows)
    statement = prediction_statement(model, there.columns(), there.relation, DUCKDB, keep=True)
    answer: Any = rows.query("treewright_rows", statement)
    assert answer.columns == ["Outlook", "Temperature", "Humidity", "Wind", "id", "predicted"]
    new = {"Outlook": [None], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}
    assert answer.fetchall()[0][-1] == model.predict(new).tolist()[0]


def test_models_without_a_select_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample("play-tennis")
    columns = duckdb_engine(data)._connection.columns()
    with pytest.raises(ParameterError, match="32-bit"):
        prediction_statement(fit(data, c45(dialect="j48")), columns, "t", DUCKDB)
    with pytest.raises(DataError, match="without the columns 'Outlook'"):
        prediction_statement(fit(data, c45()), columns[1:], "t", DUCKDB)
    monkeypatch.setattr("treewright.counting.sql.prediction.MAX_SELECT_LEAVES", 2)
    with pytest.raises(ParameterError, match="at most 2"):
        prediction_statement(fit(data, c45()), columns, "t", DUCKDB)
    missing = _with_missing(random_table(204, rows=100))
    surrogates = fit(missing, cart(missing="surrogate"))
    if surrogates.tree.surrogates:
        with pytest.raises(ParameterError, match="surrogates"):
            prediction_statement(surrogates, columns, "t", DUCKDB)


def test_a_single_leaf_is_a_constant() -> None:
    model = fit(sample("play-tennis"), c45(min_objects=10))
    assert model.tree.n_nodes == 1
    assert set(_ask(model, sample("play-tennis"))[0]) == {"Yes"}
