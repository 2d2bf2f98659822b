// The pruning slider: from the whole tree to its root, with the errors of every tree on the way.

import { byId, fill } from "./dom.js";
import { Chart, key } from "./charts.js";
import { count, percent, significant } from "./numbers.js";
import { cutAfter } from "./visible.js";
import { t } from "./words.js";

export class Slider {
  constructor(report, view, { begin }) {
    this.report = report;
    this.view = view;
    this.begin = begin;
    this.data = report.pruning;
    this.range = byId("prune-range");
    this.range.max = String(this.data.cuts.length);
    this.range.value = "0";
    this.range.addEventListener("input", () => this.to(Number(this.range.value)));
    byId("prune-best").addEventListener("click", () => this.to(this.data.best ?? 0));
    byId("prune-reset").addEventListener("click", () => this.to(0));
    byId("prune-best").hidden = this.data.best === undefined;
    this.chart();
    this.update(0);
  }

  shown(error) {
    return this.report.classes ? percent(error) : significant(error, 4);
  }

  chart() {
    const { leaves, training, validation } = this.data;
    const errors = [...training, ...(validation ?? [])];
    const high = Math.max(...errors) || 1;
    const chart = new Chart({
      x: [Math.min(...leaves), Math.max(...leaves)],
      y: [0, high * 1.05],
      logX: Math.max(...leaves) > 40,
      label: t("pruning_chart"),
      xLabel: t("leaves"),
      xShown: count,
      yLabel: t(this.report.classes ? "error" : "squared_error"),
      yShown: this.report.classes ? (value) => `${significant(100 * value, 3)} %` : null,
      frame: { height: 190 },
    });
    const along = (values) => leaves.map((size, at) => [size, values[at]]);
    chart.line(along(training), "training");
    if (validation) chart.line(along(validation), "validation");
    const few = leaves.length <= 40;
    if (few) chart.dots(along(training), "training", 2.5);
    if (few && validation) chart.dots(along(validation), "validation", 2.5);
    this.mark = chart.vertical(leaves[0], "here");
    this.drawing = chart;
    const entries = [["training", t("training_error")]];
    if (validation) entries.push(["validation", t(`validation.${this.report.quality.method.kind}`)]);
    fill(byId("prune-chart"), chart.svg, key(entries));
  }

  to(step) {
    this.begin();
    this.range.value = String(step);
    this.view.setPruned(cutAfter(this.data.cuts, step));
    this.update(step);
  }

  reset() {
    if (this.range.value === "0") return;
    this.range.value = "0";
    this.view.state.cut = new Set();
    this.update(0);
  }

  update(step) {
    const { leaves, training, validation, alphas } = this.data;
    fill(byId("prune-leaves"), count(leaves[step]));
    fill(byId("prune-training"), this.shown(training[step]));
    fill(byId("prune-validation"), validation ? this.shown(validation[step]) : "–");
    fill(byId("prune-alpha"), step === 0 ? t("not_pruned") : t("alpha", { alpha: significant(alphas[step - 1], 3) }));
    this.range.setAttribute("aria-valuetext", t("leaves_n", { n: count(leaves[step]) }));
    this.drawing.moveVertical(this.mark, leaves[step]);
  }
}
