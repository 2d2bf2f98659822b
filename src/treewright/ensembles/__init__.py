"""Bagging, random forests and AdaBoost; out-of-bag estimates, neighbours and distillation."""
