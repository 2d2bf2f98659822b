"""The derivation of a node written out, formulas with the numbers filled in, as on a blackboard."""

from __future__ import annotations

from treewright._base.printable import number, printable
from treewright.explain.node import AttributeExplanation, Branch, NodeExplanation
from treewright.model.working import Verdict

MOST_ROWS = 30
"""Branches of one attribute that are written out."""

_SYMBOL = {"entropy": "H", "gini": "Gini", "variance": "Var"}
_GAIN = {"entropy": "gain", "gini": "decrease", "variance": "decrease"}
_AFTER = {"entropy": "remainder", "gini": "Gini after", "variance": "Var after"}


def blackboard(explanation: NodeExplanation) -> str:
    """Return the derivation of a node as text.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.explain.node import explain_node
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> lines = blackboard(explain_node(fit(sample("six-rows"), ID3()))).splitlines()
    >>> lines[2]
    'H(k) = - 4/6 log2 4/6 - 2/6 log2 2/6 = 0.918'
    """
    parts = [_heading(explanation), _impurity(explanation)]
    parts += [_attribute(explanation, one) for one in explanation.attributes if one.branches]
    if explanation.attributes:
        parts.append(_summary(explanation))
    if explanation.stop is not None:
        parts.append(f"Leaf: {_outcome(explanation)} ({explanation.stop}).")
    return "\n\n".join(parts)


def _outcome(explanation: NodeExplanation) -> str:
    outcome = explanation.outcome
    return printable(outcome) if isinstance(outcome, str) else f"{outcome:.6g}"


def _heading(explanation: NodeExplanation) -> str:
    place = " and ".join(printable(step) for step in explanation.path) or "root"
    cases = number(explanation.weight)
    line = f"Node {explanation.node} ({place}): {cases} {'case' if cases == '1' else 'cases'}"
    if explanation.mean is not None:
        return f"{line}, mean {printable(explanation.target)} {explanation.mean:.6g}"
    told = ", ".join(
        f"{printable(name)} {number(count)}"
        for name, count in zip(explanation.classes, explanation.counts, strict=True)
        if count
    )
    return f"{line}, {printable(explanation.target)}: {told}" if told else line


def _impurity(explanation: NodeExplanation) -> str:
    symbol = f"{_SYMBOL[explanation.measure]}({printable(explanation.target)})"
    n = number(explanation.weight)
    present = [number(count) for count in explanation.counts if count]
    if explanation.measure == "entropy":
        terms = " ".join(f"- {count}/{n} log2 {count}/{n}" for count in present)
        return f"{symbol} = {terms or '0'} = {explanation.impurity:.3f}"
    if explanation.measure == "gini":
        terms = " ".join(f"- ({count}/{n})^2" for count in present)
        return f"{symbol} = 1 {terms} = {explanation.impurity:.3f}"
    return (
        f"{symbol} = mean of ({printable(explanation.target)} - {explanation.mean:.6g})^2 = {explanation.impurity:.6g}"
    )


def _attribute(explanation: NodeExplanation, one: AttributeExplanation) -> str:
    lines = _table(explanation, one)
    measure = explanation.measure
    n = number(one.known)
    decimals = 3 if measure != "variance" else 6
    shown = [branch for branch in one.branches if branch.weight > 0][:MOST_ROWS]
    terms = " + ".join(f"{number(branch.weight)}/{n} * {branch.impurity:.{decimals}g}" for branch in shown)
    more = " + ..." if len(shown) < sum(branch.weight > 0 for branch in one.branches) else ""
    after = one.after or 0.0
    before = (one.decrease or 0.0) + one.correction
    share = one.known / (one.known + one.unknown)
    start = before / share + after
    name = _GAIN[measure].ljust(9)
    lines.append(f"{_AFTER[measure]} = {terms}{more} = {_fix(after, measure)}")
    line = f"{name} = {_fix(start, measure)} - {_fix(after, measure)} = {_fix(before / share, measure)}"
    if one.unknown:
        line += f", times {n}/{number(one.known + one.unknown)} with a known value = {_fix(before, measure)}"
    if one.correction:
        penalty = f"log2({one.tries})/{number(one.known + one.unknown)}"
        line += f", less {penalty} for the best of {one.tries} cuts = {one.decrease:.3f}"
    elif one.tries:
        line += f"  (best of {one.tries})"
    lines.append(line)
    further = []
    if one.split_information is not None and one.ratio is not None:
        further.append(f"split information {one.split_information:.3f}, ratio {one.ratio:.3f}")
    if one.gini_decrease is not None and measure != "gini":
        further.append(f"Gini decrease {one.gini_decrease:.3f}")
    if one.chi_square is not None:
        further.append(f"chi-square {one.chi_square:.2f} with {one.chi_square_df} df, p {one.chi_square_p:.3g}")
    if one.adjusted_p is not None:
        further.append(f"adjusted p {one.adjusted_p:.3g}")
    if further:
        lines.append("; ".join(further))
    return "\n".join(lines)


def _fix(value: float, measure: str) -> str:
    return f"{value:.6g}" if measure == "variance" else f"{value:.3f}"


def _table(explanation: NodeExplanation, one: AttributeExplanation) -> list[str]:
    symbol = _SYMBOL[explanation.measure]
    if explanation.measure == "variance":
        heads = [printable(one.name), "n", "mean", symbol]
    else:
        heads = [printable(one.name), *(printable(name, 12) for name in explanation.classes), "n", symbol]
    rows = [_cells(branch, explanation.measure) for branch in one.branches[:MOST_ROWS]]
    if one.unknown:
        rows.append(["(missing)", *[""] * (len(heads) - 3), number(one.unknown), ""])
    lines = aligned([heads, *rows])
    if len(one.branches) > MOST_ROWS:
        lines.append(f"... {len(one.branches) - MOST_ROWS} more values")
    return lines


def _cells(branch: Branch, measure: str) -> list[str]:
    label = printable(branch.label, 40)
    if measure == "variance":
        mean = "-" if branch.mean is None else f"{branch.mean:.6g}"
        return [label, number(branch.weight), mean, f"{branch.impurity:.6g}"]
    return [
        label,
        *(number(count) for count in branch.counts),
        number(branch.weight),
        f"{branch.impurity:.3f}",
    ]


def _summary(explanation: NodeExplanation) -> str:
    measure = explanation.measure
    with_ratio = any(one.ratio is not None for one in explanation.attributes)
    heads = ["attribute", _GAIN[measure], *(["split", "ratio"] if with_ratio else []), ""]
    rows = []
    for one in explanation.attributes:
        cells = [printable(one.name), "-" if one.decrease is None else _fix(one.decrease, measure)]
        if with_ratio:
            compared = one.verdict in {Verdict.CHOSEN, Verdict.CONSIDERED, Verdict.SMALL_GAIN, Verdict.NOT_SIGNIFICANT}
            cells.append("-" if one.split_information is None else f"{one.split_information:.3f}")
            cells.append(f"{one.ratio:.3f}" if compared and one.ratio is not None else "-")
        rows.append([*cells, _remark(explanation, one)])
    return "\n".join(aligned([heads, *rows], last_left=True))


def _remark(explanation: NodeExplanation, one: AttributeExplanation) -> str:
    if one.adjusted_p is not None:
        said = "" if one.verdict is Verdict.CONSIDERED else f", {one.verdict}"
        return f"adjusted p {one.adjusted_p:.3g}{said}"
    if one.verdict is Verdict.CONSIDERED:
        return ""
    if one.verdict is Verdict.BELOW_AVERAGE and explanation.average_gain is not None:
        return f"{one.verdict} {explanation.average_gain:.3f}"
    return str(one.verdict)


def aligned(rows: list[list[str]], *, last_left: bool = False) -> list[str]:
    """Set rows of cells in columns: the first flush left, the others flush right.

    Examples
    --------
    >>> aligned([["outlook", "yes"], ["sunny", "2"]])
    ['outlook  yes', 'sunny      2']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        for column in range(1, len(row)):
            left = last_left and column == len(row) - 1
            cells.append(row[column].ljust(widths[column]) if left else row[column].rjust(widths[column]))
        lines.append("  ".join(cells).rstrip())
    return lines
