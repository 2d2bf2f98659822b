"""treewright export: a tree in the language of another program."""

from __future__ import annotations

import rich_click as click

from treewright.cli.drawing import FORMS, Wish, drawing_options, drawn, open_for
from treewright.cli.options import FILE, json_option
from treewright.cli.output import say, say_json


@click.command("export")
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.option("--to", "form", type=click.Choice(FORMS), help="The form (default: by the suffix of -o).")
@drawing_options
@json_option
def command(model_file: str, form: str | None, wish: Wish, as_json: bool) -> None:
    """Write the tree of MODEL for Graphviz, Mermaid, LaTeX, browsers or printers."""
    from treewright._base.errors import DataError
    from treewright.model.model import TreeModel

    if form is None and wish.output is None:
        raise click.UsageError(f"say what it becomes: --to {'|'.join(FORMS)}, or -o FILE with such a suffix")
    chosen = wish.form(form)
    model = open_for(model_file, wish)
    if not isinstance(model, TreeModel):
        hint = "choose one with --tree N" if hasattr(model, "trees") else "see `show` for rules"
        raise DataError(f"does not hold one tree; {hint}", source=model_file)
    text = drawn(model, chosen, wish)
    if as_json:
        say_json({"form": chosen, "nodes": model.tree.n_nodes, "output": wish.output, "text": text or None})
    elif text:
        say(text)
