// The texts of the chosen language. Placeholders {name} are filled in; in "one | other", n decides between the two.

const texts = new Map();

export function setWords(words) {
  texts.clear();
  for (const [key, text] of Object.entries(words)) texts.set(key, text);
}

export function t(key, values = {}) {
  let text = texts.get(key);
  if (text === undefined) return key;
  if ("n" in values && text.includes(" | ")) {
    const [one, other] = text.split(" | ");
    text = String(values.n) === "1" ? one : other;
  }
  return text.replace(/\{([a-z_]+)\}/g, (found, name) => (name in values ? String(values[name]) : found));
}
