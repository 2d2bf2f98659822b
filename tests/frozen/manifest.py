"""Hashes of all that the library makes: models, predictions, SQL statements, drawings.

``bytes.json`` holds those of made tables and two recorded sets (the short tier), ``bytes_recorded.json`` those of all
recorded sets (the long tier; only hashes are kept here, never their data). A set that is absent is left out.

``python -m frozen.manifest`` (from ``tests``) computes both, prints each entry that differs and fails if there is one;
``--write`` rewrites the files, ``--short`` keeps to the short tier. Every rewrite is listed in the change log, with its
reason: a hash that changes is a behaviour that changes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np

import treewright as tw
from frozen import command
from frozen.canonical import canonical, digest
from frozen.learners import MAIN, NUMBER_OPTIONS, NUMBERS, OPTIONS, Make
from frozen.made import larger_tables, made_tables
from oracle_sets import load_set, set_names

HERE = Path(__file__).resolve().parent
SHORT, LONG = HERE / "bytes.json", HERE / "bytes_recorded.json"

SHORT_SETS = ("weather-numeric", "labor")
"""Recorded sets of the short tier."""

SLOW_ROWS = 2000
"""Sets of more rows are left to the learners that are not in `SLOW`."""

SLOW = frozenset({"cal2", "cal3", "rules", "r8", "j48", "rpart", "absolute-error", "chaid", "adaboost"})

EVERY = 4
"""Options are tried on every so manieth table each, all of them on `ALL_OPTIONS`."""

ALL_OPTIONS = frozenset({"mixed", "mixed-missing-broken-weights-number"})

Hashes = dict[str, str]


def short_tier() -> Hashes:
    """Compute the entries of made tables and of two recorded sets."""
    found: Hashes = {}
    tables = made_tables()
    for index, (name, table) in enumerate(tables.items()):
        for learner, make in _learners(table, name, index).items():
            found |= _entries(f"{name}/{learner}", table, make)
    for name, table in larger_tables().items():
        for learner in ("c45", "cart", "forest", "absolute-error") if "number" not in name else ("cart", "rpart"):
            if learner in MAIN | NUMBERS and not (learner == "absolute-error" and "number" not in name):
                found |= _entries(f"{name}/{learner}", table, (MAIN | NUMBERS)[learner])
    for name in sorted(set(SHORT_SETS) & set(set_names())):
        for learner, make in MAIN.items():
            found |= _entries(f"recorded-{name}/{learner}", load_set(name), make)
    found |= _fit_options(tables)
    found |= _drawings(tables)
    with tempfile.TemporaryDirectory() as folder, command.fixed_environment(Path(folder)):
        found |= _statements(tables, Path(folder))
    return found


def long_tier(only: Callable[[str], bool] = lambda name: True) -> Hashes:
    """Compute the entries of the recorded sets, or of some."""
    found: Hashes = {}
    for name in filter(only, set_names()):
        found |= recorded(name)
    return found


def recorded(name: str) -> Hashes:
    """Compute the entries of one recorded set."""
    table = load_set(name)
    found: Hashes = {}
    makers = NUMBERS if table.schema.target_column.is_numeric else MAIN
    for learner, make in makers.items():
        if table.n_rows > SLOW_ROWS and learner in SLOW:
            continue
        found |= _entries(f"{name}/{learner}", table, make)
    return found


def _learners(table: tw.Dataset, name: str, index: int) -> dict[str, Make]:
    numeric = table.schema.target_column.is_numeric
    main, options = (NUMBERS, NUMBER_OPTIONS) if numeric else (MAIN, OPTIONS)
    if name in ALL_OPTIONS:
        return main | options
    return main | {key: make for turn, (key, make) in enumerate(options.items()) if (turn + index) % EVERY == 0}


def _entries(name: str, table: tw.Dataset, make: Make, **how: Any) -> Hashes:
    """Return the hashes of the model and of its predictions of its own cases, or the error with which it is refused."""
    try:
        model = _fitted(table, make, **how)
    except tw.TreewrightError as error:
        return {f"{name}/refused": type(error).__name__}
    return {f"{name}/model": digest(model_text(model)), f"{name}/predictions": digest(_predictions(model, table))}


def _fitted(table: tw.Dataset, make: Make, **how: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.DataWarning)
        return tw.fit(table, make(), **how)


def model_text(model: Any) -> str:
    """Return the file of a model in its canonical form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return canonical(json.loads(path.read_text(encoding="utf-8")))


def _predictions(model: Any, table: tw.Dataset) -> str:
    predicted = {"predict": model.predict(table)}
    if not table.schema.target_column.is_numeric and hasattr(model, "predict_proba"):
        predicted["proba"] = model.predict_proba(table)
    return canonical(predicted)


def _fit_options(tables: Mapping[str, tw.Dataset]) -> Hashes:
    """Return what class weights, smoothing, costs and engines make of one table."""
    table, numbers = tables["mixed-missing"], tables["mixed-number"]
    classes = table.schema.classes
    n = len(classes)
    costs = tuple(tuple(0.0 if i == j else 1.0 + i for j in range(n)) for i in range(n))
    weights = {label: 1.0 + index for index, label in enumerate(classes)}
    options: dict[str, dict[str, Any]] = {
        "class-weights": {"class_weights": weights},
        "laplace": {"smoothing": "laplace"},
        "m-estimate": {"smoothing": 2.0},
        "costs": {"costs": costs},
        "without-working": {"keep_trace": False},
    }
    found: Hashes = {}
    for option, how in options.items():
        for learner in ("c45", "cart", "forest", "adaboost"):
            found |= _entries(f"fit-{option}/{learner}", table, MAIN[learner], **how)
    for engine in ("interpreted", "compiled"):
        for learner in ("c45", "cart", "id3"):
            found |= _entries(f"engine-{engine}/{learner}", table, MAIN[learner], engine=engine)
        found |= _entries(f"engine-{engine}/cart-number", numbers, NUMBERS["cart"], engine=engine)
    forest = _fitted(table, MAIN["forest"])
    return found | {"distilled/model": digest(model_text(tw.distil(forest, table).model))}


# -- drawings ----------------------------------------------------------------------------------------------------------


def _drawings(tables: Mapping[str, tw.Dataset]) -> Hashes:
    drawn = {
        "sample-play-tennis": ("c45", "id3", "chaid", "cal3", "r8"),
        "sample-contact-lenses": ("c45", "cart", "rpart"),
        "mixed-missing": ("c45-subset", "c45-unpruned", "cart", "rpart", "chaid-resplit", "j48-binary"),
        "numeric": ("c45", "cal3", "chaid"),
        "mixed-number": ("cart", "chaid", "absolute-error"),
        "mixed-missing-number": ("rpart", "chaid-exhaustive"),
    }
    found: Hashes = {}
    for name, learners in drawn.items():
        table = tables[name]
        makers = NUMBERS | NUMBER_OPTIONS if table.schema.target_column.is_numeric else MAIN | OPTIONS
        for learner in learners:
            found |= _drawing(f"{name}/{learner}", _fitted(table, makers[learner]), table)
    return found


def _drawing(name: str, model: Any, table: tw.Dataset) -> Hashes:
    forms: dict[str, Callable[[], Any]] = {
        "svg": lambda: tw.to_svg(model),
        "svg-cases": lambda: tw.to_svg(model, data=table, max_nodes=9, title="Cases"),
        "dot": lambda: tw.to_dot(model),
        "mermaid": lambda: tw.to_mermaid(model),
        "tikz": lambda: tw.to_tikz(model),
        "text": lambda: tw.to_text(model, numbers=True),
        "html": lambda: tw.to_html(model),
        "json": lambda: canonical(json.loads(tw.to_json(model))),
        "rules": lambda: str(tw.to_rules(model)),
    }
    found: Hashes = {}
    for form, make in forms.items():
        try:
            found[f"{name}/{form}"] = digest(unversioned(make()))
        except tw.TreewrightError as error:
            found[f"{name}/{form}"] = f"refused: {type(error).__name__}"
    return found


def unversioned(text: str) -> str:
    """Return a text without the release by which it was made."""
    return text.replace(tw.__version__, "VERSION")


# -- SQL ---------------------------------------------------------------------------------------------------------------


class _RecordingConnection:
    """A DuckDB connection that writes down what it is asked."""

    def __init__(self, connection: Any, statements: list[str]) -> None:
        self._connection = connection
        self._statements = statements

    def execute(self, statement: str, *rest: Any) -> Any:
        """Write the statement down and run it."""
        self._statements.append(statement)
        return self._connection.execute(statement, *rest)

    def __enter__(self) -> _RecordingConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@contextlib.contextmanager
def recorded_statements() -> Iterator[list[str]]:
    """Collect the statements of all connections that are opened meanwhile, in their order."""
    statements: list[str] = []
    connect = duckdb.connect

    def opened(*arguments: Any, **options: Any) -> Any:
        return _RecordingConnection(connect(*arguments, **options), statements)

    with mock.patch.object(duckdb, "connect", opened):
        yield statements


def _statements(tables: Mapping[str, tw.Dataset], folder: Path) -> Hashes:
    """Return the hashes of the statements that DuckDB is asked while it counts for a learner, and of predicting."""
    learned: dict[str, tuple[str, Make, dict[str, Any]]] = {
        "c45": ("mixed-missing", tw.c45, {}),
        "c45-copies": ("mixed", tw.c45, {"temporary": True}),
        "c45-subset": ("mixed", OPTIONS["c45-subset"], {}),
        "c45-bins": ("numeric", OPTIONS["c45-bins"], {}),
        "id3": ("nominal", tw.id3, {}),
        "cart": ("mixed", tw.cart, {}),
        "cart-holes": ("mixed-missing", tw.cart, {}),
        "cart-number": ("mixed-number", tw.cart, {}),
        "chaid": ("nominal-missing", tw.chaid, {}),
        "chaid-number": ("ordinal-number", tw.chaid, {}),
        "forest": ("mixed", lambda: tw.forest(trees=2), {"key": "row"}),
    }
    found: Hashes = {}
    for name, (of, make, how) in learned.items():
        table = tables[of]
        _store(table, folder / f"{name}.db", folder / f"{name}.parquet")
        for address in (f"duckdb:///{name}.db?table=cases", f"{name}.parquet"):
            form = "file" if address.endswith("parquet") else "database"
            model = None
            with recorded_statements() as statements, warnings.catch_warnings():
                warnings.simplefilter("ignore", tw.DataWarning)
                options: dict[str, Any] = how if "key" in how else {"schema": table.schema, **how}
                try:
                    model = tw.fit(tw.Table(address), make(), target="y", finish_rows=0, **options)
                except tw.TreewrightError as error:
                    statements.append(f"refused: {type(error).__name__}")
            found[f"sql/{name}/{form}/statements"] = digest(_without_paths("\n".join(statements), folder))
            if model is None:
                continue
            found[f"sql/{name}/{form}/model"] = digest(model_text(model))
            if form == "database":
                model.save("model.json")
                with_probabilities = command.run("predict", "model.json", address, "--in-database", "--proba", "--keep")
                plain = command.run("predict", "model.json", address, "--in-database")
                found[f"sql/{name}/predicting"] = digest(_without_paths(f"{with_probabilities}\n{plain}", folder))
    return found


def _without_paths(text: str, folder: Path) -> str:
    return text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")


def _store(table: tw.Dataset, database: Path, file: Path) -> None:
    """Write a table into a database and into a Parquet file."""
    columns = table.schema.columns
    kinds = ", ".join(f'"{column.name}" {"DOUBLE" if column.is_numeric else "VARCHAR"}' for column in columns)
    encoded = [*table.columns, table.target]
    cells = [_decoded(column, values) for column, values in zip(columns, encoded, strict=True)]
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE cases (row BIGINT, {kinds})")
        marks = ", ".join("?" * (len(columns) + 1))
        rows = [[index, *row] for index, row in enumerate(zip(*cells, strict=True))]
        connection.executemany(f"INSERT INTO cases VALUES ({marks})", rows)  # noqa: S608
        connection.execute(f"COPY cases TO '{file}' (FORMAT parquet)")


def _decoded(column: tw.Column, cells: Any) -> list[Any]:
    if column.is_numeric:
        return [None if np.isnan(cell) else float(cell) for cell in cells]
    return [None if code < 0 else column.values[code] for code in cells]


# -- comparing ---------------------------------------------------------------------------------------------------------


def kept(path: Path) -> Hashes:
    """Return the hashes that a file holds."""
    if not path.exists():
        return {}
    hashes: Hashes = json.loads(path.read_text(encoding="utf-8"))
    return hashes


def differences(expected: Mapping[str, str], found: Mapping[str, str], *, absent: Callable[[str], bool]) -> list[str]:
    """Name every entry that differs, is new or is gone, but not those that are `absent` for want of data."""
    lines = [f"differs: {name}" for name in sorted(expected) if name in found and expected[name] != found[name]]
    lines += [f"gone: {name}" for name in sorted(expected) if name not in found and not absent(name)]
    return lines + [f"new: {name}" for name in sorted(found) if name not in expected]


def is_absent(name: str) -> bool:
    """Return True if an entry is of a recorded set that is not here."""
    first = name.split("/", 1)[0]
    return first.startswith("recorded-") and first.removeprefix("recorded-") not in set_names()


def is_absent_set(name: str) -> bool:
    """Return the same for an entry of the long tier."""
    return name.split("/", 1)[0] not in set_names()


def main() -> int:
    """Compare or rewrite both tiers."""
    parser = argparse.ArgumentParser(prog="python -m frozen.manifest", description="Compare what is made with hashes.")
    parser.add_argument("--write", action="store_true", help="rewrite the files; list it in the change log")
    parser.add_argument("--short", action="store_true", help="leave out the recorded sets")
    given = parser.parse_args()
    tiers: list[tuple[Path, Callable[[], Hashes], Callable[[str], bool]]] = [(SHORT, short_tier, is_absent)]
    if not given.short:
        tiers.append((LONG, long_tier, is_absent_set))
    failed = False
    for path, compute, absent in tiers:
        start = time.perf_counter()
        found, before = compute(), kept(path)
        lines = differences(before, found, absent=absent)
        out = [
            *lines,
            f"{path.name}: {len(found)} entries, {len(lines)} differences, {time.perf_counter() - start:.1f} s",
        ]
        sys.stdout.write("\n".join(out) + "\n")
        if given.write:
            still = {name: value for name, value in before.items() if absent(name)}
            path.write_text(json.dumps(still | found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        failed = failed or bool(lines)
    return int(failed and not given.write)


if __name__ == "__main__":
    sys.exit(main())
