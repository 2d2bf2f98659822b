"""Converting a tree into ordered rules: extract, generalise, select, order."""
