"""Bagging, random forests, AdaBoost, and what can be asked of many trees."""
