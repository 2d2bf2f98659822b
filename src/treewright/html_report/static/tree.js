// The drawing of the tree: only what is in sight becomes elements. Fold, zoom, pan, search, keys.

import { BOX_HEIGHT, BOX_WIDTH, LEGIBLE, drawBox, drawEdge } from "./boxes.js";
import { byId, el, fill, svgEl } from "./dom.js";
import { xPositions } from "./layout.js";
import { attributeName, childrenOf, edgeText, outcomeText } from "./model.js";
import { count } from "./numbers.js";
import { MOST_OPEN, foldedBut, foldedFor, isOpen, revealed, visibleNodes } from "./visible.js";
import { t } from "./words.js";

const GAP = 16;
const LEVEL = 112;
const MARGIN = 24;

export class TreeView {
  constructor(report, listeners) {
    this.report = report;
    this.tree = report.tree;
    this.listeners = listeners; // select(node), change()
    this.state = { folded: foldedBut(this.tree, report.view.open), cut: new Set(), grown: null };
    this.current = 0;
    this.lit = new Set(); // nodes on the path of a case
    this.found = new Set(); // nodes that a search found
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.svg = byId("tree-drawing");
    this.world = svgEl("g", { role: "none" });
    this.svg.append(this.world);
    this.layOut(report.view);
    // A small tree needs no large canvas.
    if (this.nodes.length === this.tree.n) this.svg.style.maxHeight = `${Math.max(260, 1.15 * this.height + 60)}px`;
    this.listen();
    this.fit(true);
  }

  // -- positions -------------------------------------------------------------------------------------------------

  layOut(view = null) {
    const { nodes, parents } = visibleNodes(this.tree, this.state);
    const x = view ? view.x : xPositions(parents, nodes.map(() => BOX_WIDTH), GAP);
    this.nodes = nodes;
    this.position = new Map(nodes.map((node, at) => [node, at]));
    this.parents = parents;
    this.left = x;
    let [wide, deep] = [0, 0];
    nodes.forEach((node, at) => {
      wide = Math.max(wide, x[at] + BOX_WIDTH / 2);
      deep = Math.max(deep, this.tree.depth[node]);
    });
    this.width = wide + 2 * MARGIN;
    this.height = deep * LEVEL + BOX_HEIGHT + 2 * MARGIN + 12;
  }

  at(position) {
    return [this.left[position] + MARGIN, this.tree.depth[this.nodes[position]] * LEVEL + MARGIN];
  }

  // Lays out again after something opened or closed; the node that was touched stays where it was on the screen.
  changed(anchor = null) {
    const before = anchor !== null && this.position.has(anchor) ? this.at(this.position.get(anchor)) : null;
    this.layOut();
    if (!this.position.has(this.current)) this.current = this.nearestSeen(this.current);
    const after = before && this.position.has(anchor) ? this.at(this.position.get(anchor)) : null;
    if (after) {
      this.x += (before[0] - after[0]) * this.scale;
      this.y += (before[1] - after[1]) * this.scale;
    }
    this.draw();
    this.listeners.change();
  }

  nearestSeen(node) {
    let seen = node;
    while (seen > 0 && !this.position.has(seen)) seen = this.tree.parent[seen];
    return seen;
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  size() {
    const box = this.svg.getBoundingClientRect();
    return [box.width || 800, box.height || 480];
  }

  fit(first = false) {
    const [width, height] = this.size();
    const whole = Math.min(width / this.width, height / this.height);
    // A large tree begins at a legible size with its root in the middle; the fit button shows all of it.
    this.scale = Math.min(1.15, first ? Math.max(whole, 0.7) : Math.max(whole, 0.05));
    const [rootX] = this.at(0);
    this.x = this.width * this.scale <= width ? (width - this.width * this.scale) / 2 : width / 2 - rootX * this.scale;
    this.y = this.height * this.scale <= height ? Math.min(28, (height - this.height * this.scale) / 2) : 0;
    this.draw();
  }

  // On paper the whole visible tree is fitted into the width, whatever part of it was in sight.
  printed(on) {
    if (on === Boolean(this.printing)) return;
    if (on) {
      this.printing = [this.x, this.y, this.scale];
      [this.x, this.y, this.scale] = [0, 0, 1];
      this.svg.setAttribute("viewBox", `0 0 ${Math.ceil(this.width)} ${Math.ceil(this.height)}`);
    } else {
      [this.x, this.y, this.scale] = this.printing;
      this.printing = null;
      this.svg.removeAttribute("viewBox");
    }
    this.draw();
  }

  moved() {
    if (this.printing) return;
    this.world.setAttribute(
      "transform",
      `translate(${this.x.toFixed(2)} ${this.y.toFixed(2)}) scale(${this.scale.toFixed(4)})`,
    );
    const [width, height] = this.size();
    const [left, top, right, bottom, scale] = this.drawn;
    const covered = -this.x >= left && -this.y >= top && width - this.x <= right && height - this.y <= bottom;
    if (!covered || scale !== this.scale) this.draw();
  }

  draw() {
    const [width, height] = this.printing ? [this.width, this.height] : this.size();
    const margin = 300;
    this.drawn = [-this.x - margin, -this.y - margin, width - this.x + margin, height - this.y + margin, this.scale];
    const [x0, y0, x1, y1] = this.drawn.slice(0, 4).map((edge) => edge / this.scale);
    const edges = svgEl("g", { role: "none", "aria-hidden": "true" });
    const boxes = svgEl("g", { role: "none" });
    this.nodes.forEach((node, position) => {
      const [x, y] = this.at(position);
      const parent = this.parents[position];
      if (y > y1 || y + BOX_HEIGHT < y0 - LEVEL) return;
      if (parent >= 0) {
        const [px, py] = this.at(parent);
        const crosses = Math.max(x, px) + BOX_WIDTH > x0 && Math.min(x, px) - BOX_WIDTH < x1;
        if (crosses) edges.append(drawEdge(this, node, x, y, px, py));
      }
      const visible = x + BOX_WIDTH > x0 && x - BOX_WIDTH < x1 && y + BOX_HEIGHT + 20 > y0;
      if (visible) boxes.append(drawBox(this, node, position, x, y));
    });
    this.world.replaceChildren(edges, boxes);
    this.world.setAttribute(
      "transform",
      `translate(${this.x.toFixed(2)} ${this.y.toFixed(2)}) scale(${this.scale.toFixed(4)})`,
    );
    this.svg.setAttribute("aria-activedescendant", `node-${this.current}`);
  }

  // -- actions ---------------------------------------------------------------------------------------------------

  select(node, { center = false, quiet = false } = {}) {
    this.current = node;
    if (center) this.center(node);
    else this.draw();
    if (!quiet) this.listeners.select(node);
  }

  // Opens what is above, selects, and brings the node into sight.
  go(node) {
    if (!this.position.has(node)) {
      revealed(this.tree, this.state, node);
      this.layOut();
      this.listeners.change();
    }
    if (this.scale < LEGIBLE) this.scale = 0.8;
    this.select(this.nearestSeen(node), { center: true });
  }

  center(node) {
    if (!this.position.has(node)) return;
    const [width, height] = this.size();
    const [x, y] = this.at(this.position.get(node));
    this.x = width / 2 - x * this.scale;
    this.y = Math.min(24, height / 2 - y * this.scale);
    this.draw();
  }

  // Moves the drawing as little as is needed to see a node.
  keepInSight(node) {
    const [width, height] = this.size();
    const [x, y] = this.at(this.position.get(node));
    const [left, right] = [(x - BOX_WIDTH) * this.scale + this.x, (x + BOX_WIDTH) * this.scale + this.x];
    const [top, bottom] = [(y - 40) * this.scale + this.y, (y + BOX_HEIGHT + 40) * this.scale + this.y];
    if (left < 0) this.x -= left;
    else if (right > width) this.x -= right - width;
    if (top < 0) this.y -= top;
    else if (bottom > height) this.y -= bottom - height;
  }

  toggle(node) {
    const { tree, state } = this;
    if (tree.branches[node] === 0 || state.cut.has(node) || state.grown) return;
    if (state.folded.has(node)) state.folded.delete(node);
    else state.folded.add(node);
    this.current = node;
    this.changed(node);
    this.listeners.select(node);
  }

  openAll() {
    this.state.folded = foldedFor(this.tree, MOST_OPEN);
    this.changed();
    this.fit();
    const hidden = this.tree.n - this.nodes.length;
    this.showStatus(
      hidden > 0 && this.state.cut.size === 0 ? t(
        "opened_heaviest",
        { shown: count(this.nodes.length), n: count(this.tree.n) },
      ) : "",
    );
  }

  closeAll() {
    this.state.folded = new Set();
    for (let node = 0; node < this.tree.n; node += 1) if (this.tree.branches[node] > 0) this.state.folded.add(node);
    this.changed();
    this.fit(true);
  }

  zoom(factor, cx = null, cy = null) {
    const [width, height] = this.size();
    const scale = Math.min(3, Math.max(0.04, this.scale * factor));
    const [x, y] = [cx ?? width / 2, cy ?? height / 2];
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.draw();
  }

  highlight(nodes) {
    this.lit = new Set(nodes);
    this.draw();
  }

  showStatus(text) {
    fill(byId("tree-status"), text);
  }

  setPruned(cut) {
    this.state.cut = cut;
    this.changed(0);
  }

  setGrown(grown) {
    this.state.grown = grown;
    this.layOut();
    if (grown && grown.current >= 0) this.current = grown.current;
    if (!this.position.has(this.current)) this.current = this.nearestSeen(this.current);
    if (grown) this.fit(true);
    if (this.position.has(this.current)) this.keepInSight(this.current);
    this.draw();
    this.listeners.select(this.current);
  }

  // -- search ----------------------------------------------------------------------------------------------------

  search(text) {
    const query = text.trim().toLowerCase();
    this.hits = [];
    if (query) {
      const { tree, report } = this;
      const number = /^#?(\d+)$/.exec(query);
      for (let node = 0; node < tree.n; node += 1) {
        const label = tree.branches[node] > 0 ? attributeName(report, node) : outcomeText(report, node);
        const above = node > 0 ? edgeText(report, node) : "";
        const named = `${label}\n${above}`.toLowerCase().includes(query);
        if (named || (number && Number(number[1]) === node)) this.hits.push(node);
      }
    }
    this.hit = -1;
    this.found = new Set(this.hits);
    this.draw();
    this.showStatus(query ? t("found_n", { n: count(this.hits.length) }) : "");
  }

  nextHit(step) {
    if (!this.hits || this.hits.length === 0) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.go(this.hits[this.hit]);
    this.showStatus(t("hit_of", { hit: count(this.hit + 1), n: count(this.hits.length) }));
  }

  // -- pointer and keys --------------------------------------------------------------------------------------------

  listen() {
    const { svg } = this;
    svg.addEventListener("click", (event) => this.clicked(event));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("pointerdown", (event) => this.dragFrom(event));
    svg.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // the page scrolls; with Ctrl (or a pinch) the tree zooms
        event.preventDefault();
        const box = svg.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    new ResizeObserver(() => this.moved()).observe(svg);
  }

  clicked(event) {
    if (this.dragged) return;
    const toggle = event.target.closest("[data-toggle]");
    if (toggle) {
      this.toggle(Number(toggle.dataset.toggle));
      return;
    }
    const box = event.target.closest("[data-node]");
    if (!box) return;
    // The second click of two: a first one has drawn the box anew, so that no "dblclick" would find it.
    if (event.detail === 2) this.toggle(Number(box.dataset.node));
    else this.select(Number(box.dataset.node));
  }

  dragFrom(event) {
    if (event.button !== 0) return;
    const start = [event.clientX - this.x, event.clientY - this.y];
    const origin = [event.clientX, event.clientY];
    this.dragged = false;
    const move = (to) => {
      if (Math.hypot(to.clientX - origin[0], to.clientY - origin[1]) > 4) {
        this.dragged = true;
        this.svg.classList.add("dragging");
      }
      if (!this.dragged) return;
      this.x = to.clientX - start[0];
      this.y = to.clientY - start[1];
      this.moved();
    };
    const end = () => {
      this.svg.classList.remove("dragging");
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = this.keys()[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  keys() {
    const { tree, current } = this;
    const open = isOpen(tree, this.state, current);
    const to = (node) => {
      if (node === null || node < 0) return;
      this.current = node;
      this.keepInSight(node);
      this.draw();
      this.listeners.select(node);
    };
    const beside = (step) => {
      // Along the level, from box to box, across parents.
      const level = this.nodes.filter((node) => tree.depth[node] === tree.depth[current]);
      const next = level[level.indexOf(current) + step];
      to(next === undefined ? null : next);
    };
    return {
      ArrowDown: () => (open ? to(childrenOf(tree, current)[0]) : this.toggle(current)),
      ArrowUp: () => to(tree.parent[current]),
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      Home: () => to(0),
      End: () => to(this.nodes.at(-1)),
      Enter: () => this.toggle(current),
      " ": () => this.toggle(current),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      0: () => this.fit(),
    };
  }
}

// The legend: a swatch for each colour in use.
export function legend(report) {
  if (!report.classes) return [];
  const entries = [];
  let others = 0;
  report.classes.forEach((label, code) => {
    if (report.colours[code] === 7) others += 1;
    else entries.push(
      el("li", {}, el("span", { class: `swatch class-${report.colours[code]}` }), el("bdi", {}, label)),
    );
  });
  if (others) entries.push(el("li", {}, el("span", { class: "swatch class-7" }), t("other_classes", { n: others })));
  return entries;
}
