"""Counting in a database: statements, connections, answers, and prediction as a SELECT."""
