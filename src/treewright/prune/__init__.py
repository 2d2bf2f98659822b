"""Tree to smaller tree, one method per file."""
