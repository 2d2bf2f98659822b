// The tree: the short arrays of the file become arrays over nodes, which are numbered depth first.

import { significant } from "./numbers.js";
import { t } from "./words.js";

export const FRACTIONAL = -1;
export const STAY = -2;
const KNOWN = Number.MAX_VALUE;

// The test of an inner node: its kind and its parameters.
function decodeTest(plain) {
  if (plain === null) return { kind: "nominal" };
  if (typeof plain === "number") return { kind: "threshold", cut: plain };
  const [mark, what] = plain;
  if (mark === "e") return { kind: "equals", value: what };
  if (mark === "i") return { kind: "intervals", bounds: what };
  const branchOf = typeof what === "string" ? [...what].map(
    (digit) => (digit === "-" ? -1 : parseInt(digit, 36)),
  ) : what;
  return { kind: "subset", branchOf };
}

export function decodeTree(data) {
  const n = data.branches.length;
  const tree = {
    n,
    branches: data.branches,
    parent: new Int32Array(n).fill(-1),
    branchOfParent: new Int32Array(n), // index of its branch
    depth: new Int32Array(n),
    size: new Int32Array(n).fill(1), // nodes of the subtree
    start: new Int32Array(n + 1), // of the children in childList
    childList: new Int32Array(Math.max(0, n - 1)),
    attribute: new Int32Array(n).fill(-1),
    test: new Array(n).fill(null),
    missing: new Int32Array(n).fill(FRACTIONAL),
    stop: new Int32Array(n).fill(-1),
    outcome: data.outcome,
    sse: data.sse ?? null,
    surrogates: new Map(),
    inner: 0,
    leaves: 0,
  };
  for (let node = 0; node < n; node += 1) tree.start[node + 1] = tree.start[node] + data.branches[node];
  const open = [];
  const filled = new Int32Array(n);
  for (let node = 0; node < n; node += 1) {
    while (open.length && filled[open.at(-1)] === data.branches[open.at(-1)]) open.pop();
    if (node > 0) {
      const above = open.at(-1);
      tree.parent[node] = above;
      tree.branchOfParent[node] = filled[above];
      tree.depth[node] = tree.depth[above] + 1;
      tree.childList[tree.start[above] + filled[above]] = node;
      filled[above] += 1;
    }
    if (data.branches[node] > 0) {
      tree.attribute[node] = data.attribute[tree.inner];
      tree.test[node] = decodeTest(data.test[tree.inner]);
      tree.missing[node] = data.missing[tree.inner];
      tree.inner += 1;
      open.push(node);
    } else {
      tree.stop[node] = data.stop[tree.leaves];
      tree.leaves += 1;
    }
  }
  for (let node = n - 1; node > 0; node -= 1) tree.size[tree.parent[node]] += tree.size[node];
  for (const [node, found] of Object.entries(data.surrogates ?? {})) {
    tree.surrogates.set(
      Number(node),
      found.map(
        ([attribute, test, agreement, reversed]) => ({
          attribute,
          test: decodeTest(test),
          agreement,
          reversed: reversed === 1,
        }),
      ),
    );
  }
  decodeCounts(tree, data);
  return tree;
}

function decodeCounts(tree, data) {
  if (!data.some) {
    tree.weight = Float64Array.from(data.weight);
    return;
  }
  tree.countStart = new Int32Array(tree.n + 1);
  for (let node = 0; node < tree.n; node += 1) tree.countStart[node + 1] = tree.countStart[node] + data.some[node];
  tree.countClass = data.classes;
  tree.countWeight = data.counts;
  tree.weight = new Float64Array(tree.n);
  for (let node = 0; node < tree.n; node += 1) {
    const own = data.counts.slice(tree.countStart[node], tree.countStart[node + 1]);
    tree.weight[node] = data.weight ? data.weight[node] : own.reduce((sum, one) => sum + one, 0);
  }
}

export function childrenOf(tree, node) {
  return tree.childList.subarray(tree.start[node], tree.start[node + 1]);
}

// Class and weight, in the order of the classes; empty for numbers and for nodes without cases.
export function countsOf(tree, node) {
  const entries = [];
  if (!tree.countStart || tree.weight[node] <= 0) return entries;
  for (let at = tree.countStart[node]; at < tree.countStart[node + 1]; at += 1) entries.push([
    tree.countClass[at],
    tree.countWeight[at],
  ]);
  return entries;
}

export function denseCounts(tree, node, classes) {
  const row = new Array(classes).fill(0);
  for (const [code, weight] of countsOf(tree, node)) row[code] = weight;
  return row;
}

export function ancestorsOf(tree, node) {
  const found = [];
  for (let above = tree.parent[node]; above >= 0; above = tree.parent[above]) found.push(above);
  return found;
}

function cutText(value) {
  return String(value).replace("-", "−");
}

// The condition of a branch without the attribute's name.
export function branchText(report, test, branch, attribute, missing) {
  const values = report.columns[attribute].values;
  switch (test.kind) {
    case "threshold":
      if (test.cut === KNOWN) return t(branch === missing ? "missing" : "known");
      return `${branch === 0 ? "≤" : ">"} ${cutText(test.cut)}`;
    case "nominal":
      return values[branch];
    case "equals":
      return `${branch === 0 ? "=" : "≠"} ${values[test.value]}`;
    case "intervals": {
      const { bounds } = test;
      if (branch > bounds.length) return t("missing");
      if (branch === 0) return `≤ ${cutText(bounds[0])}`;
      if (branch === bounds.length) return `> ${cutText(bounds.at(-1))}`;
      return `> ${cutText(bounds[branch - 1])}, ≤ ${cutText(bounds[branch])}`;
    }
    default: {
      const own = values.filter((_, code) => test.branchOf[code] === branch);
      if (own.length === 1) return own[0];
      return own.length ? `{${own.join(", ")}}` : t("missing");
    }
  }
}

export function edgeText(report, node) {
  const { tree } = report;
  const above = tree.parent[node];
  return branchText(report, tree.test[above], tree.branchOfParent[node], tree.attribute[above], tree.missing[above]);
}

// The text between the attribute and the condition of a branch: a value may itself begin with any sign.
function relationOf(test, branch) {
  if (test.kind === "nominal") return " = ";
  if (test.kind !== "subset") return " ";
  const own = test.branchOf.filter((assigned) => assigned === branch).length;
  return own === 1 ? " = " : own > 1 ? " ∈ " : " ";
}

// Attribute and condition by which a node is reached from the one above.
export function conditionText(report, node) {
  const { tree } = report;
  const above = tree.parent[node];
  const relation = relationOf(tree.test[above], tree.branchOfParent[node]);
  return report.columns[tree.attribute[above]].name + relation + edgeText(report, node);
}

export function outcomeText(report, node) {
  const { tree } = report;
  return report.classes ? report.classes[tree.outcome[node]] : significant(tree.outcome[node], 5);
}

export function attributeName(report, node) {
  return report.columns[report.tree.attribute[node]].name;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// A name that is written from right to left is isolated, so that it does not reorder the sentence around it.
function isolated(label) {
  return RIGHT_TO_LEFT.test(label) ? `\u2068${label}\u2069` : label;
}

// The report as the modules use it, from the data in the file.
export function decodeReport(data) {
  const report = {
    ...data,
    target: isolated(data.target),
    classes: data.classes === null ? null : data.classes.map(isolated),
    columns: data.columns.map(([label, kind, values]) => ({
      name: isolated(label),
      kind,
      values: (values ?? []).map(isolated),
    })),
    tree: data.tree ? decodeTree(data.tree) : null,
  };
  if (report.tree) report.tree.range = outcomeRange(report);
  return report;
}

function outcomeRange(report) {
  if (report.classes) return null;
  let [low, high] = [Infinity, -Infinity];
  for (const value of report.tree.outcome) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
