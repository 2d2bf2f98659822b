"""From a tree to ordered rules: extract, generalise, select, order."""
