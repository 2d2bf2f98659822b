"""CAL2 and CAL3: trees that learn case by case."""
