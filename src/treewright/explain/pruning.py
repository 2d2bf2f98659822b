"""Why a node was kept, pruned or replaced: the estimates that its pruning method compared, with their formulas.

The estimates that pruning compares, as formulas with the numbers filled in. The kind of an estimate is ``"leaf"`` or
``"tree"`` for the node as a leaf or as a subtree, ``"raised"`` for its largest branch in its place, ``"p"`` for the
p-value of its split, ``"strength"`` for its effective alpha, or ``"limit"`` for a threshold that another estimate is
compared with.

What each pruning method of a model compared at a node: from the finished tree, or grown and pruned again. A method is
plain data with a name, as in the model; ``"cp"`` is rpart's, ``"error_based"`` also that of Release 8 and J48. The
origin of each node of a pruned tree is the number of the same node before pruning, -1 where there is none.

Explanation of a pruning decision: the numbers that each pruning method compared at a node.

A stage is one pruning method of the model; methods run one after the other, so a node has one stage for each method
that considered it. The decision is ``"kept"``, ``"pruned"``, ``"raised"`` (a branch replaced the node) or ``"never"``:
the node grew as a leaf, or no method considered it.

A model does not store pruned subtrees. With the training data the tree is grown and pruned again, and the numbers are
those of that moment; without them, the numbers follow from the finished tree.

A pruning decision written out: the estimates with their formulas, and what followed from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.explain.conditions import Condition, conditions_to, where
from treewright.explain.document import (
    EQUALS,
    PLUS,
    Block,
    Document,
    Explanation,
    Formula,
    Heading,
    Paragraph,
    Working,
    fraction,
    joined,
    name,
    said,
    worded,
)
from treewright.explain.language import Words
from treewright.explain.node import cases_line, outcome_text
from treewright.explain.training_data import (
    grown_again,
    learner_name,
    learner_of,
    parts,
    rpart_growth,
    training_cases,
    understood,
    was_pruned,
)
from treewright.learners.criteria import chi_square
from treewright.learners.j48.pruning import extra_errors as j48_extra_errors
from treewright.learners.pessimistic_error import NEARLY_ALL, NO_ERROR, ONE_ERROR, extra_errors, squared_deviate
from treewright.learners.rpart.nodes import RpartGrowth
from treewright.learners.rpart.pruning import CpTable, choose_cp
from treewright.pruning.chi_square import table_p
from treewright.pruning.collapse import COLLAPSE_SLACK, end_of_subtree, staying_errors
from treewright.pruning.cost_complexity import cut_before, link_at, node_risks
from treewright.pruning.error_based import PruningDecision, error_based_decisions
from treewright.pruning.mdl import class_bits, message_lengths
from treewright.pruning.methods import prune, pruner_named
from treewright.pruning.reduced_error import validation_estimates
from treewright.tree.io.tree_json import plain_number
from treewright.tree.model import TreeModel
from treewright.tree.split import STAY
from treewright.tree.tree import LEAF, Floats, Stop, Tree
from treewright.wording import number

MOST_TERMS = 30
"""Terms of a sum that are written out."""


@dataclass(frozen=True)
class Estimate:
    """One number that was compared.

    Parameters
    ----------
    kind : {"leaf", "tree", "raised", "p", "strength", "limit"}
    value : float
    plain, latex : str
        The formula with the numbers filled in; empty where there is none to show.
    """

    kind: str
    value: float
    plain: str = ""
    latex: str = ""

    @property
    def formula(self) -> Formula:
        """Both forms."""
        return Formula(self.plain, self.latex)


def estimate(kind: str, value: float, formula: Formula | None = None) -> Estimate:
    """Return an estimate with its formula."""
    return Estimate(kind, value) if formula is None else Estimate(kind, value, formula.plain, formula.latex)


def sum_of(terms: Sequence[str], total: str) -> Formula:
    """Return a sum written out.

    Examples
    --------
    >>> sum_of(["1", "2"], "3").plain
    '1 + 2 = 3'
    """
    shown = joined([said(term) for term in terms[:MOST_TERMS]], PLUS)
    if len(terms) > MOST_TERMS:
        shown += said(" + ...", r" + \dots")
    return shown + EQUALS + said(total) if len(terms) != 1 or terms[0] != total else said(total)


def expected_errors(weight: float, errors: float, confidence: float, *, j48: bool = False) -> Estimate:
    """Return the errors that a leaf should expect, by the upper confidence limit.

    Parameters
    ----------
    weight, errors : float
    confidence : float
    j48 : bool
        Whether by the normal deviate itself, and not by C4.5's table of it.

    Examples
    --------
    >>> expected_errors(6, 0, 0.25).plain, expected_errors(14, 5, 0.25).plain
    ('6 (1 - 0.25^(1/6)) = 1.238', '14 (5 + 0.5 + z^2/2 + sqrt(z^2 (5.5 (1 - 5.5/14) + z^2/4))) / (14 + z^2) = 6.795')
    """
    extra = j48_extra_errors if j48 else extra_errors
    value = errors + (extra(weight, errors, confidence) if weight > 0 else 0.0)
    n, e, cf, result = number(weight, 3), number(errors, 3), f"{confidence:g}", EQUALS + said(f"{value:.3f}")
    if weight <= 0 or (j48 and confidence > 0.5):
        return estimate("leaf", value, said(f"{value:.3f}"))
    if errors < NO_ERROR:
        formula = Formula(f"{n} (1 - {cf}^(1/{n}))", rf"{n} \left(1 - {cf}^{{1/{n}}}\right)")
        return estimate("leaf", value, formula + result)
    if errors < (1.0 if j48 else ONE_ERROR):
        none, one = (known + extra(weight, known, confidence) for known in (0.0, 1.0))
        plain = f"{none:.3f} + {e} ({one:.3f} - {none:.3f})"
        return estimate("leaf", value, Formula(plain, plain.replace("(", r"\left(").replace(")", r"\right)")) + result)
    half = errors + 0.5
    if half >= weight:
        share = "" if j48 else f"{NEARLY_ALL} "
        return estimate("leaf", value, said(f"{e} + {share}({n} - {e})") + result)
    h = number(half, 3)
    plain = f"{n} ({e} + 0.5 + z^2/2 + sqrt(z^2 ({h} (1 - {h}/{n}) + z^2/4))) / ({n} + z^2)"
    latex = (
        rf"\frac{{{n} \left({e} + 0.5 + \frac{{z^2}}{{2}} + "
        rf"\sqrt{{z^2 \left({h} \left(1 - \frac{{{h}}}{{{n}}}\right) + \frac{{z^2}}{{4}}\right)}}\right)}}{{{n} + z^2}}"
    )
    return estimate("leaf", value, Formula(plain, latex) + result)


def deviate(confidence: float, *, j48: bool = False) -> float:
    """Return the z of a confidence level, by C4.5's table or as it is.

    Examples
    --------
    >>> round(deviate(0.25), 4), round(deviate(0.25, j48=True), 4)
    (0.6925, 0.6745)
    """
    return NormalDist().inv_cdf(1.0 - confidence) if j48 else math.sqrt(squared_deviate(confidence))


def link_strength(own: float, below: float, leaves: int, strength: float) -> Formula:
    """Return by how much each leaf more lowers the risk."""
    top, bottom = f"{own:.4g} - {below:.4g}", f"{leaves} - 1"
    return Formula(f"({top}) / ({bottom})", fraction(top, bottom).latex) + EQUALS + said(f"{strength:.4g}")


KEPT, PRUNED, RAISED = "kept", "pruned", "raised"


@dataclass(frozen=True)
class Stage:
    """One method at one node.

    Parameters
    ----------
    method : str
    decision : {"kept", "pruned", "raised"}
    estimates : tuple of Estimate
    parameters : dict
        What the method was given, and what follows from it (the z of a confidence, say).
    """

    method: str
    decision: str
    estimates: tuple[Estimate, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


def methods_of(model: TreeModel) -> list[dict[str, Any]]:
    """Return the methods that pruned a model, the learner's own first."""
    own: list[dict[str, Any]] = []
    learner = learner_of(model)
    with understood("pruning"):
        options = dict(model.recipe.get("options") or {})
        if learner.own_pruning is not None:
            own.append(learner.own_pruning)
        if learner_name(model) == "RpartLearner":
            cp = float(dict(options["options"])["cp"])
            if options.get("choose") is not None:
                cp = choose_cp(CpTable.from_rows(model.recipe["cp_table"]), options["choose"])
            own.append({"method": "cp", "cp": cp})
        given = [dict(one) for one in model.recipe.get("pruning", ())]
        return [*own, *(_checked(one) for one in given)]


def _checked(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method with all its parameters; a name or a parameter that is none is refused."""
    parameters = {key: value for key, value in plain.items() if key != "method"}
    return pruner_named(plain["method"], **parameters).to_dict()


# -- from the finished tree --------------------------------------------------------------------------------------------


def finished_stages(model: TreeModel, node: int) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return what the finished tree still tells about a node, and the codes of notes on what it does not."""
    tree = model.tree
    methods = methods_of(model)
    if tree.attribute[node] == LEAF:
        if tree.node(node).stop is not Stop.PRUNED:
            return (), ()
        last = [one for one in methods if one["method"] == "error_based"]
        stages = [_error_based(model, one, _finished_decision(model, one, node)) for one in last[-1:]]
        return tuple(stages), ("pruned_needs_data",)
    stages = [stage for one in methods if (stage := _finished(model, one, node)) is not None]
    needs = {"reduced_error": "held_out_needs_data", "error_based": "raising_needs_data"}
    notes = [
        needs[one["method"]] for one in methods if one["method"] in needs and one.get("raising", True) is not False
    ]
    return tuple(stages), tuple(dict.fromkeys(notes))


def _finished(model: TreeModel, method: Mapping[str, Any], node: int) -> Stage | None:
    if method["method"] == "error_based":
        return _error_based(model, method, _finished_decision(model, method, node))
    if method["method"] == "reduced_error":
        return None
    return _stage_on(model, method, model.tree, node, KEPT)


def _finished_decision(model: TreeModel, method: Mapping[str, Any], node: int) -> PruningDecision:
    tree, j48 = model.tree, learner_name(model) == "J48"
    expected = [] if tree.estimate is None else tree.estimate[tree.children_of(node)].tolist()
    counts = tuple(float(count) for count in tree.counts[node])
    as_leaf = _leaf_estimate(counts, float(method["confidence"]), j48).value
    outcome = PRUNED if tree.attribute[node] == LEAF else KEPT
    return PruningDecision(node, counts, as_leaf, sum(expected), tuple(expected), None, outcome)


# -- grown and pruned once more ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pass:
    """One method at work: the trees before and after, the origin of each node, and what was decided where.

    `complexity` is rpart's, by node of the tree before.
    """

    method: Mapping[str, Any]
    before: Tree
    after: Tree
    origin: Sequence[int]
    validation: Dataset | None = None
    complexity: Sequence[float] = ()
    history: tuple[PruningDecision, ...] = ()


def passes_again(model: TreeModel, data: Dataset) -> tuple[list[Pass], tuple[str, ...]]:
    """Grow and prune again; the notes say if that does not come to the tree of the model."""
    cases, notes = training_cases(model, data)
    held_out = parts(model, data)[1]
    validation = data if held_out is None else held_out
    tree = grown_again(model, data)
    passes = []
    for method in methods_of(model):
        if method["method"] == "cp":
            complexity = rpart_complexity(rpart_growth(model, data))
            one = Pass(method, tree, model.tree, same_places(tree, model.tree), complexity=complexity)
        else:
            one = _applied(model, method, tree, cases, validation)
        passes.append(one)
        tree = one.after
    same = np.array_equal(tree.attribute, model.tree.attribute) and all(min(one.origin) >= 0 for one in passes)
    return passes, notes if same else (*notes, "other_tree")


def _applied(model: TreeModel, method: Mapping[str, Any], before: Tree, cases: Dataset, held_out: Dataset) -> Pass:
    name = method["method"]
    if name == "error_based":
        extra = j48_extra_errors if learner_name(model) == "J48" else extra_errors
        confidence, raising = float(method["confidence"]), bool(method.get("raising", True))
        after, origin, decisions = error_based_decisions(before, cases, confidence, raising=raising, extra=extra)
        return Pass(method, before, after, origin, history=tuple(decisions))
    parameters = {key: value for key, value in method.items() if key != "method"}
    after = prune(before, pruner_named(name, **parameters), cases, held_out)
    return Pass(method, before, after, same_places(before, after), validation=held_out)


def rpart_complexity(growth: RpartGrowth) -> list[float]:
    """Return what each node of the grown tree saves, as a share of the root's risk, as rpart computes it.

    That is not always the strength of the weakest link: rpart looks at the splits of both sides as a whole.
    """
    found = [0.0] * growth.tree.n_nodes
    waiting = [(0, 0)]
    while waiting:
        node, place = waiting.pop()
        found[node] = growth.relative(growth.nested_complexity[place])
        rpart_node = growth.nodes[place]
        if rpart_node.primary is not None:
            _, exchanged = rpart_node.primary.as_split()
            sides = (rpart_node.left, rpart_node.right)
            below = sides[::-1] if exchanged else sides
            waiting += zip(growth.tree.children_of(node).tolist(), below, strict=True)
    return found


def same_places(before: Tree, after: Tree) -> list[int]:
    """Return for each node of a tree that was cut the number that it had before.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> from treewright.pruning.collapse import cut_at
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> same_places(tree, cut_at(tree, [1]))
    [0, 1, 4, 5, 6, 7]
    """
    origin = [-1] * after.n_nodes
    origin[0] = 0
    for node in range(after.n_nodes):
        place = origin[node]
        if after.attribute[node] == LEAF or place < 0 or after.attribute[node] != before.attribute[place]:
            continue
        children, others = after.children_of(node).tolist(), before.children_of(place).tolist()
        if len(children) == len(others):
            for child, other in zip(children, others, strict=True):
                origin[child] = other
    return origin


def stages_again(model: TreeModel, node: int, data: Dataset) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return what every method compared at a node of the finished tree, at the moment it did."""
    passes, notes = passes_again(model, data)
    if "other_tree" in notes:
        stages, further = finished_stages(model, node)
        return stages, (*notes, *further)
    stages_found: list[Stage] = []
    place = node
    for one in reversed(passes):
        before = one.origin[place]
        stages_found += _stages_of(model, one, place, before)
        place = before
    return tuple(reversed(stages_found)), notes


def _stages_of(model: TreeModel, one: Pass, place: int, before: int) -> list[Stage]:
    """Return the stages of one method at a node, the latest first; several where branches were raised to its place."""
    if one.before.attribute[before] == LEAF:
        return []
    if one.method["method"] == "error_based":
        found = [decision for decision in one.history if decision.node == before]
        return [_error_based(model, one.method, decision) for decision in reversed(found)]
    decision = PRUNED if one.after.attribute[place] == LEAF else KEPT
    if one.method["method"] == "reduced_error" and one.validation is not None:
        return [_reduced_error(one.before, one.validation, before, decision)]
    if one.method["method"] == "cp":
        saved = (estimate("strength", one.complexity[before]), estimate("limit", float(one.method["cp"])))
        return [Stage("cp", decision, saved, dict(one.method))]
    if decision == KEPT and one.method["method"] == "cost_complexity":
        # What was cut elsewhere made this link the stronger: it is what remained that withstood the price.
        return [_stage_on(model, one.method, one.after, place, decision)]
    return [_stage_on(model, one.method, one.before, before, decision)]


# -- the numbers of each method ----------------------------------------------------------------------------------------


def _stage_on(model: TreeModel, method: Mapping[str, Any], tree: Tree, node: int, decision: str) -> Stage:
    """Return the stage of a method that needs nothing but the tree which it saw."""
    match method["method"]:
        case "collapse":
            return Stage("collapse", decision, _collapse(tree, node), {"slack": COLLAPSE_SLACK})
        case "chi_square":
            return Stage("chi_square", decision, _chi_square(method, tree, node), dict(method))
        case "mdl":
            return Stage("mdl", decision, _mdl(tree, node))
        case "cost_complexity":
            risks = node_risks(tree, method["risk"], method["criterion"])
            found = _strength(method["alpha"], tree, node, *risks, cut=decision == PRUNED)
            return Stage("cost_complexity", decision, found, dict(method))
        case "cp":
            own = _rpart_risks(model, tree)
            found = _strength(method["cp"], tree, node, own, np.zeros(tree.n_nodes), cut=False)
            return Stage("cp", decision, found, dict(method))
    return Stage(str(method["method"]), decision)


def _error_based(model: TreeModel, method: Mapping[str, Any], decision: PruningDecision) -> Stage:
    j48, confidence = learner_name(model) == "J48", float(method["confidence"])
    estimates = [_leaf_estimate(decision.counts, confidence, j48)]
    if decision.branches:
        terms = [f"{value:.3f}" for value in decision.branches]
        estimates.append(estimate("tree", decision.as_tree, sum_of(terms, f"{decision.as_tree:.3f}")))
    if decision.raised is not None:
        estimates.append(estimate("raised", decision.raised))
    told: dict[str, Any] = {"confidence": confidence}
    if confidence < 0.5 or not j48:
        told["z"] = deviate(confidence, j48=j48)
    return Stage("error_based", decision.outcome, tuple(estimates), told)


def _leaf_estimate(counts: Sequence[float], confidence: float, j48: bool) -> Estimate:
    weight = float(sum(counts))
    return expected_errors(weight, max(weight - max(counts), 0.0), confidence, j48=j48)


def _reduced_error(tree: Tree, held_out: Dataset, node: int, decision: str) -> Stage:
    found = validation_estimates(tree, held_out)
    own, below = float(found.own[node]), float(found.below[node])
    return Stage("reduced_error", decision, (estimate("leaf", own), estimate("tree", below)))


def _collapse(tree: Tree, node: int) -> tuple[Estimate, ...]:
    branches = [_errors_below(tree, child) for child in tree.children_of(node).tolist()]
    staying = staying_errors(tree, node)
    total = staying + sum(branches)
    terms = [f"{value:.4g}" for value in ([staying, *branches] if staying else branches)]
    return (
        estimate("leaf", float(tree.errors[node])),
        estimate("tree", total, sum_of(terms, f"{total:.4g}")),
    )


def _errors_below(tree: Tree, node: int) -> float:
    end = end_of_subtree(tree, node)
    leaf = tree.attribute[node:end] == LEAF
    stay_at = (np.flatnonzero(~leaf & (tree.missing[node:end] == STAY)) + node).tolist()
    return float(tree.errors[node:end][leaf].sum()) + sum(staying_errors(tree, place) for place in stay_at)


def _chi_square(method: Mapping[str, Any], tree: Tree, node: int) -> tuple[Estimate, ...]:
    children = tree.children_of(node)
    table = tree.counts[children] * (tree.weight[children] > 0)[:, None]
    tried = len(tree.schema.attributes) if method.get("bonferroni", False) else 1
    p = min(1.0, tried * table_p(table))
    return (
        estimate("chi_square", chi_square(table).statistic),
        estimate("p", p),
        estimate("limit", float(method["significance"])),
    )


def _mdl(tree: Tree, node: int) -> tuple[Estimate, ...]:
    found = message_lengths(tree)
    counts = tree.counts[node] * float(tree.weight[node] > 0)
    as_leaf, as_tree = float(found.as_leaf[node]), float(found.as_tree[node])
    settled = np.where(np.isin(np.arange(tree.n_nodes), found.cut), found.as_leaf, found.as_tree)
    branches = [f"{value:.2f}" for value in settled[tree.children_of(node)].tolist()]
    return (
        estimate("leaf", as_leaf, sum_of(["1", f"{class_bits(counts):.2f}"], f"{as_leaf:.2f}")),
        estimate("tree", as_tree, sum_of([f"{float(found.test[node]):.2f}", *branches], f"{as_tree:.2f}")),
    )


def _strength(
    limit: float, tree: Tree, node: int, risks: Floats, staying: Floats, *, cut: bool
) -> tuple[Estimate, ...]:
    """Return the strength of a link as it is or, if it was cut, when it was the weakest."""
    seen = cut_before(tree, node, risks, staying) if cut else None
    where = node
    if seen is not None and seen.n_nodes < tree.n_nodes:
        origin = same_places(tree, seen)
        where = origin.index(node)
        risks, staying, tree = risks[origin], staying[origin], seen
    link = link_at(tree, where, risks, staying)
    return (
        estimate("strength", link.strength, link_strength(link.own, link.below, link.leaves, link.strength)),
        estimate("limit", float(limit)),
    )


def _rpart_risks(model: TreeModel, tree: Tree) -> Floats:
    """Return rpart's risk of each node as a share of the root's: squares, errors, or losses."""
    if tree.sse is not None:
        risks = tree.sse.astype(np.float64)
    elif model.costs is not None:
        losses = tree.counts @ np.array(model.costs, dtype=np.float64)
        risks = losses[np.arange(tree.n_nodes), tree.outcome]
    else:
        risks = tree.errors.astype(np.float64)
    return risks / risks[0] if risks[0] > 0 else risks


@dataclass(frozen=True)
class PruningExplanation(Explanation):
    """What pruning compared at a node."""

    node: int
    conditions: tuple[Condition, ...]
    decision: str
    target: str
    classes: tuple[str, ...]
    counts: tuple[int | float, ...]
    weight: float
    outcome: str | float
    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def document(self, say: Words) -> Document:
        """Return the comparison in the words of a language."""
        return pruning_document(self, say)


def explain_pruning(model: TreeModel, node: int = 0, data: Dataset | None = None) -> PruningExplanation:
    """Explain what pruning did at a node, and by which numbers.

    Parameters
    ----------
    model : TreeModel
    node : int
        An inner node or a leaf; the root is 0.
    data : Dataset or None
        The training data: needed for what was cut off, for raising, and for cases that were held out.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> weather = sample("play-tennis")
    >>> told = explain_pruning(fit(weather, c45()), 0, weather)
    >>> told.decision, [(one.kind, round(one.value, 3)) for one in told.stages[-1].estimates]
    ('kept', [('leaf', 6.795), ('tree', 5.392), ('raised', 7.739)])
    """
    view = model.tree.node(node)
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    if not was_pruned(model):
        notes = ("not_pruned",)
    elif data is None:
        stages, notes = finished_stages(model, node)
    else:
        stages, notes = stages_again(model, node, data)
    tree = model.tree
    return PruningExplanation(
        node=node,
        conditions=conditions_to(tree, node),
        decision=_decision(stages, view.is_leaf, view.stop is not None and view.stop.name == "PRUNED"),
        target=tree.schema.target or "",
        classes=tree.schema.classes,
        counts=tuple(plain_number(count) for count in tree.counts[node].tolist()),
        weight=view.weight,
        outcome=view.outcome,
        stages=stages,
        notes=notes,
    )


def _decision(stages: tuple[Stage, ...], is_leaf: bool, was_cut: bool) -> str:
    told = [stage.decision for stage in stages]
    if was_cut or "pruned" in told:
        return "pruned"
    if "raised" in told:
        return "raised"
    return "never" if is_leaf or not stages else "kept"


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
