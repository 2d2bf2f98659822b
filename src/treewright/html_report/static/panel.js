// The panel of one node: its cases, the attributes compared, the formulas, and the pruning decision.

import { byId, el, fill, name, phrase, scrolling, svgEl, table } from "./dom.js";
import { gainFormulas, impurityFormula, symbolOf } from "./formula.js";
import { impurityOf, scoreSplit, total } from "./measures.js";
import {
  ancestorsOf,
  attributeName,
  branchText,
  childrenOf,
  conditionText,
  countsOf,
  denseCounts,
  outcomeText,
} from "./model.js";
import { count, fixed, percent, probability, significant } from "./numbers.js";
import { t } from "./words.js";

const MOST_CLASS_COLUMNS = 12;

export class Panel {
  constructor(report, go) {
    this.report = report;
    this.go = go;
    this.container = byId("node-panel");
  }

  show(node) {
    const { report } = this;
    this.node = node;
    const explanation = report.explain[node] ?? null;
    fill(
      this.container,
      this.heading(node),
      this.path(node),
      this.cases(node, explanation),
      this.plot(node),
      explanation ? this.compared(node, explanation) : this.fromCounts(node),
      this.ending(node),
      this.pruning(node),
    );
  }

  heading(node) {
    const { report } = this;
    const { tree } = report;
    const what = tree.branches[node] > 0 ? attributeName(report, node) : outcomeText(report, node);
    const which = t(tree.branches[node] > 0 ? "node_n" : "leaf_n", { number: node });
    return el(
      "header",
      {},
      el(
        "p",
        { class: "eyebrow" },
        `${which} · ${t("cases_n", { n: count(tree.weight[node]) })}`,
      ),
      el(
        "h3",
        { tabindex: "-1" },
        tree.branches[node] > 0 ? `${t("tests_short")} ` : `${t("predicts_short")} `,
        name(what),
      ),
    );
  }

  path(node) {
    const steps = [node, ...ancestorsOf(this.report.tree, node)].reverse();
    if (steps.length === 1) return el("p", { class: "path quiet" }, t("root"));
    const shown = steps.slice(1).map(
      (step) => el(
        "li",
        {},
        el(
          "button",
          { type: "button", class: "chip", onclick: () => this.go(step) },
          phrase(conditionText(this.report, step)),
        ),
      ),
    );
    return el(
      "ol",
      { class: "path", "aria-label": t("path") },
      el("li", {}, el("button", { type: "button", class: "chip", onclick: () => this.go(0) }, t("root"))),
      ...shown,
    );
  }

  cases(node, explanation) {
    const { report } = this;
    const { tree } = report;
    const target = report.target;
    if (!report.classes) {
      const spread = tree.weight[node] > 0 ? tree.sse[node] / tree.weight[node] : 0;
      return el(
        "div",
        {},
        table({
          head: [t("cases"), t("mean"), t("deviation")],
          numeric: [0, 1, 2],
          rows: [[count(tree.weight[node]), significant(tree.outcome[node], 6), significant(Math.sqrt(spread), 6)]],
        }),
        el(
          "p",
          { class: "formula" },
          impurityFormula("variance", target, [], explanation ? explanation.impurity : spread, tree.outcome[node]),
        ),
      );
    }
    const entries = countsOf(tree, node).sort((a, b) => b[1] - a[1]);
    const listed = entries.slice(0, MOST_CLASS_COLUMNS);
    const rows = listed.map(([code, weight]) => [
      [el("span", { class: `swatch class-${report.colours[code]}` }), name(report.classes[code])],
      count(weight),
      percent(weight / tree.weight[node]),
    ]);
    if (entries.length > listed.length) rows.push([
      t("other_classes", { n: entries.length - listed.length }),
      count(total(entries.slice(MOST_CLASS_COLUMNS).map((entry) => entry[1]))),
      "",
    ]);
    const measure = explanation ? explanation.measure : report.measure;
    const counts = denseCounts(tree, node, report.classes.length);
    const impurity = explanation ? explanation.impurity : impurityOf(measure, counts);
    if (!rows.length) return el("p", { class: "quiet" }, t("no_cases"));
    return el(
      "div",
      {},
      table({ head: [name(target), t("cases"), t("share")], numeric: [1, 2], rows }),
      el("p", { class: "formula" }, impurityFormula(measure, target, counts, impurity)),
    );
  }

  // Histogram of the tested number, with its thresholds.
  plot(node) {
    const { report } = this;
    const found = report.plots?.[node];
    if (!found) return null;
    const [low, high, cuts, counts] = found;
    const [width, height] = [320, 64];
    const most = Math.max(...counts.map(total), 1);
    const wide = width / counts.length;
    const label = t("plot_label", { name: attributeName(report, node) });
    const box = `0 0 ${width} ${height}`;
    const drawing = svgEl("svg", { class: "plot", viewBox: box, role: "img", "aria-label": label });
    counts.forEach((bin, at) => {
      let top = height;
      bin.forEach((weight, code) => {
        const tall = (weight / most) * (height - 4);
        top -= tall;
        const colour = bin.length > 1 ? `class-${report.colours[code]}` : "class-0";
        const bar = { x: at * wide + 0.5, y: top.toFixed(2), width: wide - 1, height: tall.toFixed(2) };
        if (tall > 0) drawing.append(svgEl("rect", { class: colour, ...bar }));
      });
    });
    for (const cut of cuts) {
      const x = high > low ? Math.min(1, Math.max(0, (cut - low) / (high - low))) * width : width / 2;
      drawing.append(svgEl("line", { class: "mark here", x1: x, x2: x, y1: 0, y2: height }));
    }
    const ends = [low, high].map((end) => el("span", {}, significant(end)));
    return el("figure", {}, drawing, el("p", { class: "ends quiet num" }, ends));
  }

  // All attributes compared, best first; each unfolds to its table and its formulas.
  compared(node, explanation) {
    const { report } = this;
    const entries = explanation.attributes.map(([attribute, status, numbers, branches, hidden]) => {
      const one = { attribute, status, branches: branches ?? null, truncated: (hidden ?? 0) > 0, hidden: hidden ?? 0 };
      report.number_names.forEach((key, at) => {
        one[key] = numbers[at] ?? null;
      });
      return one;
    });
    const columns = this.columnsFor(explanation.measure, entries);
    const rows = entries.map(
      (one) => [
        [name(report.columns[one.attribute].name), this.status(one, explanation)],
        ...columns.map((column) => column.show(one)),
      ],
    );
    const summary = table({
      className: "compared",
      head: [t("attribute"), ...columns.map((column) => column.head)],
      numeric: columns.map((_, at) => at + 1),
      rows,
      marked: (at) => entries[at].status === "chosen",
    });
    const parts = [el("h4", {}, t("compared")), scrolling(summary, t("compared"))];
    if (explanation.more) parts.push(el("p", { class: "quiet" }, t("more_attributes", { n: count(explanation.more) })));
    if (explanation.runner_up) {
      const [attribute, margin] = explanation.runner_up;
      const how = margin > 0 ? t("runner_up_after", { margin: this.margin(explanation) }) : t("tied_after");
      parts.push(el("p", {}, t("runner_up_before"), " ", name(report.columns[attribute].name), " ", how));
    }
    for (const note of explanation.notes ?? []) parts.push(el("p", { class: "quiet" }, t(`note.${note}`)));
    parts.push(el("h4", {}, t("tables")));
    const withTables = entries.filter((one) => one.branches);
    parts.push(
      ...withTables.map((one) => this.details(explanation, one, one.status === "chosen" || withTables.length === 1)),
    );
    return el("div", {}, parts);
  }

  margin(explanation) {
    const value = explanation.runner_up[1];
    return explanation.measure === "variance" ? significant(
      value,
      4,
    ) : explanation.score === "adjusted_p" ? significant(value, 3) : fixed(value);
  }

  columnsFor(measure, entries) {
    const number = measure === "variance" ? (value) => significant(value, 6) : (value) => fixed(value);
    const all = [
      { key: "decrease", head: t(measure === "entropy" ? "gain" : "decrease"), show: (one) => number(one.decrease) },
      { key: "split_information", head: t("split"), show: (one) => fixed(one.split_information) },
      { key: "ratio", head: t("ratio"), show: (one) => fixed(one.ratio) },
      { key: "gini_decrease", head: "Gini", show: (one) => fixed(one.gini_decrease), skip: measure === "gini" },
      { key: "chi_square", head: "χ²", show: (one) => (one.chi_square === null ? "–" : fixed(one.chi_square, 2)) },
      { key: "chi_square_p", head: "p", show: (one) => probability(one.chi_square_p) },
      { key: "adjusted_p", head: t("adjusted_p"), show: (one) => probability(one.adjusted_p) },
    ];
    return all.filter((column) => !column.skip && entries.some((one) => one[column.key] !== null));
  }

  status(one, explanation) {
    if (one.status === "chosen") return el("span", { class: "status chosen" }, `✓ ${t("status.chosen")}`);
    if (one.status === "considered") return null;
    const words = t(`status.${one.status}`);
    return el(
      "span",
      { class: "status" },
      one.status === "below_average" && explanation.average !== undefined
        ? `${words} ${fixed(explanation.average)}`
        : words,
    );
  }

  details(explanation, one, open) {
    const { report } = this;
    const { measure } = explanation;
    const body = el("div", {}, scrolling(this.frequencies(measure, one), t("tables")), this.formulas(measure, one));
    const gained = t(measure === "entropy" ? "gain" : "decrease");
    const shown = measure === "variance" ? significant(one.decrease, 4) : fixed(one.decrease);
    return el(
      "details",
      { open },
      el(
        "summary",
        {},
        name(report.columns[one.attribute].name),
        one.decrease === null ? "" : ` · ${gained} ${shown}`,
      ),
      body,
    );
  }

  frequencies(measure, one) {
    const { report } = this;
    const symbol = symbolOf(measure);
    let rows;
    let head;
    if (measure === "variance") {
      head = [name(report.columns[one.attribute].name), "n", t("mean"), symbol];
      rows = one.branches.map(
        ([label, [weight, mean], impurity]) => [
          name(label),
          count(weight),
          significant(mean, 6),
          significant(impurity, 6),
        ],
      );
    } else {
      const classes = this.shownClasses(one.branches);
      head = [
        name(report.columns[one.attribute].name),
        ...classes.map((code) => name(report.classes[code])),
        ...(classes.length < report.classes.length ? ["…"] : []),
        "n",
        symbol,
      ];
      rows = one.branches.map(([label, counts, impurity]) => [
        name(label),
        ...classes.map((code) => count(counts[code])),
        ...(classes.length < report.classes.length ? [
          count(total(counts) - total(classes.map((code) => counts[code]))),
        ] : []),
        count(total(counts)),
        fixed(impurity),
      ]);
    }
    if (one.hidden) rows.push([t("more_values", { n: count(one.hidden) }), ...head.slice(1).map(() => "")]);
    if (one.unknown) rows.push([t("missing"), ...head.slice(3).map(() => ""), count(one.unknown), ""]);
    return table({ className: "frequencies", head, rows, numeric: head.map((_, at) => at).slice(1) });
  }

  // With many classes only the most frequent ones have columns.
  shownClasses(branches) {
    const { classes } = this.report;
    const codes = classes.map((_, code) => code);
    if (classes.length <= MOST_CLASS_COLUMNS) return codes;
    const sums = codes.map((code) => total(branches.map(([, counts]) => counts[code])));
    return codes.sort((a, b) => sums[b] - sums[a] || a - b).slice(0, MOST_CLASS_COLUMNS).sort((a, b) => a - b);
  }

  formulas(measure, one) {
    if (one.decrease === null || one.after === null) return null;
    const branches = one.branches.map(
      ([, counts, impurity]) => [measure === "variance" ? counts[0] : total(counts), impurity],
    );
    const names = {
      after: t(measure === "entropy" ? "remainder" : "after"),
      gain: t(measure === "entropy" ? "gain" : "decrease"),
      ratio: t("ratio"),
      known: t("with_known_value"),
      penalty: t("for_best_cut"),
    };
    const lines = gainFormulas(measure, one, branches, names).map((line) => el("p", { class: "formula" }, line));
    if (one.tries && !one.correction) {
      lines.push(
        el("p", { class: "quiet" }, t("best_of_cuts", { n: count(one.tries) })),
      );
    }
    if (one.chi_square !== null) {
      lines.push(
        el(
          "p",
          { class: "formula" },
          `χ² = ${fixed(one.chi_square, 2)}, df ${one.chi_square_df}, p ${probability(one.chi_square_p)}`,
        ),
      );
    }
    if (one.adjusted_p !== null) {
      lines.push(
        el("p", { class: "formula" }, `${t("adjusted_p")} ${probability(one.adjusted_p)}`),
      );
    }
    return lines;
  }

  // A node without a split trace: the score of its test follows from the counts of its branches.
  fromCounts(node) {
    const { report } = this;
    const { tree } = report;
    if (tree.branches[node] === 0) return null;
    const children = [...childrenOf(tree, node)];
    const attribute = tree.attribute[node];
    const labels = children.map(
      (child, branch) => name(branchText(report, tree.test[node], branch, attribute, tree.missing[node])),
    );
    const parts = [el("h4", {}, t("own_test")), el("p", { class: "quiet" }, t("no_split_trace"))];
    if (!report.classes) {
      const rows = children.map(
        (child, at) => [labels[at], count(tree.weight[child]), significant(tree.outcome[child], 6)],
      );
      parts.push(
        scrolling(
          table({
            className: "frequencies",
            head: [name(report.columns[attribute].name), "n", t("mean")],
            rows,
            numeric: [1, 2],
          }),
          t("own_test"),
        ),
      );
      return el("div", {}, parts);
    }
    const counts = children.map((child) => denseCounts(tree, child, report.classes.length));
    const found = scoreSplit(report.measure, counts);
    const branches = counts.map((row, at) => [labels[at].textContent, row, impurityOf(report.measure, row)]);
    const one = {
      attribute,
      branches,
      known: found.n,
      unknown: 0,
      after: found.after,
      decrease: found.gain,
      split_information: report.measure === "entropy" ? found.splitInformation : null,
      ratio: report.measure === "entropy" ? found.ratio : null,
      chi_square: null,
      adjusted_p: null,
      hidden: 0,
      tries: 0,
      correction: 0,
    };
    parts.push(
      scrolling(this.frequencies(report.measure, one), t("own_test")),
      ...(this.formulas(report.measure, one) ?? []),
    );
    return el("div", {}, parts);
  }

  ending(node) {
    const { report } = this;
    const { tree } = report;
    const parts = [];
    if (tree.branches[node] === 0) {
      parts.push(
        el("p", {}, `${t("why_leaf")} ${t(`stop.${report.stops[tree.stop[node]]}`)}.`),
      );
    }
    const surrogates = tree.surrogates.get(node);
    if (surrogates) {
      const rows = surrogates.map(
        (one) => [
          name(report.columns[one.attribute].name),
          name(branchText(report, one.test, one.reversed ? 1 : 0, one.attribute, 0)),
          percent(one.agreement),
        ],
      );
      parts.push(
        el("h4", {}, t("surrogates")),
        table({ head: [t("attribute"), t("first_branch_if"), t("agreement")], rows, numeric: [2] }),
      );
    }
    return parts.length ? el("div", {}, parts) : null;
  }

  pruning(node) {
    const lines = this.report.prunings[node];
    if (!lines) return null;
    return el(
      "div",
      {},
      el("h4", {}, t("pruning_decision")),
      lines.map((line) => el("p", { class: line.includes(" = ") ? "formula" : null }, line.trim())),
    );
  }
}
