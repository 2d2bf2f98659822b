"""Counting by Dask: partitions are encoded and counted where they are."""
