"""Explanation of one node: why its attribute was chosen, with all formulas and numbers.

The explanation is data first: tables, impurities, gains and status of each attribute, all computed from counts.
`explain_node` uses the split trace stored in the model; for a node without one (a large tree stores only the top) it
needs the training data and counts again.

`worth` names the score by which the attributes were compared: gain, gain ratio, impurity decrease, chi-square, the
adjusted p-value (the smallest wins), or a user-defined criterion. The runner-up is the next best attribute, and the
margin is the difference of the scores. A note is a code; its text is ``note.<code>`` in the message catalogue.

`blackboard` writes the derivation out: formulas with the numbers filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.explain.attribute import AttributeExplanation, Branch, explain_attribute
from treewright.explain.conditions import BranchCondition, condition_of, conditions_to, where
from treewright.explain.document import (
    EQUALS,
    LOG2,
    MINUS,
    PLUS,
    TIMES,
    Block,
    Derivation,
    Document,
    Explanation,
    Heading,
    MathFormula,
    Paragraph,
    TableBlock,
    Together,
    fraction,
    joined,
    latex_name,
    literal,
    name,
    named,
    padded,
    width,
)
from treewright.explain.language import Words
from treewright.explain.training_data import learner_of, training_cases
from treewright.learners.criteria import entropy, gini
from treewright.learners.recipe import Choice, NominalTest, Recipe, recipe_from_dict
from treewright.learners.select import HIGH_CARDINALITY_SHARE
from treewright.tree.io.tree_json import plain_number
from treewright.tree.model import TreeModel
from treewright.tree.split import EvaluatedSplit, SplitStatus
from treewright.tree.tree import Node, Tree
from treewright.wording import number


def retrace_node(
    model: TreeModel, recipe: Recipe, node: int, data: Dataset | None
) -> tuple[tuple[EvaluatedSplit, ...] | None, tuple[str, ...]]:
    """Return the split trace of a node, counted from the data, and notes on the counting."""
    if data is None:
        raise ParameterError(
            f"the model has no split trace for node {node} (large trees store only the top): give the training data"
        )
    cases, notes = training_cases(model, data)
    return learner_of(model).trace_node(cases, model.tree, node, recipe), notes


@dataclass(frozen=True)
class SurrogateExplanation:
    """A surrogate split, used when the value of the chosen attribute is missing.

    Parameters
    ----------
    condition : BranchCondition
        Cases that meet it take the first branch of the chosen test.
    agreement : float
        Share of the cases that it sends to the same branch.
    adjusted : float
        Agreement beyond that of the heavier branch, as a share of what is possible.
    """

    attribute: str
    condition: BranchCondition
    agreement: float
    adjusted: float
    reversed: bool


@dataclass(frozen=True)
class NodeExplanation(Explanation):
    """The choice made at one node.

    `measure` is ``"entropy"``, ``"gini"`` or ``"variance"``; attributes are sorted by score, the chosen one first.
    `worth` names that score: ``"gain"``, ``"ratio"``, ``"decrease"``, ``"chi_square"``, ``"adjusted_p"``, ``"own"`` (a
    user-defined criterion, whose name is `criterion`) or, if the learner takes the attributes in order, ``"order"``.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> root = explain_node(fit(sample("play-tennis"), id3()))
    >>> root.runner_up, round(root.margin, 3), {name: round(gain, 3) for name, gain in root.gains.items()}
    ('Humidity', 0.095, {'Outlook': 0.247, 'Humidity': 0.152, 'Wind': 0.048, 'Temperature': 0.029})
    """

    node: int
    path: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    counts: tuple[int | float, ...]
    weight: float
    impurity: float
    mean: float | None
    measure: str
    outcome: str | float
    stop: str | None
    chosen: str | None
    average_gain: float | None
    attributes: tuple[AttributeExplanation, ...]
    conditions: tuple[BranchCondition, ...] = ()
    algorithm: str = ""
    criterion: str = ""
    stop_code: str | None = None
    worth: str = "decrease"
    runner_up: str | None = None
    margin: float | None = None
    surrogates: tuple[SurrogateExplanation, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> tuple[Branch, ...]:
        """The frequency table of the chosen attribute; empty for a leaf."""
        chosen = [one.branches for one in self.attributes if one.verdict is SplitStatus.CHOSEN]
        return chosen[0] if chosen else ()

    @property
    def gains(self) -> dict[str, float]:
        """The gain (or decrease of impurity) of every attribute that has a test, the best first."""
        return {one.name: one.decrease for one in self.attributes if one.decrease is not None}

    def document(self, message: Words) -> Document:
        """Return the derivation as a document in a language."""
        return node_document(self, message)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = super().to_dict()
        for entry, one in zip(plain["attributes"], self.attributes, strict=True):
            entry["verdict_code"] = one.verdict_code
        return plain


def explain_node(model: TreeModel, node: int = 0, data: Dataset | None = None) -> NodeExplanation:
    """Explain how the split of a node was chosen.

    Parameters
    ----------
    model : TreeModel
    node : int
        Number of the node; the root is 0.
    data : Dataset or None
        The training data, for a node whose split trace the model does not store.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> root = explain_node(fit(sample("play-tennis"), C45()))
    >>> [(one.name, round(one.decrease, 3), str(one.verdict)) for one in root.attributes[:3]]
    [('Outlook', 0.247, 'chosen'), ('Humidity', 0.152, 'considered'), ('Wind', 0.048, 'below the average gain')]
    """
    view = model.tree.node(node)
    recipe = recipe_from_dict(model.recipe)
    evaluated, notes = model.trace.get(node), learner_of(model).trace_notes()
    if evaluated is None and (data is not None or view.stop is None):
        evaluated, further = retrace_node(model, recipe, node, data)
        notes += further
    measure = {"gini": "gini", "variance": "variance"}.get(recipe.criterion, "entropy")
    explained = [explain_attribute(view, recipe, measure, one) for one in evaluated or ()]
    explained.sort(key=lambda one: _rank(recipe, one))
    tree = model.tree
    conditions = conditions_to(tree, node)
    score_name = _score_name(model, recipe, explained)
    runner_up, margin = _runner_up(explained, score_name)
    return NodeExplanation(
        node=node,
        path=tuple(str(condition) for condition in conditions),
        target=tree.schema.target or "",
        classes=tree.schema.classes,
        counts=tuple(plain_number(count) for count in tree.counts[node].tolist()),
        weight=view.weight,
        impurity=_node_impurity(tree, node, measure),
        mean=float(tree.outcome[node]) if tree.is_regression else None,
        measure=measure,
        outcome=view.outcome,
        stop=None if view.stop is None else str(view.stop),
        chosen=None if view.is_leaf else view.attribute.name,
        average_gain=_average(recipe, tree, model, explained),
        attributes=tuple(explained),
        conditions=conditions,
        algorithm=recipe.name,
        criterion=recipe.criterion if recipe.own is None else recipe.own.name,
        stop_code=None if view.stop is None else view.stop.name.lower(),
        worth=score_name,
        runner_up=runner_up,
        margin=margin,
        surrogates=_surrogates(view),
        notes=notes,
    )


def _score_name(model: TreeModel, recipe: Recipe, explained: Sequence[AttributeExplanation]) -> str:
    if learner_of(model).criterion_for(Task.CLASSIFICATION) == "":
        return "order"
    if any(one.adjusted_p is not None for one in explained):
        return "adjusted_p"
    if recipe.own is not None:
        return "own"
    if recipe.criterion == "chi2":
        return "chi_square"
    if recipe.choice is Choice.RATIO:
        return "ratio"
    return "gain" if recipe.criterion in ("gain", "entropy") else "decrease"


def _runner_up(explained: Sequence[AttributeExplanation], by: str) -> tuple[str | None, float | None]:
    """Return the second-best attribute and the difference of the scores."""
    winner = next((one for one in explained if one.verdict is SplitStatus.CHOSEN), None)
    second = next((one for one in explained if one.verdict is SplitStatus.CONSIDERED), None)
    if winner is None or second is None or by == "order":
        return None, None
    first, next_best = winner.score(by), second.score(by)
    if first is None or next_best is None:
        return second.name, None
    return second.name, next_best - first if by == "adjusted_p" else first - next_best


def _surrogates(view: Node) -> tuple[SurrogateExplanation, ...]:
    columns = view.tree.schema.attributes
    return tuple(
        SurrogateExplanation(
            columns[one.split.attribute].name,
            condition_of(one.split, 1 if one.reversed else 0, columns[one.split.attribute]),
            one.agreement,
            one.adjusted,
            one.reversed,
        )
        for one in view.surrogates
    )


def _node_impurity(tree: Tree, node: int, measure: str) -> float:
    if tree.sse is not None:
        return float(tree.sse[node]) / float(tree.weight[node]) if tree.weight[node] > 0 else 0.0
    return entropy(tree.counts[node]) if measure == "entropy" else gini(tree.counts[node])


_RANKS = {
    SplitStatus.CHOSEN: 0,
    SplitStatus.SMALL_GAIN: 0,
    SplitStatus.NOT_SIGNIFICANT: 0,
    SplitStatus.PRUNED: 0,
    SplitStatus.CONSIDERED: 1,
    SplitStatus.BELOW_AVERAGE: 2,
}


def _rank(recipe: Recipe, one: AttributeExplanation) -> tuple[int, float, float]:
    rank = _RANKS.get(one.verdict, 3)
    if one.adjusted_p is not None:
        return rank, one.adjusted_p, -(one.decrease or 0.0)
    score = one.decrease
    if recipe.own is not None:
        score = one.own_score
    elif recipe.criterion == "chi2":
        score = one.chi_square
    elif recipe.choice is Choice.RATIO and rank <= 1:
        score = one.ratio
    return rank, -(score or 0.0), -(one.decrease or 0.0)


def _average(recipe: Recipe, tree: Tree, model: TreeModel, explained: Sequence[AttributeExplanation]) -> float | None:
    if recipe.choice is not Choice.RATIO:
        return None
    rows = 0 if recipe.nominal is NominalTest.GROUPS else model.provenance.get("rows", 0)
    limit = HIGH_CARDINALITY_SHARE * rows
    high_cardinality = {column.name: 0 < limit <= len(column.values) for column in tree.schema.attributes}
    if all(high_cardinality.values()):
        high_cardinality = dict.fromkeys(high_cardinality, False)
    compared = {*_RANKS, SplitStatus.NO_SPLIT_INFORMATION}
    gains = [
        one.decrease
        for one in explained
        if one.verdict in compared and one.decrease is not None and not high_cardinality[one.name]
    ]
    return sum(gains) / len(gains) if gains else None


MOST_ROWS = 30
"""Most branches of one attribute in a table."""

MOST_CLASSES = 40
"""Most classes in a line; a table has all of them."""

_SYMBOL = {"entropy": "H", "gini": "Gini", "variance": "Var"}
_TIE = 1e-9

_BEST_BUT = {SplitStatus.SMALL_GAIN, SplitStatus.NOT_SIGNIFICANT, SplitStatus.PRUNED}


def blackboard(explanation: NodeExplanation, lang: str | None = None) -> str:
    """Return the derivation of a node as text.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.explain.node import explain_node
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> lines = blackboard(explain_node(fit(sample("six-rows"), ID3()))).splitlines()
    >>> lines[2]
    'H(k) = - 4/6 log2 4/6 - 2/6 log2 2/6 = 0.918'
    """
    return explanation.to_text(lang)


def node_document(explanation: NodeExplanation, message: Words) -> Document:
    """Return the derivation of a node as a document."""
    blocks: list[Block] = [
        Heading(_heading(explanation, message)),
        Derivation(((_impurity(explanation, message), ""),)),
    ]
    blocks += [_attribute(explanation, one, message) for one in explanation.attributes if one.branches]
    blocks += choice_blocks(explanation, message)
    blocks += [Paragraph(message(f"note.{code}")) for code in explanation.notes]
    if explanation.stop_code is not None:
        reason = message(f"stop.{explanation.stop_code}")
        blocks.append(Paragraph(message("leaf.reason", outcome=outcome_text(explanation.outcome), reason=reason)))
    return tuple(blocks)


def choice_blocks(explanation: NodeExplanation, message: Words) -> list[Block]:
    """Return the table of all attributes, the reason for the choice, and the surrogate splits."""
    blocks: list[Block] = [_summary(explanation, message)] if explanation.attributes else []
    reason = _reason(explanation, message)
    if reason:
        blocks.append(Paragraph(reason))
    if explanation.surrogates:
        blocks.append(_surrogates_block(explanation, message))
    return blocks


def outcome_text(outcome: str | float) -> str:
    """Return a class, or a number with enough digits."""
    return name(outcome) if isinstance(outcome, str) else f"{outcome:.6g}"


def cases_line(classes: tuple[str, ...], counts: tuple[int | float, ...], message: Words) -> str:
    """Return the classes that occur, with their weights."""
    texts = [f"{name(one)} {number(count)}" for one, count in zip(classes, counts, strict=True) if count]
    more = len(texts) - MOST_CLASSES
    return ", ".join(texts[:MOST_CLASSES]) + (message("and_more", n=more) if more > 0 else "")


def _heading(explanation: NodeExplanation, message: Words) -> str:
    line = message("node.heading", node=explanation.node, where=where(explanation.conditions, message))
    line += message("cases", n=explanation.weight)
    if explanation.mean is not None:
        return line + message("node.mean", target=name(explanation.target), mean=f"{explanation.mean:.6g}")
    counts = cases_line(explanation.classes, explanation.counts, message)
    return line + message("node.counts", target=name(explanation.target), counts=counts) if counts else line


def _impurity(explanation: NodeExplanation, message: Words) -> MathFormula:
    symbol = _SYMBOL[explanation.measure]
    target = named(explanation.target)
    left = MathFormula(f"{symbol}({target.plain})", rf"{_latex_symbol(symbol)}({target.latex})")
    shares = [fraction(count, explanation.weight) for count in explanation.counts if count]
    result = EQUALS + literal(_fix(explanation.impurity, explanation.measure))
    if explanation.measure == "entropy":
        terms = joined((literal("- ") + share + LOG2 + share for share in shares), literal(" "))
        return left + EQUALS + (terms if shares else literal("0")) + result
    if explanation.measure == "gini":
        squares = joined(
            (MathFormula(f"- ({one.plain})^2", rf"- \left({one.latex}\right)^2") for one in shares), literal(" ")
        )
        return left + EQUALS + literal("1 ") + squares + result
    mean = f"{explanation.mean:.6g}"
    plain = message("variance.formula", target=target.plain, mean=mean)
    latex = rf"\frac{{1}}{{n}} \sum \left({target.latex} - {mean}\right)^2"
    return left + EQUALS + MathFormula(plain, latex) + result


def _latex_symbol(symbol: str) -> str:
    return symbol if len(symbol) == 1 else rf"\operatorname{{{symbol}}}"


def _attribute(explanation: NodeExplanation, one: AttributeExplanation, message: Words) -> Block:
    measure = explanation.measure
    labels = [message(f"after.{measure}"), message(f"gain.{measure}")]
    columns = max(width(label) for label in labels)
    after, gain = (MathFormula(padded(label, columns, "left"), latex_name(label)) for label in labels)
    lines = [(after + EQUALS + _remainder(one, measure), ""), _gain(gain, one, measure, message)]
    further = _further(explanation, one, message)
    table = _table(explanation, one, message)
    if further:
        return Together((table, Derivation(tuple(lines)), Paragraph(further)))
    return Together((table, Derivation(tuple(lines))))


def _remainder(one: AttributeExplanation, measure: str) -> MathFormula:
    decimals = 3 if measure != "variance" else 6
    reached = [branch for branch in one.branches if branch.weight > 0]
    terms = joined(
        (
            fraction(branch.weight, one.known) + TIMES + literal(f"{branch.impurity:.{decimals}g}")
            for branch in reached[:MOST_ROWS]
        ),
        PLUS,
    )
    more = literal(" + ...", r" + \dots") if len(reached) > MOST_ROWS else literal("")
    return terms + more + EQUALS + literal(_fix(one.after or 0.0, measure))


def _gain(label: MathFormula, one: AttributeExplanation, measure: str, message: Words) -> tuple[MathFormula, str]:
    """Return the gain with its corrections: the share of unknown values, the penalty for the number of cuts."""
    after = one.after or 0.0
    before = (one.decrease or 0.0) + one.correction
    share = one.known / (one.known + one.unknown)
    start = before / share + after
    formula = label + EQUALS + literal(_fix(start, measure)) + MINUS + literal(_fix(after, measure))
    formula += EQUALS + literal(_fix(before / share, measure))
    behind = ""
    if one.unknown:
        known = fraction(one.known, one.known + one.unknown).plain
        behind += message("gain.known", share=known, result=_fix(before, measure))
    if one.correction:
        penalty = f"log2({one.tries})/{number(one.known + one.unknown)}"
        behind += message(
            "gain.correction", penalty=penalty, tries=one.tries, result=_fix(one.decrease or 0.0, measure)
        )
    elif one.tries:
        behind += message("gain.tries", tries=one.tries)
    return formula, behind


def _further(explanation: NodeExplanation, one: AttributeExplanation, message: Words) -> str:
    further, measure = [], explanation.measure
    if one.own_score is not None:
        further.append(_own_score(explanation.criterion, one, message))
    if one.split_information is not None and one.ratio is not None:
        further.append(message("further.ratio", split=f"{one.split_information:.3f}", ratio=f"{one.ratio:.3f}"))
    if one.gini_decrease is not None and measure != "gini":
        further.append(message("further.gini", gini=f"{one.gini_decrease:.3f}"))
    if one.chi_square is not None:
        p = f"{one.chi_square_p:.3g}"
        further.append(message("further.chi_square", statistic=f"{one.chi_square:.2f}", n=one.chi_square_df, p=p))
    if one.adjusted_p is not None:
        further.append(message("further.adjusted_p", p=f"{one.adjusted_p:.3g}"))
    return message("join.semicolon").join(further)


def _own_score(criterion: str, one: AttributeExplanation, message: Words) -> str:
    """Return the score by a user-defined criterion, with the share of known values if some are missing."""
    score = one.own_score or 0.0
    if not one.unknown:
        return f"{name(criterion)} {score:.4g}"
    weight = one.known + one.unknown
    share = fraction(one.known, weight).plain
    return f"{name(criterion)} {score * weight / one.known:.4g}" + message(
        "gain.known", share=share, result=f"{score:.4g}"
    )


def _fix(value: float, measure: str) -> str:
    return f"{value:.6g}" if measure == "variance" else f"{value:.3f}"


def _table(explanation: NodeExplanation, one: AttributeExplanation, message: Words) -> TableBlock:
    symbol = _SYMBOL[explanation.measure]
    heads: tuple[str, ...]
    if explanation.measure == "variance":
        heads = (name(one.name), "n", message("head.mean"), symbol)
    else:
        heads = (name(one.name), *(name(each, 12) for each in explanation.classes), "n", symbol)
    rows = [_cells(branch, explanation.measure, message) for branch in one.branches[:MOST_ROWS]]
    if one.unknown:
        rows.append((message("row.missing"), *[""] * (len(heads) - 3), number(one.unknown), ""))
    hidden = len(one.branches) - MOST_ROWS
    return TableBlock(heads, tuple(rows), more=message("table.more", n=hidden) if hidden > 0 else "")


def _cells(branch: Branch, measure: str, message: Words) -> tuple[str, ...]:
    label = message(f"branch.{branch.special}") if branch.special else name(branch.label, 40)
    if measure == "variance":
        mean = "-" if branch.mean is None else f"{branch.mean:.6g}"
        return label, number(branch.weight), mean, f"{branch.impurity:.6g}"
    return label, *(number(count) for count in branch.counts), number(branch.weight), f"{branch.impurity:.3f}"


def _summary(explanation: NodeExplanation, message: Words) -> TableBlock:
    measure = explanation.measure
    attributes = explanation.attributes
    with_ratio = any(one.ratio is not None for one in attributes)
    with_gini = measure == "entropy" and any(one.gini_decrease is not None for one in attributes)
    with_test = any(one.chi_square is not None for one in attributes)
    with_own = explanation.worth == "own"
    heads = [
        message("head.attribute"),
        *([name(explanation.criterion)] if with_own else []),
        message(f"gain.{measure}"),
    ]
    heads += [message("head.split"), message("head.ratio")] if with_ratio else []
    heads += ["Gini"] if with_gini else []
    heads += [message("head.chi_square"), "p"] if with_test else []
    rows = []
    for one in attributes:
        cells = [name(one.name), *([_or_dash(one.own_score, ".4g")] if with_own else [])]
        cells.append("-" if one.decrease is None else _fix(one.decrease, measure))
        if with_ratio:
            compared = one.verdict in {SplitStatus.CHOSEN, SplitStatus.CONSIDERED, *_BEST_BUT}
            cells.append(_or_dash(one.split_information))
            cells.append(_or_dash(one.ratio if compared else None))
        if with_gini:
            cells.append(_or_dash(one.gini_decrease))
        if with_test:
            cells.append("-" if one.chi_square is None else f"{one.chi_square:.2f}")
            cells.append("-" if one.chi_square_p is None else f"{one.chi_square_p:.3g}")
        rows.append((*cells, _remark(explanation, one, message)))
    chosen = frozenset(index for index, one in enumerate(attributes) if one.verdict is SplitStatus.CHOSEN)
    return TableBlock((*heads, ""), tuple(rows), last_left=True, marked=chosen)


def _or_dash(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def _remark(explanation: NodeExplanation, one: AttributeExplanation, message: Words) -> str:
    status = "" if one.verdict is SplitStatus.CONSIDERED else message(f"status.{one.verdict_code}")
    if one.adjusted_p is not None:
        p_value = message("further.adjusted_p", p=f"{one.adjusted_p:.3g}")
        return f"{p_value}, {status}" if status else p_value
    if one.verdict is SplitStatus.BELOW_AVERAGE and explanation.average_gain is not None:
        return f"{status} {explanation.average_gain:.3f}"
    return status


def _reason(explanation: NodeExplanation, message: Words) -> str:
    """Return the reason for the choice, with the runner-up and the margin."""
    if explanation.chosen is None or not explanation.attributes:
        return ""
    chosen = name(explanation.chosen)
    if explanation.runner_up is None or explanation.margin is None:
        key = "order" if explanation.worth == "order" else "only"
        return message(f"reason.{key}", attribute=chosen)
    runner_up, margin = name(explanation.runner_up), explanation.margin
    what = name(explanation.criterion) if explanation.worth == "own" else message(f"score.{explanation.worth}")
    if abs(margin) <= _TIE:
        return message("reason.tie", attribute=chosen, what=what, other=runner_up)
    if margin < 0:
        return message("reason.otherwise", attribute=chosen, what=what, other=runner_up)
    shown_margin = (
        f"{margin:.3g}" if explanation.worth == "adjusted_p" or margin < 5e-4 else _fix(margin, explanation.measure)
    )
    key = "reason.smallest" if explanation.worth == "adjusted_p" else "reason.highest"
    text = message(key, attribute=chosen, what=what, other=runner_up, margin=shown_margin)
    if explanation.worth == "ratio" and explanation.average_gain is not None:
        text += " " + message("reason.average", average=f"{explanation.average_gain:.3f}")
    return text


def _surrogates_block(explanation: NodeExplanation, message: Words) -> Block:
    rows = tuple(
        (one.condition.describe(message), f"{one.agreement:.3f}", f"{one.adjusted:.3f}")
        for one in explanation.surrogates
    )
    heads = (message("surrogate.head"), message("surrogate.agreement"), message("surrogate.adjusted"))
    return Together((Paragraph(message("surrogate.title")), TableBlock(heads, rows)))
