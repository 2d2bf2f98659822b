// The texts of the chosen language. A text with {places} is filled; "one | other" is chosen by n.

const spoken = new Map();

export function setWords(words) {
  spoken.clear();
  for (const [key, text] of Object.entries(words)) spoken.set(key, text);
}

export function t(key, places = {}) {
  let text = spoken.get(key);
  if (text === undefined) return key;
  if ("n" in places && text.includes(" | ")) {
    const [one, other] = text.split(" | ");
    text = String(places.n) === "1" ? one : other;
  }
  return text.replace(/\{([a-z_]+)\}/g, (found, place) => (place in places ? String(places[place]) : found));
}
