"""treewright show: what is in a model file, as text or as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from treewright.cli.help import option, verb
from treewright.cli.options import FILE, FORMS, Wish, drawing_options, drawn, json_option, node_number, open_for
from treewright.cli.output import note, plural, size_line, write

if TYPE_CHECKING:
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel


@verb(
    "show",
    "treewright show weather.model.json",
    "treewright show weather.model.json --numbers --depth 2",
    "treewright show weather.model.json -o tree.svg",
    "treewright show forest.json --tree 0",
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
            write(text)


def _tell(text: str, wish: Wish) -> None:
    from treewright.atomic_file import write_atomically

    if wish.output is None:
        write(text)
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
    from treewright.cli.output import json_text
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
    from treewright.cli.output import forest_summary, forest_text, json_text, save_forest_plot

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
