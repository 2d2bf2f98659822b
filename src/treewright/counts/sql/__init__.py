"""Counting in a database: statements, the dialects that run them, and the engine over both."""
