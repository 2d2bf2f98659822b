"""treewright prune: a model in, a smaller one out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.learners import spelled
from treewright.cli.options import FILE, json_option, open_tree, reading_options
from treewright.cli.output import require_writable, size_line, write_json
from treewright.cli.train import printed_tree

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.tree.model import TreeModel

METHODS = ("error_based", "reduced_error", "chi_square", "mdl", "cost_complexity", "collapse", "simplify")


@click.command(
    "prune",
    cls=Verb,
    examples=(
        "treewright prune weather.model.json --method mdl",
        "treewright prune weather.model.json --significance 0.01 -o small.json",
        "treewright prune weather.model.json --method reduced_error --data test.csv",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@option(
    "pruning",
    "--method",
    type=click.Choice(METHODS),
    default_text="chi_square",
    help="Pruning method; an option of a method implies it.",
)
@option(
    "pruning",
    "--confidence",
    bounds=click.FloatRange(0, 1, min_open=True),
    default_text="0.25",
    help="error_based: confidence; smaller prunes more.",
)
@option(
    "pruning",
    "--no-raising",
    "raising",
    is_flag=True,
    flag_value=False,
    default=None,
    help="error_based: no subtree raising.",
)
@option(
    "pruning",
    "--significance",
    bounds=click.FloatRange(0, 1, min_open=True, max_open=True),
    default_text="0.05",
    help="chi_square: significance level; smaller prunes more.",
)
@option("pruning", "--bonferroni", is_flag=True, default=None, help="chi_square: Bonferroni correction.")
@option(
    "pruning",
    "--alpha",
    bounds=click.FloatRange(min=0),
    default_text="0",
    help="cost_complexity: penalty per leaf (ccp_alpha).",
)
@option(
    "pruning",
    "--risk",
    type=click.Choice(["impurity", "errors"]),
    metavar="KIND",
    default_text="impurity",
    help="cost_complexity: risk of a leaf.",
)
@option(
    "data",
    "--data",
    "source",
    metavar="FILE",
    type=FILE,
    help="error_based: training data; reduced_error: held-out data.",
)
@option("output", "-o", "--output", metavar="FILE", type=FILE, help="File to write the pruned model to.")
@reading_options
@json_option
def command(
    model_file: str,
    method: str | None,
    source: str | None,
    output: str | None,
    how: dict[str, Any],
    as_json: bool,
    **parameters: Any,
) -> None:
    """Prune the tree of MODEL and print the result."""
    if output is not None:
        require_writable(output, *([source] if source else []))
    given = {name: value for name, value in parameters.items() if value is not None}
    chosen = _method(method, given)
    model = open_tree(model_file)
    data = _cases(model, chosen, source, how)
    pruned = _pruned(model, chosen, given, data)
    if output is not None:
        pruned.save(output)
    if as_json:
        tree = pruned.tree
        write_json(
            {
                "nodes": tree.n_nodes,
                "leaves": tree.n_leaves,
                "depth": tree.depth,
                "before": model.tree.n_nodes,
                "model": output,
            }
        )
        return
    click.echo(printed_tree(pruned))
    click.echo(f"\n{size_line(pruned.tree)}  Before: {size_line(model.tree)}")
    if output is not None:
        click.echo(f"Model written to {output}")


def _method(named: str | None, given: dict[str, Any]) -> str:
    """Return the method named, or the one that the options imply; an option of another method is refused."""
    from dataclasses import fields

    from treewright.pruning.methods import PRUNERS, implied_method

    known = {name: {field.name for field in fields(pruner)} for name, pruner in PRUNERS.items()}
    options = {name: [spelled(one, value) for one, value in given.items() if one in own] for name, own in known.items()}
    if named is None:
        return implied_method(options) or "chi_square"
    for name, typed in options.items():
        if typed and name != named:
            raise click.UsageError(
                f"{typed[0]} has an effect only with --method {name}, not with --method {named}: "
                "leave one of the two out"
            )
    return named


def _cases(model: TreeModel, method: str, source: str | None, how: dict[str, Any]) -> Dataset | None:
    from treewright.data.read import read

    if source is None:
        if method in ("error_based", "reduced_error"):
            raise click.UsageError(f"--method {method} needs cases: --data FILE")
        return None
    return read(source, schema=model.schema, **how)


def _pruned(model: TreeModel, method: str, given: dict[str, Any], data: Dataset | None) -> TreeModel:
    from dataclasses import replace

    from treewright.pruning.methods import prune, pruner_named

    if method == "cost_complexity" and model.recipe.get("criterion") == "entropy":
        given = {"criterion": "entropy", **given}
    chosen = pruner_named(method, **({"alpha": 0.0} if method == "cost_complexity" else {}) | given)
    tree, plain = prune(model.tree, chosen, data, data), chosen.to_dict()
    recipe = {**model.recipe, "pruning": [*model.recipe.get("pruning", []), plain]}
    # The numbers of the nodes have changed; `explain --data` counts again.
    return replace(model, tree=tree, recipe=recipe, trace={} if tree.n_nodes < model.tree.n_nodes else model.trace)
