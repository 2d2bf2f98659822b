"""Addresses of tables out of core."""

from __future__ import annotations

from pathlib import Path

import pytest

from treewright.data.table_address import Table, files_of, is_address, secrets_of, without_secrets
from treewright.errors import ParameterError


@pytest.mark.parametrize(
    ("url", "engine", "parts"),
    [
        ("duckdb:///a/b.db?table=t", "duckdb", ("t",)),
        ("postgresql://u@h/d?table=s.t", "postgresql", ("s", "t")),
        ("postgres://u@h/d?table=t&sslmode=require", "postgresql", ("t",)),
        ('spark://?table="odd.name"', "spark", ("odd.name",)),
        ('sc://host:15002/;token=x?table="a""b".t', "spark", ('a"b', "t")),
    ],
)
def test_a_url_names_engine_and_table(url: str, engine: str, parts: tuple[str, ...]) -> None:
    table = Table(url)
    assert (table.engine, table.parts) == (engine, parts)
    assert "table=" not in table.url


def test_a_second_argument_names_the_table() -> None:
    assert Table("postgresql://db/x", "s.t").parts == ("s", "t")
    assert Table("duckdb:////tmp/x.db", "t").path == "/tmp/x.db"  # noqa: S108 - only a name
    assert Table("duckdb:///x.db", "t").path == "x.db"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mysql://db/x", "t"), "'mysql' is not a scheme"),
        (("postgresql://u:hidden@db/x",), "say which table of postgresql://u:\\*\\*\\*@db/x"),
        (("a.parquet", "t"), "files have no table name"),
        (("a.parquet", None, "postgresql"), "cannot be combined with a.parquet"),
        (("a.parquet", None, "dukdb"), "did you mean 'duckdb'"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Table(*arguments)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:h%40sh:hush@db/shop?table=t",
        "postgresql://ann@db/shop?password=h%40sh:hush&table=t",
        "sc://host:15002/;token=h%40sh:hush;user_id=u?table=t",
    ],
)
def test_no_password_can_be_read_anywhere(url: str) -> None:
    table = Table(url)
    for shown in (repr(table), str(table), table.source, table.shown):
        assert "hush" not in shown
        assert "***" in shown
    assert "h@sh:hush" in secrets_of(table.url)
    assert all("hush" in secret for secret in secrets_of(table.url))


def test_a_file_has_no_secrets() -> None:
    assert without_secrets("a:b@c.csv") == "a:b@c.csv"


def test_patterns_are_addresses_and_existing_files_are_not(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet", "odd[1].parquet"):
        (tmp_path / name).touch()
    pattern = str(tmp_path / "?.parquet")
    assert is_address(pattern)
    assert [Path(path).name for path in files_of(pattern)] == ["a.parquet", "b.parquet"]
    odd = str(tmp_path / "odd[1].parquet")
    assert not is_address(odd)
    assert files_of(odd) == [odd]
    assert not is_address(17)
