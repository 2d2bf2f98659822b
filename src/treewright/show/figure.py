"""Figures by matplotlib, imported on first use; the error for a missing package gives the install command.

A figure is never shown on screen: it is saved as PNG, SVG or PDF, by the suffix of the file.
"""

from __future__ import annotations

import io
import os
from typing import Any

from treewright._base.atomic_file import write_atomically
from treewright._base.errors import ParameterError
from treewright._base.extras import import_extra

SUFFIXES = (".png", ".svg", ".pdf")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito's colours, told apart also by the colour-blind."""


def new_figure(width: float = 6.4, height: float = 4.2) -> tuple[Any, Any]:
    """Return an empty figure and its axes, without a window or any global state."""
    import_extra("matplotlib", "plots", "draw a figure")
    figure_module = import_extra("matplotlib.figure", "plots", "draw a figure")
    figure = figure_module.Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_prop_cycle(color=COLOURS)
    return figure, axes


def save_figure(figure: Any, path: str | os.PathLike[str], form: str | None = None) -> None:
    """Save a figure; the suffix (or `form`) says the format, and the same figure gives the same bytes."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower() if form is None else f".{form}"
    if suffix not in SUFFIXES:
        raise ParameterError(f"a figure is saved as {', '.join(SUFFIXES)}, not {suffix or 'without a suffix'!r}")
    matplotlib = import_extra("matplotlib", "plots", "draw a figure")
    undated: dict[str, Any] = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "treewright", "svg.fonttype": "none"}):
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=150, format=suffix[1:], metadata=undated[suffix])
    write_atomically(name, drawn.getvalue())
