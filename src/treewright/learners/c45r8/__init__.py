"""C4.5 Release 8, reproduced bit by bit."""
