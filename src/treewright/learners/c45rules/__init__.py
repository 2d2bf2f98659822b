"""C4.5rules: from an unpruned tree to a short ordered list of rules."""
