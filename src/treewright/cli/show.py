"""treewright show: what is in a model file."""

from __future__ import annotations

import rich_click as click

from treewright.cli.options import FILE, json_option, open_model
from treewright.cli.output import many, say, say_json, size_line


@click.command("show")
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    help="Print so many levels (default: as many as fit; large trees are cut).",
)
@click.option("--all", "everything", is_flag=True, help="Print the whole tree, however large.")
@click.option("--numbers", is_flag=True, help="Print the number of each node, for `explain --node`.")
@json_option
def command(model_file: str, depth: int | None, everything: bool, numbers: bool, as_json: bool) -> None:
    """Print the tree or the rules of MODEL."""
    from treewright._base.printable import printable
    from treewright.cli.train import PRINTED_NODES, printed_tree
    from treewright.model.nested import tree_to_json
    from treewright.model.notation import to_notation
    from treewright.model.rule_model import RuleModel

    if everything and depth is not None:
        raise click.UsageError("--all prints every level; it does not go with --depth")
    model = open_model(model_file)
    if as_json:
        if isinstance(model, RuleModel):
            say_json(model.rules.to_dict())
        else:
            say(tree_to_json(model.tree))
        return
    source, rows = model.provenance.get("source"), model.provenance.get("rows")
    name = model.recipe.get("name", "Tree")
    say(printable(f"{name} for {model.schema.target}, learned from {source or 'data in memory'} ({rows} rows)") + "\n")
    if isinstance(model, RuleModel):
        say(f"{model}\n\n{many(len(model.rules), 'rule')}.")
        return
    say(printed_tree(model, model.tree.depth if everything else depth, numbers=numbers))
    say(f"\n{size_line(model.tree)}")
    if str(model.recipe.get("name", "")).startswith("CAL") and model.tree.n_nodes <= PRINTED_NODES:
        say(to_notation(model.tree))
