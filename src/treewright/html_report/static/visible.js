// Which nodes are visible: pure functions over the tree and the state of the page.
//
// state.folded   nodes that a person closed (a Set)
// state.cut      nodes that the pruning slider made leaves (a Set)
// state.grown    null, or the step player's state: { split: Set, current: node }

import { ancestorsOf, childrenOf } from "./model.js";

export const MOST_OPEN = 1000; // nodes that are laid out at most when all is opened

export function isOpen(tree, state, node) {
  if (tree.branches[node] === 0 || state.cut.has(node)) return false;
  return state.grown ? state.grown.split.has(node) : !state.folded.has(node);
}

// The visible nodes depth first, with the position of the parent of each.
export function visibleNodes(tree, state) {
  const nodes = [];
  const parents = [];
  const waiting = [[0, -1]];
  while (waiting.length) {
    const [node, parent] = waiting.pop();
    const position = nodes.length;
    nodes.push(node);
    parents.push(parent);
    if (!isOpen(tree, state, node)) continue;
    const children = childrenOf(tree, node);
    for (let at = children.length - 1; at >= 0; at -= 1) waiting.push([children[at], position]);
  }
  return { nodes, parents };
}

// All inner nodes except the open ones.
export function foldedBut(tree, open) {
  const folded = new Set();
  const opened = new Set(open);
  for (let node = 0; node < tree.n; node += 1) if (tree.branches[node] > 0 && !opened.has(node)) folded.add(node);
  return folded;
}

// Opens the heaviest nodes first until so many are visible; all others are folded.
export function foldedFor(tree, most) {
  const open = [];
  const waiting = [0]; // the lightest first, so that the heaviest is taken from the end
  let seen = 1;
  while (waiting.length) {
    const node = waiting.pop();
    if (tree.branches[node] === 0 || (seen + tree.branches[node] > most && node !== 0)) continue;
    seen += tree.branches[node];
    open.push(node);
    for (const child of childrenOf(tree, node)) {
      let [low, high] = [0, waiting.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (tree.weight[waiting[middle]] < tree.weight[child]) low = middle + 1;
        else high = middle;
      }
      waiting.splice(low, 0, child);
    }
  }
  return foldedBut(tree, open);
}

// Opens what is above a node.
export function revealed(tree, state, node) {
  for (const above of ancestorsOf(tree, node)) state.folded.delete(above);
}

// What pruning leaves: the number of leaves when these nodes are leaves.
export function leavesLeft(tree, cut) {
  let leaves = 0;
  const waiting = [0];
  while (waiting.length) {
    const node = waiting.pop();
    if (tree.branches[node] === 0 || cut.has(node)) leaves += 1;
    else waiting.push(...childrenOf(tree, node));
  }
  return leaves;
}

// The nodes below which nothing is left after so many steps of pruning.
export function cutAfter(cuts, step) {
  const cut = new Set();
  for (let at = 0; at < step; at += 1) for (const node of cuts[at]) cut.add(node);
  return cut;
}

// The state of growth after so many steps, each [node]: the nodes that are split, and the next one.
export function grownAfter(tree, order, step) {
  const split = new Set();
  for (let at = 0; at < step; at += 1) if (tree.branches[order[at]] > 0) split.add(order[at]);
  return { split, decided: new Set(order.slice(0, step)), current: step < order.length ? order[step] : -1 };
}
