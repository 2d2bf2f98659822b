// The positions of the visible nodes: the same tidy layout as in Python (treewright.drawing.layout), which draws the
// first view; after a node is folded or unfolded the page computes the layout itself.
//
// Subtrees are as close as their outlines allow; a parent is centred over its children; small subtrees between large
// ones are spread evenly. An outline holds for each level, the lowest first, how far a subtree extends.

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

class JoinedSubtrees {
  constructor(gap) {
    this.gap = gap;
    this.positions = [];
    this.spread = []; // second differences of the shifts of the subtrees in between
    this.left = new Outline([]);
    this.right = this.left;
    this.owners = []; // [levels, child]: the subtree on the right contour, the top ones last
  }

  join(left, right) {
    const child = this.positions.length;
    this.positions.push(0);
    this.spread.push(...(child === 0 ? [0, 0, 0] : [0]));
    const height = left.levels.length;
    if (child === 0) {
      [this.left, this.right, this.owners] = [left, right, [[height, 0]]];
      return;
    }
    const position = this.nearest(child, left);
    this.positions[child] = position;
    left.offset += position;
    right.offset += position;
    this.cover(child, height, left, right);
  }

  nearest(child, left) {
    const common = Math.min(left.levels.length, this.right.levels.length);
    let position = -Infinity;
    let run = this.owners.length - 1;
    for (let level = 1; level <= common; level += 1) {
      while (this.owners[run][0] < level) run -= 1;
      const needed = this.right.at(level) + this.gap - left.at(level);
      if (needed > position) {
        const owner = this.owners[run][1];
        if (level > 1 && child - owner > 1) {
          const step = (needed - position) / (child - owner);
          this.spread[owner + 1] += step;
          this.spread[child] -= (child - owner) * step;
          this.spread[child + 1] += (child - owner - 1) * step;
        }
        position = needed;
      }
    }
    return position;
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

  centredPositions() {
    let slope = 0;
    let moved = 0;
    const positions = this.positions.map((position, at) => {
      slope += this.spread[at];
      moved += slope;
      return position + moved;
    });
    const middle = (positions[0] + positions.at(-1)) / 2;
    return positions.map((position) => position - middle);
  }
}

// x (the middle) of every node of a tree given by parents, which come before their children; the leftmost side is at 0.
export function xPositions(parents, breadths, gap) {
  const n = parents.length;
  const below = Array.from({ length: n }, () => []);
  for (let node = 1; node < n; node += 1) below[parents[node]].push(node);
  const outlines = new Array(n).fill(null);
  const middles = new Float64Array(n);
  for (let node = n - 1; node >= 0; node -= 1) {
    let [left, right] = [new Outline([]), new Outline([])];
    if (below[node].length) {
      const forest = new JoinedSubtrees(gap);
      for (const child of below[node]) {
        forest.join(...outlines[child]);
        outlines[child] = null;
      }
      const positions = forest.centredPositions();
      [left, right] = [forest.left, forest.right];
      left.offset += positions[0];
      right.offset += positions[0];
      below[node].forEach((child, at) => {
        middles[child] = positions[at];
      });
    }
    const halfWidth = breadths[node] / 2;
    left.levels.push(-halfWidth - left.offset);
    right.levels.push(halfWidth - right.offset);
    outlines[node] = [left, right];
  }
  let leftmost = Infinity;
  for (let node = 0; node < n; node += 1) {
    if (node > 0) middles[node] += middles[parents[node]];
    leftmost = Math.min(leftmost, middles[node] - breadths[node] / 2);
  }
  return middles.map((middle) => middle - leftmost);
}
