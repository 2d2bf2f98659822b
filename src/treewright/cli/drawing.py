"""Options that `show` and `export` share: which tree, which part of it, the format and the file."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, decorated, option
from treewright.cli.options import FILE, open_model
from treewright.cli.output import note, reading, require_place, warnings_as_notes

if TYPE_CHECKING:
    from treewright.model.forest import Forest
    from treewright.model.model import TreeModel
    from treewright.model.rule_model import RuleModel

FORMS = ("text", "svg", "html", "png", "pdf", "dot", "mermaid", "tikz", "json")
"""As in `treewright.show.forms`, which is not imported to print a help page."""

PICTURES = ("png", "pdf")

_OPTIONS = (
    option(
        "output", "-o", "--output", metavar="FILE", type=FILE, help="File to write to; its suffix chooses the format."
    ),
    option(
        "tree",
        "--max-depth",
        "--depth",
        "depth",
        type=click.IntRange(min=0),
        usual="as many as fit",
        help="Number of levels to show.",
    ),
    option(
        "tree",
        "--max-nodes",
        type=click.IntRange(min=1),
        usual="120",
        help="Maximum number of nodes in a drawing, largest first.",
    ),
    option("tree", "--all", "everything", is_flag=True, help="Show the whole tree, however large."),
    option("tree", "--node", metavar="root|N", default="root", help="Start at this node (see `show --numbers`)."),
    option("tree", "--tree", "tree_number", type=click.IntRange(min=0), help="Tree of a forest, counted from 0."),
    option(
        "data",
        "--data",
        "source",
        metavar="FILE",
        type=FILE,
        help="Cases for histograms in svg, html, png and pdf drawings.",
    ),
    option("data", "--delimiter", metavar="CHAR", help=r"Field delimiter of --data; \t is a tab."),
    option("data", "--encoding", metavar="NAME", usual="UTF-8", help="Encoding of --data, such as latin-1."),
    option("output", "--title", usual="the target", help="Title of a drawing."),
)


@dataclass(frozen=True)
class Wish:
    """Which part of a model to show, and how."""

    output: str | None
    depth: int | None
    max_nodes: int | None
    everything: bool
    node: str
    tree_number: int | None
    source: str | None
    delimiter: str | None
    encoding: str | None
    title: str | None

    @property
    def how(self) -> dict[str, Any]:
        """How the data are read."""
        given = {"delimiter": "\t" if self.delimiter == r"\t" else self.delimiter, "encoding": self.encoding}
        return {name: value for name, value in given.items() if value is not None}

    def form(self, named: str | None) -> str:
        """Return the form by its name, or by the suffix of the file; text if neither is said."""
        from treewright.show.forms import form_of

        return named or (form_of(self.output) if self.output is not None else "text")


def drawing_options(function: Function) -> Function:
    """Add what to show; the function gets `wish`."""

    @functools.wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        given = {name: rest.pop(name) for name in Wish.__dataclass_fields__}
        if given["everything"] and (given["depth"] is not None or given["max_nodes"] is not None):
            raise click.UsageError("--all shows every level; it cannot be combined with --depth or --max-nodes")
        return function(*args, wish=Wish(**given), **rest)

    return decorated(wrapper, _OPTIONS)


def open_for(model_file: str, wish: Wish) -> TreeModel | RuleModel | Forest:
    """Read a model; of a forest the tree that is wished for."""
    from treewright._base.errors import ParameterError
    from treewright.model.forest import Forest
    from treewright.model.model import TreeModel

    if wish.output is not None:
        require_place(wish.output, model_file, wish.source or "")
    model = open_model(model_file)
    if wish.tree_number is None:
        return model
    if not isinstance(model, Forest):
        raise ParameterError("--tree chooses a tree of a forest, but this model is not a forest")
    if wish.tree_number >= model.n_trees:
        raise ParameterError(f"there is no tree {wish.tree_number}; the trees are 0 to {model.n_trees - 1}")
    return TreeModel(model.trees[wish.tree_number], model.recipe, model.provenance)


def node_number(text: str, n_nodes: int) -> int:
    """Return the number of a node that was named on the command line.

    Examples
    --------
    >>> node_number("root", 8), node_number("7", 8)
    (0, 7)
    """
    if text == "root":
        return 0
    if not text.isdecimal() or int(text) >= n_nodes:
        raise click.BadParameter(f"{text!r} is not 'root' or a number from 0 to {n_nodes - 1}", param_hint="--node")
    return int(text)


def drawn(model: TreeModel, form: str, wish: Wish) -> str:
    """Return one form of a tree, or write it where it is to go and return nothing."""
    from treewright.data.tables import read
    from treewright.show.forms import draw, written

    if form in PICTURES and wish.output is None:
        raise click.UsageError(f"{form} is a binary format: name a file with -o FILE")
    options: dict[str, Any] = {"node": node_number(wish.node, model.tree.n_nodes)}
    if wish.depth is not None:
        options["max_depth"] = wish.depth
    if wish.max_nodes is not None:
        options["max_nodes"] = wish.max_nodes
    if wish.everything and form not in ("text", "json"):
        options["max_nodes"] = None
    if wish.title is not None:
        options["title"] = wish.title
    if wish.source is not None:
        with warnings_as_notes(), reading(wish.source):
            options["data"] = read(wish.source, schema=model.schema, **wish.how)
    if wish.output is None:
        return written(model, form, **options).removesuffix("\n")
    draw(model, wish.output, form=form, **options)
    note(f"Written to {wish.output}")
    return ""
