"""Matplotlib figures, and the colours of drawings.

Matplotlib is imported on first use; the error for a missing package gives the install command. A figure is never shown
on screen: it is saved as PNG, SVG or PDF, by the suffix of the file.

Classes have the colours of Okabe and Ito, which colour-blind people can distinguish; on dark backgrounds the same hues,
lighter.
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
"""The colours of Okabe and Ito, safe for colour-blind people."""


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
    """Save a figure; the suffix (or `form`) gives the format. The same figure gives the same bytes."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower() if form is None else f".{form}"
    if suffix not in SUFFIXES:
        raise ParameterError(f"a figure is saved as {', '.join(SUFFIXES)}, not {suffix or 'without a suffix'!r}")
    matplotlib = import_extra("matplotlib", "plots", "draw a figure")
    undated: dict[str, Any] = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "treewright", "svg.fonttype": "none"}):
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=150, format=suffix[1:], metadata=undated[suffix])
    write_atomically(name, buffer.getvalue())


CLASS_COLOURS = (*COLOURS[:7], "#8A8F98")
"""By colour number (see `treewright.export.view_model`); the last one, grey, is for all other classes."""

CLASS_COLOURS_DARK = ("#4AA3DF", "#F0803C", "#2EBD92", "#E09AC4", "#F2B63C", "#8AD0F5", "#F5EC79", "#9AA0AA")


@dataclass(frozen=True)
class Ground:
    """The colours of a theme: background, boxes, lines, text and classes."""

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


def blended(colour: str, ground: str, share: float = 0.14) -> str:
    """Blend a colour into a background; `share` is the part of the colour.

    Examples
    --------
    >>> blended("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    channels = zip(_parts(colour), _parts(ground), strict=True)
    return "#" + "".join(f"{round(share * over + (1 - share) * under):02x}" for over, under in channels)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))
