"""The model file: reading, writing and checking it."""
