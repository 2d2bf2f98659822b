"""Error messages for unknown names: "did you mean ...?" for columns, options and values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("outlok", ["outlook", "wind"])
    "; did you mean 'outlook'?"
    >>> did_you_mean("zzz", ["outlook", "wind"])
    ''
    """
    names = list(known)
    lowered = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wrong.casefold(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def quoted_list(names: Iterable[str], limit: int = 12) -> str:
    """Quote and join names for a message; show at most `limit` of them.

    Examples
    --------
    >>> quoted_list(["a", "b"])
    "'a', 'b'"
    >>> quoted_list("abcdef", limit=3)
    "'a', 'b', 'c' and 3 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def unknown_name(what: str, wrong: str, known: Iterable[str]) -> str:
    """Return the error message for an unknown name.

    Examples
    --------
    >>> unknown_name("column", "outlok", ["outlook", "wind"])
    "there is no column 'outlok'; did you mean 'outlook'? There are: 'outlook', 'wind'"
    """
    names = list(known)
    hint = did_you_mean(wrong, names) or "."
    return f"there is no {what} {wrong!r}{hint} There are: {quoted_list(names)}"
