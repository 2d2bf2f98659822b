"""Pictures: curves and diagrams for a terminal, and on paper by matplotlib."""
