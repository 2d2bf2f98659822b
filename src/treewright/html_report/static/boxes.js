// Draws one box and one edge. The view has the nodes and their state: see tree.js.

import { svgEl } from "./dom.js";
import { attributeName, childrenOf, conditionText, countsOf, edgeText, outcomeText } from "./model.js";
import { count, percent } from "./numbers.js";
import { isOpen } from "./visible.js";
import { t } from "./words.js";

export const BOX_WIDTH = 140;
export const BOX_HEIGHT = 50;
export const LEGIBLE = 0.4; // at a smaller scale text is left out
const THICKEST = 16;
const BAR_HEIGHT = 6;

let ruler = null;

// Shortens a text to a width; the full text is in the title.
function clipped(text, width, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  if (ruler.measureText(text).width <= width) return text;
  const letters = [...text];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ruler.measureText(letters.slice(0, middle).join("") + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "…";
}

// The edge from a box at (px, py) to one at (x, y), its width in proportion to its cases.
export function drawEdge(view, node, x, y, px, py) {
  const { tree } = view;
  const share = tree.weight[0] > 0 ? tree.weight[node] / tree.weight[0] : 0;
  const lit = view.lit.has(node) && view.lit.has(tree.parent[node]);
  const from = py + BOX_HEIGHT;
  const middle = (from + y) / 2;
  const far = view.scale < LEGIBLE;
  const path = `M${px.toFixed(1)} ${from}C${px.toFixed(1)} ${middle} ${x.toFixed(1)} ${middle} ${x.toFixed(1)} ${y}`;
  return svgEl(
    "g",
    { class: lit ? "edge lit" : "edge" },
    svgEl("path", { d: path, "stroke-width": (1 + THICKEST * share).toFixed(2) }),
    far ? null : svgEl(
      "text",
      { x: x.toFixed(1), y: y - 9, class: "branch" },
      svgEl("title", {}, conditionText(view.report, node)),
      clipped(edgeText(view.report, node), BOX_WIDTH + 6, "12px system-ui, sans-serif"),
    ),
  );
}

function shapeOf(view, node) {
  const { tree, state } = view;
  if (isOpen(tree, state, node)) return "test";
  if (state.grown && !state.grown.decided.has(node)) return "waiting";
  if (tree.branches[node] === 0 || state.cut.has(node)) return "leaf";
  return "folded";
}

export function drawBox(view, node, position, x, y) {
  const { tree, state, report } = view;
  const shape = shapeOf(view, node);
  const far = view.scale < LEGIBLE;
  const heading = shape === "test" || shape === "folded" ? attributeName(
    report,
    node,
  ) : shape === "waiting" ? "?" : outcomeText(report, node);
  const parent = view.parents[position];
  const siblings = parent >= 0 ? childrenOf(tree, view.nodes[parent]).length : 1;
  const classes = ["node", shape];
  if (node === view.current) classes.push("current");
  if (view.lit.has(node)) classes.push("lit");
  if (view.found.has(node)) classes.push("found");
  if (state.cut.has(node)) classes.push("cut");
  if (state.grown && state.grown.current === node) classes.push("turn");
  const expandable = tree.branches[node] > 0 && !state.cut.has(node) && !state.grown;
  const group = svgEl(
    "g",
    {
      id: `node-${node}`,
      class: classes.join(" "),
      role: "treeitem",
      transform: `translate(${(x - BOX_WIDTH / 2).toFixed(1)} ${y})`,
      "aria-level": tree.depth[node] + 1,
      "aria-posinset": tree.branchOfParent[node] + 1,
      "aria-setsize": siblings,
      "aria-selected": node === view.current ? "true" : "false",
      "aria-expanded": expandable ? String(shape === "test") : null,
      "aria-label": labelOf(view, node, shape),
      "data-node": node,
    },
    far ? null : svgEl("title", {}, labelOf(view, node, shape)),
    svgEl("rect", { class: "frame", width: BOX_WIDTH, height: BOX_HEIGHT, rx: shape === "leaf" ? 12 : 6 }),
    far ? null : svgEl(
      "text",
      { class: "heading", x: BOX_WIDTH / 2, y: 19 },
      clipped(heading, BOX_WIDTH - 18, "600 13px system-ui, sans-serif"),
    ),
    far ? null : svgEl("text", { class: "cases", x: BOX_WIDTH / 2, y: 34 }, casesLine(view, node, shape)),
    mixBar(view, node),
  );
  if (shape === "folded" && !far) {
    group.append(
      svgEl("path", { class: "stub", d: `M${BOX_WIDTH / 2} ${BOX_HEIGHT}v7` }),
      svgEl(
        "rect",
        {
          class: "more",
          x: BOX_WIDTH / 2 - 22,
          y: BOX_HEIGHT + 4,
          width: 44,
          height: 17,
          rx: 8.5,
          "data-toggle": node,
        },
      ),
      svgEl(
        "text",
        { class: "more-text", x: BOX_WIDTH / 2, y: BOX_HEIGHT + 16.5 },
        `+${count(tree.size[node] - 1)}`,
      ),
    );
  }
  return group;
}

function casesLine(view, node, shape) {
  const { tree, report } = view;
  const n = count(tree.weight[node]);
  if (!report.classes) return `n ${n} · ${outcomeText(report, node)}`.slice(0, 26);
  if (shape !== "leaf") return `n ${n}`;
  const own = countsOf(tree, node).find(([code]) => code === tree.outcome[node]);
  const share = tree.weight[node] > 0 ? (own ? own[1] : 0) / tree.weight[node] : null;
  return share === null ? "n 0" : `n ${n} · ${percent(share)}`;
}

// The label of a box for screen readers.
function labelOf(view, node, shape) {
  const { tree, report } = view;
  const where = node === 0 ? t("root") : conditionText(report, node);
  const what =
    shape === "test" || shape === "folded"
      ? t("tests", { name: attributeName(report, node) })
      : shape === "waiting"
        ? t("not_decided")
        : t("predicts", { name: outcomeText(report, node) });
  const mix = countsOf(tree, node)
    .slice(0, 7)
    .map(([code, weight]) => `${report.classes[code]} ${count(weight)}`)
    .join(", ");
  const n = count(tree.weight[node]);
  return `${t("node_n", { number: node })}: ${where}. ${what}. ${t("cases_n", { n })}${mix ? `: ${mix}` : ""}.`;
}

// The mix of classes, or where the mean lies in the range of all means.
function mixBar(view, node) {
  const { tree, report } = view;
  const group = svgEl("g", { class: "mix", transform: `translate(8 ${BOX_HEIGHT - BAR_HEIGHT - 4})` });
  const wide = BOX_WIDTH - 16;
  if (!report.classes) {
    const [low, high] = tree.range;
    const offset = high > low ? ((tree.outcome[node] - low) / (high - low)) * (wide - 4) : 0;
    group.append(
      svgEl("rect", { class: "scale", y: BAR_HEIGHT / 2 - 1, width: wide, height: 2 }),
      svgEl("rect", { class: "mean", x: offset.toFixed(1), width: 4, height: BAR_HEIGHT, rx: 1 }),
    );
    return group;
  }
  let x = 0;
  for (const [code, weight] of countsOf(tree, node)) {
    const part = (weight / tree.weight[node]) * wide;
    if (part >= 0.3) {
      group.append(
        svgEl(
          "rect",
          { class: `class-${report.colours[code]}`, x: x.toFixed(2), width: part.toFixed(2), height: BAR_HEIGHT },
        ),
      );
    }
    x += part;
  }
  return group;
}
