r"""A tree for LaTeX: a tikzpicture that needs nothing but TikZ.

Put ``\usepackage{tikz}`` into the preamble and ``\input`` the text. Characters beyond the fonts of pdfLaTeX need
LuaLaTeX or XeLaTeX. The places come from whoever lays the tree out; the nodes stand there by themselves, so that no
nesting of TeX limits the depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.errors import ParameterError
from treewright.export.dot import FILLS
from treewright.export.view_model import Shape, Sketch, lines_of, shortened

LARGEST = 550.0
"""TeX knows no lengths beyond 575 centimetres."""

PER_CENTIMETRE = 40.0
"""Units of the places in a centimetre."""

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
"""What TeX reads as its own, and signs that not every font of TeX has."""


def tikz_text(sketch: Sketch, places: Sequence[tuple[float, float]]) -> str:
    r"""Return a tikzpicture.

    Parameters
    ----------
    sketch : Sketch
    places : sequence of pairs
        Middle and top of every box, y downwards, `PER_CENTIMETRE` units to the centimetre.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.export.view_model import sketch_tree
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> sketch = sketch_tree(fit(sample("play-tennis"), ID3()).tree, max_depth=0)
    >>> print(tikz_text(sketch, [(80.0, 0.0)]).splitlines()[-2])
      \node[tree folded] (n0) at (2.00,0.00) {Yes\\n = 14 (64 \%)\\\ldots{} 7 more nodes};
    """
    if any(abs(x) > LARGEST * PER_CENTIMETRE or abs(y) > LARGEST * PER_CENTIMETRE for x, y in places):
        raise ParameterError(
            "TeX cannot set a picture of more than 5.5 metres: show fewer nodes (max_nodes, max_depth)"
        )
    used = sorted({_colour(sketch, position) for position, one in enumerate(sketch.nodes) if one.shape is Shape.LEAF})
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
    total = sketch.nodes[0].weight
    for position, (one, (x, y)) in enumerate(zip(sketch.nodes, places, strict=True)):
        style = f"tree leaf {_colour(sketch, position)}" if one.shape is Shape.LEAF else "tree folded"
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
    r"""Escape what TeX would read as its own.

    Examples
    --------
    >>> print(tex_escaped(r"50 % of a_b \input{x}"))
    50 \% of a\_b \textbackslash{}input\{x\}
    """
    return "".join(_SPECIAL.get(one, one) for one in text)


def _colour(sketch: Sketch, position: int) -> int:
    one = sketch.nodes[position]
    return sketch.colours[int(one.outcome)] if one.counts else 0


def _negative(y: float) -> str:
    return f"{-y:.2f}" if round(y, 2) else "0.00"
