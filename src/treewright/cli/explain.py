"""treewright explain: explains a node, the pruning, a prediction or the growth of the tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import FILE, json_option, open_tree
from treewright.cli.output import reading, warnings_as_notes, write_json

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.explain.document import Explanation
    from treewright.tree.model import TreeModel

FORMATS = ("text", "markdown", "html", "json")


@click.command(
    "explain",
    cls=Verb,
    examples=(
        "treewright explain weather.model.json",
        "treewright explain weather.model.json --node outlook=sunny",
        "treewright explain weather.model.json --case outlook=rain,wind=weak",
        "treewright explain weather.model.json --pruning --data weather.csv",
    ),
)
@click.argument("model_file", metavar="MODEL", type=FILE)
@option(
    "tree",
    "--node",
    "nodes",
    multiple=True,
    metavar="root|N|A=V,...",
    default_text="root",
    help="Node to explain: its number (see `show --numbers`) or the path to it.",
)
@option("tree", "--all", "everything", is_flag=True, help="Explain every node with a split trace.")
@option(
    "tree", "--tree", "whole", is_flag=True, help="Explain the whole tree: splits, runners-up, importance, cp table."
)
@option("data", "--case", metavar="A=V,...", help="Explain the prediction of this case; other values are missing.")
@option("data", "--row", type=click.IntRange(min=1), metavar="K", help="Explain the prediction of row K of --data.")
@option("pruning", "--pruning", is_flag=True, help="Explain what pruning compared at the nodes.")
@option("tree", "--steps", is_flag=True, help="Explain the growth step by step (cal2 and cal3 need --data).")
@option(
    "output",
    "--lang",
    metavar="en|de|it|zh",
    default_text="$TREEWRIGHT_LANG or English",
    help="Language of the output.",
)
@option(
    "output", "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Output format."
)
@option(
    "data",
    "--data",
    "source",
    metavar="FILE",
    type=FILE,
    help="Training data, for --row, for pruned nodes and for nodes without a split trace.",
)
@option(
    "data",
    "--data-format",
    metavar="NAME",
    default_text="by the suffix",
    help="Format of --data: csv, tsv, arff, names or parquet.",
)
@option("data", "--delimiter", metavar="CHAR", help=r"Field delimiter of --data; \t is a tab.")
@option("data", "--encoding", metavar="NAME", default_text="UTF-8", help="Encoding of --data, such as latin-1.")
@json_option
def command(
    model_file: str,
    nodes: tuple[str, ...],
    everything: bool,
    whole: bool,
    case: str | None,
    row: int | None,
    pruning: bool,
    steps: bool,
    lang: str | None,
    form: str,
    source: str | None,
    data_format: str | None,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Explain a split of MODEL: frequency tables and calculation for every attribute at a node.

    Also explains a prediction, what pruning compared, and the growth step by step. Numbers have a decimal point in
    every language.
    """
    from treewright.explain.language import words

    _refuse_mixtures(nodes, everything, whole, case, row, pruning, steps, source)
    words(lang)  # an unknown language is refused before the work begins
    model = open_tree(model_file)
    how = {"format": data_format, "delimiter": "\t" if delimiter == r"\t" else delimiter, "encoding": encoding}
    data = _read(model, source, {key: value for key, value in how.items() if value is not None})
    if case is not None or row is not None:
        found: list[Explanation] = [_prediction(model, case, row, data)]
    elif whole:
        found = [_whole(model)]
    elif steps:
        found = [_steps(model, data)]
    else:
        found = _nodes(model, _chosen(model, nodes, everything), data, pruning=pruning)
    several = not (case is not None or row is not None or whole or steps)
    _write(found, "json" if as_json else form, lang, several=several)


def _refuse_mixtures(
    nodes: tuple[str, ...],
    everything: bool,
    whole: bool,
    case: str | None,
    row: int | None,
    pruning: bool,
    steps: bool,
    source: str | None,
) -> None:
    if everything and nodes:
        raise click.UsageError("--all explains every node; it cannot be combined with --node")
    given = {"--case": case is not None, "--row": row is not None, "--tree": whole, "--steps": steps}
    alone = [name for name, value in given.items() if value]
    others = {"--node": bool(nodes), "--all": everything, "--pruning": pruning}
    for name, value in (*((name, True) for name in alone[1:]), *others.items()):
        if alone and value:
            raise click.UsageError(f"{alone[0]} cannot be combined with {name}")
    if row is not None and source is None:
        raise click.UsageError("--row goes with --data FILE")


def _read(model: TreeModel, source: str | None, how: dict[str, Any]) -> Dataset | None:
    from treewright.data.read import read

    if source is None:
        return None
    with warnings_as_notes(), reading(source):
        return read(source, schema=model.schema, **how)


def _prediction(model: TreeModel, case: str | None, row: int | None, data: Dataset | None) -> Explanation:
    from treewright.explain.prediction import explain_prediction

    if case is not None:
        with warnings_as_notes():
            return explain_prediction(model, parsed_case(case, model.schema.attribute_names, "--case"), data)
    if data is None or row is None or row > data.n_rows:
        rows = 0 if data is None else data.n_rows
        raise click.BadParameter(f"there is no row {row}; the rows are 1 to {rows}", param_hint="--row")
    return explain_prediction(model, data.take([row - 1]), data)


def _whole(model: TreeModel) -> Explanation:
    from treewright.explain.whole_tree import explain_tree

    return explain_tree(model)


def _steps(model: TreeModel, data: Dataset | None) -> Explanation:
    from treewright.explain.growth_steps import growth_steps

    return growth_steps(model, data)


def _nodes(model: TreeModel, chosen: Sequence[int], data: Dataset | None, *, pruning: bool) -> list[Explanation]:
    from treewright.explain.node import explain_node
    from treewright.explain.pruning import explain_pruning

    explained: Callable[[TreeModel, int, Dataset | None], Explanation] = explain_pruning if pruning else explain_node
    return [explained(model, node, data) for node in chosen]


def _chosen(model: TreeModel, nodes: tuple[str, ...], everything: bool) -> list[int]:
    if everything and model.trace:
        return sorted(model.trace)
    return [_number(model, node) for node in nodes or ("root",)]


def _number(model: TreeModel, text: str) -> int:
    n_nodes = model.tree.n_nodes
    if text == "root":
        return 0
    if "=" in text:
        return _node_at(model, text)
    if not text.isdecimal() or not text.isascii() or int(text) >= n_nodes:
        raise click.BadParameter(
            f"{text!r} is not 'root', a number from 0 to {n_nodes - 1} or a path such as 'A=V'",
            param_hint="--node",
        )
    return int(text)


def _node_at(model: TreeModel, text: str) -> int:
    """Follow the values from the root as far as they lead; each of them must be needed."""
    from treewright.explain.prediction import one_case

    given = parsed_case(text, model.schema.attribute_names, "--node")
    case = one_case(model, given)
    places = {name: place for place, name in enumerate(model.schema.attribute_names)}
    open_answers, answers = set(given), {places[name] for name in given}
    node = 0
    while (split := model.tree.split(node)) is not None and split.attribute in answers:
        branch = int(split.route(case.columns[split.attribute])[0])
        if branch < 0:
            break
        open_answers.discard(model.schema.attribute_names[split.attribute])
        node = int(model.tree.children_of(node)[branch])
    if open_answers:
        unused = ", ".join(sorted(open_answers))
        raise click.BadParameter(f"{text!r}: the tree does not ask for {unused} on this way", param_hint="--node")
    return node


def parsed_case(text: str, names: Sequence[str], option: str) -> dict[str, str | None]:
    r"""Read values of the form ``A=V,B=W``; a pair in double quotes may contain commas, an empty value is missing.

    Examples
    --------
    >>> parsed_case('Outlook=Sunny, "size=a,b"', ["Outlook", "size"], "--case")
    {'Outlook': 'Sunny', 'size': 'a,b'}
    """
    import csv

    from treewright.wording import did_you_mean

    given: dict[str, str | None] = {}
    [pairs] = csv.reader([text.replace("\n", " ")], skipinitialspace=True) if text.strip() else [[]]
    for pair in pairs:
        # A name may contain an equals sign itself: the longest name that fits is meant.
        fits = [name for name in names if pair.strip().startswith(f"{name}=")]
        if not fits:
            name, equals, _ = pair.partition("=")
            wrong = f"{pair!r} is not of the form ATTRIBUTE=VALUE"
            if equals:
                wrong = f"the model has no attribute {name.strip()!r}{did_you_mean(name.strip(), names)}"
            raise click.BadParameter(wrong, param_hint=option)
        name = max(fits, key=len)
        if name in given:
            raise click.BadParameter(f"{name!r} is given twice", param_hint=option)
        given[name] = pair.strip()[len(name) + 1 :].strip() or None
    return given


def _write(explanations: Sequence[Explanation], form: str, lang: str | None, *, several: bool) -> None:
    if form == "json":
        plain = [one.to_dict() for one in explanations]
        write_json(plain if several else plain[0])
    elif form == "markdown":
        click.echo("\n---\n\n".join(one.to_markdown(lang) for one in explanations).removesuffix("\n"))
    elif form == "html":
        click.echo("\n".join(one.to_html(lang) for one in explanations))
    else:
        style = None if os.environ.get("NO_COLOR") else _bold  # and Click takes it off again where nobody watches
        click.echo("\n\n\n".join(one.to_text(lang, emphasise=style) for one in explanations))


def _bold(text: str) -> str:
    return click.style(text, bold=True)
