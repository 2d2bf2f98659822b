"""What the library does now, kept to the byte, so that code can be moved without changing it.

Only public names and the command line are used here: what is frozen must outlive every move of a module.
"""
