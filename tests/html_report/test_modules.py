"""The modules of the page, run by node where it is installed: they compute what Python computes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_trees import SCHEMA, random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.drawing.layout import x_positions
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.html_report.document import bundle, page_words
from treewright.html_report.make import report
from treewright.pruning.collapse import cut_at
from treewright.tree.model import TreeModel
from treewright.tree.split import Split

Run = Callable[[str, Any], Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs JavaScript over the modules, with `given` as its data."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run the modules")
    folder = tmp_path_factory.mktemp("modules")
    with as_file(files("treewright.html_report") / "static") as static:
        for module in Path(static).glob("*.js"):
            shutil.copy(module, folder)
    (folder / "package.json").write_text('{"type": "module"}')

    def ran(code: str, given: Any) -> Any:
        script = folder / "run.js"
        script.write_text(
            'import { readFileSync } from "node:fs";\n'
            'const given = JSON.parse(readFileSync(0, "utf-8"));\n'
            f"const result = await (async () => {{ {code} }})();\n"
            "console.log(JSON.stringify(result));\n"
        )
        done = subprocess.run(
            [node, str(script)], input=json.dumps(given), capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ran


def data_of(model: TreeModel, data: Dataset | None = None) -> dict[str, Any]:
    html = report(model, data, folds=0, curve=False).html
    payload: dict[str, Any] = json.loads(html.split('id="data-block">')[1].split("</script>")[0])
    return payload


def cells_of(data: Dataset) -> list[list[float | None]]:
    """Return the cases as the page has them: numbers and codes, null where a value is missing."""
    columns: list[list[float | None]] = []
    for column, cells in zip(data.schema.attributes, data.columns, strict=True):
        if column.is_numeric:
            columns.append([None if np.isnan(cell) else float(cell) for cell in cells])
        else:
            columns.append([None if cell < 0 else int(cell) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def test_the_modules_together_are_one_module(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bundle.mjs"
    path.write_text(bundle())
    done = subprocess.run(["node", "--check", str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_layout_is_that_of_python(run: Run) -> None:
    rng = np.random.default_rng(0)
    trees = []
    for size in (1, 2, 5, 30, 200, 1_000):
        # Depth first, as both sides number them: the parent of a node is on the way to the one before it.
        parents, path = [-1], [0]
        for node in range(1, size):
            del path[int(rng.integers(1, len(path) + 1)) :]
            parents.append(path[-1])
            path.append(node)
        trees.append({"parents": parents, "breadths": rng.integers(20, 150, size).tolist()})
    code = """
    const { xPositions } = await import("./layout.js");
    return given.map(({ parents, breadths }) => [...xPositions(parents, breadths, 16)]);
    """
    for tree, found in zip(trees, run(code, trees), strict=True):
        assert found == pytest.approx(x_positions(tree["parents"], tree["breadths"], 16), abs=1e-6)


MODELS = {
    "c45": plans.c45(prune=False),
    "subset": plans.c45(subset=True),
    "cart": plans.cart(),
    "surrogates": plans.cart(missing="surrogate"),
    "chaid": plans.chaid(),
    "cal3": plans.cal3(s1=3, s2=0.6),
    "r8": plans.c45(dialect="r8"),
    "j48": plans.c45(dialect="j48"),
    "j48 binary": plans.c45(dialect="j48", binary=True),
}

ANSWERS = """
const { decodeReport } = await import("./model.js");
const { predictCase } = await import("./route.js");
const report = decodeReport(given.data);
return given.cases.map((values) => {
  const { outcome, probabilities, ends } = predictCase(report, values);
  return [outcome, probabilities, ends.map(({ node }) => node)];
});
"""


@pytest.mark.parametrize("name", MODELS)
def test_cases_go_the_way_they_go_in_python(run: Run, name: str) -> None:
    missing = 0.0 if name == "cal3" else 0.15
    model = fit(random_cases(np.random.default_rng(21), 150, missing), MODELS[name])
    unseen = random_cases(np.random.default_rng(22), 200, 0.15)
    found = run(ANSWERS, {"data": data_of(model), "cases": cells_of(unseen)})
    shares = model.predict_proba(unseen)
    assert np.array([one[1] for one in found]) == pytest.approx(shares, abs=2e-5)
    clear = np.sort(shares, axis=1)
    sure = clear[:, -1] - clear[:, -2] > 1e-4  # with rounded weights a tie may fall otherwise
    predicted = np.array([one[0] for one in found])
    assert np.array_equal(predicted[sure], model.predict_codes(unseen)[sure])


@pytest.mark.parametrize("smoothing", ["laplace", 2.5])
def test_smoothing_and_costs_change_the_answer_as_in_python(run: Run, smoothing: str | float) -> None:
    costs = ((0.0, 4.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
    data = random_cases(np.random.default_rng(23), 120, 0.1)
    unseen = random_cases(np.random.default_rng(24), 100, 0.1)
    for with_costs in (None, costs):
        model = fit(data, plans.c45(), smoothing=smoothing, costs=with_costs)
        found = run(ANSWERS, {"data": data_of(model), "cases": cells_of(unseen)})
        assert np.array([one[1] for one in found]) == pytest.approx(model.predict_proba(unseen), abs=2e-5)
        assert np.mean([one[0] for one in found] == model.predict_codes(unseen)) > 0.98


def test_numbers_are_mixed_as_in_python(run: Run) -> None:
    rng = np.random.default_rng(3)
    x = rng.random(200)
    x[::9] = np.nan
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (x,), 200, np.nan_to_num(x) * 3)
    model = fit(data, plans.cart())
    found = run(ANSWERS, {"data": data_of(model), "cases": cells_of(data)})
    assert [one[0] for one in found] == pytest.approx(model.predict(data), rel=1e-5, abs=1e-5)


def test_rules_fire_as_in_python(run: Run) -> None:
    data = random_cases(np.random.default_rng(25), 200, 0.1)
    model = fit(data, plans.c45_rules())
    html = report(model, folds=0, curve=False).html
    payload = json.loads(html.split('id="data-block">')[1].split("</script>")[0])
    code = """
    const { ruleFor } = await import("./route.js");
    return given.cases.map((values) => {
      const rule = ruleFor(given.data.ruleset, values);
      return rule < 0 ? given.data.ruleset.default : given.data.ruleset.rules[rule].outcome;
    });
    """
    assert run(code, {"data": payload, "cases": cells_of(data)}) == model.predict_codes(data).tolist()


def test_nodes_come_back_from_the_arrays(run: Run) -> None:
    model = fit(random_cases(np.random.default_rng(26), 200, 0.1), plans.c45(prune=False))
    tree = model.tree
    code = """
    const { decodeReport, conditionText, denseCounts } = await import("./model.js");
    const { setWords } = await import("./words.js");
    setWords(given.words);
    const report = decodeReport(given);
    const { tree } = report;
    const nodes = [...tree.parent.keys()];
    return {
      parent: [...tree.parent], depth: [...tree.depth], size: [...tree.size], weight: [...tree.weight],
      counts: nodes.map((node) => denseCounts(tree, node, report.classes.length)),
      conditions: nodes.slice(1).map((node) => conditionText(report, node)),
    };
    """
    found = run(code, data_of(model))
    assert found["parent"] == tree.parent.tolist()
    assert found["depth"] == tree.depths.tolist()
    assert found["weight"] == pytest.approx(tree.weight.tolist(), rel=1e-5)
    counts = np.where(tree.weight[:, None] > 0, tree.counts, 0)
    assert np.array(found["counts"]) == pytest.approx(counts, rel=1e-5)
    for node in range(1, tree.n_nodes):
        above = int(tree.parent[node])
        branch = int(np.flatnonzero(tree.children_of(above) == node)[0])
        split = tree.split(above)
        assert split is not None
        words = split.describe(branch, SCHEMA.attributes[split.attribute])
        predicted = found["conditions"][node - 1].replace("≤", "<=").replace("−", "-").replace(" = ", " ")
        assert predicted == f"{SCHEMA.attributes[split.attribute].name} {words}"


def test_values_that_begin_with_a_sign_are_still_values(run: Run) -> None:
    values = (">60", "{a}", "= b", "≤ 3")
    schema = Schema((Column("c", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, ("n", "p"))), target="y")
    codes = np.tile(np.arange(4), 10).astype(np.int32)
    code = """
    const { decodeReport, conditionText } = await import("./model.js");
    const report = decodeReport(given);
    return [...report.tree.parent.keys()].slice(1).map((node) => conditionText(report, node));
    """
    ways = fit(Dataset(schema, (codes,), 40, (codes % 2).astype(np.int32)), plans.id3())
    assert run(code, data_of(ways)) == [f"c = {value}" for value in values]
    two = fit(Dataset(schema, (codes,), 40, (codes // 3).astype(np.int32)), plans.cart())
    assert run(code, data_of(two)) == ["c ∈ {>60, {a}, = b}", "c = ≤ 3"]


def test_pruning_and_growth_leave_the_right_nodes(run: Run) -> None:
    model = fit(random_cases(np.random.default_rng(27), 150), plans.cart())
    payload = data_of(model)
    code = """
    const { decodeReport } = await import("./model.js");
    const { cutAfter, leavesLeft, grownAfter, visibleNodes, foldedFor, foldedBut } = await import("./visible.js");
    const { levelOrder } = await import("./steps.js");
    const report = decodeReport(given);
    const { tree } = report;
    const order = levelOrder(tree);
    const cuts = given.pruning.cuts;
    const many = (folded, grown = null) => visibleNodes(tree, { folded, cut: new Set(), grown }).nodes.length;
    return {
      leaves: [...cuts.keys()].map((step) => leavesLeft(tree, cutAfter(cuts, step + 1))),
      order,
      seen: order.map((_, step) => many(new Set(), grownAfter(tree, order, step))),
      some: many(foldedFor(tree, 20)),
      first: many(foldedBut(tree, given.view.open)),
    };
    """
    found = run(code, payload)
    assert found["leaves"] == payload["pruning"]["leaves"][1:]
    assert sorted(found["order"]) == list(range(model.tree.n_nodes))
    depths = model.tree.depths[found["order"]]
    assert np.all(np.diff(depths) >= 0)
    assert found["seen"][0] == 1
    assert found["seen"] == sorted(found["seen"])
    assert 15 <= found["some"] <= 20
    assert found["first"] == len(payload["view"]["x"])
    assert cut_at(model.tree, payload["pruning"]["cuts"][0]).n_leaves == found["leaves"][0]


def test_formulas_and_measures_have_the_numbers_of_explain(run: Run) -> None:
    model = fit(random_cases(np.random.default_rng(28), 90), plans.id3())
    result = explain_node(model, 0)
    chosen = result.attributes[0]
    code = """
    const { entropy, gini, scoreSplit } = await import("./measures.js");
    const { impurityFormula } = await import("./formula.js");
    const bits = entropy(given.counts);
    const formula = impurityFormula("entropy", "y", given.counts, bits);
    return [bits, gini(given.counts), scoreSplit("entropy", given.rows), formula];
    """
    rows = [list(branch.counts) for branch in chosen.branches]
    bits, impurity, found, formula = run(code, {"counts": list(result.counts), "rows": rows})
    assert bits == pytest.approx(result.impurity)
    assert 0 < impurity < 1
    assert found["gain"] == pytest.approx(chosen.decrease)
    assert found["splitInformation"] == pytest.approx(chosen.split_information)
    assert found["ratio"] == pytest.approx(chosen.ratio)
    assert formula.endswith(f"= {result.impurity:.3f}")


def test_the_nearest_other_leaf_needs_the_fewest_changes(run: Run) -> None:
    data = random_cases(np.random.default_rng(29), 150)
    model = fit(data, plans.cart())
    cases = data.take(slice(0, 40))
    code = """
    const { decodeReport } = await import("./model.js");
    const { predictCase, nearestOther } = await import("./route.js");
    const report = decodeReport(given.data);
    return given.cases.map((values) => {
      const { outcome } = predictCase(report, values);
      const found = nearestOther(report, values, outcome);
      return [outcome, found.node, found.changed];
    });
    """
    tree = model.tree
    values = cells_of(cases)
    for case, (outcome, node, changed) in zip(
        values, run(code, {"data": data_of(model), "cases": values}), strict=True
    ):
        assert tree.outcome[node] != outcome
        fewest = min(
            len(_differing(model, leaf, case)) for leaf in range(tree.n_nodes) if _other_leaf(model, leaf, outcome)
        )
        assert len(changed) == fewest == len(_differing(model, node, case))


def _other_leaf(model: TreeModel, node: int, outcome: int) -> bool:
    tree = model.tree
    return bool(tree.attribute[node] < 0 and tree.outcome[node] != outcome and tree.weight[node] > 0)


def _differing(model: TreeModel, leaf: int, case: list[float | None]) -> set[int]:
    """Return the attributes by which a case does not go to a leaf."""
    wrong = set()
    for node, branch in model.tree.node(leaf).path:
        split = model.tree.split(node)
        assert split is not None
        value = case[split.attribute]
        if value is None or _branch(split, value) != branch:
            wrong.add(split.attribute)
    return wrong


def _branch(split: Split, value: float) -> int:
    if split.cut is not None:
        return int(split.route(np.array([value], dtype=np.float64))[0])
    return int(split.route(np.array([value], dtype=np.int32))[0])


def test_numbers_and_words_are_spelled(run: Run) -> None:
    code = """
    const { count, fixed, percent, significant, probability } = await import("./numbers.js");
    const { setWords, t } = await import("./words.js");
    const { ticks } = await import("./charts.js");
    setWords(given);
    return [
      [1234567, 14, 15.26, 0, -3.04, null].map(count),
      [0.2467, -0.0001, 1, null].map((value) => fixed(value)),
      [0.9999, 0.00001, 0.5, 1, 0.357].map(percent),
      [0, 123456, 0.00001234, -2.5].map((value) => significant(value)),
      [0.0001, 0.17, null].map(probability),
      [t("cases_n", { n: 1 }), t("cases_n", { n: 2 }), t("no such word")],
      ticks(0, 1, 5),
    ];
    """
    found = run(code, page_words("en"))
    assert found == [
        ["1,234,567", "14", "15.3", "0", "−3", "–"],
        ["0.247", "0.000", "1.000", "–"],
        ["> 99.9 %", "< 0.1 %", "50 %", "100 %", "35.7 %"],
        ["0", "123500", "1.234e−5", "−2.5"],
        ["< 0.001", "0.170", "–"],
        ["1 case", "2 cases", "no such word"],
        [0, 0.2, 0.4, 0.6, 0.8, 1],
    ]
