"""The lowest layer, which every package may import: errors, exact arithmetic, atomic file writes, name suggestions."""
