r"""A tree for LaTeX: a tikzpicture that needs nothing but TikZ.

Put ``\usepackage{tikz}`` into the preamble and ``\input`` the text. Characters beyond the fonts of pdfLaTeX need
LuaLaTeX or XeLaTeX. The caller gives the positions; nodes are placed absolutely, so the nesting of TeX does not limit
the depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.errors import ParameterError
from treewright.export.dot import FILLS
from treewright.export.view_model import Shape, VisibleTree, lines_of, shortened

LARGEST = 550.0
"""TeX knows no lengths beyond 575 centimetres."""

PER_CENTIMETRE = 40.0
"""Units of the positions in a centimetre."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": r"\symbol{96}",
    "-": r"{-}",
    "*": r"{*}",
    "[": r"{[}",
    "]": r"{]}",
    "≤": r"$\leq$",
    "≠": r"$\neq$",
    "±": r"$\pm$",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
}
"""Special characters of TeX, and characters that not every font of TeX has."""


def tikz_text(view: VisibleTree, positions: Sequence[tuple[float, float]]) -> str:
    r"""Return a tikzpicture.

    Parameters
    ----------
    view : VisibleTree
    positions : sequence of pairs
        Middle and top of every box, y downwards, `PER_CENTIMETRE` units to the centimetre.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import visible_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> view = visible_tree(fit(sample("play-tennis"), ID3()).tree, max_depth=0)
    >>> print(tikz_text(view, [(80.0, 0.0)]).splitlines()[-2])
      \node[tree folded] (n0) at (2.00,0.00) {Yes\\n = 14 (64 \%)\\\ldots{} 7 more nodes};
    """
    if any(abs(x) > LARGEST * PER_CENTIMETRE or abs(y) > LARGEST * PER_CENTIMETRE for x, y in positions):
        raise ParameterError(
            "TeX cannot set a picture of more than 5.5 metres: show fewer nodes (max_nodes, max_depth)"
        )
    used = sorted({_colour(view, position) for position, one in enumerate(view.nodes) if one.shape is Shape.LEAF})
    lines = [
        r"% Needs \usepackage{tikz}.",
        *(rf"\definecolor{{treeclass{colour}}}{{HTML}}{{{FILLS[colour][1:].upper()}}}" for colour in used),
        r"\begin{tikzpicture}[",
        r"  tree node/.style={draw=black!60, rounded corners=2pt, align=center, anchor=north, font=\footnotesize},",
        r"  tree test/.style={tree node, fill=black!3},",
        r"  tree folded/.style={tree node, dashed},",
        *(rf"  tree leaf {colour}/.style={{tree node, fill=treeclass{colour}}}," for colour in used),
        r"  tree edge/.style={draw=black!30, line cap=round},",
        r"  tree branch/.style={fill=white, inner sep=1.5pt, font=\scriptsize}]",
    ]
    total = view.nodes[0].weight
    for position, (one, (x, y)) in enumerate(zip(view.nodes, positions, strict=True)):
        style = f"tree leaf {_colour(view, position)}" if one.shape is Shape.LEAF else "tree folded"
        style = "tree test" if one.shape is Shape.TEST else style
        words = r"\\".join(tex_escaped(line) for line in lines_of(one))
        at = f"{x / PER_CENTIMETRE:.2f},{_negative(y / PER_CENTIMETRE)}"
        lines.append(rf"  \node[{style}] (n{position}) at ({at}) {{{words}}};")
        if one.parent >= 0:
            width = max(0.4, 6.0 * one.weight / total) if total > 0 else 0.4
            label = tex_escaped(shortened(one.label))
            lines.append(
                rf"  \draw[tree edge, line width={width:.2f}pt] (n{one.parent}.south) -- "
                rf"node[tree branch, pos=0.6] {{{label}}} (n{position}.north);"
            )
    return "\n".join([*lines, r"\end{tikzpicture}"])


def tex_escaped(text: str) -> str:
    r"""Escape the special characters of TeX.

    Examples
    --------
    >>> print(tex_escaped(r"50 % of a_b \input{x}"))
    50 \% of a\_b \textbackslash{}input\{x\}
    """
    return "".join(_SPECIAL.get(one, one) for one in text)


def _colour(view: VisibleTree, position: int) -> int:
    one = view.nodes[position]
    return view.colours[int(one.outcome)] if one.counts else 0


def _negative(y: float) -> str:
    return f"{-y:.2f}" if round(y, 2) else "0.00"
