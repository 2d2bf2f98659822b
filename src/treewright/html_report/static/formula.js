// Formulas with the numbers filled in, as lines of text.

import { count, fixed, significant } from "./numbers.js";
import { total } from "./measures.js";

const SYMBOLS = { entropy: "H", gini: "Gini", variance: "Var" };
const MOST_TERMS = 12;

export function symbolOf(measure) {
  return SYMBOLS[measure];
}

function shownNumber(measure, value) {
  return measure === "variance" ? significant(value, 6) : fixed(value);
}

// The impurity of a node written out.
export function impurityFormula(measure, target, counts, impurity, mean = null) {
  const symbol = `${SYMBOLS[measure]}(${target})`;
  if (measure === "variance") {
    return `${symbol} = mean of (${target} − ${significant(mean, 6)})² = ${significant(impurity, 6)}`;
  }
  const n = count(total(counts));
  const present = counts.filter((one) => one > 0);
  const more = present.length > MOST_TERMS ? " − …" : "";
  const squared = (one) => `− (${count(one)}/${n})²`;
  const logged = (one) => `− ${count(one)}/${n} log₂ ${count(one)}/${n}`;
  const term = measure === "gini" ? squared : logged;
  const terms = present.slice(0, MOST_TERMS).map(term).join(" ");
  if (measure === "gini") return `${symbol} = 1 ${terms}${more} = ${fixed(impurity)}`;
  return `${symbol} = ${terms || "0"}${more} = ${fixed(impurity)}`;
}

// What is left after the test, and what it gains. branches: [weight, impurity] of each.
export function gainFormulas(measure, one, branches, names) {
  const n = count(one.known);
  const some = branches.filter(([weight]) => weight > 0);
  const terms = some
    .slice(0, MOST_TERMS)
    .map(([weight, impurity]) => `${count(weight)}/${n} · ${shownNumber(measure, impurity)}`)
    .join(" + ");
  const more = some.length > MOST_TERMS || one.truncated ? " + …" : "";
  const share = one.known / (one.known + one.unknown);
  const gained = one.decrease + (one.correction ?? 0);
  const before = gained / share + one.after;
  const lines = [`${names.after} = ${terms}${more} = ${shownNumber(measure, one.after)}`];
  const show = (value) => shownNumber(measure, value);
  let line = `${names.gain} = ${show(before)} − ${show(one.after)} = ${show(gained / share)}`;
  if (one.unknown) line += ` · ${n}/${count(one.known + one.unknown)} ${names.known} = ${shownNumber(measure, gained)}`;
  if (one.correction) {
    line += ` − log₂(${one.tries})/${count(one.known + one.unknown)} ${names.penalty} = ${show(one.decrease)}`;
  }
  lines.push(line);
  if (one.split_information !== null && one.ratio !== null) {
    lines.push(`${names.ratio} = ${fixed(one.decrease)} / ${fixed(one.split_information)} = ${fixed(one.ratio)}`);
  }
  return lines;
}
