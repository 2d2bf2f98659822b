"""A whole tree written out."""

from __future__ import annotations

from treewright._base.printable import number
from treewright.explain.blackboard import outcome_text
from treewright.explain.condition import where
from treewright.explain.document import Block, Document, Heading, Paragraph, Table, Together, Verbatim, name
from treewright.explain.language import Words
from treewright.explain.whole import TestLine, TreeExplanation


def tree_document(explanation: TreeExplanation, say: Words) -> Document:
    """Return the explanation of a tree as a document."""
    size = say(
        "tree.size",
        nodes=say("nodes", n=explanation.nodes),
        leaves=say("leaves", n=explanation.leaves),
        depth=explanation.depth,
        cases=say("cases", n=explanation.weight),
    )
    blocks: list[Block] = [
        Heading(say("tree.heading", algorithm=explanation.algorithm, target=name(explanation.target))),
        Paragraph(size),
        Verbatim(_drawing(explanation, say)),
    ]
    if explanation.tests:
        blocks.append(_tests(explanation, say))
    if explanation.importance:
        rows = tuple((name(one), f"{share:.3f}") for one, share in explanation.importance)
        table = Table((say("head.attribute"), say("head.share")), rows)
        blocks.append(Together((Paragraph(say("tree.importance")), table)))
    if explanation.cp_table:
        blocks.append(_cp_table(explanation, say))
    return tuple(blocks)


def _tests(explanation: TreeExplanation, say: Words) -> Block:
    worths = [test.worth for test in explanation.tests if test.worth is not None and test.worth != "order"]
    worth = "-"
    if worths:
        worth = name(explanation.criterion) if worths[0] == "own" else say(f"worth.{worths[0]}")
    heads = (say("head.node"), say("head.cases"), say("head.test"), worth, say("head.runner_up"), say("head.margin"))
    rows = tuple(_row(test, say) for test in explanation.tests)
    more = say("tree.more_tests", n=explanation.more) if explanation.more else ""
    table = Table((*heads, say("head.where")), rows, last_left=True, more=more)
    return Together((Paragraph(say("tree.tests")), table))


def _row(test: TestLine, say: Words) -> tuple[str, ...]:
    return (
        str(test.node),
        number(test.weight),
        name(test.chosen),
        _short(test.value),
        "-" if test.runner_up is None else name(test.runner_up),
        _short(test.margin),
        where(test.conditions, say),
    )


def _drawing(explanation: TreeExplanation, say: Words) -> str:
    """Return the top of the tree, a line for each node, indented by its depth."""
    lines = []
    for one in explanation.outline:
        branch = "" if one.condition is None else f"{one.condition.right_side(say)}: "
        if one.attribute is not None:
            told = name(one.attribute)
        else:
            told = f"{outcome_text(one.outcome)}  {number(one.weight)}"
            told += f"/{number(one.errors)}" if one.errors else ""
        told += f"  … {say('tree.more_nodes', n=one.hidden)}" if one.hidden else ""
        lines.append(f"{'   ' * one.depth}{branch}{told}")
    return "\n".join(lines)


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.3g}"


def _cp_table(explanation: TreeExplanation, say: Words) -> Block:
    heads = ("", "CP", say("cp.splits"), say("cp.error"), say("cp.xerror"), say("cp.xstd"))
    rows = tuple(
        (str(place), *(f"{cell:.5g}" for cell in row)) for place, row in enumerate(explanation.cp_table, start=1)
    )
    table = Table(heads[: len(rows[0])], rows)
    return Together((Paragraph(say("cp.title")), table))
