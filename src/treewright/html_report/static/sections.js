// The other sections: learning curve, rules, profile of the data, tiles at the top.

import { byId, el, fill, name, phrase, svgEl, table } from "./dom.js";
import { Chart, key } from "./charts.js";
import { howMeasured } from "./quality.js";
import { ancestorsOf, conditionText, countsOf, outcomeText } from "./model.js";
import { count, percent, significant } from "./numbers.js";
import { t } from "./words.js";

const RULES_AT_FIRST = 25;
const COLUMNS_AT_FIRST = 24;
const MOST_RULES = 500;

export function learningCurve(report) {
  const data = report.learning;
  const shares = data.measure === "accuracy";
  const points = data.points;
  const show = shares ? percent : significant;
  const values = points.flatMap(([, score, low, high, training]) => [score, low, high, training]);
  const pad = (Math.max(...values) - Math.min(...values)) * 0.08 || 0.05;
  const y = [
    Math.max(0, Math.min(...values) - pad),
    shares ? Math.min(1, Math.max(...values) + pad) : Math.max(...values) + pad,
  ];
  const chart = new Chart({
    x: [points[0][0], points.at(-1)[0]],
    y,
    logX: points.at(-1)[0] > 8 * points[0][0],
    label: t("learning_label"),
    xLabel: t("training_cases"),
    yLabel: t(shares ? "accuracy" : "rmse"),
    xShown: count,
    yShown: shares ? (value) => `${significant(100 * value, 3)} %` : null,
    frame: { width: 640, height: 260 },
  });
  chart
    .band(points.map(([size, , low, high]) => [size, low, high]), "validation")
    .line(points.map(([size, , , , training]) => [size, training]), "training")
    .line(points.map(([size, score]) => [size, score]), "validation")
    .dots(points.map(([size, score]) => [size, score]), "validation", 3);
  const sample = data.rows < data.of ? ` ${t("method.sample", { rows: count(data.rows), n: count(data.of) })}` : "";
  fill(
    byId("learning-body"),
    el("p", {}, t(data.rising ? "more_helps" : "more_little")),
    chart.svg,
    key([["validation", t("unseen_band", { n: data.repeats })], ["training", t("on_training")]]),
    el("p", { class: "quiet note" }, t("learning_note", { n: data.repeats }) + sample),
    el(
      "details",
      { class: "numbers" },
      el("summary", {}, t("as_table")),
      table({
        head: [t("training_cases"), t("unseen"), t("band"), t("on_training")],
        numeric: [0, 1, 2, 3],
        rows: points.map(
          ([size, score, low, high, training]) => [
            count(size),
            show(score),
            `${show(low)} – ${show(high)}`,
            show(training),
          ],
        ),
      }),
    ),
  );
}

// -- rules ---------------------------------------------------------------------------------------------------------

// Of several bounds on the same side the last one is the tightest, and a later set is a part of an earlier one.
export function pathConditions(report, leaf) {
  const { tree } = report;
  const merged = new Map();
  for (const step of [leaf, ...ancestorsOf(tree, leaf)].reverse().slice(1)) {
    const above = tree.parent[step];
    const side = tree.test[above].kind === "threshold" ? tree.branchOfParent[step] : "set";
    const bound = `${tree.attribute[above]} ${side}`;
    merged.delete(bound);
    merged.set(bound, conditionText(report, step));
  }
  return [...merged.values()];
}

function ruleItem({ number, conditions, outcome, statistics, id }) {
  const parts = conditions.map(
    (words, at) => [el("span", { class: "word" }, at === 0 ? t("if") : t("and")), " ", phrase(words), " "],
  );
  const conclusion = [
    el("span", { class: "word" }, conditions.length ? t("then") : t(number === "" ? "else" : "always")),
    " ",
    el("strong", {}, name(outcome)),
  ];
  return el(
    "li",
    { id },
    el("span", { class: "rule-number num" }, String(number)),
    el("span", { class: "rule" }, parts, conclusion),
    el("span", { class: "rule-statistics num" }, statistics),
  );
}

function treeRules(report) {
  const { tree } = report;
  const leaves = [...tree.branches.keys()].filter((node) => tree.branches[node] === 0 && tree.weight[node] > 0);
  leaves.sort((a, b) => tree.weight[b] - tree.weight[a] || a - b);
  return leaves.slice(0, MOST_RULES).map((leaf, at) => {
    const own = countsOf(tree, leaf).find(([code]) => code === tree.outcome[leaf]);
    const right = report.classes ? ` · ${percent((own ? own[1] : 0) / tree.weight[leaf])}` : "";
    const statistics = count(tree.weight[leaf]) + right;
    return {
      number: at + 1,
      conditions: pathConditions(report, leaf),
      outcome: outcomeText(report, leaf),
      statistics,
      id: `rule-${leaf}`,
    };
  });
}

function learnedRules(report) {
  const words = ([attribute, op, operand]) => {
    const column = report.columns[attribute];
    if (op === "<=") return `${column.name} ≤ ${String(operand).replace("-", "−")}`;
    if (op === ">") return `${column.name} > ${String(operand).replace("-", "−")}`;
    const labels = operand.map((code) => column.values[code]);
    return op === "=" ? `${column.name} = ${labels[0]}` : `${column.name} ∈ {${labels.join(", ")}}`;
  };
  const rules = report.ruleset.rules.map((rule, at) => ({
    number: at + 1,
    conditions: rule.conditions.map(words),
    outcome: report.classes[rule.outcome],
    statistics: t("rule_statistics", { used: count(rule.used), wrong: count(rule.wrong) }),
    id: `rule-${at}`,
  }));
  return [
    ...rules,
    {
      number: "",
      conditions: [],
      outcome: report.classes[report.ruleset.default],
      statistics: t("default_class"),
      id: "rule--1",
    },
  ];
}

export function rulesView(report) {
  const rules = report.ruleset ? learnedRules(report) : treeRules(report);
  const texts = rules.map((rule) => [...rule.conditions, rule.outcome].join(" ").toLowerCase());
  const list = el("ol", { id: "rules-list", class: "rules" });
  const all = report.ruleset ? report.ruleset.rules.length : report.tree.leaves;
  const note = el(
    "p",
    { class: "quiet" },
    report.ruleset ? t("rules_in_order") : t("rules_of_tree"),
    all > MOST_RULES && report.tree ? ` ${t("rules_heaviest", { n: MOST_RULES })}` : "",
  );
  const more = el("button", { type: "button", class: "more-button" }, t("show_all", { n: rules.length }));
  const search = el(
    "input",
    { type: "search", id: "rules-search", placeholder: t("filter_rules"), "aria-label": t("filter_rules") },
  );
  let shown = report.ruleset ? MOST_RULES : RULES_AT_FIRST;
  const refresh = () => {
    const query = search.value.trim().toLowerCase();
    const hits = rules.filter((_, at) => texts[at].includes(query));
    fill(list, hits.slice(0, shown).map(ruleItem));
    more.hidden = hits.length <= shown;
  };
  more.addEventListener("click", () => {
    shown = rules.length;
    refresh();
  });
  search.addEventListener("input", refresh);
  refresh();
  fill(byId("rules-body"), note, rules.length > 8 ? search : null, list, more);
}

// -- data ----------------------------------------------------------------------------------------------------------

const KIND_KEYS = ["nominal", "ordinal", "numeric"];

function valueBars(column) {
  const known = column.values.reduce((sum, [, n]) => sum + n, 0) + (column.others ?? 0) || 1;
  const entries = [
    ...column.values.map(([label, n]) => [name(label), n]),
    ...(column.others ? [[t("others"), column.others]] : []),
  ];
  const most = Math.max(...entries.map(([, n]) => n), 1);
  return el(
    "ul",
    { class: "bars small" },
    entries.map(([label, n]) => {
      const bar = el("span", { class: "fill" });
      bar.style.width = `${((100 * n) / most).toFixed(2)}%`;
      return el(
        "li",
        {},
        el("span", { class: "label" }, label),
        el("span", { class: "track" }, bar),
        el("span", { class: "num" }, percent(n / known)),
      );
    }),
  );
}

function histogram(column) {
  if (!column.range) return el("p", { class: "quiet" }, t("all_missing"));
  const [low, , median, , high] = column.range;
  const statistics = el(
    "p",
    { class: "quiet num", title: t("min_median_max") },
    `${significant(low, 5)} … ${significant(median, 5)} … ${significant(high, 5)}`,
  );
  if (!column.bins) return statistics;
  const most = Math.max(...column.bins, 1);
  const drawing = svgEl(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${column.bins.length * 10} 44`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": t("histogram_label", { n: column.bins.length }),
    },
  );
  column.bins.forEach((n, at) => {
    const height = n > 0 ? Math.max(1, (42 * n) / most) : 0;
    drawing.append(svgEl("rect", { x: at * 10 + 0.5, y: 44 - height, width: 9, height }));
  });
  return [drawing, statistics];
}

function columnCard(column, rows) {
  const statistics = [t(KIND_KEYS[column.kind]), t("distinct_n", { n: count(column.distinct) })];
  if (column.missing) statistics.push(t("missing_share", { share: percent(column.missing / rows) }));
  return el(
    "article",
    { class: column.role === "target" ? "column target" : "column", "data-text": column.name.toLowerCase() },
    el("h3", {}, name(column.name), column.role === "target" ? el("span", { class: "badge" }, t("target")) : null),
    el("p", { class: "quiet" }, statistics.join(" · ")),
    column.values ? valueBars(column) : histogram(column),
  );
}

function someValues(column) {
  return (column.values ?? []).slice(0, 3).map(([label]) => label).join(", ");
}

export function profileView(report) {
  const { profile } = report;
  const body = byId("data-body");
  const first = profile.columns.slice(0, COLUMNS_AT_FIRST);
  const rest = profile.columns.slice(COLUMNS_AT_FIRST);
  const cards = el("div", { class: "columns" }, first.map((column) => columnCard(column, profile.rows)));
  const missing = profile.columns.filter((column) => column.missing > 0).length;
  const statistics = [
    t("rows_n", { n: count(profile.rows) }),
    t("columns_n", { n: count(profile.columns.length + (profile.more ?? 0)) }),
    missing ? t("with_missing", { n: count(missing) }) : t("no_missing"),
  ];
  fill(body, el("p", {}, statistics.join(" · ")), cards);
  if (!rest.length) return;
  // Many columns: the others are a table that is made when it is opened.
  const details = el("details", {}, el("summary", {}, t("more_columns", { n: count(rest.length) })));
  details.addEventListener(
    "toggle",
    () => {
      const rows = rest.map(
        (column) => [
          name(column.name),
          t(KIND_KEYS[column.kind]),
          count(column.distinct),
          count(column.missing),
          column.range ? `${significant(column.range[0])} … ${significant(column.range[4])}` : name(someValues(column)),
        ],
      );
      details.append(
        table({
          head: [t("column"), t("kind"), t("distinct"), t("missing"), t("range_or_values")],
          rows,
          numeric: [2, 3],
        }),
      );
    },
    { once: true },
  );
  body.append(details);
}

// -- the top -------------------------------------------------------------------------------------------------------

export function tiles(report) {
  const { about } = report;
  const found = [];
  if (about.rows) found.push([count(about.rows), t("rows")]);
  found.push([count(report.columns.length), t("attributes")]);
  if (report.tree) found.push([count(report.tree.leaves), t("leaves")], [count(about.depth), t("depth")]);
  else found.push([count(report.ruleset.rules.length), t("rules")]);
  if (report.quality && report.classes) {
    const [accuracy, low, high, baseline] = report.quality.accuracy;
    found.push(
      [percent(accuracy), `${t("accuracy")} (${percent(low)} – ${percent(high)})`],
      [percent(baseline), t("baseline")],
    );
  } else if (report.quality) {
    found.push([significant(report.quality.r2[0], 3), "R²"], [significant(report.quality.rmse[0], 4), "RMSE"]);
  }
  fill(
    byId("tiles"),
    found.map(([value, label]) => el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value))),
  );
  fill(byId("how"), report.quality ? howMeasured(report.quality.method) : "");
}
