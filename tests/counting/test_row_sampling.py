"""Rows are sampled as often as Poisson(1) gives, and by every engine alike."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyed_tables import KEY, Keys, duckdb_relation, is_text, postgresql_table, spark_frame
from treewright.counting.row_sampling import (
    ALL_ROWS,
    POISSON_THRESHOLDS,
    PRIME,
    BootstrapSamples,
    hashes_of_integers,
    hashes_of_texts,
    sample_counts,
)
from treewright.counting.sql.connection import Connection, DuckDBRelation, PostgreSQLConnection, SparkConnection
from treewright.counting.sql.dialect import named
from treewright.counting.sql.statements import bootstrap_rows, row_hashes
from treewright.ensembles.bootstrap import tree_key

TREES = BootstrapSamples.from_tree_keys(KEY, [tree_key(3, tree) for tree in range(4)]).with_all([2])


def test_counts_of_a_hash_follow_poisson() -> None:
    one_of_e = sum((Fraction((-1) ** term, factorial(term)) for term in range(40)), Fraction(0))
    share = Fraction(0)
    for count, below in enumerate(POISSON_THRESHOLDS):
        share += one_of_e / factorial(count)
        assert below == int(PRIME * share)
    assert int(PRIME * (share + one_of_e / factorial(len(POISSON_THRESHOLDS)))) >= PRIME - 1


def test_the_fifth_power_is_a_permutation() -> None:
    assert gcd(5, PRIME - 1) == 1


@pytest.mark.parametrize("start", [0, -(2**63), 10**15])
def test_neighbouring_row_ids_are_sampled_independently(start: int) -> None:
    n = 200_000
    keys = start + np.arange(n, dtype=np.int64) * (1 if start != 10**15 else 1000)
    bootstraps = BootstrapSamples.from_tree_keys("id", [tree_key(0, tree) for tree in range(6)])
    sampled = np.array([sample_counts(hashes_of_integers(keys), seeds) for seeds in bootstraps.seeds])
    expected = np.exp(-1) / np.array([1.0, 1.0, 2.0, 6.0, 24.0])
    for mine in sampled:
        counts = np.bincount(mine, minlength=5)[:5] / n
        assert np.abs(counts - expected).max() < 0.006  # five standard deviations
        assert abs(np.corrcoef(mine[1:], mine[:-1])[0, 1]) < 0.012
    between = np.corrcoef(sampled) - np.eye(6)
    assert np.abs(between).max() < 0.012


def test_texts_and_trees_that_take_all() -> None:
    texts = hashes_of_texts(f"row {number}" for number in range(50_000))
    assert abs(sample_counts(texts, TREES.seeds[0]).mean() - 1) < 0.025
    assert TREES.seeds[2][0] == ALL_ROWS
    assert sample_counts(texts, TREES.seeds[2]).tolist() == [1] * 50_000


def _sampled_by(connection: Connection, keys: Keys) -> list[dict[Any, int]]:
    """Return for each tree how often each key is in its bootstrap sample."""
    key = named(connection.columns(), KEY)
    dialect = connection.dialect
    value, first, second = row_hashes(key, dialect)
    rows = f"SELECT {dialect.quoted(KEY)} AS c0, {value} AS h FROM {connection.relation}"  # noqa: S608
    rows = f"SELECT c0, {first} AS r1, {second} AS r2 FROM ({rows}) k"  # noqa: S608
    result = connection.query(
        f"SELECT c0, w, tree FROM ({bootstrap_rows(rows, ['c0'], TREES, dialect, weighted=False)}) b"  # noqa: S608
    )
    found: list[dict[Any, int]] = [{} for _ in TREES.seeds]
    for cell, count, tree in zip(*(column.cells.tolist() for column in result), strict=True):
        found[int(tree)][cell if is_text(keys) else int(cell)] = int(count)
    return found


def _sampled_here(keys: Keys) -> list[dict[Any, int]]:
    mine = hashes_of_texts(map(str, keys)) if is_text(keys) else hashes_of_integers(np.array(keys, dtype=np.int64))
    found = []
    for seeds in TREES.seeds:
        count = sample_counts(mine, seeds).tolist()
        found.append({key: number for key, number in zip(keys, count, strict=True) if number})
    return found


whole = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1, max_size=30, unique=True)
texts = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    min_size=1,
    max_size=30,
    unique=True,
)

deterministic = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None, derandomize=True)


@settings(deterministic, max_examples=60)
@given(keys=whole | texts)
def test_duckdb_samples_the_same_rows(keys: Keys) -> None:
    assert _sampled_by(DuckDBRelation(duckdb_relation(keys)), keys) == _sampled_here(keys)


@pytest.mark.server
@settings(deterministic, max_examples=15)
@given(keys=whole | texts)
def test_postgresql_samples_the_same_rows(keys: Keys) -> None:
    connection = PostgreSQLConnection(postgresql_table(keys, name="keys"))
    try:
        assert _sampled_by(connection, keys) == _sampled_here(keys)
    finally:
        connection.close()


@pytest.mark.server
@pytest.mark.slow
@settings(deterministic, max_examples=4)
@given(keys=whole | texts)
def test_spark_samples_the_same_rows(keys: Keys) -> None:
    connection = SparkConnection(spark_frame(keys))
    assert _sampled_by(connection, keys) == _sampled_here(keys)
    connection.close()
