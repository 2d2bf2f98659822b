"""treewright prune: a model in, a smaller one out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from treewright.cli.options import FILE, json_option, open_tree, reading_options
from treewright.cli.output import require_place, say, say_json, size_line
from treewright.cli.train import printed_tree

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.model.model import TreeModel

METHODS = ("error_based", "reduced_error", "chi_square", "mdl", "cost_complexity", "collapse", "simplify")


@click.command("prune")
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.option("--method", type=click.Choice(METHODS), default="chi_square", show_default=True)
@click.option("--confidence", type=float, help="error_based: smaller prunes more (default 0.25).")
@click.option("--no-raising", "raising", is_flag=True, flag_value=False, default=None, help="error_based: no raising.")
@click.option("--significance", type=float, help="chi_square: smaller prunes more (default 0.05).")
@click.option("--bonferroni", is_flag=True, default=None, help="chi_square: make up for the choice among attributes.")
@click.option("--alpha", type=float, help="cost_complexity: the price of a leaf.")
@click.option(
    "--risk", type=click.Choice(["impurity", "errors"]), help="cost_complexity: what a leaf costs (default impurity)."
)
@click.option(
    "--data", "source", metavar="FILE", type=FILE, help="error_based: the training data; reduced_error: data held out."
)
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Where the pruned model goes (default: print only).")
@reading_options
@json_option
def command(
    model_file: str,
    method: str,
    source: str | None,
    output: str | None,
    how: dict[str, Any],
    as_json: bool,
    **parameters: Any,
) -> None:
    """Prune the tree of MODEL by any method, and print what is left."""
    if output is not None:
        require_place(output, *([source] if source else []))
    given = {name: value for name, value in parameters.items() if value is not None}
    model = open_tree(model_file)
    data = _cases(model, method, source, how)
    pruned = _pruned(model, method, given, data)
    if output is not None:
        pruned.save(output)
    if as_json:
        tree = pruned.tree
        say_json(
            {
                "nodes": tree.n_nodes,
                "leaves": tree.n_leaves,
                "depth": tree.depth,
                "before": model.tree.n_nodes,
                "model": output,
            }
        )
        return
    say(printed_tree(pruned))
    say(f"\n{size_line(pruned.tree)}  Before: {size_line(model.tree)}")
    if output is not None:
        say(f"Model written to {output}")


def _cases(model: TreeModel, method: str, source: str | None, how: dict[str, Any]) -> Dataset | None:
    from treewright.data.tables import read

    if source is None:
        if method in ("error_based", "reduced_error"):
            raise click.UsageError(f"--method {method} needs cases: --data FILE")
        return None
    return read(source, schema=model.schema, **how)


def _pruned(model: TreeModel, method: str, given: dict[str, Any], data: Dataset | None) -> TreeModel:
    from dataclasses import replace

    from treewright.prune.method import prune, pruner_named

    if method == "cost_complexity" and model.recipe.get("criterion") == "entropy":
        given = {"criterion": "entropy", **given}
    chosen = pruner_named(method, **({"alpha": 0.0} if method == "cost_complexity" else {}) | given)
    tree, plain = prune(model.tree, chosen, data, data), chosen.to_dict()
    recipe = {**model.recipe, "pruning": [*model.recipe.get("pruning", []), plain]}
    # The numbers of the nodes have changed; `explain --data` counts again.
    return replace(model, tree=tree, recipe=recipe, working={} if tree.n_nodes < model.tree.n_nodes else model.working)
