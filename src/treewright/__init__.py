"""Decision trees that show their working."""
