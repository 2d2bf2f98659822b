"""CHAID: multiway tests chosen by significance, values merged."""
