"""treewright export: a tree in the language of another program."""

from __future__ import annotations

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option
from treewright.cli.output import write_json
from treewright.cli.show import FORMS, Wish, drawing_options, drawn, open_for


@click.command(
    "export",
    cls=Verb,
    examples=(
        "treewright export weather.model.json --to dot",
        "treewright export weather.model.json -o tree.svg",
        "treewright export weather.model.json --to mermaid --depth 2",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@option(
    "output",
    "--to",
    "form",
    type=click.Choice(FORMS),
    metavar="FORMAT",
    default_text="by the suffix of -o",
    help="Format.",
)
@drawing_options
@json_option
def command(model_file: str, form: str | None, wish: Wish, as_json: bool) -> None:
    """Write the tree of MODEL for Graphviz, Mermaid, LaTeX, browsers or printers."""
    from treewright.errors import DataError
    from treewright.tree.model import TreeModel

    if form is None and wish.output is None:
        raise click.UsageError(f"name the format: --to {'|'.join(FORMS)}, or -o FILE with such a suffix")
    chosen = wish.form(form)
    model = open_for(model_file, wish)
    if not isinstance(model, TreeModel):
        hint = "choose one with --tree N" if hasattr(model, "trees") else "see `show` for rules"
        raise DataError(f"does not hold one tree; {hint}", source=model_file)
    text = drawn(model, chosen, wish)
    if as_json:
        write_json({"form": chosen, "nodes": model.tree.n_nodes, "output": wish.output, "text": text or None})
    elif text:
        click.echo(text)
