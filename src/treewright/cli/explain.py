"""treewright explain: the working of a node, as on a blackboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from treewright.cli.options import FILE, json_option, open_tree, reading_options
from treewright.cli.output import reading, say, say_json, warnings_as_notes

if TYPE_CHECKING:
    from treewright.grow.cal.trace import Step


@click.command("explain")
@click.argument("model_file", metavar="MODEL", type=FILE)
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="root|N",
    help="Which node (repeatable; default root; see `show --numbers`).",
)
@click.option("--all", "everything", is_flag=True, help="Every node that has working.")
@click.option("--steps", is_flag=True, help="cal2, cal3: every case and what became of the tree; needs --data.")
@click.option(
    "--data",
    "source",
    metavar="FILE",
    type=FILE,
    help="The training data, for nodes whose working a large model did not keep.",
)
@reading_options
@json_option
def command(
    model_file: str,
    nodes: tuple[str, ...],
    everything: bool,
    steps: bool,
    source: str | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Print the frequency tables and the calculation for every attribute at a node of MODEL."""
    from treewright.data.tables import read
    from treewright.explain.blackboard import blackboard
    from treewright.explain.node import explain_node
    from treewright.explain.steps import case_steps

    if everything and nodes:
        raise click.UsageError("--all explains every node; it does not go with --node")
    if steps and (everything or nodes or source is None):
        raise click.UsageError("--steps goes with --data FILE, and with neither --node nor --all")
    model = open_tree(model_file)
    with warnings_as_notes(), reading(source or ""):
        data = None if source is None else read(source, schema=model.schema, **how)
    if steps and data is not None:
        _tell_steps(case_steps(model, data), as_json)
        return
    chosen = [_number(node, model.tree.n_nodes) for node in nodes or ("root",)]
    if everything:
        chosen = sorted(model.working) or chosen
    explanations = [explain_node(model, node, data) for node in chosen]
    if as_json:
        say_json([one.to_dict() for one in explanations])
    else:
        say("\n\n\n".join(blackboard(one) for one in explanations))


def _tell_steps(steps: list[Step], as_json: bool) -> None:
    if as_json:
        say_json([{"number": one.number, "event": str(one.event), "tree": one.notation} for one in steps])
        return
    for one in steps:
        say(str(one))


def _number(text: str, n_nodes: int) -> int:
    if text == "root":
        return 0
    if not text.isdecimal() or int(text) >= n_nodes:
        raise click.BadParameter(f"{text!r} is not 'root' or a number from 0 to {n_nodes - 1}", param_hint="--node")
    return int(text)
