"""treewright distil: a forest and its training cases in, one readable tree out that approximates the forest."""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option, open_model, reading_options
from treewright.cli.output import require_writable, size_line, warnings_as_notes, write_json
from treewright.cli.train import printed_tree


@click.command(
    "distil",
    cls=Verb,
    examples=(
        "treewright distil forest.json weather.csv",
        "treewright distil forest.json weather.csv --test test.csv -o tree.json",
    ),
)
@click.argument("model_file", metavar="FOREST", type=FILE)
@click.argument("source", metavar="FILE", type=FILE)
@option("evaluation", "--test", metavar="FILE", type=FILE, help="Test cases, unseen by the forest.")
@option(
    "tree",
    "--base",
    type=click.Choice(["c45", "cart", "id3", "chaid"]),
    default_text="c45, regression cart",
    help="Algorithm that grows the tree.",
)
@option(
    "data",
    "--made",
    type=int,
    metavar="N",
    default_text="as many as in FILE, at least 1,000",
    help="Number of synthetic cases.",
)
@option(
    "data", "--seed", type=int, metavar="N", default=0, show_default=True, help="Random seed for the synthetic cases."
)
@option("output", "-o", "--output", metavar="FILE", type=FILE, help="File to write the tree to.")
@reading_options
@json_option
def command(
    model_file: str,
    source: str,
    test: str | None,
    base: str | None,
    made: int | None,
    seed: int,
    output: str | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Approximate FOREST by a single tree; FILE is the training data of the forest.

    Prints the accuracy of the tree and its agreement with the forest, beside those of a tree trained on FILE alone.
    """
    from treewright.data.read import read
    from treewright.ensembles.distil import distil
    from treewright.ensembles.plan import tree_plan
    from treewright.plans import c45

    if output is not None:
        require_writable(output, model_file, source, *([test] if test else []))
    model = open_model(model_file)
    with warnings_as_notes():
        data = read(source, schema=model.schema, **how)
        unseen = None if test is None else read(test, schema=model.schema, **how)
        plan = None if base is None else tree_plan(base, c45())
        found = distil(model, data, test=unseen, plan=plan, made=made, seed=seed)
    if output is not None:
        found.model.save(output)
    if as_json:
        write_json({**found.to_dict(), "model": output})
        return
    click.echo(f"{printed_tree(found.model)}\n\n{size_line(found.model.tree)}\n\n{found}")
    if output is not None:
        click.echo(f"Model written to {output}")
