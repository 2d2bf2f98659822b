"""The estimates that pruning compares, as formulas with the numbers filled in.

The kind of an estimate is ``"leaf"`` or ``"tree"`` for the node as a leaf or as a subtree, ``"raised"`` for its largest
branch in its place, ``"p"`` for the p-value of its split, ``"strength"`` for its effective alpha, or ``"limit"`` for a
threshold that another estimate is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from treewright._base.printable import number
from treewright.explain.document import EQUALS, PLUS, Formula, fraction, joined, said
from treewright.prune.extra_errors import NEARLY_ALL, NO_ERROR, ONE_ERROR, extra_errors, squared_deviate
from treewright.prune.j48 import extra_errors as j48_extra_errors

MOST_TERMS = 30
"""Terms of a sum that are written out."""


@dataclass(frozen=True)
class Estimate:
    """One number that was compared.

    Parameters
    ----------
    kind : {"leaf", "tree", "raised", "p", "strength", "limit"}
    value : float
    plain, latex : str
        The formula with the numbers filled in; empty where there is none to show.
    """

    kind: str
    value: float
    plain: str = ""
    latex: str = ""

    @property
    def formula(self) -> Formula:
        """Both forms."""
        return Formula(self.plain, self.latex)


def estimate(kind: str, value: float, formula: Formula | None = None) -> Estimate:
    """Return an estimate with its formula."""
    return Estimate(kind, value) if formula is None else Estimate(kind, value, formula.plain, formula.latex)


def sum_of(terms: Sequence[str], total: str) -> Formula:
    """Return a sum written out.

    Examples
    --------
    >>> sum_of(["1", "2"], "3").plain
    '1 + 2 = 3'
    """
    shown = joined([said(term) for term in terms[:MOST_TERMS]], PLUS)
    if len(terms) > MOST_TERMS:
        shown += said(" + ...", r" + \dots")
    return shown + EQUALS + said(total) if len(terms) != 1 or terms[0] != total else said(total)


def expected_errors(weight: float, errors: float, confidence: float, *, j48: bool = False) -> Estimate:
    """Return the errors that a leaf should expect, by the upper confidence limit.

    Parameters
    ----------
    weight, errors : float
    confidence : float
    j48 : bool
        Whether by the normal deviate itself, and not by C4.5's table of it.

    Examples
    --------
    >>> expected_errors(6, 0, 0.25).plain, expected_errors(14, 5, 0.25).plain
    ('6 (1 - 0.25^(1/6)) = 1.238', '14 (5 + 0.5 + z^2/2 + sqrt(z^2 (5.5 (1 - 5.5/14) + z^2/4))) / (14 + z^2) = 6.795')
    """
    extra = j48_extra_errors if j48 else extra_errors
    value = errors + (extra(weight, errors, confidence) if weight > 0 else 0.0)
    n, e, cf, result = number(weight, 3), number(errors, 3), f"{confidence:g}", EQUALS + said(f"{value:.3f}")
    if weight <= 0 or (j48 and confidence > 0.5):
        return estimate("leaf", value, said(f"{value:.3f}"))
    if errors < NO_ERROR:
        formula = Formula(f"{n} (1 - {cf}^(1/{n}))", rf"{n} \left(1 - {cf}^{{1/{n}}}\right)")
        return estimate("leaf", value, formula + result)
    if errors < (1.0 if j48 else ONE_ERROR):
        none, one = (known + extra(weight, known, confidence) for known in (0.0, 1.0))
        plain = f"{none:.3f} + {e} ({one:.3f} - {none:.3f})"
        return estimate("leaf", value, Formula(plain, plain.replace("(", r"\left(").replace(")", r"\right)")) + result)
    half = errors + 0.5
    if half >= weight:
        share = "" if j48 else f"{NEARLY_ALL} "
        return estimate("leaf", value, said(f"{e} + {share}({n} - {e})") + result)
    h = number(half, 3)
    plain = f"{n} ({e} + 0.5 + z^2/2 + sqrt(z^2 ({h} (1 - {h}/{n}) + z^2/4))) / ({n} + z^2)"
    latex = (
        rf"\frac{{{n} \left({e} + 0.5 + \frac{{z^2}}{{2}} + "
        rf"\sqrt{{z^2 \left({h} \left(1 - \frac{{{h}}}{{{n}}}\right) + \frac{{z^2}}{{4}}\right)}}\right)}}{{{n} + z^2}}"
    )
    return estimate("leaf", value, Formula(plain, latex) + result)


def deviate(confidence: float, *, j48: bool = False) -> float:
    """Return the z of a confidence level, by C4.5's table or as it is.

    Examples
    --------
    >>> round(deviate(0.25), 4), round(deviate(0.25, j48=True), 4)
    (0.6925, 0.6745)
    """
    return NormalDist().inv_cdf(1.0 - confidence) if j48 else math.sqrt(squared_deviate(confidence))


def link_strength(own: float, below: float, leaves: int, strength: float) -> Formula:
    """Return by how much each leaf more lowers the risk."""
    top, bottom = f"{own:.4g} - {below:.4g}", f"{leaves} - 1"
    return Formula(f"({top}) / ({bottom})", fraction(top, bottom).latex) + EQUALS + said(f"{strength:.4g}")
