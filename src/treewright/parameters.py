"""Checks of parameters: whole numbers, numbers in a range, flags.

Each check raises a `ParameterError` that names the parameter, the allowed values and the given value. NumPy numbers and
booleans count like those of Python, unless `plain` is set: then the value is stored in model files as it is.
"""

from __future__ import annotations

import numpy as np

from treewright.errors import ParameterError


def check_whole_number(
    name: str, value: object, least: int, most: int | None = None, *, or_none: bool = False, plain: bool = False
) -> None:
    """Raise unless the value is a whole number from `least` to `most`; booleans are not numbers.

    Parameters
    ----------
    name : str
    value : object
    least : int
    most : int or None
        None sets no limit.
    or_none : bool
        Whether None is allowed, too.
    plain : bool
        Allow only Python numbers.

    Examples
    --------
    >>> check_whole_number("depth", 3, 1)
    >>> check_whole_number("depth", 0, 1)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: depth must be a whole number of at least 1, not 0
    """
    if value is None and or_none:
        return
    whole = int if plain else (int, np.integer)
    if isinstance(value, bool) or not isinstance(value, whole) or value < least or (most is not None and value > most):
        allowed = "None or a whole number" if or_none else "a whole number"
        limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ParameterError(f"{name} must be {allowed} {limits}, not {value!r}")


def check_share(name: str, value: object, *, above: float = 0.0, plain: bool = False) -> None:
    """Raise unless the value is a number greater than `above` and at most 1.

    Examples
    --------
    >>> check_share("confidence", 0.25)
    >>> check_share("confidence", 0)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: confidence must be a number above 0 and at most 1, not 0
    """
    numbers = (int, float) if plain else (int, float, np.number)
    if isinstance(value, bool) or not isinstance(value, numbers) or not above < value <= 1:
        raise ParameterError(f"{name} must be a number above {above:g} and at most 1, not {value!r}")


def check_number(name: str, value: object, least: float) -> None:
    """Raise unless the value is a finite number of at least `least`.

    Examples
    --------
    >>> check_number("decrease", 0.5, 0)
    >>> check_number("decrease", "a", 0)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: decrease must be a number of at least 0, not 'a'
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value < np.inf:
        raise ParameterError(f"{name} must be a number of at least {least:g}, not {value!r}")


def check_flag(name: str, value: object, *, plain: bool = False) -> None:
    """Raise unless the value is True or False.

    Examples
    --------
    >>> check_flag("prune", True)
    >>> check_flag("prune", 1)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: prune must be True or False, not 1
    """
    if not isinstance(value, bool if plain else (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, not {value!r}")


def check_jobs(n_jobs: object) -> None:
    """Raise unless the value is None or a whole number other than 0; negative ones leave out processors.

    Examples
    --------
    >>> check_jobs(-1)
    >>> check_jobs(0)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: n_jobs must be a whole number other than 0, or None, not 0
    """
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ParameterError(f"n_jobs must be a whole number other than 0, or None, not {n_jobs!r}")
