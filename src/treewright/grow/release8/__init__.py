"""The tree of Quinlan's C4.5 Release 8, grown bit by bit as his program grows it."""
