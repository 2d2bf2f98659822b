"""treewright show: what is in a model file, as text or as a drawing."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, Verb, option
from treewright.cli.options import FILE, json_option, open_model
from treewright.cli.output import (
    forest_summary,
    forest_text,
    json_text,
    note,
    plural,
    reading,
    require_writable,
    save_forest_plot,
    size_line,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel


FORMS = ("text", "svg", "html", "png", "pdf", "dot", "mermaid", "tikz", "json")
"""As in `treewright.drawing.draw`, which is not imported to print a help page."""

PICTURES = ("png", "pdf")


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
        """Return the form by its name, or by the suffix of the file; text if neither is given."""
        from treewright.drawing.draw import form_of

        return named or (form_of(self.output) if self.output is not None else "text")


def drawing_options(function: Function) -> Function:
    """Add what to show; the function gets `wish`."""

    @option(
        "output", "-o", "--output", metavar="FILE", type=FILE, help="File to write to; its suffix chooses the format."
    )
    @option(
        "tree",
        "--max-depth",
        "--depth",
        "depth",
        type=click.IntRange(min=0),
        default_text="as many as fit",
        help="Number of levels to show.",
    )
    @option(
        "tree",
        "--max-nodes",
        type=click.IntRange(min=1),
        default_text="120",
        help="Maximum number of nodes in a drawing, largest first.",
    )
    @option("tree", "--all", "everything", is_flag=True, help="Show the whole tree, however large.")
    @option("tree", "--node", metavar="root|N", default="root", help="Start at this node (see `show --numbers`).")
    @option("tree", "--tree", "tree_number", type=click.IntRange(min=0), help="Tree of a forest, counted from 0.")
    @option(
        "data",
        "--data",
        "source",
        metavar="FILE",
        type=FILE,
        help="Cases for histograms in svg, html, png and pdf drawings.",
    )
    @option("data", "--delimiter", metavar="CHAR", help=r"Field delimiter of --data; \t is a tab.")
    @option("data", "--encoding", metavar="NAME", default_text="UTF-8", help="Encoding of --data, such as latin-1.")
    @option("output", "--title", default_text="the target", help="Title of a drawing.")
    @functools.wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        given = {name: rest.pop(name) for name in Wish.__dataclass_fields__}
        if given["everything"] and (given["depth"] is not None or given["max_nodes"] is not None):
            raise click.UsageError("--all shows every level; it cannot be combined with --depth or --max-nodes")
        return function(*args, wish=Wish(**given), **rest)

    return wrapper


def open_for(model_file: str, wish: Wish) -> TreeModel | RuleModel | Forest:
    """Read a model; of a forest the tree that is wished for."""
    from treewright.errors import ParameterError
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel

    if wish.output is not None:
        require_writable(wish.output, model_file, wish.source or "")
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
    from treewright.data.read import read
    from treewright.drawing.draw import draw, written

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


@click.command(
    "show",
    cls=Verb,
    examples=(
        "treewright show weather.model.json",
        "treewright show weather.model.json --numbers --depth 2",
        "treewright show weather.model.json -o tree.svg",
        "treewright show forest.json --tree 0",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@option(
    "output",
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMS),
    default_text="by the suffix of -o, else text",
    help="Format.",
)
@drawing_options
@option("output", "--numbers", is_flag=True, help="Print the number of each node, for `explain --node`.")
@json_option
def command(
    model_file: str,
    form: str | None,
    wish: Wish,
    numbers: bool,
    as_json: bool,
) -> None:
    """Print the tree or the rules of MODEL, or draw the tree (-o tree.svg, .html, .png, .pdf)."""
    from treewright.tree.forest import Forest
    from treewright.tree.rules import RuleModel

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} are two forms; ask for one")
    chosen = "json" if as_json else wish.form(form)
    if numbers and chosen != "text":
        raise click.UsageError("--numbers is for the form text")
    model = open_for(model_file, wish)
    if isinstance(model, RuleModel):
        _tell(_of_rules(model, chosen), wish)
    elif isinstance(model, Forest):
        text = _of_forest(model, chosen, wish)
        if text:
            _tell(text, wish)
    elif chosen == "text":
        _tell(_text(model, wish, numbers=numbers), wish)
    else:
        text = drawn(model, chosen, wish)
        if text:
            click.echo(text)


def _tell(text: str, wish: Wish) -> None:
    from treewright.atomic_file import write_atomically

    if wish.output is None:
        click.echo(text)
    else:
        write_atomically(wish.output, f"{text}\n")
        note(f"Written to {wish.output}")


def _origin(model: TreeModel | RuleModel | Forest) -> str:
    from treewright.wording import printable

    source, rows = model.provenance.get("source"), model.provenance.get("rows")
    name = model.recipe.get("name", "Tree")
    numeric = model.recipe.get("numeric")
    bins = numeric.get("bins") if isinstance(numeric, dict) else None
    cuts = f", cuts at the borders of {bins} bins" if bins is not None else ""
    return printable(f"{name} for {model.schema.target}, trained on {source or 'data in memory'} ({rows} rows){cuts}")


def _text(model: TreeModel, wish: Wish, *, numbers: bool) -> str:
    from treewright.cli.train import PRINTED_NODES, printed_tree
    from treewright.errors import ParameterError
    from treewright.tree.notation import to_notation

    for name, value in (("--max-nodes", wish.max_nodes), ("--data", wish.source), ("--title", wish.title)):
        if value is not None:
            raise ParameterError(f"{name} is for drawings; ask for one with --format or -o FILE")
    node = node_number(wish.node, model.tree.n_nodes)
    depth = model.tree.depth if wish.everything else wish.depth
    parts = [_origin(model), "", printed_tree(model, depth, numbers=numbers, node=node), "", size_line(model.tree)]
    if str(model.recipe.get("name", "")).startswith("CAL") and model.tree.n_nodes <= PRINTED_NODES:
        parts.append(to_notation(model.tree))
    return "\n".join(parts)


def _of_rules(model: RuleModel, form: str) -> str:
    from treewright.drawing.notebook import page, rules_table

    match form:
        case "text":
            return f"{_origin(model)}\n\n{model}\n\n{plural(len(model.rules), 'rule')}."
        case "json":
            return json_text(model.rules.to_dict())
        case "html":
            return page(f"Rules for {model.schema.target}", rules_table(model.rules)).removesuffix("\n")
        case _:
            raise _no_tree(form, "rules", "text, json or html")


def _of_forest(model: Forest, form: str, wish: Wish) -> str:

    if form == "text":
        return f"{_origin(model)}\n\n{forest_text(model)}"
    if form == "json":
        return json_text(forest_summary(model))
    if form in ("png", "pdf", "svg") and wish.output is not None:
        save_forest_plot(model, wish.output)
        note(f"Error against the number of trees written to {wish.output}; a tree is drawn with --tree N")
        return ""
    raise _no_tree(form, "a forest", "text, json, its errors by -o FILE.png, or choose a tree with --tree N")


def _no_tree(form: str, what: str, instead: str) -> Exception:
    from treewright.errors import ParameterError

    return ParameterError(f"{form} draws one tree, and this model holds {what}: ask for {instead}")
