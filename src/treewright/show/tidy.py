"""Tidy tree layout: the horizontal positions of the nodes.

Subtrees are as close as their contours allow, equal subtrees look equal, a parent is centred over its children, and
small subtrees between large ones are spread evenly (Reingold and Tilford 1981; Buchheim, Jünger and Leipert 2002).

The contour of a subtree is, for each level, how far it extends to the left or right of its root. Joining two subtrees
visits as many levels as the lower one has, so all joins together are linear in the number of nodes. Nothing is
recursive: depth costs no stack.
"""

from __future__ import annotations

from collections.abc import Sequence


class _Outline:
    """How far a subtree reaches on one side, level by level from its lowest up, all shifted by `offset`."""

    __slots__ = ("levels", "offset")

    def __init__(self, levels: list[float], offset: float = 0.0) -> None:
        self.levels = levels
        self.offset = offset


class _Forest:
    """The subtrees of one node, joined from left to right."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self.places: list[float] = []
        self.spread: list[float] = []  # second differences of what neighbours between are moved afterwards
        self.left = self.right = _Outline([])
        self.owners: list[tuple[int, int]] = []  # (levels, child): whose right side is seen, the top ones last

    def join(self, left: _Outline, right: _Outline) -> None:
        """Put one more subtree to the right of all others, as near as possible."""
        child = len(self.places)
        self.places.append(0.0)
        self.spread += [0.0] * (3 if not child else 1)
        height = len(left.levels)
        if not child:
            self.left, self.right, self.owners = left, right, [(height, 0)]
            return
        place = self._nearest(child, left)
        self.places[child] = place
        left.offset += place
        right.offset += place
        self._cover(child, height, left, right)

    def _nearest(self, child: int, left: _Outline) -> float:
        """Return how far the new subtree must be moved; who is between two that touch shares the way."""
        common = min(len(left.levels), len(self.right.levels))
        place = -float("inf")
        run = len(self.owners) - 1
        for level in range(1, common + 1):
            while self.owners[run][0] < level:
                run -= 1
            needed = self.right.levels[-level] + self.right.offset + self.gap - left.levels[-level] - left.offset
            if needed > place:
                owner = self.owners[run][1]
                if level > 1 and child - owner > 1:
                    step = (needed - place) / (child - owner)
                    self.spread[owner + 1] += step
                    self.spread[child] -= (child - owner) * step
                    self.spread[child + 1] += (child - owner - 1) * step
                place = needed
        return place

    def _cover(self, child: int, height: int, left: _Outline, right: _Outline) -> None:
        """Make the outlines of the others those of all; the shorter list is written into the longer one."""
        old = len(self.right.levels)
        if height >= old:
            for level in range(1, old + 1):
                left.levels[-level] = self.left.levels[-level] + self.left.offset - left.offset
            self.left, self.right = left, right
            self.owners = [(height, child)]
            return
        for level in range(1, height + 1):
            self.right.levels[-level] = right.levels[-level] + right.offset - self.right.offset
        while self.owners[-1][0] <= height:
            self.owners.pop()
        self.owners.append((height, child))

    def settled(self) -> list[float]:
        """Return the places of the subtrees, those between moved, the middle of the outer ones at 0."""
        slope = moved = 0.0
        places = []
        for place, bend in zip(self.places, self.spread, strict=False):
            slope += bend
            moved += slope
            places.append(place + moved)
        middle = (places[0] + places[-1]) / 2
        return [place - middle for place in places]


def tidy(parents: Sequence[int], breadths: Sequence[float], gap: float = 14.0) -> list[float]:
    """Return the middle of every node, from left to right; the leftmost side is at 0.

    Parameters
    ----------
    parents : sequence of int
        Position of the parent of each node, -1 for the first; a parent stands before its children, the children of a
        node from left to right.
    breadths : sequence of float
        Width of each node.
    gap : float
        Least distance of neighbours.

    Examples
    --------
    >>> tidy([-1, 0, 0, 0], [20, 10, 10, 10], gap=2)
    [17.0, 5.0, 17.0, 29.0]
    """
    below: list[list[int]] = [[] for _ in parents]
    for node in range(1, len(parents)):
        below[parents[node]].append(node)
    outlines: list[tuple[_Outline, _Outline] | None] = [None] * len(parents)
    beside = [0.0] * len(parents)  # of the parent
    for node in range(len(parents) - 1, -1, -1):
        left, right = _Outline([]), _Outline([])
        if below[node]:
            forest = _Forest(gap)
            for child in below[node]:
                pair = outlines[child]
                assert pair is not None  # noqa: S101 - children come after their parent, so they are done
                forest.join(*pair)
                outlines[child] = None
            places = forest.settled()
            left, right = forest.left, forest.right
            moved = places[0]
            left.offset += moved
            right.offset += moved
            for child, place in zip(below[node], places, strict=True):
                beside[child] = place
        half = breadths[node] / 2
        left.levels.append(-half - left.offset)
        right.levels.append(half - right.offset)
        outlines[node] = (left, right)
    middles = beside
    for node in range(1, len(parents)):
        middles[node] += middles[parents[node]]
    leftmost = min(middle - breadth / 2 for middle, breadth in zip(middles, breadths, strict=True))
    return [middle - leftmost for middle in middles]
