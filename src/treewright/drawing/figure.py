"""Figures on paper: matplotlib, and the colours of drawings.

Figures by matplotlib, imported on first use; the error for a missing package gives the install command. A figure is
never shown on screen: it is saved as PNG, SVG or PDF, by the suffix of the file.

The colours of drawings, on light and on dark ground. Classes have Okabe and Ito's colours, which the colour-blind tell
apart, too; on dark ground the same hues, lighter.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Any

from treewright.atomic_file import write_atomically
from treewright.errors import ParameterError
from treewright.lazy_import import import_extra

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


CLASS_COLOURS = (*COLOURS[:7], "#8A8F98")
"""By colour number (see `treewright.export.view_model`); the last one, grey, is for all other classes."""

CLASS_COLOURS_DARK = ("#4AA3DF", "#F0803C", "#2EBD92", "#E09AC4", "#F2B63C", "#8AD0F5", "#F5EC79", "#9AA0AA")


@dataclass(frozen=True)
class Ground:
    """The colours of everything that is no class: ground, boxes, lines and words."""

    page: str
    box: str
    border: str
    edge: str
    words: str
    quiet: str
    cut: str
    classes: tuple[str, ...]


LIGHT = Ground("#ffffff", "#f7f8fa", "#c9ced6", "#d5dae1", "#1b1f24", "#59616c", "#1b1f24", CLASS_COLOURS)
DARK = Ground("#15181d", "#20252c", "#454d58", "#39414c", "#eceff3", "#a7afba", "#f5f7fa", CLASS_COLOURS_DARK)


def mixed(colour: str, ground: str, share: float = 0.14) -> str:
    """Lay a colour thinly over a ground.

    Examples
    --------
    >>> mixed("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    pairs = zip(_parts(colour), _parts(ground), strict=True)
    return "#" + "".join(f"{round(share * over + (1 - share) * under):02x}" for over, under in pairs)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
