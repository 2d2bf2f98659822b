"""Whoever can count can grow the tree: frequency tables and the engines that fill them."""
