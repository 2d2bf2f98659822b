"""The words in the box of a node, for forms that set them themselves.

Names from the data may be of any length; here they are cut at `LONGEST` characters.
"""

from __future__ import annotations

from treewright._base.printable import number
from treewright.export.sketch import Shape, Sketched

LONGEST = 60


def lines_of(one: Sketched) -> list[str]:
    """Return the lines of a box: what it tests or says, and of how many cases.

    Examples
    --------
    >>> lines_of(Sketched(3, 0, Shape.LEAF, "Yes", "Overcast", 4.0, (3.0, 1.0), 0))
    ['Yes', 'n = 4 (75 %)']
    """
    cases = f"n = {number(one.weight)}"
    says = one.shape in (Shape.LEAF, Shape.FOLDED)
    if one.spread is not None:
        mean = "" if says else f"mean {one.outcome:.5g} "
        lines = [one.name, f"{mean}± {one.spread:.3g}", cases]
    elif says and one.share is not None:
        lines = [one.name, f"{cases} ({percent(one.share)})"]
    else:
        lines = [one.name, cases]
    return [shortened(line) for line in lines] + ([one.hidden_line] if one.hidden_line else [])


def percent(share: float) -> str:
    """Print a share as a whole percentage; only what is certain is 0 or 100.

    Examples
    --------
    >>> percent(0.643), percent(0.999), percent(1.0)
    ('64 %', '> 99 %', '100 %')
    """
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        return "> 99 %" if rounded else "< 1 %"
    return f"{rounded} %"


def shortened(text: str) -> str:
    """Cut a long line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
