"""The bags of `treewright.counts.bags` in SQL: every row once for each tree, with the number of times it is drawn.

Products are written in layers, one SELECT around the other, because an expression that names another twice would be
computed twice.
"""

from __future__ import annotations

from treewright._base.errors import DataError
from treewright.counts.bags import ALL, DIGITS, DRAWN_BELOW, OTHER_PRIME, PRIME, Bags, require_unique
from treewright.counts.sql.columns import Family, StoredColumn
from treewright.counts.sql.connection import Connection
from treewright.counts.sql.dialect import Dialect


def require_key(connection: Connection, key: StoredColumn) -> int:
    """Return the number of rows; raise unless a column names every one of them. It takes one scan."""
    if key.family not in (Family.INTEGER, Family.TEXT, Family.CELL):
        raise DataError(
            f"a key is a column of whole numbers or texts, and this one is {key.type.lower() or key.family}",
            source=connection.source,
            column=key.name,
        )
    value = key.nominal(connection.dialect)
    answer = connection.ask(
        f"SELECT COUNT(*) AS n, COUNT(k) AS known, COUNT(DISTINCT k) AS different "
        f"FROM (SELECT {value} AS k FROM {connection.relation}) r"
    )
    rows, known, different = (int(column.integers()[0]) for column in answer)
    require_unique(rows, known, different, key.name, connection.source)
    return rows


def residues(key: StoredColumn, dialect: Dialect) -> tuple[str, str, str]:
    """Return the expression of a key over the table, and of its two residues over that, which is called `h`."""
    if key.family is Family.INTEGER:
        first, second = (f"((h % {prime}) + {prime}) % {prime}" for prime in (PRIME, OTHER_PRIME))
        return key.nominal(dialect), first, second
    first, second = (dialect.hex_number.format(f"SUBSTR(h, {start}, {DIGITS})") for start in (1, 1 + DIGITS))
    return dialect.digest.format(key.nominal(dialect)), first, second


def bagged(rows: str, columns: list[str], bags: Bags, dialect: Dialect, *, weighted: bool) -> str:
    """Return rows of all bags: the columns, the weight `w`, and the number of the `tree`.

    Parameters
    ----------
    rows : str
        A SELECT of the columns, `r1` and `r2` where rows are drawn, and `w0` where they have a weight.
    columns : list of str
    bags : Bags
    dialect : Dialect
    weighted : bool
    """
    listed = ", ".join(f"({tree}, {a}, {b})" for tree, (a, b) in enumerate(bags.numbers))
    trees = f"(VALUES {listed}) AS t(tree, a, b)"
    own = "w0" if weighted else "1"
    kept = [*columns, *(["w0"] if weighted else []), "tree"]
    if bags.key is None:
        picks = ", ".join((*columns, f"{own} AS w", "tree"))
        return f"SELECT {picks} FROM ({rows}) b CROSS JOIN {trees}"
    fixed = ", ".join((*kept, "a", "b", "r2"))
    layer = f"SELECT {', '.join((*kept, 'a', 'b', 'r2'))}, (r1 + a) % {PRIME} AS x FROM ({rows}) r CROSS JOIN {trees}"
    for addend in (" + r2 + b", " + a", ""):
        squared = f"SELECT {fixed}, x, x * x % {PRIME} AS q FROM ({layer}{dialect.barrier}) s"
        power = f"q * q % {PRIME} * x % {PRIME}"
        power = f"({power}{addend}) % {PRIME}" if addend else power
        layer = f"SELECT {fixed}, {power} AS x FROM ({squared}{dialect.barrier}) s"
    steps = " ".join(f"WHEN x < {below} THEN {often}" for often, below in enumerate(DRAWN_BELOW))
    often = f"CASE WHEN a = {ALL} THEN 1 {steps} ELSE {len(DRAWN_BELOW)} END"
    often = f"{own} * {often}" if weighted else often
    drawn = f"SELECT {', '.join(kept)}, {often} AS w FROM ({layer}{dialect.barrier}) s"
    return f"SELECT {', '.join((*columns, 'w', 'tree'))} FROM ({drawn}{dialect.barrier}) d WHERE w > 0"
