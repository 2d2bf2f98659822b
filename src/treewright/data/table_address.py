"""The address of a table that is not read into memory: a database table, or a set of files.

Nothing is opened before training. The password is never part of a message, a model or a printed form.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from treewright.errors import ParameterError
from treewright.wording import did_you_mean

DUCKDB, POSTGRESQL, SPARK, DASK = "duckdb", "postgresql", "spark", "dask"

ENGINES = (DUCKDB, POSTGRESQL, SPARK, DASK)
"""Engines that count out of core."""

_SCHEMES = {
    "duckdb": DUCKDB,
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "spark": SPARK,
    "sc": SPARK,
}

_SECRET_KEYS = frozenset({"password", "passfile", "sslpassword", "sslkey", "token", "user_token", "secret"})

_GLOB = frozenset("*?[")


@dataclass(frozen=True, repr=False)
class Table:
    """The address of a table.

    Parameters
    ----------
    url : str
        ``duckdb:///file.db`` (four slashes before an absolute path), ``postgresql://user@host/database``,
        ``spark://`` (a session in this process), ``sc://host`` (Spark Connect), or a file or pattern of files: Parquet
        or CSV, which DuckDB counts.
    name : str or None
        The table, with its schema if necessary (``"schema.table"``); ``?table=`` in the URL is equivalent.
    engine : str or None
        ``"duckdb"`` or ``"spark"`` for files; None takes what the URL says, DuckDB for files.
    key : str or None
        The column that identifies each row, from which forests sample rows. It is not an attribute.

    Examples
    --------
    >>> table = Table("postgresql://ann:secret@db/shop?table=sales.orders")
    >>> table
    Table('postgresql://ann:***@db/shop', 'sales.orders')
    >>> table.engine, table.parts
    ('postgresql', ('sales', 'orders'))
    >>> Table("data/*.parquet").engine
    'duckdb'
    """

    url: str
    name: str | None = None
    engine: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", os.fspath(self.url))
        by_url = DUCKDB if self.is_file else self._engine_of_scheme()
        if self.engine is not None and self.engine not in ENGINES:
            hint = did_you_mean(str(self.engine), ENGINES)
            raise ParameterError(f"engine must be one of {', '.join(ENGINES)}, not {self.engine!r}{hint}")
        if self.engine is not None and self.engine != by_url and not (self.is_file and self.engine != POSTGRESQL):
            raise ParameterError(f"engine {self.engine!r} cannot be combined with {self.shown}")
        object.__setattr__(self, "engine", self.engine or by_url)
        if self.is_file:
            if self.name is not None:
                raise ParameterError(f"files have no table name; {self.name!r} was given")
            return
        parts = urlsplit(self.url)
        from_url = dict(parse_qsl(parts.query, keep_blank_values=True)).get("table")
        object.__setattr__(self, "name", self.name or from_url)
        rest = "&".join(one for one in parts.query.split("&") if one and not one.startswith("table="))
        url = f"{parts.scheme}://{parts.netloc}{parts.path}{'?' + rest if rest else ''}"
        object.__setattr__(self, "url", url)
        if not self.name:
            raise ParameterError(f"say which table of {self.shown}: ?table=NAME at the end, or a second argument")

    def _engine_of_scheme(self) -> str:
        scheme = self.url.split("://", maxsplit=1)[0].lower()
        if scheme not in _SCHEMES:
            hint = did_you_mean(scheme, _SCHEMES)
            raise ParameterError(f"{scheme!r} is not a scheme that is known{hint}; there are {', '.join(_SCHEMES)}")
        return _SCHEMES[scheme]

    @property
    def is_file(self) -> bool:
        """True if the address names files."""
        return "://" not in self.url

    @property
    def parts(self) -> tuple[str, ...]:
        """The name of the table, with that of its schema before it; a part may be quoted as in SQL."""
        return _split_name(self.name or "")

    @property
    def path(self) -> str:
        """The file of a database in one, or the pattern of files."""
        return self.url if self.is_file else unquote(urlsplit(self.url).path.removeprefix("/"))

    @property
    def shown(self) -> str:
        """The address without credentials."""
        return without_secrets(self.url)

    @property
    def source(self) -> str:
        """The name of the table in messages and models."""
        return self.shown if self.is_file else f"{self.shown}{'&' if '?' in self.shown else '?'}table={self.name}"

    def __repr__(self) -> str:
        return f"Table({self.shown!r})" if self.name is None else f"Table({self.shown!r}, {self.name!r})"


def is_address(source: object) -> bool:
    """Return True if a text is the address of an out-of-core table: a URL, or a pattern of files.

    Examples
    --------
    >>> is_address("postgresql://db/shop"), is_address("sample:play-tennis"), is_address("data.csv")
    (True, False, False)
    >>> is_address("data/*.parquet")
    True
    """
    if not isinstance(source, str):
        return False
    if "://" in source:
        return source.split("://", maxsplit=1)[0].lower() in _SCHEMES
    return bool(_GLOB.intersection(source)) and not os.path.exists(source)


def files_of(pattern: str) -> list[str]:
    """Return the files that a pattern or a path means, sorted."""
    if os.path.exists(pattern):
        return [pattern]
    return sorted(glob.glob(pattern, recursive=True))


def without_secrets(url: str) -> str:
    """Return a URL with its passwords masked.

    Examples
    --------
    >>> without_secrets("postgresql://ann:p%40ss@db:5432/shop?sslmode=require&password=x")
    'postgresql://ann:***@db:5432/shop?sslmode=require&password=***'
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    account, at, host = parts.netloc.rpartition("@")
    user, colon, _ = account.partition(":")
    netloc = f"{user}:***@{host}" if colon else f"{account}{at}{host}"
    query, path = _masked(parts.query, "&"), _masked(parts.path, ";")
    return f"{parts.scheme}://{netloc}{path}{'?' + query if query else ''}"


def _masked(parameters: str, separator: str) -> str:
    """Return the parameters of a URL with the values of secret ones masked."""
    masked = []
    for parameter in parameters.split(separator):
        key = parameter.partition("=")[0]
        masked.append(f"{key}=***" if key.lower() in _SECRET_KEYS else parameter)
    return separator.join(masked)


def secrets_of(url: str) -> list[str]:
    """Return the passwords in a URL, as written and decoded, so that messages can mask them."""
    parts = urlsplit(url)
    account = parts.netloc.rpartition("@")[0]
    found = [account.partition(":")[2]]
    for parameter in (*parts.query.split("&"), *parts.path.split(";")):
        key, _, value = parameter.partition("=")
        if key.lower() in _SECRET_KEYS:
            found.append(value)
    return [secret for one in found for secret in dict.fromkeys((one, unquote(one))) if secret]


def _split_name(name: str) -> tuple[str, ...]:
    """Split at the dots that are not inside double quotes."""
    parts, current, quoted = [], "", False
    position = 0
    while position < len(name):
        letter = name[position]
        if letter == '"' and quoted and name[position + 1 : position + 2] == '"':
            current += '"'
            position += 1
        elif letter == '"':
            quoted = not quoted
        elif letter == "." and not quoted:
            parts.append(current)
            current = ""
        else:
            current += letter
        position += 1
    return (*parts, current)
