"""The report: one HTML file with the tree, its working and its quality, which needs no network and no server."""
