"""Explaining as a method of whatever holds one tree.

The explanations are made by a higher room, see `treewright._base.higher_room`; here is the name and what it takes.
"""

from __future__ import annotations

from typing import Any

from treewright._base.higher_room import made


class Explained:
    """Base of what can say why it is as it is."""

    def explain(
        self,
        row: Any = None,
        *,
        node: int | None = None,
        pruning: bool = False,
        steps: bool = False,
        data: Any = None,
    ) -> Any:
        """Explain the whole tree, one prediction, one node, its pruning, or the growth.

        What comes back has ``to_text(lang)``, ``to_markdown(lang)``, ``to_html(lang)`` and ``to_dict()``, and shows
        itself in a notebook. The explanation of a node has its frequency ``table``, the ``gains`` of all attributes,
        and the ``runner_up``.

        Parameters
        ----------
        row : dict of name to value, or a table with one row
            The case whose prediction is to be explained; what a dict does not name is missing.
        node : int or None
            The node to be explained; the root is 0.
        pruning : bool
            Explain what pruning compared at the node (at the root, if none is named).
        steps : bool
            Explain the growth step by step.
        data : Dataset or None
            The training data, for what a model does not keep.

        Examples
        --------
        >>> import treewright
        >>> model = treewright.fit(treewright.sample("play-tennis"), treewright.ID3())
        >>> model.explain(node=0).runner_up
        'Humidity'
        >>> print(model.explain({"Outlook": "Overcast"}).to_text("de").splitlines()[0])
        Vorhersage: PlayTennis = Yes
        """
        return made("explain", self, row=row, node=node, pruning=pruning, steps=steps, data=data)
