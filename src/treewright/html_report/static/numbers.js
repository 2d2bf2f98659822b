// Numbers as people read them. A decimal point in every language, so that they can be compared with a calculation.

export function count(value) {
  if (value === null || value === undefined) return "–";
  const rounded = Math.round(value * 10) / 10;
  const [whole, rest] = String(Math.abs(rounded)).split(".");
  const grouped = whole.includes("e") ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (rounded < 0 ? "−" : "") + grouped + (rest ? "." + rest : "");
}

export function fixed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

// At most so many significant digits, without trailing zeros.
export function significant(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-4 && size < 1e15 ? String(
    Number(value.toPrecision(digits)),
  ) : Number(value.toPrecision(digits)).toExponential();
  return text.replace("-", "−");
}

// Never rounded to a certainty that is not there.
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const rounded = (100 * share).toFixed(1);
  if (share < 1 && rounded === "100.0") return "> 99.9 %";
  if (share > 0 && rounded === "0.0") return "< 0.1 %";
  return `${rounded.replace(/\.0$/, "")} %`;
}

export function probability(p) {
  if (p === null || p === undefined) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}
