"""The steps of a growth written out, each with the table of its choice where the model has it."""

from __future__ import annotations

from treewright.explain.blackboard import cases_line, choice_blocks, outcome_text
from treewright.explain.condition import where
from treewright.explain.document import Block, Document, Heading, Items, Paragraph, name
from treewright.explain.language import Words
from treewright.explain.node import explain_node
from treewright.explain.steps import CaseStep, Growth, GrowthStep


def steps_document(growth: Growth, say: Words) -> Document:
    """Return the steps as a document."""
    if growth.order == "cases":
        return (Items(tuple(_case(step, say) for step in growth.steps if isinstance(step, CaseStep)), numbered=True),)
    blocks: list[Block] = [Heading(say("steps.heading", algorithm=growth.algorithm))]
    blocks.append(Paragraph(say(f"steps.order.{growth.order}")))
    if growth.pruned and growth.tree == "final":
        blocks.append(Paragraph(say("note.steps_pruned")))
    for step in growth.steps:
        if isinstance(step, GrowthStep):
            blocks += _grown(growth, step, say)
    blocks += [Paragraph(say(f"note.{code}")) for code in growth.notes]
    return tuple(blocks)


def _grown(growth: Growth, step: GrowthStep, say: Words) -> list[Block]:
    place = say("steps.place", number=step.number, node=step.node, where=where(step.conditions, say))
    told = say("cases", n=step.weight)
    counts = cases_line(growth.classes, step.counts, say) if growth.classes else ""
    if counts:
        told += say("node.counts", target=name(growth.target), counts=counts)
    places = {"outcome": outcome_text(step.outcome), "children": ", ".join(str(child) for child in step.children)}
    places["attribute"] = name(step.attribute) if step.attribute is not None else ""
    if step.stop_code is not None:
        places["reason"] = say(f"stop.{step.stop_code}")
    state = say("steps.state", open=step.open, leaves=say("leaves", n=step.leaves))
    line = f"{place}{told}. {say(f'steps.{step.event}', **places)} {state}"
    blocks: list[Block] = [Heading(line, 3)]
    model = growth.source
    if step.event == "split" and model is not None and step.node in model.working:
        blocks += choice_blocks(explain_node(model, step.node), say)
    return blocks


def _case(step: CaseStep, say: Words) -> str:
    place = ", ".join(f"{name(attribute)}={name(value)}" for attribute, value in step.path) or say("cal.root")
    counted = ", ".join(f"{name(one)} {count}" for one, count in step.counts) or say("cal.nothing_counted")
    text = say("cal.step", case=step.case, where=place, counted=counted, event=say(f"cal.{step.event_code}"))
    return text if step.tree is None else f"{text} -> {step.tree}"
