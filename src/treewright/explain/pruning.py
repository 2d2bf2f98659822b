"""Explanation of a pruning decision: the estimates that each pruning method compared at a node, with their formulas.

The kind of an estimate is ``"leaf"`` or
``"tree"`` for the node as a leaf or as a subtree, ``"raised"`` for its largest branch in its place, ``"p"`` for the
p-value of its split, ``"strength"`` for its effective alpha, or ``"limit"`` for a threshold that another estimate is
compared with.

A method is plain data with a name, as in the model; ``"cp"`` is rpart's, ``"error_based"`` also that of Release 8 and
J48. The origin of each node of a pruned tree is the number of the same node before pruning, -1 if there is none.

A stage is one pruning method of the model; methods run one after the other, so a node has one stage for each method
that considered it. The decision is ``"kept"``, ``"pruned"``, ``"raised"`` (a branch replaced the node) or ``"never"``:
the node grew as a leaf, or no method considered it.

A model does not store pruned subtrees. With the training data the tree is grown and pruned again, and the numbers are
those of that moment; without them, the numbers follow from the finished tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.explain.conditions import BranchCondition, conditions_to, where
from treewright.explain.document import (
    EQUALS,
    PLUS,
    Block,
    Derivation,
    Document,
    Explanation,
    Heading,
    MathFormula,
    Paragraph,
    fraction,
    joined,
    literal,
    name,
    worded,
)
from treewright.explain.language import Words
from treewright.explain.node import cases_line, outcome_text
from treewright.explain.training_data import (
    grow_unpruned_again,
    learner_name,
    learner_of,
    model_format_errors,
    rpart_growth,
    split_held_out,
    training_cases,
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
"""Most terms of a sum that are written out."""


@dataclass(frozen=True)
class PruningEstimate:
    """One number that was compared.

    Parameters
    ----------
    kind : {"leaf", "tree", "raised", "p", "strength", "limit"}
    value : float
    plain, latex : str
        The formula with the numbers filled in; empty if there is none.
    """

    kind: str
    value: float
    plain: str = ""
    latex: str = ""

    @property
    def formula(self) -> MathFormula:
        """Both forms."""
        return MathFormula(self.plain, self.latex)


def pruning_estimate(kind: str, value: float, formula: MathFormula | None = None) -> PruningEstimate:
    """Return an estimate with its formula."""
    return (
        PruningEstimate(kind, value) if formula is None else PruningEstimate(kind, value, formula.plain, formula.latex)
    )


def sum_of(terms: Sequence[str], total: str) -> MathFormula:
    """Return a sum written out.

    Examples
    --------
    >>> sum_of(["1", "2"], "3").plain
    '1 + 2 = 3'
    """
    shown = joined([literal(term) for term in terms[:MOST_TERMS]], PLUS)
    if len(terms) > MOST_TERMS:
        shown += literal(" + ...", r" + \dots")
    return shown + EQUALS + literal(total) if len(terms) != 1 or terms[0] != total else literal(total)


def expected_errors(weight: float, errors: float, confidence: float, *, j48: bool = False) -> PruningEstimate:
    """Return the expected errors of a leaf, by the upper confidence limit.

    Parameters
    ----------
    weight, errors : float
    confidence : float
    j48 : bool
        Use the exact normal deviate instead of C4.5's table.

    Examples
    --------
    >>> expected_errors(6, 0, 0.25).plain, expected_errors(14, 5, 0.25).plain
    ('6 (1 - 0.25^(1/6)) = 1.238', '14 (5 + 0.5 + z^2/2 + sqrt(z^2 (5.5 (1 - 5.5/14) + z^2/4))) / (14 + z^2) = 6.795')
    """
    extra = j48_extra_errors if j48 else extra_errors
    value = errors + (extra(weight, errors, confidence) if weight > 0 else 0.0)
    n, e, cf, result = number(weight, 3), number(errors, 3), f"{confidence:g}", EQUALS + literal(f"{value:.3f}")
    if weight <= 0 or (j48 and confidence > 0.5):
        return pruning_estimate("leaf", value, literal(f"{value:.3f}"))
    if errors < NO_ERROR:
        formula = MathFormula(f"{n} (1 - {cf}^(1/{n}))", rf"{n} \left(1 - {cf}^{{1/{n}}}\right)")
        return pruning_estimate("leaf", value, formula + result)
    if errors < (1.0 if j48 else ONE_ERROR):
        none, one = (known + extra(weight, known, confidence) for known in (0.0, 1.0))
        plain = f"{none:.3f} + {e} ({one:.3f} - {none:.3f})"
        return pruning_estimate(
            "leaf", value, MathFormula(plain, plain.replace("(", r"\left(").replace(")", r"\right)")) + result
        )
    with_correction = errors + 0.5
    if with_correction >= weight:
        share = "" if j48 else f"{NEARLY_ALL} "
        return pruning_estimate("leaf", value, literal(f"{e} + {share}({n} - {e})") + result)
    h = number(with_correction, 3)
    plain = f"{n} ({e} + 0.5 + z^2/2 + sqrt(z^2 ({h} (1 - {h}/{n}) + z^2/4))) / ({n} + z^2)"
    latex = (
        rf"\frac{{{n} \left({e} + 0.5 + \frac{{z^2}}{{2}} + "
        rf"\sqrt{{z^2 \left({h} \left(1 - \frac{{{h}}}{{{n}}}\right) + \frac{{z^2}}{{4}}\right)}}\right)}}{{{n} + z^2}}"
    )
    return pruning_estimate("leaf", value, MathFormula(plain, latex) + result)


def deviate(confidence: float, *, j48: bool = False) -> float:
    """Return the z of a confidence level, by C4.5's table or exact (J48).

    Examples
    --------
    >>> round(deviate(0.25), 4), round(deviate(0.25, j48=True), 4)
    (0.6925, 0.6745)
    """
    return NormalDist().inv_cdf(1.0 - confidence) if j48 else math.sqrt(squared_deviate(confidence))


def link_strength(own: float, below: float, leaves: int, strength: float) -> MathFormula:
    """Return the decrease of risk per additional leaf, as a formula."""
    top, bottom = f"{own:.4g} - {below:.4g}", f"{leaves} - 1"
    return MathFormula(f"({top}) / ({bottom})", fraction(top, bottom).latex) + EQUALS + literal(f"{strength:.4g}")


KEPT, PRUNED, RAISED = "kept", "pruned", "raised"


@dataclass(frozen=True)
class Stage:
    """One method at one node.

    Parameters
    ----------
    method : str
    decision : {"kept", "pruned", "raised"}
    estimates : tuple of PruningEstimate
    parameters : dict
        Parameters of the method and values derived from them, such as the z of a confidence level.
    """

    method: str
    decision: str
    estimates: tuple[PruningEstimate, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


def methods_of(model: TreeModel) -> list[dict[str, Any]]:
    """Return the methods that pruned a model, the learner's own first."""
    own: list[dict[str, Any]] = []
    learner = learner_of(model)
    with model_format_errors("pruning"):
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
    """Return a method with all its parameters; unknown names and parameters are rejected."""
    parameters = {key: value for key, value in plain.items() if key != "method"}
    return pruner_named(plain["method"], **parameters).to_dict()


# -- from the finished tree --------------------------------------------------------------------------------------------


def finished_stages(model: TreeModel, node: int) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return the stages that follow from the finished tree, and the codes of notes on what needs the data."""
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
    """One run of a method: the trees before and after, the origin of each node, and the decisions.

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
    """Grow and prune again; a note says if that does not reproduce the tree of the model."""
    cases, notes = training_cases(model, data)
    held_out = split_held_out(model, data)[1]
    validation = data if held_out is None else held_out
    tree = grow_unpruned_again(model, data)
    passes = []
    for method in methods_of(model):
        if method["method"] == "cp":
            complexity = rpart_complexity(rpart_growth(model, data))
            one = Pass(method, tree, model.tree, original_nodes(tree, model.tree), complexity=complexity)
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
    return Pass(method, before, after, original_nodes(before, after), validation=held_out)


def rpart_complexity(growth: RpartGrowth) -> list[float]:
    """Return the complexity of each node of the grown tree, relative to the root's risk, as rpart computes it.

    That is not always the strength of the weakest link: rpart takes the splits of both sides together.
    """
    found = [0.0] * growth.tree.n_nodes
    waiting = [(0, 0)]
    while waiting:
        node, index = waiting.pop()
        found[node] = growth.relative(growth.nested_complexity[index])
        rpart_node = growth.nodes[index]
        if rpart_node.primary is not None:
            _, exchanged = rpart_node.primary.as_split()
            sides = (rpart_node.left, rpart_node.right)
            below = sides[::-1] if exchanged else sides
            waiting += zip(growth.tree.children_of(node).tolist(), below, strict=True)
    return found


def original_nodes(before: Tree, after: Tree) -> list[int]:
    """Return the number that each node of a pruned tree had before pruning.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> from treewright.pruning.collapse import cut_at
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> original_nodes(tree, cut_at(tree, [1]))
    [0, 1, 4, 5, 6, 7]
    """
    origin = [-1] * after.n_nodes
    origin[0] = 0
    for node in range(after.n_nodes):
        old = origin[node]
        if after.attribute[node] == LEAF or old < 0 or after.attribute[node] != before.attribute[old]:
            continue
        children, others = after.children_of(node).tolist(), before.children_of(old).tolist()
        if len(children) == len(others):
            for child, other in zip(children, others, strict=True):
                origin[child] = other
    return origin


def stages_again(model: TreeModel, node: int, data: Dataset) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return the stages of a node of the finished tree, each with the numbers of the moment of pruning."""
    passes, notes = passes_again(model, data)
    if "other_tree" in notes:
        stages, further = finished_stages(model, node)
        return stages, (*notes, *further)
    stages_found: list[Stage] = []
    current = node
    for one in reversed(passes):
        before = one.origin[current]
        stages_found += _stages_of(model, one, current, before)
        current = before
    return tuple(reversed(stages_found)), notes


def _stages_of(model: TreeModel, one: Pass, after: int, before: int) -> list[Stage]:
    """Return the stages of one method at a node, the latest first; several if branches replaced the node."""
    if one.before.attribute[before] == LEAF:
        return []
    if one.method["method"] == "error_based":
        found = [decision for decision in one.history if decision.node == before]
        return [_error_based(model, one.method, decision) for decision in reversed(found)]
    decision = PRUNED if one.after.attribute[after] == LEAF else KEPT
    if one.method["method"] == "reduced_error" and one.validation is not None:
        return [_reduced_error(one.before, one.validation, before, decision)]
    if one.method["method"] == "cp":
        saved = (
            pruning_estimate("strength", one.complexity[before]),
            pruning_estimate("limit", float(one.method["cp"])),
        )
        return [Stage("cp", decision, saved, dict(one.method))]
    if decision == KEPT and one.method["method"] == "cost_complexity":
        # Pruning elsewhere changes the strength of this link: what counts is its strength in the remaining tree.
        return [_stage_on(model, one.method, one.after, after, decision)]
    return [_stage_on(model, one.method, one.before, before, decision)]


# -- the numbers of each method ----------------------------------------------------------------------------------------


def _stage_on(model: TreeModel, method: Mapping[str, Any], tree: Tree, node: int, decision: str) -> Stage:
    """Return the stage of a method that needs only the tree."""
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
        estimates.append(pruning_estimate("tree", decision.as_tree, sum_of(terms, f"{decision.as_tree:.3f}")))
    if decision.raised is not None:
        estimates.append(pruning_estimate("raised", decision.raised))
    parameters: dict[str, Any] = {"confidence": confidence}
    if confidence < 0.5 or not j48:
        parameters["z"] = deviate(confidence, j48=j48)
    return Stage("error_based", decision.outcome, tuple(estimates), parameters)


def _leaf_estimate(counts: Sequence[float], confidence: float, j48: bool) -> PruningEstimate:
    weight = float(sum(counts))
    return expected_errors(weight, max(weight - max(counts), 0.0), confidence, j48=j48)


def _reduced_error(tree: Tree, held_out: Dataset, node: int, decision: str) -> Stage:
    found = validation_estimates(tree, held_out)
    own, below = float(found.own[node]), float(found.below[node])
    return Stage("reduced_error", decision, (pruning_estimate("leaf", own), pruning_estimate("tree", below)))


def _collapse(tree: Tree, node: int) -> tuple[PruningEstimate, ...]:
    branches = [_errors_below(tree, child) for child in tree.children_of(node).tolist()]
    staying = staying_errors(tree, node)
    total = staying + sum(branches)
    terms = [f"{value:.4g}" for value in ([staying, *branches] if staying else branches)]
    return (
        pruning_estimate("leaf", float(tree.errors[node])),
        pruning_estimate("tree", total, sum_of(terms, f"{total:.4g}")),
    )


def _errors_below(tree: Tree, node: int) -> float:
    end = end_of_subtree(tree, node)
    leaf = tree.attribute[node:end] == LEAF
    stay_at = (np.flatnonzero(~leaf & (tree.missing[node:end] == STAY)) + node).tolist()
    return float(tree.errors[node:end][leaf].sum()) + sum(staying_errors(tree, stay_node) for stay_node in stay_at)


def _chi_square(method: Mapping[str, Any], tree: Tree, node: int) -> tuple[PruningEstimate, ...]:
    children = tree.children_of(node)
    table = tree.counts[children] * (tree.weight[children] > 0)[:, None]
    tried = len(tree.schema.attributes) if method.get("bonferroni", False) else 1
    p = min(1.0, tried * table_p(table))
    return (
        pruning_estimate("chi_square", chi_square(table).statistic),
        pruning_estimate("p", p),
        pruning_estimate("limit", float(method["significance"])),
    )


def _mdl(tree: Tree, node: int) -> tuple[PruningEstimate, ...]:
    found = message_lengths(tree)
    counts = tree.counts[node] * float(tree.weight[node] > 0)
    as_leaf, as_tree = float(found.as_leaf[node]), float(found.as_tree[node])
    lengths = np.where(np.isin(np.arange(tree.n_nodes), found.cut), found.as_leaf, found.as_tree)
    branches = [f"{value:.2f}" for value in lengths[tree.children_of(node)].tolist()]
    return (
        pruning_estimate("leaf", as_leaf, sum_of(["1", f"{class_bits(counts):.2f}"], f"{as_leaf:.2f}")),
        pruning_estimate("tree", as_tree, sum_of([f"{float(found.test[node]):.2f}", *branches], f"{as_tree:.2f}")),
    )


def _strength(
    limit: float, tree: Tree, node: int, risks: Floats, staying: Floats, *, cut: bool
) -> tuple[PruningEstimate, ...]:
    """Return the strength of a link; if it was cut, its strength when it was the weakest."""
    seen = cut_before(tree, node, risks, staying) if cut else None
    position = node
    if seen is not None and seen.n_nodes < tree.n_nodes:
        origin = original_nodes(tree, seen)
        position = origin.index(node)
        risks, staying, tree = risks[origin], staying[origin], seen
    link = link_at(tree, position, risks, staying)
    return (
        pruning_estimate("strength", link.strength, link_strength(link.own, link.below, link.leaves, link.strength)),
        pruning_estimate("limit", float(limit)),
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
    """The pruning decision at a node."""

    node: int
    conditions: tuple[BranchCondition, ...]
    decision: str
    target: str
    classes: tuple[str, ...]
    counts: tuple[int | float, ...]
    weight: float
    outcome: str | float
    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def document(self, message: Words) -> Document:
        """Return the comparison as a document in a language."""
        return pruning_document(self, message)


def explain_pruning(model: TreeModel, node: int = 0, data: Dataset | None = None) -> PruningExplanation:
    """Explain the pruning decision at a node, with the numbers compared.

    Parameters
    ----------
    model : TreeModel
    node : int
        An inner node or a leaf; the root is 0.
    data : Dataset or None
        The training data: needed for pruned subtrees, for raising, and for held-out cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> weather = sample("play-tennis")
    >>> found = explain_pruning(fit(weather, c45()), 0, weather)
    >>> found.decision, [(one.kind, round(one.value, 3)) for one in found.stages[-1].estimates]
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
    decisions = [stage.decision for stage in stages]
    if was_cut or "pruned" in decisions:
        return "pruned"
    if "raised" in decisions:
        return "raised"
    return "never" if is_leaf or not stages else "kept"


def pruning_document(explanation: PruningExplanation, message: Words) -> Document:
    """Return the decision as a document."""
    blocks: list[Block] = [Heading(_heading(explanation, message))]
    for stage in explanation.stages:
        blocks += _stage(stage, message)
    blocks += [Paragraph(message(f"note.{code}")) for code in explanation.notes]
    outcome = outcome_text(explanation.outcome)
    blocks.append(Paragraph(message(f"pruning.result.{explanation.decision}", outcome=outcome)))
    return tuple(blocks)


def _heading(explanation: PruningExplanation, message: Words) -> str:
    line = message("pruning.heading", node=explanation.node, where=where(explanation.conditions, message))
    line += message("cases", n=explanation.weight)
    counts = cases_line(explanation.classes, explanation.counts, message)
    return line + message("node.counts", target=name(explanation.target), counts=counts) if counts else line


def _stage(stage: Stage, message: Words) -> list[Block]:
    placeholders = {key: f"{value:g}" if isinstance(value, float) else value for key, value in stage.parameters.items()}
    if "z" in stage.parameters:
        placeholders["z"] = f"{stage.parameters['z']:.4f}"
    title = f"pruning.{stage.method}.title"
    if stage.method == "error_based" and "z" not in placeholders:
        title = "pruning.error_based.title_without_z"
    blocks: list[Block] = [Paragraph(message(title, **placeholders))]
    if stage.estimates:
        blocks.append(Derivation(tuple((_line(stage, one, message), "") for one in stage.estimates)))
        blocks.append(Paragraph(message(f"pruning.{stage.method}.{stage.decision}")))
    return blocks


def _line(stage: Stage, one: PruningEstimate, message: Words) -> MathFormula:
    own = f"pruning.label.{stage.method}.{one.kind}"
    label = message(own if message.has(own) else f"pruning.label.{one.kind}")
    return worded(label) + EQUALS + (one.formula if one.plain else literal(_number(stage, one)))


def _number(stage: Stage, one: PruningEstimate) -> str:
    return f"{one.value:.3f}" if stage.method == "error_based" else f"{one.value:.4g}"
