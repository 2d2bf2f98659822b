"""CHAID and exhaustive CHAID."""
