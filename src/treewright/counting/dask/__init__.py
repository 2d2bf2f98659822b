"""Counting with Dask: workers encode and count the partitions."""
