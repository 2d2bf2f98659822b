// Where the nodes of the visible tree stand: the same tidy tree as in Python (treewright.show.layout), which draws the
// first view; after a fold is opened or closed the page lays out again by itself.
//
// Subtrees are as close as their outlines allow; a parent stands over the middle of its children; small subtrees
// between large ones are spread evenly. An outline says for each level, the lowest first, how far a subtree reaches.

class Outline {
  constructor(levels, offset = 0) {
    this.levels = levels;
    this.offset = offset;
  }

  at(level) {
    return this.levels[this.levels.length - level] + this.offset;
  }

  set(level, value) {
    this.levels[this.levels.length - level] = value - this.offset;
  }
}

class Forest {
  constructor(gap) {
    this.gap = gap;
    this.places = [];
    this.spread = []; // second differences of what neighbours between are moved afterwards
    this.left = new Outline([]);
    this.right = this.left;
    this.owners = []; // [levels, child]: whose right side is seen, the top ones last
  }

  join(left, right) {
    const child = this.places.length;
    this.places.push(0);
    this.spread.push(...(child === 0 ? [0, 0, 0] : [0]));
    const height = left.levels.length;
    if (child === 0) {
      [this.left, this.right, this.owners] = [left, right, [[height, 0]]];
      return;
    }
    const place = this.nearest(child, left);
    this.places[child] = place;
    left.offset += place;
    right.offset += place;
    this.cover(child, height, left, right);
  }

  nearest(child, left) {
    const common = Math.min(left.levels.length, this.right.levels.length);
    let place = -Infinity;
    let run = this.owners.length - 1;
    for (let level = 1; level <= common; level += 1) {
      while (this.owners[run][0] < level) run -= 1;
      const needed = this.right.at(level) + this.gap - left.at(level);
      if (needed > place) {
        const owner = this.owners[run][1];
        if (level > 1 && child - owner > 1) {
          const step = (needed - place) / (child - owner);
          this.spread[owner + 1] += step;
          this.spread[child] -= (child - owner) * step;
          this.spread[child + 1] += (child - owner - 1) * step;
        }
        place = needed;
      }
    }
    return place;
  }

  cover(child, height, left, right) {
    const old = this.right.levels.length;
    if (height >= old) {
      for (let level = 1; level <= old; level += 1) left.set(level, this.left.at(level));
      [this.left, this.right, this.owners] = [left, right, [[height, child]]];
      return;
    }
    for (let level = 1; level <= height; level += 1) this.right.set(level, right.at(level));
    while (this.owners.at(-1)[0] <= height) this.owners.pop();
    this.owners.push([height, child]);
  }

  settled() {
    let slope = 0;
    let moved = 0;
    const places = this.places.map((place, at) => {
      slope += this.spread[at];
      moved += slope;
      return place + moved;
    });
    const middle = (places[0] + places.at(-1)) / 2;
    return places.map((place) => place - middle);
  }
}

// x (the middle) of every node of a tree given by parents, which come before their children; the leftmost side is at 0.
export function tidy(parents, breadths, gap) {
  const n = parents.length;
  const below = Array.from({ length: n }, () => []);
  for (let node = 1; node < n; node += 1) below[parents[node]].push(node);
  const outlines = new Array(n).fill(null);
  const middles = new Float64Array(n);
  for (let node = n - 1; node >= 0; node -= 1) {
    let [left, right] = [new Outline([]), new Outline([])];
    if (below[node].length) {
      const forest = new Forest(gap);
      for (const child of below[node]) {
        forest.join(...outlines[child]);
        outlines[child] = null;
      }
      const places = forest.settled();
      [left, right] = [forest.left, forest.right];
      left.offset += places[0];
      right.offset += places[0];
      below[node].forEach((child, at) => {
        middles[child] = places[at];
      });
    }
    const half = breadths[node] / 2;
    left.levels.push(-half - left.offset);
    right.levels.push(half - right.offset);
    outlines[node] = [left, right];
  }
  let leftmost = Infinity;
  for (let node = 0; node < n; node += 1) {
    if (node > 0) middles[node] += middles[parents[node]];
    leftmost = Math.min(leftmost, middles[node] - breadths[node] / 2);
  }
  return middles.map((middle) => middle - leftmost);
}
