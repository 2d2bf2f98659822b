// Impurity measures from counts.

export function total(counts) {
  return counts.reduce((sum, one) => sum + one, 0);
}

export function entropy(counts) {
  const n = total(counts);
  if (n <= 0) return 0;
  return counts.reduce((sum, one) => (one > 0 ? sum - (one / n) * Math.log2(one / n) : sum), 0);
}

export function gini(counts) {
  const n = total(counts);
  if (n <= 0) return 0;
  return 1 - counts.reduce((sum, one) => sum + (one / n) ** 2, 0);
}

export function impurityOf(measure, counts) {
  return measure === "gini" ? gini(counts) : entropy(counts);
}

// The scores of one test from the counts of its branches.
export function scoreSplit(measure, rows) {
  const sizes = rows.map(total);
  const n = total(sizes);
  const sums = rows[0].map((_, code) => total(rows.map((row) => row[code])));
  const before = impurityOf(measure, sums);
  const after = n > 0 ? total(rows.map((row, at) => (sizes[at] / n) * impurityOf(measure, row))) : 0;
  const splitInformation = entropy(sizes);
  const gain = before - after;
  return { n, before, after, gain, splitInformation, ratio: splitInformation > 0 ? gain / splitInformation : 0 };
}
