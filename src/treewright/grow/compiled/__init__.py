"""Growing by compiled kernels: blocks in the cache, histograms above."""
