// Small line charts: axes with few ticks, lines, bands, points, a marker.

import { el, svgEl } from "./dom.js";
import { significant } from "./numbers.js";

const FRAME = { width: 460, height: 230, left: 52, right: 24, top: 12, bottom: 38 };

// Round tick values over a range, about `number` of them.
export function ticks(low, high, number = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / number;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) {
    found.push(
      Number((at * step).toPrecision(12)),
    );
  }
  return found;
}

function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of [1, 2, 5]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found.length > 7 ? found.filter((value) => String(value).startsWith("1")) : found.length ? found : [low];
}

export class Chart {
  constructor({ x, y, label, xLabel, yLabel, logX = false, frame = {}, xShown = null, yShown = null }) {
    this.frame = { ...FRAME, ...frame };
    this.x = x;
    this.y = y;
    this.logX = logX && x[0] > 0 && x[1] > x[0];
    const { width, height } = this.frame;
    this.svg = svgEl("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    this.svg.style.maxWidth = `${Math.round(1.25 * width)}px`;
    this.axes(
      xLabel,
      yLabel,
      xShown ?? ((value) => significant(value, 3)),
      yShown ?? ((value) => significant(value, 3)),
    );
  }

  px(value) {
    const { left, right, width } = this.frame;
    const [low, high] = this.logX ? this.x.map(Math.log) : this.x;
    const at = this.logX ? Math.log(Math.max(value, this.x[0])) : value;
    return left + (high > low ? (at - low) / (high - low) : 0.5) * (width - left - right);
  }

  py(value) {
    const { top, bottom, height } = this.frame;
    const [low, high] = this.y;
    return height - bottom - (high > low ? (value - low) / (high - low) : 0.5) * (height - top - bottom);
  }

  axes(xLabel, yLabel, xShown, yShown) {
    const { left, right, top, bottom, width, height } = this.frame;
    const group = svgEl("g", { class: "axes", "aria-hidden": "true" });
    for (const value of ticks(...this.y, 4)) {
      group.append(
        svgEl("line", { class: "grid", x1: left, x2: width - right, y1: this.py(value), y2: this.py(value) }),
        svgEl("text", { class: "tick", x: left - 7, y: this.py(value) + 4, "text-anchor": "end" }, yShown(value)),
      );
    }
    for (const value of this.logX ? logTicks(...this.x) : ticks(...this.x, 5)) {
      group.append(
        svgEl(
          "text",
          { class: "tick", x: this.px(value), y: height - bottom + 17, "text-anchor": "middle" },
          xShown(value),
        ),
      );
    }
    group.append(
      svgEl("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
      svgEl(
        "text",
        { class: "axis-label", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" },
        xLabel,
      ),
      svgEl(
        "text",
        {
          class: "axis-label",
          x: 0,
          y: 0,
          transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
          "text-anchor": "middle",
        },
        yLabel,
      ),
    );
    this.svg.append(group);
  }

  points(points) {
    return points.map(([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`).join(" ");
  }

  line(points, kind) {
    this.svg.append(svgEl("polyline", { class: `line ${kind}`, points: this.points(points) }));
    return this;
  }

  dots(points, kind, radius = 3) {
    for (const [x, y] of points) {
      this.svg.append(
        svgEl("circle", { class: `dot ${kind}`, cx: this.px(x).toFixed(1), cy: this.py(y).toFixed(1), r: radius }),
      );
    }
    return this;
  }

  band(triples, kind) {
    const upper = triples.map(([x, , high]) => [x, high]);
    const lower = triples.map(([x, low]) => [x, low]).reverse();
    this.svg.append(svgEl("polygon", { class: `band ${kind}`, points: this.points([...upper, ...lower]) }));
    return this;
  }

  vertical(x, kind) {
    const { top, bottom, height } = this.frame;
    const mark = svgEl(
      "line",
      { class: `mark ${kind}`, x1: this.px(x), x2: this.px(x), y1: top, y2: height - bottom },
    );
    this.svg.append(mark);
    return mark;
  }

  moveVertical(mark, x) {
    mark.setAttribute("x1", this.px(x));
    mark.setAttribute("x2", this.px(x));
  }
}

// The key of a chart.
export function key(entries) {
  return el(
    "ul",
    { class: "key" },
    entries.map(([kind, text]) => el("li", {}, el("span", { class: `sample ${kind}` }), text)),
  );
}
