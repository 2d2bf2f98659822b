"""The colours of drawings, on light and on dark ground.

Classes have Okabe and Ito's colours, which the colour-blind tell apart, too; on dark ground the same hues, lighter.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.show.figure import COLOURS

CLASS_COLOURS = (*COLOURS[:7], "#8A8F98")
"""By colour number (see `treewright.export.sketch`); the last one, grey, is for all other classes."""

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
