"""The Dask engine counts as the engine in memory does, a level in one pass, and leaves the data where they are."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.shell import Shell
from dask_frames import cluster, dask_engine, dask_frame
from engine_tables import random_table
from treewright import Table, fit, read
from treewright.counting.dask import counting, engine, profile
from treewright.counting.dask.engine import DaskEngine
from treewright.counting.dask.profile import inferred
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, EngineError, MissingExtraError, ParameterError
from treewright.fitting.out_of_core import fit_over
from treewright.plans import c45, cart, chaid, id3
from treewright.tree.io.model_file import model_to_json
from treewright.tree.split import FRACTIONAL, STAY, Split

dask_dataframe: Any = pytest.importorskip("dask.dataframe", reason="dask is not installed")
pandas: Any = pytest.importorskip("pandas")


def _frame(partitions: int = 2, **columns: Any) -> Any:
    return dask_dataframe.from_pandas(pandas.DataFrame(columns), npartitions=partitions, sort=False)


OPTIONS: tuple[dict[str, int], ...] = ({}, {"few_numbers": 5, "coded_numbers": 3}, {"table_cells": 40, "kept_bytes": 0})


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(OPTIONS))
def test_tables_and_summaries_are_those_of_memory_at_the_root_and_below(
    seed: int, regression: bool, options: dict[str, int]
) -> None:
    data = random_table(seed, rows=60, regression=regression)
    here, there = MemoryEngine(data), dask_engine(data, **options)
    nodes = (here.root(), there.root())
    attributes = range(len(data.columns))
    numeric = [index for index in attributes if data.schema.attributes[index].is_numeric]
    for _ in range(2):
        [mine], [theirs] = here.count([(nodes[0], attributes)]), there.count([(nodes[1], attributes)])
        for one, other in zip(mine, theirs, strict=True):
            assert one.counts.dtype == other.counts.dtype
            np.testing.assert_allclose(other.counts, one.counts, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(other.unknown, one.unknown, rtol=1e-9, atol=1e-9)
            assert other.cases.tolist() == one.cases.tolist()
            assert other.unknown_cases == one.unknown_cases
            assert (other.values is None) == (one.values is None)
            if one.values is not None and other.values is not None:
                assert other.values.tolist() == one.values.tolist()
        values = mine[numeric[0]].values if numeric else None
        if values is None or len(values) == 0:
            return
        split = Split.threshold(numeric[0], float(values[len(values) // 2]), 1)
        below = here.split_node(nodes[0], split), there.split_node(nodes[1], split)
        for mine_below, theirs_below in zip(here.summaries(below[0]), there.summaries(below[1]), strict=True):
            assert theirs_below.cases == mine_below.cases
            assert theirs_below.pure == mine_below.pure
            assert theirs_below.mean == pytest.approx(mine_below.mean, rel=1e-9, abs=1e-12)
            assert theirs_below.sse == pytest.approx(mine_below.sse, rel=1e-7, abs=1e-9)
        nodes = (below[0][1], below[1][1])
        if here.summaries([nodes[0]])[0].cases == 0:
            return


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("seed", [0, 4])
def test_the_compiled_kernels_count_what_numpy_counts(
    monkeypatch: pytest.MonkeyPatch, regression: bool, seed: int
) -> None:
    data = random_table(seed, rows=90, regression=regression)
    expected = fit_over(dask_engine(data), cart(), finish_rows=0)
    monkeypatch.setattr(counting, "COMPILED_ROWS", 1)
    model = fit_over(dask_engine(data), cart(), finish_rows=0)
    if regression:
        np.testing.assert_allclose(model.tree.outcome, expected.tree.outcome, rtol=1e-9, atol=1e-12)
    else:
        assert model_to_json(model) == model_to_json(expected)


def test_a_level_is_one_pass_and_the_root_is_counted_by_the_first() -> None:
    counted = dask_engine(sample("play-tennis"))
    root = counted.root()
    assert counted.scans == 1
    counted.count([(root, range(4))])
    children = counted.split_node(root, Split.multiway(0, 3, 0))
    assert counted.scans == 1  # the children are rows of the parent's table
    counted.count([(child, [1, 2, 3]) for child in children])
    assert counted.scans == 2


def test_nominal_attributes_take_depth_plus_one_passes_and_numbers_twice_as_many() -> None:
    data = random_table(11, rows=300, missing=False)
    for plan, options in ((id3(), {}), (cart(), {"few_numbers": 20, "coded_numbers": 5})):
        counted = dask_engine(data, **options)
        before = counted.scans
        model = fit_over(counted, plan, finish_rows=0)
        assert counted.scans - before <= 2 * model.tree.depth + 1


@pytest.mark.parametrize("plan", [id3(), c45(), cart(), chaid()], ids=lambda plan: plan.name)
@pytest.mark.parametrize("finish_rows", [0, 25, 1000])
def test_the_model_is_that_of_memory_wherever_small_nodes_are_finished(plan: Any, finish_rows: int) -> None:
    data = random_table(21, rows=120, missing=False)
    model = fit_over(dask_engine(data, few_numbers=10, coded_numbers=4), plan, finish_rows=finish_rows)
    assert model_to_json(model) == model_to_json(fit(data, plan))


def test_a_state_file_lets_training_go_on(tmp_path: Path) -> None:
    data = random_table(21, rows=120, missing=False)

    class LostError(Exception):
        pass

    def lose(done: int, everything: int) -> None:
        if done:
            raise LostError

    state = tmp_path / "state.json"
    with pytest.raises(LostError):
        fit_over(dask_engine(data), cart(), finish_rows=0, state=state, progress=lose)
    assert state.exists()
    model = fit_over(dask_engine(data), cart(), finish_rows=0, state=state)
    assert model_to_json(model) == model_to_json(fit(data, cart()))


def test_fit_takes_a_frame_and_class_weights() -> None:
    weather = sample("play-tennis")
    frame = dask_frame(weather)
    model = fit(frame, cart(), target="PlayTennis", class_weights={"No": 3.0}, finish_rows=0)
    expected = fit(weather, cart(), class_weights={"No": 3.0})
    assert str(model) == str(fit(frame, cart(), target="PlayTennis", class_weights={"No": 3.0}))
    assert model.schema.classes == ("No", "Yes")
    assert model.tree.counts[0].tolist() == expected.tree.counts[0].tolist()[::-1] == [15, 9]


def test_a_schema_may_be_given_and_another_target_with_it() -> None:
    weather = sample("play-tennis")
    model = fit(dask_frame(weather), id3(), schema=weather.schema, target="Wind", finish_rows=0)
    assert model.schema.target == "Wind"


def test_unequal_dtypes_become_the_schema_that_reading_gives(tmp_path: Path) -> None:
    table = pandas.DataFrame(
        {
            "whole": pandas.array([1, 2, None, 3], dtype="Int64"),
            "broken": [0.5, np.nan, 1.5, 2.5],
            "text": ["ü", None, "a", "10"],
            "flag": [True, False, True, True],
            "when": pandas.to_datetime(["2020-01-02", "2020-01-01", None, "2020-01-02"]),
            "day": [pandas.Timestamp("2020-01-02").date(), None, None, pandas.Timestamp("2021-01-02").date()],
            "empty": pandas.array([None, None, None, None], dtype="str"),
            "y": [1, 2, 1, 1],
        }
    )
    table.to_parquet(tmp_path / "one.parquet", index=False)
    expected = read(tmp_path / "one.parquet", target="y").schema
    for limit in (0, 10):
        by_frame = inferred(
            dask_dataframe.from_pandas(table, npartitions=3, sort=False), "y", None, nominal_limit=limit
        )
        files = Table(str(tmp_path / "*.parquet"), engine="dask")
        by_file = inferred(profile.frame_of(files), "y", None, nominal_limit=limit)
        assert by_file == by_frame
        if limit == 0:
            assert by_frame == expected


def test_overrides_decide_the_kinds_and_ignored_columns_are_not_looked_at() -> None:
    frame = _frame(a=[1, 2, 3, 1], b=["1", "2", "x", "1"], names=["p", "q", "r", "s"], n=[1, 2, 3, 4], y=[0.5, 1, 2, 3])
    overrides = Overrides(nominal=("a",), ordinal={"b": ("1", "2", "x")}, ignore=("names", "n"))
    schema = inferred(frame, "y", overrides)
    assert [str(column.kind) for column in schema.columns] == ["nominal", "ordinal", "nominal", "numeric", "numeric"]
    assert schema.column("names").values == ()
    assert schema.column("a").values == ("1", "2", "3")


def test_categories_keep_their_order_and_unknown_ones_do_not() -> None:
    series = pandas.Categorical(["low", "high", "low", "mid"], categories=["low", "mid", "high"], ordered=True)
    known = _frame(level=series, y=["a", "b", "a", "b"])
    assert inferred(known, "y", None).column("level").values == ("low", "mid", "high")
    assert inferred(known, "y", None).column("level").kind is Kind.ORDINAL
    parts = [known.partitions[:1], known.partitions[1:].map_partitions(lambda part: part.astype({"level": "str"}))]
    mixed = dask_dataframe.from_map(lambda part: part.compute(), parts, meta=known._meta)
    assert inferred(mixed, "y", None).column("level").values == ("high", "low", "mid")


def test_names_that_are_no_text_become_text() -> None:
    frame = dask_dataframe.from_pandas(pandas.DataFrame([[1, "a"], [2, "b"]]), npartitions=1)
    assert inferred(frame, "1", None).attribute_names == ("0",)


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"a": ["x", "z"], "y": ["n", "p"]}, {"target": "q"}, "there is no column 'q'"),
        ({"a": ["x", "z"], "y": ["n", None]}, {"target": "y"}, "partition 1: .*the target is missing here"),
        ({"a": [1.0, np.inf], "y": ["n", "p"]}, {"target": "y"}, "infinity"),
        ({"a": [1, 2**60 + 1], "y": ["n", "p"]}, {"target": "y"}, "2\\^53"),
        ({"a": pandas.to_timedelta([1, 2]), "y": ["n", "p"]}, {"target": "y"}, "string or a number"),
        ({"a": [1, 2], "y": [1.5, 1e200]}, {"target": "y"}, "sums of squares would overflow"),
        ({"a": ["x"], "w": [-1.0], "y": ["n"]}, {"target": "y", "overrides": Overrides(weight="w")}, "weight must be"),
    ],
)
def test_cells_that_do_not_fit_are_reported(columns: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        fit(_frame(**columns), cart(), **options)


def test_no_rows_no_target_no_attributes_and_no_column_are_reported() -> None:
    with pytest.raises(DataError, match="there are no rows to learn from"):
        fit(_frame(1, a=np.zeros(0), y=np.zeros(0)), cart(), target="y")
    with pytest.raises(ParameterError, match="name the column to predict"):
        fit(_frame(a=[1, 2], y=["n", "p"]), cart())
    with pytest.raises(ParameterError, match="no attribute to learn from"):
        fit(_frame(y=["n", "p"]), cart(), target="y")
    schema = Schema((Column("gone", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("n", "p"))), target="y")
    with pytest.raises(DataError, match="without the column 'gone'; there are a, y"):
        DaskEngine(_frame(a=[1, 2], y=["n", "p"]), schema)


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "MAX_CATEGORIES", 2)
    with pytest.raises(DataError, match="3 distinct values are too many: exclude the column"):
        fit(_frame(a=["1", "2", "z"], y=["n", "p", "n"]), cart(), target="y")


def test_partitions_of_numbers_and_of_texts_do_not_go_together() -> None:
    partitions = [
        pandas.DataFrame({"a": [1, 2], "y": ["n", "p"]}),
        pandas.DataFrame({"a": ["u", "v"], "y": ["n", "p"]}),
    ]
    mixed = dask_dataframe.from_map(lambda index: partitions[index], [0, 1], meta=partitions[0], enforce_metadata=False)
    with pytest.raises(DataError, match="some partitions contain numbers and others contain text"):
        fit(mixed, cart(), target="y")


def test_values_missing_are_refused_where_cases_would_be_fractional() -> None:
    data = random_table(2, rows=60)
    with pytest.raises(ParameterError, match=r"C4\.5 sends cases .* which Dask does not do"):
        fit_over(dask_engine(data), c45(), finish_rows=0)
    frame = _frame(a=[1.0, 2.0, np.nan], y=["n", "p", "p"])
    counted = DaskEngine.over(frame, "y")
    with pytest.raises(ParameterError, match="1 cases with a missing value of 'a' would be split into fractions"):
        counted.split_node(counted.root(), Split.threshold(0, 1.5, FRACTIONAL))
    assert counted.incomplete() == {"a": 1}


def test_cases_that_stay_are_in_no_child() -> None:
    counted = DaskEngine.over(_frame(a=[1.0, 2.0, np.nan], b=["u", "v", "u"], y=["n", "p", "p"]), "y")
    below = counted.split_node(counted.root(), Split.threshold(0, 1.5, STAY))
    assert [summary.cases for summary in counted.summaries(below)] == [1, 1]
    assert [int(tables[0].cases.sum()) for tables in counted.count([(node, [1]) for node in below])] == [1, 1]


def test_intervals_are_counted_and_forgotten_again() -> None:
    data = random_table(21, rows=120, missing=False)
    numeric = next(index for index, column in enumerate(data.schema.attributes) if column.is_numeric)
    for options in ({}, {"few_numbers": 5, "coded_numbers": 3}):
        here, there = MemoryEngine(data), dask_engine(data, **options)
        there.count([(there.root(), [numeric])])
        for counted in (here, there):
            counted.use_intervals(numeric, (-0.5, 0.5))
        split = Split.intervals(numeric, (-0.5, 0.5), 0)
        mine, theirs = here.split_node(here.root(), split), there.split_node(there.root(), split)
        [[one]] = here.count([(mine[1], [numeric])])
        [[other]] = there.count([(theirs[1], [numeric])])
        assert other.counts.tolist() == one.counts.tolist()
        assert list(there.intervals) == [numeric]
        there.use_numbers()
        [[numbers]] = there.count([(theirs[1], [numeric])])
        assert numbers.values is not None


def test_rows_have_no_numbers_and_texts_no_bounds() -> None:
    counted = dask_engine(sample("play-tennis"))
    with pytest.raises(ParameterError, match="the rows of Dask have no row numbers"):
        counted.rows(counted.root())
    with pytest.raises(ParameterError, match="no numbers to compare with a bound"):
        counted.largest_value_not_above(0, 1.0)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_largest_number_not_above_a_bound_is_found(options: dict[str, int]) -> None:
    data = random_table(21, rows=120, missing=False)
    numeric = next(index for index, column in enumerate(data.schema.attributes) if column.is_numeric)
    here, there = MemoryEngine(data), dask_engine(data, **options)
    bounds = [1.2, 0.01, 0.5]
    expected = [here.largest_value_not_above(numeric, bound) for bound in bounds]
    assert there.largest_values_not_above({numeric: bounds}) == {numeric: expected}
    assert there.largest_value_not_above(numeric, 0.5) == expected[2]


def test_cases_with_equal_ones_together_weigh_what_all_weigh_and_too_many_are_none() -> None:
    data = random_table(8, rows=80)
    cuts = {index: (0.0,) if column.is_numeric else () for index, column in enumerate(data.schema.attributes)}
    counted = dask_engine(data)
    together = counted.distinct_rows(cuts, 1000)
    assert together is not None
    assert together.weights is not None
    expected = data.n_rows if data.weights is None else data.weights.sum()
    assert together.weights.sum() == expected
    assert counted.distinct_rows(cuts, 2) is None


def test_another_tree_over_the_same_engine_starts_at_the_root_again() -> None:
    data = random_table(21, rows=120, missing=False)
    counted = dask_engine(data)
    for plan in (cart(), id3(), cart(prune="cost_complexity", alpha=0.02), c45()):
        counted.use_numbers()
        assert model_to_json(fit_over(counted, plan, finish_rows=0)) == model_to_json(fit(data, plan))


def test_a_path_that_breaks_is_an_error_of_the_engine(tmp_path: Path) -> None:
    def broken(part: Any) -> Any:
        raise ConnectionResetError("the disk went away")

    frame = _frame(a=["x", "z"], y=["n", "p"])
    with pytest.raises(EngineError, match="Dask cannot count: the disk went away"):
        fit(frame.map_partitions(broken, meta=frame._meta), cart(), target="y")


def test_files_that_are_not_parquet_and_files_that_are_not_there_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,n\n")
    with pytest.raises(DataError, match="Dask reads only Parquet files here"):
        fit(Table(str(tmp_path / "a.csv"), engine="dask"), cart(), target="y")
    with pytest.raises(DataError, match="there is no such file"):
        fit(Table(str(tmp_path / "no*.parquet"), engine="dask"), cart(), target="y")


def test_without_dask_the_way_to_install_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r'pip install "treewright\[dask\]"'):
        fit(Table("here*.parquet", engine="dask"), cart(), target="y")


def test_files_that_cannot_be_read_or_differ_in_columns_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(EngineError, match="Dask cannot count"):
        fit(Table(str(tmp_path / "a.parquet"), engine="dask"), cart(), target="y")
    pandas.DataFrame({"a": [1], "y": ["n"]}).to_parquet(tmp_path / "a.parquet")
    pandas.DataFrame({"b": [1], "y": ["n"]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="differ from those of"):
        fit(Table(str(tmp_path / "*.parquet"), engine="dask"), cart(), target="y")


def test_row_groups_are_read_together_up_to_a_number_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "PARTITION_ROWS", 25)
    table = pandas.DataFrame({"a": range(100), "y": ["n", "p"] * 50})
    table.to_parquet(tmp_path / "a.parquet", row_group_size=10)
    frame = profile.frame_of(Table(str(tmp_path / "a.parquet"), engine="dask"))
    assert frame.npartitions == 5
    assert frame.compute()["a"].tolist() == list(range(100))


def _parquet(folder: Path) -> Dataset:
    data = random_table(21, rows=200, missing=False)
    frame = dask_frame(data, 1).compute()
    frame.iloc[:150].to_parquet(folder / "part-0.parquet", index=False)
    frame.iloc[150:].to_parquet(folder / "part-1.parquet", index=False)
    return data


def test_the_command_line_trains_on_parquet_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _parquet(tmp_path)
    shell = Shell(tmp_path, capsys)
    files = str(tmp_path / "*.parquet")
    models = []
    for name in ("dask", "duckdb"):
        path = tmp_path / f"{name}.json"
        shell.fine(
            "train", files, "--engine", name, "--target", "t", "-a", "cart", "--finish-rows", "0", "-o", str(path)
        )
        models.append(path.read_bytes())
    assert models[0] == models[1]
    assert (
        "each of 2 partitions counts"
        in shell.fine("train", files, "--engine", "dask", "--target", "t", "--dry-run").out
    )


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_learns_the_same() -> None:
    data = random_table(21, rows=400, missing=False)
    client = cluster()
    killed = itertools.count()

    def kill(done: int, everything: int) -> None:
        if next(killed) == 1:
            [first, *_] = client.scheduler_info()["workers"]
            os.kill(client.run(os.getpid, workers=[first])[first], signal.SIGKILL)

    with client.as_current():
        model = fit_over(dask_engine(data), cart(), finish_rows=0, progress=kill)
    assert model_to_json(model) == model_to_json(fit(data, cart()))


def test_what_is_kept_is_let_go() -> None:
    with dask_engine(replace(sample("play-tennis"), source="w")) as counted:
        counted.root()
        assert counted.name == "Dask"
    assert counted._passes.parts == []
    assert engine.KEPT_BYTES > 0
