"""The report on a tree as one self-contained HTML file."""
