"""Text forms of a tree for other programs; one file per target."""
