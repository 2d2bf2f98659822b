"""A tree in the language of another program."""
