// Element builders. Text from the data only ever becomes a text node or an attribute, never HTML.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function assemble(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function el(tag, attributes = {}, ...children) {
  return assemble(document.createElement(tag), attributes, children);
}

export function svgEl(tag, attributes = {}, ...children) {
  return assemble(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

// A name from the data: isolated, so that right-to-left text does not reorder the text around it.
export function name(text) {
  return el("bdi", {}, text);
}

// A sentence that has names in it, each isolated by itself: it reads in the direction of the page.
export function phrase(text) {
  return el("bdi", { dir: "ltr" }, text);
}

export function byId(id) {
  return document.getElementById(id);
}

export function fill(container, ...children) {
  container.replaceChildren(
    ...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return container;
}

// rows: lists of cells (text or element); head: labels; numeric: which columns are numbers.
export function table({ head, rows, numeric = [], className = null, marked = null }) {
  const cell = (tag, content, column, scope) =>
    el(tag, { class: numeric.includes(column) ? "num" : null, scope }, content ?? "");
  return el(
    "table",
    { class: className },
    el("thead", {}, el("tr", {}, head.map((label, column) => cell("th", label, column, "col")))),
    el(
      "tbody",
      {},
      rows.map((row, at) =>
        el(
          "tr",
          { class: marked !== null && marked(at) ? "marked" : null },
          row.map(
            (content, column) => (column === 0 ? cell("th", content, 0, "row") : cell("td", content, column, null)),
          ),
        ),
      ),
    ),
  );
}

// A wide table scrolls inside its own box, which can be reached by keyboard.
export function scrolling(content, label) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);
}
