// "What if": a form of the tested attributes; every change routes the case down the tree and highlights its path.

import { byId, el, fill, name, phrase } from "./dom.js";
import { ancestorsOf, conditionText, outcomeText } from "./model.js";
import { count, percent, significant } from "./numbers.js";
import { predictCase, nearestOther, ruleFor } from "./route.js";
import { t } from "./words.js";

const SHOWN_FIELDS = 12;
const MOST_BARS = 8;

// Attributes in the order in which the tree (or the rules) first test them.
export function testedAttributes(report) {
  const seen = new Map();
  if (report.tree) {
    const nodes = [...report.tree.attribute.keys()].filter((node) => report.tree.attribute[node] >= 0);
    nodes.sort((a, b) => report.tree.depth[a] - report.tree.depth[b] || a - b);
    for (const node of nodes) seen.set(report.tree.attribute[node], true);
    for (const found of report.tree.surrogates.values()) for (const one of found) seen.set(one.attribute, true);
  } else {
    for (const rule of report.ruleset.rules) for (const [attribute] of rule.conditions) seen.set(attribute, true);
  }
  return [...seen.keys()];
}

export class WhatIf {
  constructor(report, view) {
    this.report = report;
    this.view = view;
    this.values = new Array(report.columns.length).fill(null);
    this.attributes = testedAttributes(report);
    const form = byId("whatif-form");
    const fields = this.attributes.map((attribute) => this.field(attribute));
    fill(form, fields.slice(0, SHOWN_FIELDS));
    if (fields.length > SHOWN_FIELDS) {
      form.append(
        el(
          "details",
          {},
          el("summary", {}, t("more_fields", { n: fields.length - SHOWN_FIELDS })),
          fields.slice(SHOWN_FIELDS),
        ),
      );
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    byId("whatif-clear").addEventListener("click", () => this.clear());
    this.active = false;
    this.update();
  }

  field(attribute) {
    const column = this.report.columns[attribute];
    const id = `case-${attribute}`;
    const changed = (event) => {
      const text = event.target.value;
      this.values[attribute] = text === "" || Number.isNaN(Number(text)) ? null : Number(text);
      this.active = true;
      this.update();
    };
    const typical = this.report.typical[attribute] ?? null;
    this.values[attribute] = typical;
    const input =
      column.kind === 2
        ? el(
          "input",
          {
            id,
            type: "number",
            step: "any",
            inputmode: "decimal",
            value: typical,
            placeholder: t("missing"),
            oninput: changed,
          },
        )
        : el(
            "select",
            { id, onchange: changed },
            el("option", { value: "" }, `(${t("missing")})`),
            column.values.map((value, code) => el("option", { value: code, selected: code === typical }, value)),
          );
    return el("div", { class: "field" }, el("label", { for: id }, name(column.name)), input);
  }

  clear() {
    this.active = false;
    for (const attribute of this.attributes) {
      const typical = this.report.typical[attribute] ?? null;
      this.values[attribute] = typical;
      byId(`case-${attribute}`).value = typical === null ? "" : String(typical);
    }
    this.update();
  }

  show() {
    this.active = true;
    this.update();
  }

  hide() {
    this.active = false;
    if (this.view) this.view.highlight([]);
  }

  update() {
    const { report } = this;
    const container = byId("whatif-prediction");
    if (!report.tree) {
      this.byRules(container);
      return;
    }
    const found = predictCase(report, this.values);
    if (this.view) this.view.highlight(this.active ? found.visits.map((visit) => visit.node) : []);
    const outcome = report.classes ? report.classes[found.outcome] : significant(found.outcome, 5);
    fill(
      container,
      el("p", { class: "prediction" }, `${report.target}: `, el("strong", {}, name(outcome))),
      this.bars(found),
      this.leaves(found),
      this.changes(found),
    );
  }

  bars(found) {
    if (!found.probabilities) return null;
    const entries = found.probabilities.map((share, code) => [share, code]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    return el(
      "ul",
      { class: "bars" },
      entries.slice(0, MOST_BARS).map(([share, code]) => {
        const bar = el("span", { class: `fill class-${this.report.colours[code]}` });
        bar.style.width = `${(100 * share).toFixed(2)}%`;
        return el(
          "li",
          {},
          el("span", { class: "label" }, name(this.report.classes[code])),
          el("span", { class: "track" }, bar),
          el("span", { class: "num" }, percent(share)),
        );
      }),
    );
  }

  leaves(found) {
    const { report } = this;
    const ends = [...found.ends].sort((a, b) => b.share - a.share);
    const pathOf = (node) => [
      node,
      ...ancestorsOf(report.tree, node),
    ].reverse().slice(1).map((step) => conditionText(report, step));
    const items = ends.slice(0, 4).map(({ node, share }) => {
      const words = pathOf(node);
      const button = el(
        "button",
        { type: "button", class: "chip", onclick: () => this.view.go(node) },
        t("node_n", { number: node }),
      );
      return el(
        "li",
        {},
        button,
        ends.length > 1 ? ` ${percent(share)} ` : " ",
        words.length ? phrase(words.join(" · ")) : t("root"),
      );
    });
    const more = ends.length > 4 ? el(
      "li",
      { class: "quiet" },
      t("more_leaves", { n: count(ends.length - 4) }),
    ) : null;
    return el(
      "div",
      {},
      el("h4", {}, t(ends.length > 1 ? "fractional_case" : "path_of_case")),
      el("ul", { class: "paths" }, items, more),
    );
  }

  changes(found) {
    const { report } = this;
    if (!report.classes || found.ends.length > 1) return null;
    const other = nearestOther(report, this.values, found.outcome);
    if (!other) return null;
    const conditions = new Map();
    for (const step of [other.node, ...ancestorsOf(report.tree, other.node)].reverse().slice(1)) {
      const above = report.tree.parent[step];
      const attribute = report.tree.attribute[above];
      if (!other.changed.includes(attribute)) continue;
      // A later bound on the same side is the tighter one.
      const side = report.tree.test[above].kind === "threshold" ? report.tree.branchOfParent[step] : "set";
      conditions.set(`${attribute} ${side}`, conditionText(report, step));
    }
    return el(
      "p",
      {},
      `${t("would_change")} `,
      name(outcomeText(report, other.node)),
      ": ",
      phrase([...conditions.values()].join(" · ")),
    );
  }

  byRules(container) {
    const { report } = this;
    const rule = ruleFor(report.ruleset, this.values);
    const code = rule < 0 ? report.ruleset.default : report.ruleset.rules[rule].outcome;
    fill(
      container,
      el("p", { class: "prediction" }, `${report.target}: `, el("strong", {}, name(report.classes[code]))),
      el("p", {}, rule < 0 ? t("by_default") : t("by_rule", { number: rule + 1 })),
    );
    document.querySelectorAll("#rules-list .fired").forEach((row) => row.classList.remove("fired"));
    byId(`rule-${rule}`)?.classList.add("fired");
  }
}
