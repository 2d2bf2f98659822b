"""Many trees: bagging, random forests, boosting, and what can be asked of them together with their training cases."""
