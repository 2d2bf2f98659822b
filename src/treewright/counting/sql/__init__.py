"""Counting in a database: statements, connections, results, and prediction as a SELECT."""
