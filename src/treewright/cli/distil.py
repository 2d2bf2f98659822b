"""treewright distil: a forest and its training cases in, one readable tree out that says what the forest says."""

from __future__ import annotations

from typing import Any

import rich_click as click

from treewright.cli.options import FILE, json_option, open_model, reading_options
from treewright.cli.output import require_place, say, say_json, size_line, warnings_as_notes
from treewright.cli.train import printed_tree


@click.command("distil")
@click.argument("model_file", metavar="FOREST", type=FILE)
@click.argument("source", metavar="FILE", type=FILE)
@click.option("--test", metavar="FILE", type=FILE, help="Cases that the forest has not seen, to measure on.")
@click.option(
    "--base", type=click.Choice(["c45", "cart", "id3", "chaid"]), help="The tree (default c45; numbers: cart)."
)
@click.option("--made", type=int, help="Cases to make by mixing those of FILE (default: as many, at least 1,000).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the made cases.")
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Where the tree goes (default: print only).")
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
    """Grow one tree that says what FOREST says; FILE has the cases that the forest was learned from.

    Its accuracy, and how often it agrees with the forest, are told beside those of a tree grown from the cases alone.
    """
    from treewright.data.tables import read
    from treewright.ensemble.distil import distil
    from treewright.ensemble.plan import tree_plan
    from treewright.plans import c45

    if output is not None:
        require_place(output, model_file, source, *([test] if test else []))
    model = open_model(model_file)
    with warnings_as_notes():
        data = read(source, schema=model.schema, **how)
        unseen = None if test is None else read(test, schema=model.schema, **how)
        plan = None if base is None else tree_plan(base, c45())
        found = distil(model, data, test=unseen, plan=plan, made=made, seed=seed)
    if output is not None:
        found.model.save(output)
    if as_json:
        say_json({**found.to_dict(), "model": output})
        return
    say(f"{printed_tree(found.model)}\n\n{size_line(found.model.tree)}\n\n{found}")
    if output is not None:
        say(f"Model written to {output}")
