"""A prediction written out: the tests on its path, the cases of its leaf, and the smallest change that alters it."""

from __future__ import annotations

from treewright._base.printable import number
from treewright.explain.blackboard import outcome_text
from treewright.explain.condition import where
from treewright.explain.counterfactual import Change, Counterfactual
from treewright.explain.document import Block, Document, Heading, Items, Paragraph, Table, name
from treewright.explain.language import Words
from treewright.explain.prediction import PathStep, PredictionExplanation

MOST_LEAVES = 20
"""Leaves of a divided case that are listed."""


def prediction_document(explanation: PredictionExplanation, say: Words) -> Document:
    """Return the prediction as a document."""
    target, outcome = name(explanation.target), outcome_text(explanation.outcome)
    blocks: list[Block] = [Heading(say("prediction.heading", target=target, outcome=outcome))]
    if explanation.steps:
        blocks.append(Paragraph(say("prediction.path")))
        blocks.append(Items(tuple(_step(step, say) for step in explanation.steps), numbered=True))
    else:
        blocks.append(Paragraph(say("prediction.no_test")))
    blocks += _leaves(explanation, say)
    if explanation.probabilities is not None:
        blocks.append(_probabilities(explanation, say))
    blocks.append(_counterfactual(explanation.counterfactual, explanation, say))
    return tuple(blocks)


def _step(step: PathStep, say: Words) -> str:
    attribute = name(step.attribute)
    part = say("prediction.part", share=f"{step.share:.3f}") if step.share < 1 else ""
    condition = "" if step.condition is None else step.condition.said(say)
    if step.how == "value":
        if step.value is not None and step.condition is not None and step.condition.value != name(step.value):
            return say("prediction.by_value", condition=condition, value=name(step.value)) + part
        return condition + part
    places = {"attribute": attribute, "condition": condition}
    if step.surrogate is not None:
        places["surrogate"] = step.surrogate.condition.said(say)
    return say(f"prediction.by_{step.how}", **places) + part


def _leaves(explanation: PredictionExplanation, say: Words) -> list[Block]:
    if len(explanation.leaves) == 1:
        [leaf] = explanation.leaves
        cases = say("cases", n=leaf.weight)
        told = [
            f"{name(one)} {number(count)}"
            for one, count in zip(explanation.classes, leaf.counts, strict=False)
            if count
        ]
        counts = ", ".join(told)
        if not explanation.classes:
            return [Paragraph(say("prediction.leaf_mean", node=leaf.node, cases=cases))]
        if not told:
            return [Paragraph(say("prediction.leaf_empty", node=leaf.node))]
        return [Paragraph(say("prediction.leaf", node=leaf.node, cases=cases, counts=counts))]
    shown = explanation.leaves[:MOST_LEAVES]
    heads = [say("head.leaf"), say("head.share"), say("head.outcome"), *(name(one, 12) for one in explanation.classes)]
    rows = tuple(
        (
            f"{leaf.node}: {where(leaf.conditions, say)}",
            f"{leaf.share:.3f}",
            outcome_text(leaf.outcome),
            *(number(count) for count in leaf.counts),
        )
        for leaf in shown
    )
    hidden = len(explanation.leaves) - len(shown)
    table = Table(tuple(heads), rows, more=say("prediction.more_leaves", n=hidden) if hidden else "")
    return [Paragraph(say("prediction.leaves")), table]


def _probabilities(explanation: PredictionExplanation, say: Words) -> Block:
    pairs = sorted(zip(explanation.classes, explanation.probabilities or (), strict=True), key=lambda pair: -pair[1])
    told = ", ".join(f"{name(one)} {share:.3f}" for one, share in pairs if share > 0)
    return Paragraph(say("prediction.probabilities", probabilities=told))


def _counterfactual(found: Counterfactual | None, explanation: PredictionExplanation, say: Words) -> Block:
    if found is None:
        return Paragraph(say("counterfactual.none"))
    changes = say.joined([_change(change, say) for change in found.changes])
    target, outcome = name(explanation.target), outcome_text(found.outcome)
    return Paragraph(say("counterfactual.change", target=target, outcome=outcome, changes=changes, node=found.node))


def _change(change: Change, say: Words) -> str:
    before = say("branch.missing") if change.before is None else name(change.before)
    return say("counterfactual.one", condition=change.condition.said(say), before=before)
