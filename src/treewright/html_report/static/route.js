// Routes one case down the tree as the model does: missing values, surrogates, votes, costs. Pure functions.
//
// values: for each attribute a number, the code of a value, or null if it is missing.

import { FRACTIONAL, STAY, childrenOf, countsOf } from "./model.js";

const UNKNOWN_NUMBER = -999; // how Release 8 marks an unknown number
const TINY = 1.1754943508222875e-38;

export function branchFor(test, value, single = false) {
  if (value === null || value === undefined) return -1;
  switch (test.kind) {
    case "threshold":
      if (!single) return value > test.cut ? 1 : 0;
      return Math.fround(value) === UNKNOWN_NUMBER ? -1 : Number(Math.fround(value) > Math.fround(test.cut));
    case "intervals": {
      let branch = 0;
      while (branch < test.bounds.length && value > test.bounds[branch]) branch += 1;
      return branch;
    }
    case "nominal":
      return value;
    case "equals":
      return value === test.value ? 0 : 1;
    default:
      return test.branchOf[value] ?? -1;
  }
}

// The branch at a node (0 and more, FRACTIONAL or STAY), and how it was decided.
function branchAt(tree, node, values, single) {
  const branch = branchFor(tree.test[node], values[tree.attribute[node]], single);
  if (branch >= 0) return [branch, "value"];
  for (const one of tree.surrogates.get(node) ?? []) {
    const other = branchFor(one.test, values[one.attribute]);
    if (other >= 0) return [one.reversed ? 1 - other : other, "surrogate"];
  }
  const missing = tree.missing[node];
  return [missing, missing === FRACTIONAL ? "divided" : missing === STAY ? "stays" : "default"];
}

// Every visit of the case: { node, share, final, how }, parents first.
export function visitsOf(report, values) {
  const { tree } = report;
  const release8 = report.voting === "release8";
  const visits = [];
  const waiting = [{ node: 0, share: 1 }];
  while (waiting.length) {
    const { node, share } = waiting.pop();
    const visit = { node, share, final: tree.branches[node] === 0, how: "leaf" };
    visits.push(visit);
    if (visit.final) continue;
    const [branch, how] = branchAt(tree, node, values, release8);
    visit.how = how;
    const children = childrenOf(tree, node);
    if (branch === STAY) visit.final = true;
    else if (branch >= 0) waiting.push({ node: children[branch], share });
    else for (const part of fractions(tree, node, children, share, release8)) waiting.push(part);
  }
  return visits;
}

function fractions(tree, node, children, share, release8) {
  const sum = children.reduce((all, child) => all + tree.weight[child], 0);
  const measure = release8 ? Math.max(tree.weight[node], TINY) : tree.weight[node] > 0 ? tree.weight[node] : sum;
  const parts = [];
  for (let at = children.length - 1; at >= 0; at -= 1) {
    const part = sum > 0 || release8 ? tree.weight[children[at]] / measure : 1 / children.length;
    if (share * part > 0) parts.push({ node: children[at], share: share * part });
  }
  return parts;
}

// The class probabilities of a node.
function sharesAt(report, node, smoothing) {
  const { tree } = report;
  const k = report.classes.length;
  const weight = tree.weight[node];
  const shares = new Array(k).fill(0);
  if (smoothing === null) {
    if (weight > 0) for (const [code, one] of countsOf(tree, node)) shares[code] = one / weight;
    else if (report.voting === "j48") return node > 0 ? sharesAt(report, tree.parent[node], null) : shares;
    else shares[tree.outcome[node]] = 1;
    return shares;
  }
  for (const [code, one] of countsOf(tree, node)) shares[code] = one;
  if (smoothing === "laplace") return shares.map((one) => (one + 1) / (weight + k));
  const root = new Array(k).fill(tree.weight[0] > 0 ? 0 : 1 / k);
  for (const [code, one] of countsOf(tree, 0)) root[code] = one / tree.weight[0];
  return shares.map((one, code) => (one + smoothing * root[code]) / (weight + smoothing));
}

function averageVotes(report, ends, smoothing) {
  const sums = new Array(report.classes.length).fill(0);
  let all = 0;
  for (const { node, share } of ends) {
    sharesAt(report, node, smoothing).forEach((one, code) => {
      sums[code] += share * one;
    });
    all += share;
  }
  const whole = report.voting === "release8" && smoothing === null ? sums.reduce(
    (a, b) => a + b,
    0,
  ) : report.voting === "j48" && smoothing === null ? 1 : all;
  return sums.map((one) => one / (whole || 1));
}

function firstOfBest(values, slack) {
  const best = Math.max(...values);
  return values.findIndex((value) => value >= best - slack * (slack < 1e-9 ? Math.abs(best) : 1));
}

// { visits, ends, outcome (class code or number), probabilities (or null) }
export function predictCase(report, values) {
  const visits = visitsOf(report, values);
  const ends = visits.filter((visit) => visit.final);
  const { tree } = report;
  if (!report.classes) {
    const all = ends.reduce((sum, end) => sum + end.share, 0) || 1;
    return {
      visits,
      ends,
      outcome: ends.reduce((sum, { node, share }) => sum + share * tree.outcome[node], 0) / all,
      probabilities: null,
    };
  }
  const probabilities = averageVotes(report, ends, report.smoothing);
  if (report.costs) {
    const expected = report.classes.map(
      (_, predicted) => -report.costs.reduce((sum, row, code) => sum + probabilities[code] * row[predicted], 0),
    );
    return { visits, ends, outcome: firstOfBest(expected, 1e-12), probabilities };
  }
  const plain = report.smoothing === null ? probabilities : averageVotes(report, ends, null);
  return { visits, ends, outcome: firstOfBest(plain, report.voting === "j48" ? 1e-6 : 1e-12), probabilities };
}

// The leaf of another class that needs the fewest changed attributes, the heaviest of equals. Null if there is none.
export function nearestOther(report, values, outcome) {
  const { tree } = report;
  let best = null;
  const waiting = [[0, []]];
  while (waiting.length) {
    const [node, changed] = waiting.pop();
    if (best && changed.length > best.changed.length) continue;
    if (tree.branches[node] === 0) {
      const better = !best || changed.length < best.changed.length || tree.weight[node] > tree.weight[best.node];
      if (tree.outcome[node] !== outcome && tree.weight[node] > 0 && better) best = { node, changed };
      continue;
    }
    const attribute = tree.attribute[node];
    const own = branchFor(tree.test[node], values[attribute]);
    childrenOf(tree, node).forEach((child, branch) => {
      const same = branch === own || changed.includes(attribute);
      waiting.push([child, same ? changed : [...changed, attribute]]);
    });
  }
  return best;
}

// The index of the first rule whose conditions all apply, -1 for the default class.
export function ruleFor(ruleset, values) {
  const applies = ([attribute, op, operand]) => {
    const value = values[attribute];
    if (value === null || value === undefined) return false;
    if (op === "<=") return value <= operand;
    if (op === ">") return value > operand;
    return operand.includes(value);
  };
  return ruleset.rules.findIndex((rule) => !rule.silent && rule.conditions.every(applies));
}
