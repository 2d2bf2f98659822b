"""Counting by Dask: every partition makes its own tables, and these are added up in a tree."""
