"""The `explain` method of objects that hold one tree; a higher layer implements it."""

from __future__ import annotations

from typing import Any

from treewright._base.higher_room import made


class Explained:
    """Base class of objects that can explain themselves."""

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

        The result has ``to_text(lang)``, ``to_markdown(lang)``, ``to_html(lang)`` and ``to_dict()``, and displays
        itself in a notebook. The explanation of a node has its frequency ``table``, the ``gains`` of all attributes,
        and the ``runner_up``.

        Parameters
        ----------
        row : dict of name to value, or a table with one row
            The case whose prediction is explained; attributes that a dict does not name are missing.
        node : int or None
            The node to explain; the root is 0.
        pruning : bool
            Explain what pruning compared at the node (at the root, if none is named).
        steps : bool
            Explain the growth step by step.
        data : Dataset or None
            The training data, for details that the model does not store.

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
