"""The worked derivation of a node, as on a blackboard, and what a tree leans on."""
