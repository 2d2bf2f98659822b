"""Output formats of a tree by name: text, SVG, HTML, DOT, Mermaid, TikZ, JSON, rules.

All functions take a `Tree`, a `TreeModel` or a fitted estimator. `cases_for` encodes the cases shown in a drawing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.atomic_file import write_atomically
from treewright.data.columns import RawTable
from treewright.data.dataset import Dataset, Unseen, encode
from treewright.data.frames import raw_table
from treewright.data.schema import Schema
from treewright.drawing.layout import TreeLayout, lay_out
from treewright.drawing.node_histogram import node_histograms
from treewright.drawing.svg import svg_text
from treewright.errors import DataError, ParameterError
from treewright.export.dot import dot_text
from treewright.export.mermaid import mermaid_text
from treewright.export.tikz import tikz_text
from treewright.export.view_model import VisibleTree, visible_tree
from treewright.tree.io.tree_json import tree_to_json
from treewright.tree.model import TreeModel
from treewright.tree.output_methods import SHOWN_NODES
from treewright.tree.rules import RuleSet
from treewright.tree.text import tree_text
from treewright.tree.tree import Tree
from treewright.wording import unknown_name


def cases_for(tree: Tree, data: Any, y: Any = None) -> Dataset:
    """Encode cases by the schema of a tree.

    Parameters
    ----------
    tree : Tree
    data : Dataset, RawTable, dataframe, mapping of columns, array or rows
        With or without the target among the columns.
    y : array, optional
        The target, if the data do not have it.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.sample("play-tennis")
    >>> tree = treewright.fit(weather, treewright.ID3()).tree
    >>> cases_for(tree, weather.X, weather.y).target.tolist() == weather.target.tolist()
    True
    """
    schema = tree.schema
    if isinstance(data, Dataset) and data.schema == schema and y is None:
        return data
    if isinstance(data, Dataset) and y is None and data.target is not None and data.schema.target == schema.target:
        y = data.y
    if y is None:
        raw = _with_names(data)
        if raw is not None and schema.target in raw.columns:
            return encode(raw, without_weight(schema), unseen=Unseen.MISSING)
    cases = TreeModel(tree).cases(data)
    if y is None:
        return cases
    labels = np.asarray(y)
    if labels.shape != (cases.n_rows,):
        raise DataError(f"y must have one value for each of the {cases.n_rows} cases, not the shape {labels.shape}")
    name = schema.target or "y"
    alone = Schema((schema.target_column,), target=name, missing_markers=schema.missing_markers)
    target = encode(raw_table({name: labels}), alone).target
    return replace(cases, target=target)


def without_weight(schema: Schema) -> Schema:
    """Return a schema without the weight column, which only training data usually have."""
    if schema.weight is None:
        return schema
    columns = tuple(column for column in schema.columns if column.name != schema.weight)
    return replace(schema, columns=columns, weight=None)


def _with_names(data: Any) -> RawTable | None:
    """Return the columns of data that have names, else None."""
    if isinstance(data, RawTable):
        return data
    if isinstance(data, Mapping) or not isinstance(data, (Dataset, np.ndarray, list, tuple)):
        return raw_table(data)
    return None


SUFFIXES = {
    ".txt": "text",
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".png": "png",
    ".pdf": "pdf",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".tex": "tikz",
    ".tikz": "tikz",
    ".json": "json",
}
"""Output format by the suffix of a file name."""

FORMS = tuple(dict.fromkeys(SUFFIXES.values()))


def tree_of(thing: Any) -> Tree:
    """Return the tree of a tree, a model or a fitted estimator.

    Examples
    --------
    >>> tree_of("oak")
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: a tree, a model of one tree or a fitted tree estimator is needed, not a str
    """
    if isinstance(thing, Tree):
        return thing
    if isinstance(thing, TreeModel):
        return thing.tree
    tree = thing.tree_ if hasattr(type(thing), "tree_") else None  # an estimator that is not fitted raises an error
    if isinstance(tree, Tree):
        return tree
    kind = type(thing).__name__
    raise ParameterError(f"a tree, a model of one tree or a fitted tree estimator is needed, not a {kind}")


def to_text(thing: Any, *, max_depth: int | None = None, width: int = 100, numbers: bool = False, node: int = 0) -> str:
    """Return the lines of a tree; see `treewright.tree.text.tree_text`."""
    return tree_text(tree_of(thing), max_depth=max_depth, width=width, numbers=numbers, root=node)


def to_svg(
    thing: Any,
    *,
    max_nodes: int | None = SHOWN_NODES,
    max_depth: int | None = None,
    node: int = 0,
    data: Any = None,
    y: Any = None,
    title: str | None = None,
) -> str:
    """Draw a tree as SVG.

    Parameters
    ----------
    thing : Tree, TreeModel or fitted tree estimator
    max_nodes : int or None
        Most boxes, the heaviest nodes first; None draws all.
    max_depth : int or None
        Levels below the first box.
    node : int
        Node to begin with.
    data : Dataset, dataframe, mapping or array, optional
        Cases: nodes that test a number then show a histogram of them with the threshold.
    y : array, optional
        The target of the cases, if the data do not have it.
    title : str or None
        Line above the drawing; None names the target, an empty text leaves it out.

    Returns
    -------
    str
        The text of an SVG file, without script or link, for light and dark backgrounds.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.sample("play-tennis")
    >>> to_svg(treewright.fit(weather, treewright.ID3())).count("<title>")
    8
    """
    return svg_text(_layout(thing, max_nodes, max_depth, node, data, y, title))


def to_html(thing: Any, **options: Any) -> str:
    """Return a page with the drawing and the text of a tree; options as for `to_svg`."""
    from treewright.drawing.notebook import tree_page

    return tree_page(tree_of(thing), to_svg(thing, **options), options.get("title"))


def to_dot(thing: Any, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
    """Return a tree for Graphviz; options as for `to_svg`."""
    return dot_text(_view(thing, max_nodes, max_depth, node))


def to_mermaid(thing: Any, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
    """Return a tree as a Mermaid flowchart; options as for `to_svg`."""
    return mermaid_text(_view(thing, max_nodes, max_depth, node))


def to_tikz(thing: Any, *, max_nodes: int | None = SHOWN_NODES, max_depth: int | None = None, node: int = 0) -> str:
    """Return a tree as a picture for LaTeX; options as for `to_svg`."""
    layout = lay_out(_view(thing, max_nodes, max_depth, node), heading="")
    top = layout.boxes[0].y
    return tikz_text(layout.view, [(box.x, box.y - top) for box in layout.boxes])


def to_json(thing: Any) -> str:
    """Return the whole tree as nested JSON."""
    return tree_to_json(tree_of(thing))


def to_rules(thing: Any) -> RuleSet:
    """Return the paths of a tree of classes as rules; see `TreeForms.to_rules`."""
    from treewright.tree.rules import path_rules

    return path_rules(tree_of(thing))


def draw(thing: Any, path: str | os.PathLike[str], *, form: str | None = None, **options: Any) -> None:
    """Write a tree into a file.

    Parameters
    ----------
    thing : Tree, TreeModel or fitted tree estimator
    path : path
        The suffix determines the format, unless `form` is given.
    form : {"text", "svg", "html", "png", "pdf", "dot", "mermaid", "tikz", "json"}, optional
    **options
        As for `to_svg`.
    """
    name = form_of(path, form)
    if name in ("png", "pdf"):
        from treewright.drawing.figure import save_figure
        from treewright.drawing.picture import tree_figure

        save_figure(tree_figure(_layout(thing, **_options(options))), path, form=name)
        return
    write_atomically(path, written(thing, name, **options))


def form_of(path: str | os.PathLike[str], form: str | None = None) -> str:
    """Return the output format, by name or by the suffix of a file.

    Examples
    --------
    >>> form_of("tree.gv"), form_of("tree", "svg")
    ('dot', 'svg')
    """
    if form is not None:
        if form not in FORMS:
            raise ParameterError(unknown_name("form", form, FORMS))
        return form
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in SUFFIXES:
        suffix_text = repr(suffix) if suffix else "a name without suffix"
        raise ParameterError(f"{suffix_text} is not a known format; use one of {', '.join(SUFFIXES)}")
    return SUFFIXES[suffix]


def written(thing: Any, form: str, **options: Any) -> str:
    """Return a text format, ending with a newline; options that it does not have are rejected."""
    match form:
        case "svg":
            return to_svg(thing, **options)
        case "html":
            return to_html(thing, **options)
        case "text":
            return to_text(thing, **_known(options, form, "max_depth", "node")) + "\n"
        case "json":
            return to_json(thing, **_known(options, form)) + "\n"
        case "dot" | "mermaid" | "tikz":
            make = {"dot": to_dot, "mermaid": to_mermaid, "tikz": to_tikz}[form]
            return make(thing, **_known(options, form, "max_nodes", "max_depth", "node")) + "\n"
        case _:
            raise ParameterError(f"{form} is not a text format; write it into a file")


_DEFAULTS: Mapping[str, Any] = {
    "max_nodes": SHOWN_NODES,
    "max_depth": None,
    "node": 0,
    "data": None,
    "y": None,
    "title": None,
}


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in _DEFAULTS:
            raise ParameterError(unknown_name("option", name, _DEFAULTS))
    return {**_DEFAULTS, **given}


def _known(given: Mapping[str, Any], form: str, *names: str) -> dict[str, Any]:
    for name, value in _options(given).items():
        if name not in names and value != _DEFAULTS[name]:
            raise ParameterError(f"the form {form} has no {name}")
    return {name: value for name, value in given.items() if name in names}


def _view(thing: Any, max_nodes: int | None, max_depth: int | None, node: int) -> VisibleTree:
    return visible_tree(tree_of(thing), root=node, max_nodes=max_nodes, max_depth=max_depth)


def _layout(
    thing: Any, max_nodes: int | None, max_depth: int | None, node: int, data: Any, y: Any, title: str | None
) -> TreeLayout:
    view = _view(thing, max_nodes, max_depth, node)
    histograms = None
    if data is not None:
        cases: Dataset = cases_for(view.tree, data, y)
        histograms = node_histograms(view.tree, cases, [one.number for one in view.nodes])
    elif y is not None:
        raise ParameterError("y needs data: it is the target of these cases")
    return lay_out(view, histograms, title)
