"""The derivation of one node: counted, computed, and written out.

The working of a node that a model did not keep, counted again from the training data as its learner counted.

Explanation of one node as data: tables, impurities, gains and status of each attribute, all computed from counts.
`explain_node` uses the split trace stored in the model; for a node without one (a large tree stores only the top) it
needs the training data and counts again.

`worth` names the score by which the attributes were compared: gain, gain ratio, impurity decrease, chi-square, the
adjusted p-value (the smallest wins), or a user-defined criterion. The runner-up is the next best attribute, and the
margin is the difference of the scores. A note is a code; its text is ``note.<code>`` in the message catalogue.

The derivation of a node written out, formulas with the numbers filled in, as on a blackboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.explain.attribute import AttributeExplanation, Branch, explain_attribute
from treewright.explain.conditions import Condition, condition_of, conditions_to, where
from treewright.explain.document import (
    EQUALS,
    LOG2,
    MINUS,
    PLUS,
    TIMES,
    Block,
    Document,
    Explanation,
    Formula,
    Heading,
    Paragraph,
    Table,
    Together,
    Working,
    fraction,
    joined,
    latex_name,
    name,
    named,
    padded,
    said,
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


def counted_again(
    model: TreeModel, recipe: Recipe, node: int, data: Dataset | None
) -> tuple[tuple[EvaluatedSplit, ...] | None, tuple[str, ...]]:
    """Return what speaks for and against each attribute at a node, counted from the data, and notes on the counting."""
    if data is None:
        raise ParameterError(
            f"the model keeps no working for node {node} (large trees keep only the top): give the training data again"
        )
    cases, notes = training_cases(model, data)
    return learner_of(model).trace_node(cases, model.tree, node, recipe), notes


@dataclass(frozen=True)
class SurrogateExplanation:
    """A test that stands in where the value of the chosen one is missing.

    Parameters
    ----------
    condition : Condition
        Of the cases that go where the first branch of the chosen test leads.
    agreement : float
        Share of the cases that it sends the same way.
    adjusted : float
        Agreement beyond that of the heavier branch, as a share of what is possible.
    """

    attribute: str
    condition: Condition
    agreement: float
    adjusted: float
    reversed: bool


@dataclass(frozen=True)
class NodeExplanation(Explanation):
    """All that was weighed at one node.

    `measure` is ``"entropy"``, ``"gini"`` or ``"variance"``; attributes stand in the order of their worth, the chosen
    one first. `worth` is ``"gain"``, ``"ratio"``, ``"decrease"``, ``"chi_square"``, ``"adjusted_p"``, ``"own"``
    (a criterion of the user's, whose name is `criterion`) or, where the learner takes the attributes as they come,
    ``"order"``.

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
    conditions: tuple[Condition, ...] = ()
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

    def document(self, say: Words) -> Document:
        """Return the derivation in the words of a language."""
        return node_document(self, say)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = super().to_dict()
        for told, one in zip(plain["attributes"], self.attributes, strict=True):
            told["verdict_code"] = one.verdict_code
        return plain


def explain_node(model: TreeModel, node: int = 0, data: Dataset | None = None) -> NodeExplanation:
    """Explain how a node came about.

    Parameters
    ----------
    model : TreeModel
    node : int
        Number of the node; the root is 0.
    data : Dataset or None
        The training data, for a node whose working the model did not keep.

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
    working, notes = model.trace.get(node), learner_of(model).trace_notes()
    if working is None and (data is not None or view.stop is None):
        working, further = counted_again(model, recipe, node, data)
        notes += further
    measure = {"gini": "gini", "variance": "variance"}.get(recipe.criterion, "entropy")
    explained = [explain_attribute(view, recipe, measure, one) for one in working or ()]
    explained.sort(key=lambda one: _rank(recipe, one))
    tree = model.tree
    conditions = conditions_to(tree, node)
    worth = _worth(model, recipe, explained)
    runner_up, margin = _runner_up(explained, worth)
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
        worth=worth,
        runner_up=runner_up,
        margin=margin,
        surrogates=_surrogates(view),
        notes=notes,
    )


def _worth(model: TreeModel, recipe: Recipe, explained: Sequence[AttributeExplanation]) -> str:
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


def _runner_up(explained: Sequence[AttributeExplanation], worth: str) -> tuple[str | None, float | None]:
    """Return the best of the attributes that were beaten, and by how much."""
    winner = next((one for one in explained if one.verdict is SplitStatus.CHOSEN), None)
    second = next((one for one in explained if one.verdict is SplitStatus.CONSIDERED), None)
    if winner is None or second is None or worth == "order":
        return None, None
    first, next_best = winner.worth(worth), second.worth(worth)
    if first is None or next_best is None:
        return second.name, None
    return second.name, next_best - first if worth == "adjusted_p" else first - next_best


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


_PLACE = {
    SplitStatus.CHOSEN: 0,
    SplitStatus.SMALL_GAIN: 0,
    SplitStatus.NOT_SIGNIFICANT: 0,
    SplitStatus.PRUNED: 0,
    SplitStatus.CONSIDERED: 1,
    SplitStatus.BELOW_AVERAGE: 2,
}


def _rank(recipe: Recipe, one: AttributeExplanation) -> tuple[int, float, float]:
    place = _PLACE.get(one.verdict, 3)
    if one.adjusted_p is not None:
        return place, one.adjusted_p, -(one.decrease or 0.0)
    worth = one.decrease
    if recipe.own is not None:
        worth = one.own_score
    elif recipe.criterion == "chi2":
        worth = one.chi_square
    elif recipe.choice is Choice.RATIO and place <= 1:
        worth = one.ratio
    return place, -(worth or 0.0), -(one.decrease or 0.0)


def _average(recipe: Recipe, tree: Tree, model: TreeModel, explained: Sequence[AttributeExplanation]) -> float | None:
    if recipe.choice is not Choice.RATIO:
        return None
    rows = 0 if recipe.nominal is NominalTest.GROUPS else model.provenance.get("rows", 0)
    many = {column.name: 0 < HIGH_CARDINALITY_SHARE * rows <= len(column.values) for column in tree.schema.attributes}
    if all(many.values()):
        many = dict.fromkeys(many, False)
    compared = {*_PLACE, SplitStatus.NO_SPLIT_INFORMATION}
    gains = [
        one.decrease for one in explained if one.verdict in compared and one.decrease is not None and not many[one.name]
    ]
    return sum(gains) / len(gains) if gains else None


MOST_ROWS = 30
"""Branches of one attribute that are written out."""

MOST_CLASSES = 40
"""Classes that are told in a line; a table has them all."""

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


def node_document(explanation: NodeExplanation, say: Words) -> Document:
    """Return the derivation of a node as a document."""
    blocks: list[Block] = [Heading(_heading(explanation, say)), Working(((_impurity(explanation, say), ""),))]
    blocks += [_attribute(explanation, one, say) for one in explanation.attributes if one.branches]
    blocks += choice_blocks(explanation, say)
    blocks += [Paragraph(say(f"note.{code}")) for code in explanation.notes]
    if explanation.stop_code is not None:
        reason = say(f"stop.{explanation.stop_code}")
        blocks.append(Paragraph(say("leaf.reason", outcome=outcome_text(explanation.outcome), reason=reason)))
    return tuple(blocks)


def choice_blocks(explanation: NodeExplanation, say: Words) -> list[Block]:
    """Return the table of all attributes, the reason for the choice, and the tests that stand in for it."""
    blocks: list[Block] = [_summary(explanation, say)] if explanation.attributes else []
    reason = _reason(explanation, say)
    if reason:
        blocks.append(Paragraph(reason))
    if explanation.surrogates:
        blocks.append(_surrogates_block(explanation, say))
    return blocks


def outcome_text(outcome: str | float) -> str:
    """Return a class, or a number with enough digits."""
    return name(outcome) if isinstance(outcome, str) else f"{outcome:.6g}"


def cases_line(classes: tuple[str, ...], counts: tuple[int | float, ...], say: Words) -> str:
    """Return the classes that occur, with their weights."""
    told = [f"{name(one)} {number(count)}" for one, count in zip(classes, counts, strict=True) if count]
    more = len(told) - MOST_CLASSES
    return ", ".join(told[:MOST_CLASSES]) + (say("and_more", n=more) if more > 0 else "")


def _heading(explanation: NodeExplanation, say: Words) -> str:
    line = say("node.heading", node=explanation.node, where=where(explanation.conditions, say))
    line += say("cases", n=explanation.weight)
    if explanation.mean is not None:
        return line + say("node.mean", target=name(explanation.target), mean=f"{explanation.mean:.6g}")
    told = cases_line(explanation.classes, explanation.counts, say)
    return line + say("node.counts", target=name(explanation.target), counts=told) if told else line


def _impurity(explanation: NodeExplanation, say: Words) -> Formula:
    symbol = _SYMBOL[explanation.measure]
    target = named(explanation.target)
    left = Formula(f"{symbol}({target.plain})", rf"{_latex_symbol(symbol)}({target.latex})")
    shares = [fraction(count, explanation.weight) for count in explanation.counts if count]
    result = EQUALS + said(_fix(explanation.impurity, explanation.measure))
    if explanation.measure == "entropy":
        terms = joined((said("- ") + share + LOG2 + share for share in shares), said(" "))
        return left + EQUALS + (terms if shares else said("0")) + result
    if explanation.measure == "gini":
        squares = joined((Formula(f"- ({one.plain})^2", rf"- \left({one.latex}\right)^2") for one in shares), said(" "))
        return left + EQUALS + said("1 ") + squares + result
    mean = f"{explanation.mean:.6g}"
    plain = say("variance.formula", target=target.plain, mean=mean)
    latex = rf"\frac{{1}}{{n}} \sum \left({target.latex} - {mean}\right)^2"
    return left + EQUALS + Formula(plain, latex) + result


def _latex_symbol(symbol: str) -> str:
    return symbol if len(symbol) == 1 else rf"\operatorname{{{symbol}}}"


def _attribute(explanation: NodeExplanation, one: AttributeExplanation, say: Words) -> Block:
    measure = explanation.measure
    labels = [say(f"after.{measure}"), say(f"gain.{measure}")]
    columns = max(width(label) for label in labels)
    after, gain = (Formula(padded(label, columns, "left"), latex_name(label)) for label in labels)
    lines = [(after + EQUALS + _remainder(one, measure), ""), _gain(gain, one, measure, say)]
    further = _further(explanation, one, say)
    table = _table(explanation, one, say)
    if further:
        return Together((table, Working(tuple(lines)), Paragraph(further)))
    return Together((table, Working(tuple(lines))))


def _remainder(one: AttributeExplanation, measure: str) -> Formula:
    decimals = 3 if measure != "variance" else 6
    reached = [branch for branch in one.branches if branch.weight > 0]
    terms = joined(
        (
            fraction(branch.weight, one.known) + TIMES + said(f"{branch.impurity:.{decimals}g}")
            for branch in reached[:MOST_ROWS]
        ),
        PLUS,
    )
    more = said(" + ...", r" + \dots") if len(reached) > MOST_ROWS else said("")
    return terms + more + EQUALS + said(_fix(one.after or 0.0, measure))


def _gain(label: Formula, one: AttributeExplanation, measure: str, say: Words) -> tuple[Formula, str]:
    """Return the gain with what is taken off: the share of unknown cases, the price of a choice among cuts."""
    after = one.after or 0.0
    before = (one.decrease or 0.0) + one.correction
    share = one.known / (one.known + one.unknown)
    start = before / share + after
    formula = label + EQUALS + said(_fix(start, measure)) + MINUS + said(_fix(after, measure))
    formula += EQUALS + said(_fix(before / share, measure))
    behind = ""
    if one.unknown:
        known = fraction(one.known, one.known + one.unknown).plain
        behind += say("gain.known", share=known, result=_fix(before, measure))
    if one.correction:
        penalty = f"log2({one.tries})/{number(one.known + one.unknown)}"
        behind += say("gain.correction", penalty=penalty, tries=one.tries, result=_fix(one.decrease or 0.0, measure))
    elif one.tries:
        behind += say("gain.tries", tries=one.tries)
    return formula, behind


def _further(explanation: NodeExplanation, one: AttributeExplanation, say: Words) -> str:
    further, measure = [], explanation.measure
    if one.own_score is not None:
        further.append(_own_score(explanation.criterion, one, say))
    if one.split_information is not None and one.ratio is not None:
        further.append(say("further.ratio", split=f"{one.split_information:.3f}", ratio=f"{one.ratio:.3f}"))
    if one.gini_decrease is not None and measure != "gini":
        further.append(say("further.gini", gini=f"{one.gini_decrease:.3f}"))
    if one.chi_square is not None:
        p = f"{one.chi_square_p:.3g}"
        further.append(say("further.chi_square", statistic=f"{one.chi_square:.2f}", n=one.chi_square_df, p=p))
    if one.adjusted_p is not None:
        further.append(say("further.adjusted_p", p=f"{one.adjusted_p:.3g}"))
    return say("join.semicolon").join(further)


def _own_score(criterion: str, one: AttributeExplanation, say: Words) -> str:
    """Return the score by a criterion of the user's, with the share of known cases where that counts."""
    score = one.own_score or 0.0
    if not one.unknown:
        return f"{name(criterion)} {score:.4g}"
    whole = one.known + one.unknown
    share = fraction(one.known, whole).plain
    return f"{name(criterion)} {score * whole / one.known:.4g}" + say("gain.known", share=share, result=f"{score:.4g}")


def _fix(value: float, measure: str) -> str:
    return f"{value:.6g}" if measure == "variance" else f"{value:.3f}"


def _table(explanation: NodeExplanation, one: AttributeExplanation, say: Words) -> Table:
    symbol = _SYMBOL[explanation.measure]
    heads: tuple[str, ...]
    if explanation.measure == "variance":
        heads = (name(one.name), "n", say("head.mean"), symbol)
    else:
        heads = (name(one.name), *(name(each, 12) for each in explanation.classes), "n", symbol)
    rows = [_cells(branch, explanation.measure, say) for branch in one.branches[:MOST_ROWS]]
    if one.unknown:
        rows.append((say("row.missing"), *[""] * (len(heads) - 3), number(one.unknown), ""))
    hidden = len(one.branches) - MOST_ROWS
    return Table(heads, tuple(rows), more=say("table.more", n=hidden) if hidden > 0 else "")


def _cells(branch: Branch, measure: str, say: Words) -> tuple[str, ...]:
    label = say(f"branch.{branch.special}") if branch.special else name(branch.label, 40)
    if measure == "variance":
        mean = "-" if branch.mean is None else f"{branch.mean:.6g}"
        return label, number(branch.weight), mean, f"{branch.impurity:.6g}"
    return label, *(number(count) for count in branch.counts), number(branch.weight), f"{branch.impurity:.3f}"


def _summary(explanation: NodeExplanation, say: Words) -> Table:
    measure = explanation.measure
    attributes = explanation.attributes
    with_ratio = any(one.ratio is not None for one in attributes)
    with_gini = measure == "entropy" and any(one.gini_decrease is not None for one in attributes)
    with_test = any(one.chi_square is not None for one in attributes)
    with_own = explanation.worth == "own"
    heads = [say("head.attribute"), *([name(explanation.criterion)] if with_own else []), say(f"gain.{measure}")]
    heads += [say("head.split"), say("head.ratio")] if with_ratio else []
    heads += ["Gini"] if with_gini else []
    heads += [say("head.chi_square"), "p"] if with_test else []
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
        rows.append((*cells, _remark(explanation, one, say)))
    chosen = frozenset(place for place, one in enumerate(attributes) if one.verdict is SplitStatus.CHOSEN)
    return Table((*heads, ""), tuple(rows), last_left=True, marked=chosen)


def _or_dash(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def _remark(explanation: NodeExplanation, one: AttributeExplanation, say: Words) -> str:
    verdict = "" if one.verdict is SplitStatus.CONSIDERED else say(f"verdict.{one.verdict_code}")
    if one.adjusted_p is not None:
        told = say("further.adjusted_p", p=f"{one.adjusted_p:.3g}")
        return f"{told}, {verdict}" if verdict else told
    if one.verdict is SplitStatus.BELOW_AVERAGE and explanation.average_gain is not None:
        return f"{verdict} {explanation.average_gain:.3f}"
    return verdict


def _reason(explanation: NodeExplanation, say: Words) -> str:
    """Return the reason for the choice, with the runner-up and the margin."""
    if explanation.chosen is None or not explanation.attributes:
        return ""
    chosen = name(explanation.chosen)
    if explanation.runner_up is None or explanation.margin is None:
        key = "order" if explanation.worth == "order" else "only"
        return say(f"reason.{key}", attribute=chosen)
    runner_up, margin = name(explanation.runner_up), explanation.margin
    what = name(explanation.criterion) if explanation.worth == "own" else say(f"worth.{explanation.worth}")
    if abs(margin) <= _TIE:
        return say("reason.tie", attribute=chosen, what=what, other=runner_up)
    if margin < 0:
        return say("reason.otherwise", attribute=chosen, what=what, other=runner_up)
    told = f"{margin:.3g}" if explanation.worth == "adjusted_p" or margin < 5e-4 else _fix(margin, explanation.measure)
    key = "reason.smallest" if explanation.worth == "adjusted_p" else "reason.highest"
    text = say(key, attribute=chosen, what=what, other=runner_up, margin=told)
    if explanation.worth == "ratio" and explanation.average_gain is not None:
        text += " " + say("reason.average", average=f"{explanation.average_gain:.3f}")
    return text


def _surrogates_block(explanation: NodeExplanation, say: Words) -> Block:
    rows = tuple(
        (one.condition.said(say), f"{one.agreement:.3f}", f"{one.adjusted:.3f}") for one in explanation.surrogates
    )
    heads = (say("surrogate.head"), say("surrogate.agreement"), say("surrogate.adjusted"))
    return Together((Paragraph(say("surrogate.title")), Table(heads, rows)))
