"""Explanations of trees, nodes, prunings, predictions and growth, in four languages."""
