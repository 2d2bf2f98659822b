"""A pruning decision written out: the estimates with their formulas, and what followed from them."""

from __future__ import annotations

from treewright.explain.blackboard import cases_line, outcome_text
from treewright.explain.condition import where
from treewright.explain.document import (
    EQUALS,
    Block,
    Document,
    Formula,
    Heading,
    Paragraph,
    Working,
    name,
    said,
    worded,
)
from treewright.explain.language import Words
from treewright.explain.pruning import PruningExplanation
from treewright.explain.pruning_formulas import Estimate
from treewright.explain.pruning_stages import Stage


def pruning_document(explanation: PruningExplanation, say: Words) -> Document:
    """Return the decision as a document."""
    blocks: list[Block] = [Heading(_heading(explanation, say))]
    for stage in explanation.stages:
        blocks += _stage(stage, say)
    blocks += [Paragraph(say(f"note.{code}")) for code in explanation.notes]
    outcome = outcome_text(explanation.outcome)
    blocks.append(Paragraph(say(f"pruning.result.{explanation.decision}", outcome=outcome)))
    return tuple(blocks)


def _heading(explanation: PruningExplanation, say: Words) -> str:
    line = say("pruning.heading", node=explanation.node, where=where(explanation.conditions, say))
    line += say("cases", n=explanation.weight)
    told = cases_line(explanation.classes, explanation.counts, say)
    return line + say("node.counts", target=name(explanation.target), counts=told) if told else line


def _stage(stage: Stage, say: Words) -> list[Block]:
    places = {key: f"{value:g}" if isinstance(value, float) else value for key, value in stage.parameters.items()}
    if "z" in stage.parameters:
        places["z"] = f"{stage.parameters['z']:.4f}"
    title = f"pruning.{stage.method}.title"
    if stage.method == "error_based" and "z" not in places:
        title = "pruning.error_based.title_without_z"
    blocks: list[Block] = [Paragraph(say(title, **places))]
    if stage.estimates:
        blocks.append(Working(tuple((_line(stage, one, say), "") for one in stage.estimates)))
        blocks.append(Paragraph(say(f"pruning.{stage.method}.{stage.decision}")))
    return blocks


def _line(stage: Stage, one: Estimate, say: Words) -> Formula:
    own = f"pruning.label.{stage.method}.{one.kind}"
    label = say(own if say.has(own) else f"pruning.label.{one.kind}")
    return worded(label) + EQUALS + (one.formula if one.plain else said(_number(stage, one)))


def _number(stage: Stage, one: Estimate) -> str:
    return f"{one.value:.3f}" if stage.method == "error_based" else f"{one.value:.4g}"
