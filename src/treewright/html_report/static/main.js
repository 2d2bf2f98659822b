// Starts the page: reads the data, creates the parts and connects them.

import { byId, fill, name } from "./dom.js";
import { decodeReport } from "./model.js";
import { Panel } from "./panel.js";
import { Quality } from "./quality.js";
import { learningCurve, profileView, rulesView, tiles } from "./sections.js";
import { Slider } from "./slider.js";
import { Steps } from "./steps.js";
import { themeButton } from "./theme.js";
import { TreeView, legend } from "./tree.js";
import { WhatIf } from "./whatif.js";
import { setWords, t } from "./words.js";

function tabs(shown) {
  const buttons = ["node", "whatif"].map((id) => byId(`tab-${id}`));
  const choose = (chosen) => {
    for (const button of buttons) {
      const own = button === chosen;
      button.setAttribute("aria-selected", String(own));
      button.tabIndex = own ? 0 : -1;
      byId(button.getAttribute("aria-controls")).hidden = !own;
    }
    shown(chosen.id.replace("tab-", ""));
  };
  buttons.forEach((button, at) => {
    button.addEventListener("click", () => choose(button));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      const other = buttons[1 - at];
      choose(other);
      other.focus();
    });
  });
  return (id) => choose(byId(`tab-${id}`));
}

function searching(view) {
  const field = byId("search");
  field.addEventListener("input", () => view.search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      view.nextHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      field.value = "";
      view.search("");
      view.svg.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    }
  });
}

function treeParts(report) {
  let whatIf = null;
  const panel = new Panel(report, (node) => view.go(node));
  const view = new TreeView(report, { select: (node) => panel.show(node), change: () => {} });
  const slider = report.tree.n > 1 ? new Slider(report, view, { begin: () => steps.stop() }) : null;
  const steps = new Steps(report, view, { begin: () => slider && slider.reset() });
  if (!slider) byId("prune-card").hidden = true;
  if (report.tree.n === 1) byId("step-card").hidden = true;
  whatIf = new WhatIf(report, view);
  const chooseTab = tabs((tab) => (tab === "whatif" ? whatIf.show() : whatIf.hide()));
  panel.show(0);
  searching(view);
  byId("zoom-in").addEventListener("click", () => view.zoom(1.25));
  byId("zoom-out").addEventListener("click", () => view.zoom(0.8));
  byId("zoom-fit").addEventListener("click", () => view.fit());
  byId("open-all").addEventListener("click", () => view.openAll());
  byId("close-all").addEventListener("click", () => view.closeAll());
  fill(byId("legend"), legend(report));
  view.svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      steps.stop();
      chooseTab("node");
      view.search("");
    }
  });
  window.addEventListener("beforeprint", () => view.printed(true));
  window.addEventListener("afterprint", () => view.printed(false));
  const paper = window.matchMedia("print");
  paper.addEventListener("change", () => view.printed(paper.matches));
}

// Sections without data are hidden.
function sections(report) {
  if (report.quality) new Quality(report);
  if (report.learning) learningCurve(report);
  if (report.profile) profileView(report);
  rulesView(report);
  for (const [id, there] of [
    ["quality", report.quality],
    ["learning", report.learning],
    ["data", report.profile],
    ["tree", report.tree],
    ["case", !report.tree],
  ]) {
    byId(id).hidden = !there;
    const link = document.querySelector(`nav a[href="#${id}"]`);
    if (link) link.parentElement.hidden = !there;
  }
}

function start() {
  const report = decodeReport(JSON.parse(byId("data-block").textContent));
  setWords(report.words);
  fill(byId("title"), name(report.about.title));
  fill(byId("subtitle"), report.about.subtitle);
  themeButton();
  sections(report);
  tiles(report);
  if (report.tree) treeParts(report);
  else {
    byId("case-body").append(byId("whatif-panel"));
    byId("whatif-panel").hidden = false;
    new WhatIf(report, null);
  }
  fill(byId("made-by"), t("made_by", { version: report.about.version }));
  document.documentElement.dataset.ready = "true";
  performance.mark("report-ready");
}

start();
