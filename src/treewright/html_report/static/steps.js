// The growth of the tree, one decision at a time, forward and back.

import { byId, fill, name } from "./dom.js";
import { attributeName, childrenOf, outcomeText } from "./model.js";
import { count } from "./numbers.js";
import { grownAfter } from "./visible.js";
import { t } from "./words.js";

const PACE = 1100; // milliseconds of a step while it plays

// Level by level, the default order of growth; the data may give another one.
export function levelOrder(tree) {
  const order = [];
  let level = [0];
  while (level.length) {
    order.push(...level);
    level = level.flatMap((node) => [...childrenOf(tree, node)]);
  }
  return order;
}

export class Steps {
  constructor(report, view, { begin }) {
    this.report = report;
    this.view = view;
    this.begin = begin; // called when the step player takes control of the tree
    this.order = report.growth ?? levelOrder(report.tree);
    this.step = null;
    this.timer = null;
    this.range = byId("step-range");
    this.range.max = String(this.order.length);
    this.range.value = this.range.max;
    this.range.addEventListener("input", () => this.to(Number(this.range.value)));
    byId("step-first").addEventListener("click", () => this.to(0));
    byId("step-back").addEventListener("click", () => this.to((this.step ?? this.order.length) - 1));
    byId("step-next").addEventListener("click", () => this.to((this.step ?? -1) + 1));
    byId("step-play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    byId("step-end").addEventListener("click", () => this.stop());
    this.update();
  }

  to(step) {
    this.step = Math.max(0, Math.min(this.order.length, step));
    this.begin();
    this.range.value = String(this.step);
    if (this.step === this.order.length) this.pause();
    this.view.setGrown(grownAfter(this.report.tree, this.order, this.step));
    this.update();
  }

  play() {
    if (this.step === null || this.step >= this.order.length) this.to(0);
    this.timer = setInterval(() => this.to(this.step + 1), PACE);
    fill(byId("step-play"), t("pause"));
    byId("step-play").setAttribute("aria-pressed", "true");
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    fill(byId("step-play"), t("play"));
    byId("step-play").setAttribute("aria-pressed", "false");
  }

  // Back to the whole tree.
  stop() {
    this.pause();
    if (this.step === null) return;
    this.step = null;
    this.range.value = this.range.max;
    this.view.setGrown(null);
    this.update();
  }

  update() {
    const { report, order } = this;
    const container = byId("step-text");
    byId("step-end").disabled = this.step === null;
    if (this.step === null) {
      fill(container, t("steps_hint", { n: count(order.length) }));
      return;
    }
    const parts = [`${t("step_of", { step: count(this.step), n: count(order.length) })} `];
    if (this.step > 0) {
      const last = order[this.step - 1];
      const wasSplit = report.tree.branches[last] > 0;
      parts.push(
        t(wasSplit ? "was_split" : "became_leaf", { number: last }),
        " ",
        name(wasSplit ? attributeName(report, last) : outcomeText(report, last)),
        ". ",
      );
    }
    parts.push(this.step < order.length ? t("next_node", { number: order[this.step] }) : t("grown"));
    fill(container, parts);
  }
}
