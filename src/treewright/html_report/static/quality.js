// Evaluation on unseen cases: confusion matrix, ROC curve with a threshold handle, scores of the classes.

import { byId, el, fill, name, scrolling, svgEl, table } from "./dom.js";
import { Chart, key } from "./charts.js";
import { total } from "./measures.js";
import { count, fixed, percent, significant } from "./numbers.js";
import { t } from "./words.js";

const MOST_CELLS = 14; // classes whose matrix is shown with all names

export function howMeasured(method) {
  const parts = [t(`method.${method.kind}`, { folds: method.folds, n: count(method.tested) })];
  if (method.rows !== undefined && method.rows < method.of) {
    parts.push(
      t("method.sample", { rows: count(method.rows), n: count(method.of) }),
    );
  }
  return parts.join(" ");
}

// The four cells at a point of the curve.
export function cellsAt(curve, at) {
  const found = curve.tpr[at] * curve.positive;
  const wrong = curve.fpr[at] * curve.negative;
  return { tp: found, fn: curve.positive - found, fp: wrong, tn: curve.negative - wrong };
}

// The point of the curve where a class is predicted from a threshold on.
export function pointAt(curve, threshold) {
  let point = 0;
  curve.thresholds.forEach((one, at) => {
    if (one !== null && one >= threshold - 1e-12) point = at;
  });
  return point;
}

export class Quality {
  constructor(report) {
    this.report = report;
    this.data = report.quality;
    fill(byId("quality-method"), howMeasured(this.data.method));
    fill(byId("quality-warnings"), this.data.warnings.map((sentence) => el("li", {}, sentence)));
    if (report.classes) this.classes();
    else this.numbers();
  }

  classes() {
    const { data } = this;
    const [accuracy, low, high, baseline] = data.accuracy;
    fill(
      byId("quality-summary"),
      el(
        "p",
        {},
        el("strong", {}, percent(accuracy)),
        ` ${t("accuracy_line", { low: percent(low), high: percent(high) })} `,
        name(data.baseline_class),
        ` ${t("baseline_line", { baseline: percent(baseline) })}`,
      ),
      el("p", { class: "quiet" }, t("balanced_line", { balanced: percent(data.balanced) })),
    );
    this.matrix();
    if (data.roc.length) this.roc();
    else byId("roc").hidden = true;
    const head = [t("class"), t("precision"), t("recall"), "F", t("support")];
    const scores = data.scores.map(
      ([precision, recall, f, support], code) => [
        name(data.classes[code]),
        percent(precision),
        percent(recall),
        fixed(f),
        count(support),
      ],
    );
    fill(
      byId("quality-classes"),
      el("h4", {}, t("classes")),
      scrolling(table({ head, rows: scores.slice(0, 60), numeric: [1, 2, 3, 4] }), t("class")),
    );
  }

  matrix() {
    const { data } = this;
    const container = byId("confusion");
    if (!data.confusion) {
      const rows = data.confusions.map(
        ([actual, predicted, n]) => [name(data.classes[actual]), name(data.classes[predicted]), count(n)],
      );
      fill(
        container,
        el("h3", {}, t("confusions")),
        table({ head: [t("actual_class"), t("predicted_class"), t("cases")], rows, numeric: [2] }),
      );
      return;
    }
    const most = Math.max(...data.confusion.flat(), 1);
    const large = data.classes.length > MOST_CELLS;
    const codes = data.classes.map((_, code) => code);
    // With many classes, rows and columns of classes that never occur or are never predicted are left out.
    const rows = codes.filter((actual) => !large || total(data.confusion[actual]) > 0);
    const columns = codes.filter((predicted) => !large || rows.some((actual) => data.confusion[actual][predicted] > 0));
    const cell = (value, right) => {
      const box = el("td", { class: right ? "cell right" : "cell" }, value === 0 && large ? "" : count(value));
      box.style.setProperty("--depth", Math.sqrt(value / most).toFixed(3));
      return box;
    };
    const matrix = el(
      "table",
      { class: large ? "matrix large" : "matrix" },
      el(
        "thead",
        {},
        el("tr", {}, el("td", {}), columns.map((code) => el("th", { scope: "col" }, name(data.classes[code])))),
      ),
      el(
        "tbody",
        {},
        rows.map((actual) => {
          const cells = columns.map((predicted) => cell(data.confusion[actual][predicted], predicted === actual));
          return el("tr", {}, el("th", { scope: "row" }, name(data.classes[actual])), cells);
        }),
      ),
    );
    fill(
      container,
      el("h3", {}, t("confusion")),
      el("p", { class: "quiet" }, t("matrix_caption"), large ? ` ${t("matrix_only")}` : ""),
      scrolling(matrix, t("confusion")),
    );
  }

  // -- the curve with its handle ---------------------------------------------------------------------------------

  roc() {
    const { data } = this;
    const choice = byId("roc-class");
    fill(choice, data.roc.map((curve, at) => el("option", { value: at }, data.classes[curve.class])));
    choice.addEventListener("change", () => this.curve(Number(choice.value)));
    byId("roc-choice").hidden = data.roc.length < 2;
    this.range = byId("roc-range");
    this.range.addEventListener("input", () => this.move(Number(this.range.value)));
    this.curve(0);
  }

  curve(which) {
    const curve = this.data.roc[which];
    this.shown = curve;
    const chart = new Chart({
      x: [0, 1],
      y: [0, 1],
      label: t("roc_label", { auc: fixed(curve.auc) }),
      xLabel: t("false_positive_rate"),
      yLabel: t("true_positive_rate"),
      frame: { width: 320, height: 300 },
    });
    const points = curve.fpr.map((x, at) => [x, curve.tpr[at]]);
    chart.line([[0, 0], [1, 1]], "chance").line(points, "validation");
    this.handle = svgEl("circle", { class: "handle", r: 8 });
    chart.svg.append(this.handle);
    chart.svg.classList.add("handled");
    this.chart = chart;
    chart.svg.addEventListener("pointerdown", (event) => this.drag(event));
    fill(
      byId("roc-chart"),
      chart.svg,
      key([["validation", t("auc_value", { auc: fixed(curve.auc) })], ["chance", t("chance")]]),
    );
    this.range.max = String(curve.tpr.length - 1);
    this.move(pointAt(curve, 0.5));
  }

  drag(event) {
    const { svg } = this.chart;
    const nearest = (to) => {
      const box = svg.getBoundingClientRect();
      const x = ((to.clientX - box.left) / box.width) * this.chart.frame.width;
      const y = ((to.clientY - box.top) / box.height) * this.chart.frame.height;
      const far = this.shown.fpr.map(
        (fpr, at) => Math.hypot(this.chart.px(fpr) - x, this.chart.py(this.shown.tpr[at]) - y),
      );
      this.move(far.indexOf(Math.min(...far)));
    };
    event.preventDefault();
    nearest(event);
    const end = () => {
      window.removeEventListener("pointermove", nearest);
      window.removeEventListener("pointerup", end);
    };
    window.addEventListener("pointermove", nearest);
    window.addEventListener("pointerup", end);
  }

  move(at) {
    const curve = this.shown;
    this.range.value = String(at);
    this.handle.setAttribute("cx", this.chart.px(curve.fpr[at]));
    this.handle.setAttribute("cy", this.chart.py(curve.tpr[at]));
    const { tp, fn, fp, tn } = cellsAt(curve, at);
    const threshold = curve.thresholds[at];
    const words =
      threshold === null ? t("never_predicted") : t("predicted_from", { threshold: significant(threshold, 3) });
    this.range.setAttribute("aria-valuetext", words);
    fill(byId("roc-threshold"), words);
    const label = this.data.classes[curve.class];
    const others = this.data.classes.length === 2 ? this.data.classes[1 - curve.class] : t("the_rest");
    const most = Math.max(tp, fn, fp, tn, 1);
    const cell = (value, right) => {
      const box = el("td", { class: right ? "cell right" : "cell" }, count(value));
      box.style.setProperty("--depth", Math.sqrt(value / most).toFixed(3));
      return box;
    };
    const matrix = el(
      "table",
      { class: "matrix", id: "roc-matrix" },
      el(
        "thead",
        {},
        el("tr", {}, el("td", {}), el("th", { scope: "col" }, name(label)), el("th", { scope: "col" }, name(others))),
      ),
      el(
        "tbody",
        {},
        el("tr", {}, el("th", { scope: "row" }, name(label)), cell(tp, true), cell(fn, false)),
        el("tr", {}, el("th", { scope: "row" }, name(others)), cell(fp, false), cell(tn, true)),
      ),
    );
    const all = total([tp, fn, fp, tn]);
    const statistics = [
      [t("recall"), curve.positive > 0 ? percent(tp / curve.positive) : "–"],
      [t("precision"), tp + fp > 0 ? percent(tp / (tp + fp)) : "–"],
      [t("specificity"), curve.negative > 0 ? percent(tn / curve.negative) : "–"],
      [t("accuracy"), percent((tp + tn) / all)],
    ];
    fill(
      byId("roc-cells"),
      el("p", { class: "quiet" }, t("matrix_caption")),
      matrix,
      el(
        "dl",
        { class: "statistics" },
        statistics.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
      ),
    );
  }

  // -- a numeric target ------------------------------------------------------------------------------------------

  numbers() {
    const { data } = this;
    byId("roc").hidden = true;
    byId("quality-classes").hidden = true;
    const measures = [["R²", ...data.r2], ["RMSE", ...data.rmse], ["MAE", ...data.mae]];
    const rows = measures.map(([label, value, low, high, baseline]) => [
      label,
      significant(value),
      low === null ? "–" : `${significant(low)} … ${significant(high)}`,
      significant(baseline),
    ]);
    fill(
      byId("quality-summary"),
      table({ head: [t("measure"), t("value"), t("interval"), t("baseline")], rows, numeric: [1, 2, 3] }),
    );
    if (!data.scatter) return;
    const [actual, predicted] = data.scatter;
    const low = Math.min(...actual, ...predicted);
    const high = Math.max(...actual, ...predicted);
    const chart = new Chart({
      x: [low, high],
      y: [low, high],
      label: t("scatter_label"),
      xLabel: t("actual_value"),
      yLabel: t("predicted_value"),
      frame: { width: 340, height: 320, left: 60 },
    });
    chart.line([[low, low], [high, high]], "chance").dots(
      actual.map((x, at) => [x, predicted[at]]),
      "validation faint",
      2.5,
    );
    fill(byId("confusion"), el("h3", {}, t("predicted_versus_actual")), chart.svg);
  }
}
